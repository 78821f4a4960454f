//! `audit query`: lists findings.

use clap::Args;
use setpoint_app::{Error, ErrorKind};
use setpoint_audit::view::FindingFilter;
use setpoint_protocol::message::{FindingKind, Severity};
use setpoint_protocol::{RoleId, Timestamp};

use super::render;
use crate::args::values::listed;
use crate::moment::{self, TimeArgument};
use crate::report;
use crate::{App, Exit, Io};

/// Findings that are listed by default.
pub const FINDINGS_LISTED: usize = 50;

/// List findings, newest first
#[derive(Args, Debug, Default)]
pub(super) struct Query {
    /// List only findings of this kind, such as `false_claim`
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<FindingKind>,
    /// List only findings of this task: its id, or the start or end of its id
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// List only findings that this role is accountable for, such as `R3` or `planner`
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<RoleId>,
    /// List only findings of this severity or above: notice, warning, violation
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    severity: Option<Severity>,
    /// List only findings since TIME: a time, a day, or a duration such as -7d
    #[arg(long, value_name = "TIME", value_parser = moment::read, allow_hyphen_values = true)]
    since: Option<TimeArgument>,
    /// List at most N [default: 50]
    #[arg(long, value_name = "N", value_parser = listed)]
    limit: Option<usize>,
}

fn kind(text: &str) -> Result<FindingKind, String> {
    text.parse()
        .map_err(|_| format!("expected one of {}", FindingKind::ALL.map(FindingKind::name).join(", ")))
}

fn role(text: &str) -> Result<RoleId, String> {
    let is_it = |role: &RoleId| role.name() == text || role.label().eq_ignore_ascii_case(text);
    RoleId::ALL
        .into_iter()
        .find(is_it)
        .ok_or_else(|| format!("expected one of {}", RoleId::ALL.map(RoleId::label).join(", ")))
}

fn severity(text: &str) -> Result<Severity, String> {
    let all = [Severity::Notice, Severity::Warning, Severity::Violation];
    let found = all.into_iter().find(|severity| severity.name() == text);
    found.ok_or_else(|| format!("expected one of {}", all.map(Severity::name).join(", ")))
}

impl Query {
    pub(super) async fn run(self, app: &App<'_>, io: &mut Io) -> Result<Exit, Error> {
        let Query { kind, task, role, severity, since, limit } = self;
        let since = since.map(|at| self::since(at, app, io)).transpose()?;
        let limit = limit.unwrap_or(FINDINGS_LISTED);
        let filter = FindingFilter { kind, task, role, severity, since, limit };
        let found = app.host.audit().await?.findings(&filter).await?;
        let zone = io.zone.clone();
        let lines = || found.iter().flat_map(|line| render::finding_line(line, &zone)).collect();
        report::found(io, &app.options, &found, lines, "no finding matches")?;
        Ok(Exit::DONE)
    }
}

/// Returns the moment that `--since` names.
fn since(at: TimeArgument, app: &App<'_>, io: &Io) -> Result<Timestamp, Error> {
    at.resolve_any(app.now(), &io.zone).map_err(|error| {
        Error::new(ErrorKind::Usage, format!("failed to use the time of `--since`: {error}"))
            .hint("give a day, or a duration before now such as `--since -7d`")
    })
}
