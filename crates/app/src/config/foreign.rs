//! What a file that came with the working directory may say. Anybody may have written it, so it never lifts a limit that
//! holds for the person, never says where keys are sent, and never names a model without that being told.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use setpoint_protocol::text::clip;

use super::{ConfigError, Origin, Setting};

/// What such a file may do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Nothing: also what holds for every key that nobody thought of here.
    Never,
    /// Make it smaller than it is without the file; no value at all is the largest.
    Lower,
    /// Switch it on.
    SwitchOn,
    /// Set it, and whoever runs a task is told.
    Told,
    /// Set it.
    Free,
}

/// The rule of a key.
pub(super) fn rule(name: &str) -> Rule {
    match name {
        "budgets.calls"
        | "budgets.tokens"
        | "budgets.money"
        | "controller.time_budget_ms"
        | "controller.max_replans"
        | "controller.law2_rounds"
        | "controller.theta"
        // A greater distance is close enough.
        | "controller.delta"
        | "models.idle_ms" => Rule::Lower,
        "run.preview_plan" => Rule::SwitchOn,
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

/// Whether such a file may put this in the place of what stood before.
pub(super) fn check(name: &str, before: Option<&Setting>, now: &Setting) -> Result<(), ConfigError> {
    let is_lifted = |before: &&Setting| match rule(name) {
        Rule::Lower => is_more(&now.value, &before.value),
        Rule::SwitchOn => before.value == Value::Bool(true) && now.value != before.value,
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
            lift: format!("is {}, and without that line {} ({})", now.value, before.value, before.origin),
        }),
    }
}

/// Whether a limit is above another; no limit is above all.
fn is_more(now: &Value, before: &Value) -> bool {
    match (now.as_f64(), before.as_f64()) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(now), Some(before)) => now > before,
    }
}

/// What such files choose for a task and its person should know, a line each.
pub(super) fn told(settings: &BTreeMap<String, Setting>, foreign: &[PathBuf]) -> Vec<String> {
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
