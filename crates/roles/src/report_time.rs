//! Time limit for the report of an abandoned task (SPEC 6.3).

use setpoint_machine::Ctx;
use setpoint_protocol::RoleId;
use setpoint_protocol::limits::{REPORT_MEDIANS, REPORT_MS_MIN};

/// Returns the milliseconds that R2's model has; a slow model gets as much extra time as its answers have taken so
/// far.
pub(crate) fn report_ms(ctx: &Ctx<'_>) -> u64 {
    let model = &ctx.opened.models.of(RoleId::Planner).name;
    let median = ctx.ledger.median_latency_ms(model).unwrap_or_default();
    median.saturating_mul(REPORT_MEDIANS).max(REPORT_MS_MIN)
}
