//! A scripted Auditor that records what it is asked.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use setpoint_app::{Audit, Error, ErrorKind};
use setpoint_audit::view::*;
use setpoint_protocol::message::*;
use setpoint_protocol::record::ModelFailureKind;
use setpoint_protocol::tool::ErrorKind as ToolError;
use setpoint_protocol::{RoleId, TaskId};
use tokio::sync::mpsc;

use super::memory::{HOSTILE, NOW, after};
use super::organisation::Ears;

/// A scripted Auditor.
#[derive(Default)]
pub(crate) struct FakeAudit {
    pub(crate) audited: Option<AuditedReport>,
    pub(crate) findings: Vec<FindingLine>,
    pub(crate) verdict: AuditVerdict,
    /// The events that it sends; then it waits until the receiver closes.
    pub(crate) events: Vec<AuditEvent>,
    pub(crate) is_broken: bool,
    /// The process that it interrupts after its last event.
    pub(crate) ears: Option<Arc<Ears>>,
    /// Whether it interrupts twice, and does not end by itself.
    pub(crate) is_stuck: bool,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl FakeAudit {
    fn ask(&self, what: String) -> Result<(), Error> {
        self.asked.lock().unwrap().push(what);
        if self.is_broken {
            return Err(Error::new(
                ErrorKind::Configuration,
                "failed to use /data/audit: \u{1b}[2Jit is a file",
            )
            .hint("see that the audit directory can be read and written"));
        }
        Ok(())
    }
}

#[async_trait]
impl Audit for FakeAudit {
    async fn report(&self, query: &AuditQuery) -> Result<AuditedReport, Error> {
        self.ask(format!("report {}", query.query_id))?;
        let mut audited = self.audited.clone().unwrap();
        audited.report.trigger = query.query_id.clone();
        Ok(audited)
    }

    async fn findings(&self, filter: &FindingFilter) -> Result<Vec<FindingLine>, Error> {
        let FindingFilter { kind, task, role, severity, since, limit } = filter;
        let since = since.map(|since| since.to_string());
        self.ask(format!("findings {kind:?} {task:?} {role:?} {severity:?} {since:?} {limit}"))?;
        Ok(self.findings.clone())
    }

    async fn verify(&self, against: &VerifyOptions) -> Result<AuditVerdict, Error> {
        let VerifyOptions { checkpoints, key, log_only } = against;
        self.ask(format!("verify {checkpoints:?} {key:?} {log_only}"))?;
        Ok(self.verdict.clone())
    }

    async fn follow(
        &self,
        events: mpsc::Sender<AuditEvent>,
        metrics: Option<MetricsDoor>,
    ) -> Result<(), Error> {
        self.ask(format!("follow {metrics:?}"))?;
        for event in &self.events {
            drop(events.send(event.clone()).await);
        }
        if let Some(ears) = &self.ears {
            let sender = ears.interrupts.lock().unwrap().clone().unwrap();
            sender.send(()).await.unwrap();
            if self.is_stuck {
                sender.send(()).await.unwrap();
                std::future::pending::<()>().await;
            }
        }
        events.closed().await;
        Ok(())
    }
}

pub(crate) fn finding(kind: FindingKind, role: RoleId, text: &str) -> Finding {
    let task_id = Some(TaskId::mint("count the files", 7));
    Finding { kind, accountable: role, task_id, records: vec![3, 17], at: after(-1.0), text: text.to_owned() }
}

pub(crate) fn line(entry: u64, finding: Finding) -> FindingLine {
    FindingLine { entry, severity: finding.kind.severity(), finding }
}

/// Returns a report with entries in every section.
pub(crate) fn full() -> AuditedReport {
    let loss = |d, l| Loss { d, p: 0.5, omega: 0.2, l };
    let report = AuditReport {
        trigger: String::new(),
        at: NOW,
        position: 81_200,
        window_from: after(-1.0),
        window_to: after(-0.5),
        tasks_observed: 3,
        total_corrections: 2,
        gap_trends: vec![GapTrend {
            task_id: TaskId::mint("count the files", 7),
            rounds: vec![
                GapRound { loss: loss(0.5, 0.5), directive: MacroState::ChangePath },
                GapRound { loss: loss(0.0, 0.08), directive: MacroState::Accept },
            ],
            is_ended: true,
        }],
        boundary_violations: vec![finding(FindingKind::BoundaryViolation, RoleId::Executor, HOSTILE)],
        drift_alerts: vec![finding(FindingKind::RoleDrift, RoleId::AgentValidator, "it rose | a lot")],
        anomalies: vec![Finding {
            task_id: None,
            records: (1..20).collect(),
            ..finding(FindingKind::JournalLoss, RoleId::Runtime, "lost")
        }],
        findings_left_out: 4,
        tool_health: vec![ToolHealth {
            tool: "shell".to_owned(),
            calls: 10,
            failed: 3,
            errors: vec![
                ErrorCount { kind: Some(ToolError::NotFound), count: 2 },
                ErrorCount { kind: None, count: 1 },
            ],
            duration_ms: 425,
        }],
        model_health: vec![ModelHealth {
            model: "openai/gpt".to_owned(),
            calls: 41,
            failures: vec![FailureCount { kind: Some(ModelFailureKind::Timeout), count: 1 }],
            retries: 2,
            cut: 0,
            malformed: 1,
            duration_ms: 81_020,
        }],
        role_health: vec![RoleHealth {
            role: RoleId::Executor,
            model: "openai/gpt".to_owned(),
            rate: DriftRate::Failure,
            seen: 400,
            happened: 40,
            mean: 0.1,
            recent: 0.125,
            bound: Some(0.3),
            score: 0.12,
        }],
        false_claims: vec![ClaimRate { model: "openai/gpt".to_owned(), claims: 38, refuted: 3 }],
        lifetime: AuditTotals {
            records: 81_200,
            tasks: 1_234,
            accepted: 1_200,
            with_gaps: 20,
            abandoned: 10,
            replans: 99,
            corrections: 321,
            model_calls: 20_000,
            tool_calls: 7_000,
            tokens: 9_021_000,
            findings: vec![FindingCount { kind: FindingKind::RoleDrift, count: 1 }],
        },
    };
    AuditedReport { report, is_elsewhere: false, unread: None, unwritten: None }
}
