//! Sums over a task's records: what was used, what is reserved, when the clock started.

use setpoint_protocol::RoleId;
use setpoint_protocol::message::UsageReport;
use setpoint_protocol::record::{Purpose, Usage};
use setpoint_protocol::settings::Budgets;

/// The sums. Reserved at `Asked`, settled at `Answered`, both from records, so exact across a restart.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Usage so far; calls count from the moment they are asked.
    pub usage: UsageReport,
    /// The task's clock at the `TaskSpec`.
    pub spec_clock_ms: Option<u64>,
}

impl Ledger {
    /// Counts a model call that is about to be made.
    pub(crate) fn model_asked(&mut self, role: RoleId) {
        self.usage.calls += 1;
        self.usage.by_role.entry(role).or_default().calls += 1;
    }

    /// Counts a tool call that is about to be made.
    pub(crate) fn tool_asked(&mut self, role: RoleId) {
        self.usage.tool_calls += 1;
        self.usage.by_role.entry(role).or_default().tool_calls += 1;
    }

    /// Settles a model call.
    pub(crate) fn model_answered(&mut self, role: RoleId, usage: Usage) {
        self.usage.tokens_in = self.usage.tokens_in.saturating_add(usage.tokens_in);
        self.usage.tokens_out = self.usage.tokens_out.saturating_add(usage.tokens_out);
        let share = self.usage.by_role.entry(role).or_default();
        share.tokens_in = share.tokens_in.saturating_add(usage.tokens_in);
        share.tokens_out = share.tokens_out.saturating_add(usage.tokens_out);
    }

    /// Which hard budget another model call would break, with its numbers. One call is kept back for the report.
    #[must_use]
    pub fn broken_by(&self, budgets: &Budgets, purpose: Purpose) -> Option<String> {
        let kept_back = u64::from(purpose != Purpose::Report);
        if let Some(max) = budgets.calls
            && self.usage.calls + 1 + kept_back > max
        {
            return Some(format!(
                "{} of {max} model calls are used and one is kept for the report",
                self.usage.calls
            ));
        }
        let tokens = self.usage.tokens_in.saturating_add(self.usage.tokens_out);
        match budgets.tokens {
            Some(max) if tokens >= max => Some(format!("{tokens} of {max} tokens are used")),
            _ => None,
        }
    }
}
