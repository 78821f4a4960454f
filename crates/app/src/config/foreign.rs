//! Which keys a file of the working directory may set. Such a file may come from anyone, so it never raises a limit,
//! never decides where keys are sent, and never names a model without a notice.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use setpoint_protocol::text::clip;

use super::{ConfigError, Origin, Setting};

/// What such a file may do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Nothing. This is also the rule of every key that is not listed here.
    Never,
    /// Lower the value that holds without the file; no value counts as the largest.
    Lower,
    /// Switch it on.
    SwitchOn,
    /// Set it to this value.
    Only(&'static str),
    /// Set it, with a notice to the person.
    Told,
    /// Set it.
    Free,
}

/// Returns the rule of a key.
pub(super) fn rule(name: &str) -> Rule {
    match name {
        "budgets.calls"
        | "budgets.tokens"
        | "budgets.money"
        | "controller.time_budget_ms"
        | "controller.max_replans"
        | "controller.law2_rounds"
        | "controller.theta"
        // A larger delta accepts a larger distance as close enough; only smaller values are allowed.
        | "controller.delta"
        | "models.idle_ms" => Rule::Lower,
        "run.preview_plan" => Rule::SwitchOn,
        "run.level" => Rule::Only("L0"),
        "models.brain"
        | "models.tool"
        | "models.perceiver"
        | "models.planner"
        | "models.executor"
        | "models.agent_validator"
        | "models.meta_validator"
        | "models.brain_effort"
        | "models.tool_effort" => Rule::Told,
        "models.stream"
        | "controller.law"
        | "controller.alpha"
        | "controller.beta"
        | "controller.lambda"
        | "controller.w1"
        | "controller.w2"
        | "controller.epsilon"
        | "controller.rho"
        | "controller.law2_gradient"
        | "controller.urgency" => Rule::Free,
        _ => Rule::Never,
    }
}

/// Checks whether such a file may replace the value `before` by `now`.
pub(super) fn check(name: &str, before: Option<&Setting>, now: &Setting) -> Result<(), ConfigError> {
    let is_lifted = |before: &&Setting| match rule(name) {
        Rule::Lower => is_more(&now.value, &before.value),
        Rule::SwitchOn => before.value == Value::Bool(true) && now.value != before.value,
        Rule::Only(value) => now.value != value && now.value != before.value,
        Rule::Never | Rule::Told | Rule::Free => false,
    };
    if rule(name) == Rule::Never {
        return Err(ConfigError::Foreign { origin: now.origin.clone(), key: clip(name, 100) });
    }
    match before.filter(is_lifted) {
        None => Ok(()),
        Some(before) => Err(ConfigError::Lifted {
            origin: now.origin.clone(),
            key: clip(name, 100),
            lift: format!("would change from {} ({}) to {}", before.value, before.origin, now.value),
        }),
    }
}

/// Returns whether a limit is higher than another; no limit is the highest.
fn is_more(now: &Value, before: &Value) -> bool {
    match (now.as_f64(), before.as_f64()) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(now), Some(before)) => now > before,
    }
}

/// Returns the notices about values that such files chose, one line each.
pub(super) fn notices(settings: &BTreeMap<String, Setting>, foreign: &[PathBuf]) -> Vec<String> {
    let is_foreign = |origin: &Origin| match origin {
        Origin::File { path, .. } => foreign.contains(path),
        Origin::Default | Origin::Env(_) | Origin::Flag(_) => false,
    };
    let chosen = settings.iter().filter(|(name, one)| rule(name) == Rule::Told && is_foreign(&one.origin));
    let line = |(name, one): (&String, &Setting)| {
        let value = one.value.as_str().map_or_else(|| one.value.to_string(), str::to_owned);
        format!("{name} = {} comes from {}, a file of the working directory", clip(&value, 200), one.origin)
    };
    chosen.map(line).collect()
}
