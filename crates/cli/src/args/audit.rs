//! The grammar of `audit`, and what its arguments ask for.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use setpoint_client::audit::MetricsDoor;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FindingKind, Severity};

use super::FINDINGS_LISTED;
use super::values::records;
use crate::invocation::{AskedFindings, At, AuditCommand, AuditVerify};
use crate::moment;

#[derive(Debug, Subcommand)]
pub(super) enum AuditVerb {
    /// Say what the system did of late, whether it kept its rules, and where it degrades
    Report,
    /// List what was found, newest first
    Query(FindingArgs),
    /// Check that nobody changed the audit log, nor the journal behind its back
    Verify {
        /// Hold the log against these exported checkpoints
        #[arg(long, value_name = "FILE")]
        checkpoints: Option<PathBuf>,
        /// The key that the log must be signed with, in hexadecimal
        #[arg(long, value_name = "HEX")]
        key: Option<String>,
        /// Check the log alone, not the journal against it
        #[arg(long)]
        log_only: bool,
    },
    /// Audit in this process until it is stopped, and say what is found as it is found
    Follow {
        /// Serve the totals for Prometheus at this address, such as 127.0.0.1:9464, under /metrics
        #[arg(long, value_name = "ADDRESS")]
        metrics: Option<SocketAddr>,
        /// Let others than this machine read them
        #[arg(long, requires = "metrics")]
        metrics_public: bool,
    },
}

impl Default for AuditVerb {
    fn default() -> AuditVerb {
        AuditVerb::Query(FindingArgs::default())
    }
}

#[derive(Args, Debug, Default)]
pub(super) struct FindingArgs {
    /// Only findings of this kind, such as `false_claim`
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<FindingKind>,
    /// Only this task's: its id, or the beginning or the end of it
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Only those that this role is accountable for, such as `R3` or `planner`
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<RoleId>,
    /// Only those that weigh at least so much: notice, warning, violation
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    severity: Option<Severity>,
    /// Only from TIME on: a time, a day, or a while before now such as -7d
    #[arg(long, value_name = "TIME", value_parser = moment::read, allow_hyphen_values = true)]
    since: Option<At>,
    /// How many at most
    #[arg(long, value_name = "N", value_parser = records)]
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

pub(super) fn command(verb: AuditVerb) -> AuditCommand {
    match verb {
        AuditVerb::Report => AuditCommand::Report,
        AuditVerb::Query(FindingArgs { kind, task, role, severity, since, limit }) => {
            let limit = limit.unwrap_or(FINDINGS_LISTED);
            AuditCommand::Query(AskedFindings { kind, task, role, severity, since, limit })
        }
        AuditVerb::Verify { checkpoints, key, log_only } => {
            AuditCommand::Verify(AuditVerify { checkpoints, key, log_only })
        }
        AuditVerb::Follow { metrics, metrics_public } => {
            let door = metrics.map(|address| MetricsDoor { address, is_public: metrics_public });
            AuditCommand::Follow { metrics: door }
        }
    }
}
