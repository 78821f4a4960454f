//! Describes the remainder of a task's budgets, in words for a model.

use setpoint_machine::Ctx;
use setpoint_protocol::RoleId;
use setpoint_protocol::record::Purpose;

/// Returns one sentence; empty if nothing is limited. The call being asked counts as used, and the call reserved for
/// the report of an abandon is not counted as available.
#[must_use]
pub fn left(ctx: &Ctx<'_>) -> String {
    let (budgets, ledger) = (&ctx.opened.budgets, ctx.ledger);
    let mut parts: Vec<String> = Vec::new();
    if let Some(max) = budgets.calls {
        let left = max.saturating_sub(ledger.usage.calls).saturating_sub(2);
        parts.push(format!("{left} of {max} model calls after this one"));
    }
    // If no further call is allowed, the remaining tokens cannot be used either.
    let room = ledger.room(budgets, Purpose::Plan, ctx.opened.models.of(RoleId::Planner)).unwrap_or_default();
    if let Some(max) = budgets.tokens {
        parts.push(format!("{} of {max} tokens", room.tokens.unwrap_or_default()));
    }
    if let Some(max) = budgets.money {
        parts.push(format!("{} of {max} in money", room.money.unwrap_or_default()));
    }
    if parts.is_empty() { String::new() } else { format!("Left for the whole task: {}.", parts.join(", ")) }
}

/// The remainder of the tightest budget, in levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// More than half, or unlimited.
    #[default]
    Much,
    /// At most half.
    Half,
    /// At most a fifth.
    Little,
}

/// Returns the level of the budgets of calls, tokens and money.
#[must_use]
pub fn level(ctx: &Ctx<'_>) -> Level {
    let (budgets, ledger) = (&ctx.opened.budgets, ctx.ledger);
    let usage = &ledger.usage;
    let tokens = usage.tokens_in.saturating_add(usage.tokens_out);
    let cost = usage.cost.unwrap_or_default().units();
    let shares = [
        budgets.calls.map(|max| share(usage.calls as f64, max as f64)),
        budgets.tokens.map(|max| share(tokens as f64, max as f64)),
        budgets.money.map(|max| share(cost, max.units())),
    ];
    let used = shares.into_iter().flatten().fold(0.0_f64, f64::max);
    match used {
        used if used >= 0.8 => Level::Little,
        used if used >= 0.5 => Level::Half,
        _ => Level::Much,
    }
}

fn share(used: f64, max: f64) -> f64 {
    if max > 0.0 { used / max } else { 1.0 }
}
