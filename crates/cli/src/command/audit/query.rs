//! `audit query`: what was found.

use serde_json::json;
use setpoint_client::audit::FindingFilter;
use setpoint_client::{Audit, ClientError};
use setpoint_protocol::Timestamp;

use crate::exit::Exit;
use crate::invocation::{AskedFindings, GlobalOptions};
use crate::io::Io;
use crate::render::audit;
use crate::report;

pub(super) async fn query(
    auditor: &dyn Audit,
    asked: AskedFindings,
    since: Option<Timestamp>,
    options: &GlobalOptions,
    io: &mut Io,
) -> Result<Exit, ClientError> {
    let AskedFindings { kind, task, role, severity, since: _, limit } = asked;
    let found = auditor.findings(&FindingFilter { kind, task, role, severity, since, limit }).await?;
    if options.is_json {
        io.out.json(&json!(found))?;
    } else if !found.is_empty() {
        let lines: Vec<_> = found.iter().flat_map(|line| audit::finding_line(line, &io.zone)).collect();
        io.out.lines(&lines)?;
    } else if !options.is_quiet {
        report::note(io, "no finding is like that");
    }
    Ok(Exit::DONE)
}
