//! `audit follow`: audits in this process and prints findings as they appear.

use std::net::SocketAddr;

use clap::Args;
use serde_json::json;
use setpoint_app::{Error, ErrorKind};
use setpoint_audit::view::{AUDIT_EVENTS_MAX, AuditEvent, MetricsDoor};
use tokio::sync::mpsc;

use super::render;
use crate::report;
use crate::{App, Exit, Io, Options};

/// Audit in this process until it is stopped, and print findings as they come
#[derive(Args, Debug)]
pub(super) struct Follow {
    /// Serve metrics for Prometheus at this address, such as 127.0.0.1:9464, under /metrics
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Let other machines read the metrics
    #[arg(long, requires = "metrics")]
    metrics_public: bool,
}

impl Follow {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let metrics = self.metrics.map(|address| MetricsDoor { address, is_public: self.metrics_public });
        let (auditor, options) = (app.host.audit().await?, &app.options);
        let mut interrupts = (io.interrupts)().map_err(|error| {
            Error::new(ErrorKind::Internal, format!("failed to listen for interrupts: {error}"))
                .hint("start it from a shell")
        })?;
        let (sender, mut events) = mpsc::channel(AUDIT_EVENTS_MAX);
        let mut auditing = Box::pin(async move { auditor.follow(sender, metrics).await });
        let mut is_stopping = false;
        loop {
            tokio::select! {
                biased;
                Some(()) = interrupts.recv() => {
                    if is_stopping {
                        return Ok(Exit::CANCELLED);
                    }
                    // Finish what was read: it is still recorded and sealed.
                    is_stopping = true;
                    events.close();
                }
                event = events.recv(), if !is_stopping => match event {
                    Some(event) => {
                        show(&event, options, io)?;
                        // Nothing reads stdout any more, so stop.
                        if io.out.is_gone() {
                            is_stopping = true;
                            events.close();
                        }
                    }
                    None => is_stopping = true,
                },
                done = &mut auditing => {
                    while let Ok(event) = events.try_recv() {
                        show(&event, options, io)?;
                    }
                    return done.map(|()| Exit::DONE);
                }
            }
        }
    }
}

fn show(event: &AuditEvent, options: &Options, io: &mut Io) -> Result<(), Error> {
    match event {
        AuditEvent::Finding(line) => {
            io.out.show(options, &json!({ "finding": line }), || render::finding_line(line, &io.zone))?;
        }
        AuditEvent::Report(report) => {
            io.out.show(options, &json!({ "report": report }), || render::digest(report, &io.zone))?;
        }
        AuditEvent::Note(note) => report::aside(io, options, note),
        AuditEvent::Unreadable => {
            let text = "the audit log cannot be read; `setpoint audit verify` says what is wrong";
            report::aside(io, options, text);
        }
    }
    Ok(())
}
