//! Whether a check can run at all, and on what.

use setpoint_protocol::limits::VALUE_DEPTH_MAX;
use setpoint_protocol::predicate::{Check, CheckOn, Predicate};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{CallReading, Effect, ToolCall};
use setpoint_protocol::{Any, ToolId};

use super::Rules;
use crate::blocking::{refusal, target_name};
use crate::judging::runs_alone;

/// Maximum bytes of a probe's input; more is malformed.
const PROBE_BYTES_MAX: usize = 16 * 1024;
/// The tool that runs command lines.
pub(super) const SHELL: &str = "shell";
const NOT_READ_ONLY: &str =
    "is not provably read-only; make that call part of the work and check `call` or `output`";
/// Maximum length, in characters, of an error quoted in a reason.
const ERROR_CHARS_MAX: usize = 160;

/// Reads a check.
///
/// # Errors
/// Returns why it could never run, as the rest of a sentence about its criterion.
pub(super) fn check(value: &Any, rules: &Rules<'_>) -> Result<Check, String> {
    let malformed = |error: &dyn std::fmt::Display| {
        format!("has a malformed check: {}", clip(&error.to_string(), ERROR_CHARS_MAX))
    };
    let unusable = |error: &dyn std::fmt::Display| malformed(&format_args!("failed to {error}"));
    if value.is_deep() {
        return Err(malformed(&format_args!("it is nested deeper than {VALUE_DEPTH_MAX}")));
    }
    let mut check: Check = serde_json::from_value(value.0.clone()).map_err(|error| malformed(&error))?;
    check.expect.validate().map_err(|error| unusable(&error))?;
    match &mut check.on {
        CheckOn::Output => {}
        CheckOn::Probe(call) => probe(call, &check.expect, rules)?,
        CheckOn::Call { tool, which } => {
            let id: ToolId = tool.parse().map_err(|error| unusable(&error))?;
            if let Some(reason) = rules.tool_refusal(&id) {
                return Err(format!("has a check that {reason}"));
            }
            if id.tool() == SHELL {
                *which = Some(command(which.as_deref(), &check.expect, rules)?);
            }
        }
    }
    Ok(check)
}

/// Returns the command that a check names, in the normal form of calls' targets.
fn command(which: Option<&str>, expect: &Predicate, rules: &Rules<'_>) -> Result<String, String> {
    let Some(which) = which.map(str::trim).filter(|which| !which.is_empty()) else {
        return Err(
            "has a check on a call of `shell` that does not say which: give `which`, the command".to_owned()
        );
    };
    let call = ToolCall { tool: SHELL.to_owned(), input: Any(serde_json::json!({ "command": which })) };
    let target = rules.reader.read(&call, rules.surroundings).target;
    let target = if target.is_empty() { which.to_owned() } else { target };
    if !runs_alone(which, &target, expect) {
        let which = clip(which, 80);
        return Err(format!(
            "has a check that can never hold: `{which}` is no single command that runs alone; name one, or probe what it leaves"
        ));
    }
    Ok(target)
}

/// Returns why a check shows less than its criterion, which quotes a command: the check looks at another one. Text
/// quoted in the criterion and expected in the output is not a command.
pub(super) fn weaker_than(text: &str, check: &Check) -> Option<String> {
    let CheckOn::Call { which: Some(which), .. } = &check.on else { return None };
    let quoted = text.split('`').skip(1).step_by(2).map(str::trim).filter(|quoted| quoted.contains(' '));
    let words =
        |text: &str| text.split_whitespace().map(|word| word.replace(['\'', '"'], "")).collect::<Vec<_>>();
    let named = words(which);
    let expected = serde_json::to_string(&check.expect).unwrap_or_default();
    let mut others = quoted.filter(|quoted| !named.starts_with(&words(quoted)) && !expected.contains(quoted));
    others
        .next()
        .map(|quoted| format!("quotes `{}`, but its check names `{}`", clip(quoted, 80), clip(which, 80)))
}

/// Returns what a check probes, each as `<tool>: <target>`.
pub(super) fn targets(check: &Check, rules: &Rules<'_>) -> Vec<String> {
    match &check.on {
        CheckOn::Probe(call) => {
            let CallReading { tools, target, .. } = rules.reader.read(call, rules.surroundings);
            tools.iter().map(|tool| target_name(tool.as_str(), &target)).collect()
        }
        CheckOn::Output | CheckOn::Call { .. } => Vec::new(),
    }
}

/// Returns the tool whose calls a check looks at, if a sub-task limited to `tools` (empty: all) cannot call it.
pub(super) fn out_of_reach(check: &Check, tools: &[ToolId]) -> Option<ToolId> {
    let CheckOn::Call { tool, .. } = &check.on else { return None };
    let looked_at: ToolId = tool.parse().ok()?;
    let reached = |tool: &ToolId| tool.covers(&looked_at) || looked_at.covers(tool);
    (!tools.is_empty() && !tools.iter().any(reached)).then_some(looked_at)
}

fn probe(call: &ToolCall, expect: &Predicate, rules: &Rules<'_>) -> Result<(), String> {
    let named: Option<ToolId> = call.tool.parse().ok().filter(|id: &ToolId| id.as_str() == id.tool());
    match named.as_ref().map(|tool| rules.tool_refusal(tool)) {
        None => {
            let name = clip(&call.tool, 60);
            return Err(format!("has a check that names the tool `{name}`, which does not exist"));
        }
        Some(Some(reason)) => return Err(format!("has a check that {reason}")),
        Some(None) => {}
    }
    if call.input.to_bytes().len() > PROBE_BYTES_MAX {
        return Err(format!("has a malformed check: its probe takes more than {PROBE_BYTES_MAX} bytes"));
    }
    let reading = rules.reader.read_probe(call, rules.surroundings);
    if let Some(reason) = refusal(rules.limits, &reading) {
        return Err(format!("has a check whose probe is refused: {reason}"));
    }
    match reading.effect {
        Effect::ReadOnly => {}
        Effect::Unsafe => return Err(format!("has a check whose probe {NOT_READ_ONLY}")),
    }
    // What runs in the sandbox may print anything, so that it must be one program, as in a check on a call.
    let as_work = rules.reader.read(call, rules.surroundings);
    let command = commanded(call).unwrap_or_default();
    if as_work.effect == Effect::Unsafe && !runs_alone(command, &as_work.target, expect) {
        let command = clip(command, 80);
        return Err(format!(
            "has a check whose probe `{command}` is no single command that runs alone; name one"
        ));
    }
    Ok(())
}

/// Returns the command of a call that runs one.
pub(super) fn commanded(call: &ToolCall) -> Option<&str> {
    (call.tool == SHELL).then(|| call.input.get("command")?.as_str()).flatten()
}
