//! What the operator is told.

use setpoint_protocol::Timestamp;
use setpoint_protocol::message::{AuditReport, Finding, FindingKind};

use super::machine::Auditor;
use super::window::Window;

/// What a report says caused it, where it was the clock.
const INTERVAL: &str = "interval";

impl Auditor {
    /// What was seen in this window and the one before it, and over all time. Changes nothing, so it can be asked for as
    /// often as one likes; `query` is repeated.
    #[must_use]
    pub fn report(&self, query: &str, at: Timestamp) -> AuditReport {
        self.report_on(&self.window.after(&self.before), query, at)
    }

    /// The report of the window that ends now; the next one begins. `None` where nothing was seen in it.
    pub fn close_window(&mut self, at: Timestamp) -> Option<AuditReport> {
        self.window.from?;
        let report = self.report_on(&self.window, INTERVAL, at);
        self.before = std::mem::take(&mut self.window);
        Some(report)
    }

    /// Since when the window is open; `None` where nothing was seen in it yet.
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
