//! `audit report`: what the Auditor found, as Markdown or JSON.

use clap::Args;
use serde_json::json;
use setpoint_app::{Audit, Error};
use setpoint_protocol::Timestamp;
use setpoint_protocol::message::AuditQuery;

use super::render;
use crate::app::App;
use crate::exit::Exit;
use crate::io::Io;
use crate::options::Options;
use crate::report;

/// Report what the system did lately, whether it kept its rules, and where it degrades
#[derive(Args, Debug)]
pub(super) struct Report {}

impl Report {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        report(&*app.host.audit().await?, app.now(), &app.options, io).await
    }
}

async fn report(auditor: &dyn Audit, now: Timestamp, options: &Options, io: &mut Io) -> Result<Exit, Error> {
    let query = AuditQuery { query_id: format!("query-{}", now.as_micros()) };
    let audited = auditor.report(&query).await?;
    if options.is_json {
        io.out.json(&json!(audited))?;
    } else {
        io.out.lines(&render::report(&audited.report, &io.zone))?;
    }
    if !options.is_quiet {
        if let Some(unread) = &audited.unread {
            report::note(io, &format!("the report does not cover the whole journal: {unread}"));
        }
        if let Some(unwritten) = &audited.unwritten {
            report::note(io, &format!("the report could not be stored, and will be made again: {unwritten}"));
        }
        if audited.is_elsewhere {
            report::note(io, "another process is auditing; this report shows what it would report now");
        }
    }
    Ok(Exit::DONE)
}
