//! `audit report`: what the Auditor found, as Markdown or JSON.

use clap::Args;
use setpoint_app::Error;
use setpoint_protocol::message::AuditQuery;

use super::render;
use crate::report;
use crate::{App, Exit, Io};

/// Report what the system did recently, whether it kept its rules, and where it degrades
#[derive(Args, Debug)]
pub(super) struct Report {}

impl Report {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let query = AuditQuery { query_id: format!("query-{}", app.now().as_micros()) };
        let audited = app.host.audit().await?.report(&query).await?;
        let zone = &io.zone;
        io.out.show(&app.options, &audited, || render::report(&audited.report, zone))?;
        let mut aside = |text: &str| report::aside(io, &app.options, text);
        if let Some(unread) = &audited.unread {
            aside(&format!("the report does not cover the whole journal: {unread}"));
        }
        if let Some(unwritten) = &audited.unwritten {
            aside(&format!("the report could not be stored, and will be made again: {unwritten}"));
        }
        if audited.is_elsewhere {
            aside("another process is auditing; this report shows what it would report now");
        }
        Ok(Exit::DONE)
    }
}
