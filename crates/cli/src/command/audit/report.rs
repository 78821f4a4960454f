//! `audit report`: what the Auditor saw, as Markdown or JSON.

use serde_json::json;
use setpoint_client::{Audit, ClientError};
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::AuditQuery;

use crate::exit::Exit;
use crate::invocation::GlobalOptions;
use crate::io::Io;
use crate::render::audit;
use crate::report;

pub(super) async fn report(
    auditor: &dyn Audit,
    now: Timestamp,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let query = AuditQuery { query_id: format!("query-{}", now.as_micros()) };
    let audited = auditor.report(&query).await?;
    if options.is_json {
        io.out.json(&json!(audited))?;
    } else {
        io.out.lines(&audit::report(&audited.report, &io.zone))?;
    }
    if !options.is_quiet {
        if let Some(unread) = &audited.unread {
            report::note(io, &format!("the report ends before the journal does: {unread}"));
        }
        if let Some(unwritten) = &audited.unwritten {
            report::note(
                io,
                &format!("the report could not be written down, and is made again: {unwritten}"),
            );
        }
        if audited.is_elsewhere {
            report::note(io, "another process audits at the moment; this is what it would say by now");
        }
    }
    Ok(Exit::DONE)
}
