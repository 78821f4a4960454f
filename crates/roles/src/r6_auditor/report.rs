//! The operator's reports.

use setpoint_protocol::Timestamp;
use setpoint_protocol::message::{AuditReport, Finding, FindingKind};

use super::machine::Auditor;
use super::window::Window;

/// Trigger of a report that the clock caused.
const INTERVAL: &str = "interval";

impl Auditor {
    /// Returns what was observed in this window and the previous one, and over all time. Changes nothing, so it can
    /// be called at any time; `query` is repeated in it.
    #[must_use]
    pub fn report(&self, query: &str, at: Timestamp) -> AuditReport {
        self.report_on(&self.window.after(&self.before), query, at)
    }

    /// Returns the report of the window that ends now and opens the next; `None` if nothing was observed in it.
    pub fn close_window(&mut self, at: Timestamp) -> Option<AuditReport> {
        self.window.from?;
        let report = self.report_on(&self.window, INTERVAL, at);
        self.before = std::mem::take(&mut self.window);
        Some(report)
    }

    /// Returns when the window opened; `None` if nothing was observed in it yet.
    #[must_use]
    pub fn window_from(&self) -> Option<Timestamp> {
        self.window.from
    }

    fn report_on(&self, window: &Window, trigger: &str, at: Timestamp) -> AuditReport {
        let of = |is_it: fn(FindingKind) -> bool| -> Vec<Finding> {
            window.findings.iter().filter(|finding| is_it(finding.kind)).cloned().collect()
        };
        let from = window.from.unwrap_or(at);
        AuditReport {
            trigger: trigger.to_owned(),
            at,
            position: self.position,
            window_from: from,
            window_to: window.to.unwrap_or(from),
            tasks_observed: u64::try_from(window.tasks.len()).unwrap_or(u64::MAX),
            total_corrections: window.corrections,
            gap_trends: window.trends.clone(),
            boundary_violations: of(is_boundary),
            drift_alerts: of(is_drift),
            anomalies: of(|kind| !is_boundary(kind) && !is_drift(kind)),
            findings_left_out: window.left_out,
            tool_health: window.tools(),
            model_health: window.models(),
            role_health: self.health.roles(),
            false_claims: self.health.claims(),
            lifetime: self.totals.clone(),
        }
    }
}

fn is_boundary(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::BoundaryViolation | FindingKind::MemoryWrite)
}

fn is_drift(kind: FindingKind) -> bool {
    matches!(kind, FindingKind::RoleDrift | FindingKind::ToolUnhealthy)
}
