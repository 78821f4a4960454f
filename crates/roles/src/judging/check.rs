//! Judges a criterion by its check, in code.

use serde_json::Value;
use std::borrow::Cow;

use setpoint_protocol::Any;
use setpoint_protocol::message::{
    Cite, Criterion, FailureClass, JudgedBy, Shown, Strength, Verdict, VerdictWord,
};
use setpoint_protocol::predicate::{Check, CheckOn, Comparison, Finding, Observation, Predicate};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, ToolCall, ToolRecord};

use super::case::Case;
use super::cut::{PredicateOutcome, look};
use super::executed::{changed_by_the_work, words};
use super::left_out::is_nothing;
use super::messages::{NOTHING, QUOTE_CHARS_MAX, class_of_error, first_error, has_printed, without_errors};
use super::programs::EXITS;
use super::self_made::is_self_made;
use super::strength::{is_a_look, of_check, programs};
use super::{OWN_JUDGED_SINCE, WEIGHED_SINCE};
use crate::evidence::{command_of, name_of};

/// Maximum length, in characters, of a command or path that is quoted in a reason.
const NAME_CHARS_MAX: usize = 80;

/// Returns the verdict on one criterion by its check.
#[must_use]
pub fn by_check(criterion: &Criterion, check: &Check, case: &Case<'_>) -> Verdict {
    let seen = match &check.on {
        CheckOn::Output => on_output(&check.expect, case),
        CheckOn::Probe(call) => on_probe(call, &check.expect, case),
        CheckOn::Call { tool, which } => on_call(tool, which.as_deref(), &check.expect, case),
    };
    let CheckOutcome { finding: Finding { holds, why }, class, cites, vacuous, record, ran, unevaluable } =
        seen;
    let word = if holds { VerdictWord::Pass } else { VerdictWord::Fail };
    let verdict = Verdict { unevaluable, ..blank(criterion, word, why, cites, JudgedBy::Check) };
    if !holds {
        let shown = if ran { Shown::Refuted } else { Shown::NotShown };
        return Verdict { shown: Some(shown), failure_class: class, ..verdict };
    }
    Verdict {
        strength: of_check(criterion, check, case),
        vacuous,
        self_made: record.is_some_and(|record| is_self_made(record, criterion, case)),
        ..verdict
    }
}

/// Returns a verdict on which nothing else is known.
pub(super) fn blank(
    criterion: &Criterion,
    verdict: VerdictWord,
    evidence: String,
    cites: Vec<Cite>,
    judged_by: JudgedBy,
) -> Verdict {
    Verdict {
        criterion_id: criterion.id.clone(),
        criterion: criterion.criterion.clone(),
        mode: criterion.mode,
        verdict,
        shown: None,
        failure_class: None,
        evidence,
        cites,
        judged_by,
        strength: Strength::Proof,
        vacuous: false,
        unevaluable: false,
        self_made: false,
    }
}

impl CheckOutcome<'_> {
    /// Reports that there is no evidence either way.
    fn nothing(why: String, class: Option<FailureClass>) -> Self {
        CheckOutcome::of(Finding { holds: false, why }, class)
    }

    fn of(finding: Finding, class: Option<FailureClass>) -> Self {
        CheckOutcome {
            finding,
            class,
            cites: Vec::new(),
            vacuous: false,
            record: None,
            ran: false,
            unevaluable: false,
        }
    }
}

/// The result of a check.
struct CheckOutcome<'a> {
    finding: Finding,
    /// Class of the failure, if the check failed.
    class: Option<FailureClass>,
    cites: Vec<Cite>,
    vacuous: bool,
    /// Call that was looked at.
    record: Option<&'a ToolRecord>,
    /// Whether the check had anything to look at.
    ran: bool,
    /// Whether the predicate does not apply to what was observed.
    unevaluable: bool,
}

fn on_output<'a>(expect: &Predicate, case: &Case<'a>) -> CheckOutcome<'a> {
    let text = case.output.to_text();
    let value = match &case.output.0 {
        Value::Null | Value::String(_) => None,
        value => Some(value),
    };
    let observed = Observation { text: &text, value, exit_code: None };
    let finding = expect.evaluate_against(&observed, &claim(case.output));
    CheckOutcome {
        cites: vec![Cite::OUTPUT],
        ran: true,
        ..CheckOutcome::of(finding, class_of_the_work(case))
    }
}

fn on_probe<'a>(call: &ToolCall, expect: &Predicate, case: &Case<'a>) -> CheckOutcome<'a> {
    let Some(probed) = case.probes.of(call) else {
        let why = format!("the probe {} was not made", clip(&call.tool, 80));
        return CheckOutcome::nothing(why, Some(FailureClass::Environmental));
    };
    let record = &probed.record;
    let observed = observed(&probed.text, probed.facts.as_ref(), record.exit_code);
    let mut seen = on_record(record, &observed, expect, case);
    if seen.finding.holds
        && let Some(why) = changed_by_the_work(record, case)
    {
        seen.finding = Finding { holds: false, why };
        seen.class = Some(FailureClass::Logical);
    }
    let held_before = || {
        let before = case.before(call);
        before.is_some_and(|before| before.ran() && held(before, expect, case))
    };
    // What turned green without the work, such as `find -mmin -1` after a minute, is not the work's result either.
    seen.vacuous = !expect.speaks_of_the_output() && (case.is_unchanged() || held_before());
    seen
}

fn on_call<'a>(tool: &str, which: Option<&str>, expect: &Predicate, case: &Case<'a>) -> CheckOutcome<'a> {
    let Some(record) = case.last_call_of(tool, which, expect) else {
        let why = not_called(tool, which, case);
        return CheckOutcome::nothing(why, Some(FailureClass::Logical));
    };
    let mut seen = on_record(record, &of_record(record), expect, case);
    if seen.finding.holds
        && let Some(later) = case.changed_after(record)
    {
        let why = format!(
            "{} showed it, but {} came later and may have changed it: call it again",
            quoted(record),
            quoted(later)
        );
        seen = CheckOutcome { cites: seen.cites, ..CheckOutcome::nothing(why, None) };
    }
    // A look that finds nothing where nothing was changed. A program that ran may have found out more.
    seen.vacuous = is_a_look(record) && asks_for_absence(expect) && case.is_unchanged();
    seen
}

/// Says that no call is the one that a check names, and which call of the same program comes near.
fn not_called(tool: &str, which: Option<&str>, case: &Case<'_>) -> String {
    let tool = clip(tool, 80);
    let Some(which) = which else { return format!("{tool} was not called") };
    let named = clip(which, 160);
    if tool.split('/').next() != Some("shell") {
        return format!("{tool} was not called for the whole of `{named}`");
    }
    let program = which.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default();
    let runs_it = |call: &&ToolRecord| {
        command_of(call).is_some_and(|command| words(command).any(|word| word == program))
    };
    let near = case.work().filter(runs_it).last();
    let near = near.map(|call| format!("; what ran is {}", quoted(call))).unwrap_or_default();
    format!("`{named}` was not run by itself, with these words{near}")
}

/// Quotes what a call was about: a command, a path.
fn quoted(call: &ToolRecord) -> String {
    let said = command_of(call).map_or_else(|| format!("{} {}", call.tool, call.target), str::to_owned);
    format!("`{}` ({})", clip(said.trim(), NAME_CHARS_MAX), call.call_id)
}

/// Returns whether an expectation holds because something is not there.
fn asks_for_absence(expect: &Predicate) -> bool {
    expect.has(&|part| match part {
        Predicate::Not(not) => !matches!(**not, Predicate::ExitCode(_)),
        Predicate::Matches(_) => part.evaluate(&Observation::default()).holds,
        Predicate::File(file) => file.exists == Some(false),
        Predicate::Pointer { is: Comparison::Equals(value), .. } => is_nothing(&value.0),
        Predicate::Pointer { is: Comparison::AtMost(_) | Comparison::Length(0), .. } => true,
        _ => false,
    })
}

fn on_record<'a>(
    record: &'a ToolRecord,
    observed: &Observation<'_>,
    expect: &Predicate,
    case: &Case<'_>,
) -> CheckOutcome<'a> {
    let cites = vec![Cite::Call(record.call_id)];
    if !record.ran() {
        let kind = record.error_kind.map_or_else(|| "no reason given".to_owned(), |kind| name_of(&kind));
        let quote = clip(record.evidence.trim(), QUOTE_CHARS_MAX);
        let finding =
            Finding { holds: false, why: format!("{} did not succeed: {kind}: {quote}", record.tool) };
        let class = match record.error_kind {
            Some(kind) => kind.failure_class(),
            None => Some(FailureClass::Environmental),
        };
        return CheckOutcome { cites, record: Some(record), ..CheckOutcome::of(finding, class) };
    }
    let PredicateOutcome { mut finding, is_cut_short } = look(expect, observed, Some(&claim(case.output)));
    if finding.holds && only_an_error_meets(record, observed, expect, case) {
        finding.holds = false;
        finding.why.push_str("; that is only in the error of a command that failed");
    }
    if !finding.holds
        && let Some(error) = first_error(record)
    {
        finding.why.push_str(&format!("; {} said: {error}", record.tool));
    }
    let class = match record.error_kind {
        _ if is_cut_short => None,
        // A failing test run is a result; an exit code with no printed output is not.
        Some(ErrorKind::Exit) => {
            class_of_error(record).or_else(|| has_printed(record).then_some(FailureClass::Logical))
        }
        Some(kind) => kind.failure_class(),
        None => class_of_the_work(case),
    };
    // A failed call is not called unevaluable: its output may differ once it works.
    let unevaluable = !finding.holds && !is_cut_short && record.ok && !expect.applies_to(observed);
    let ran = !is_cut_short && !unevaluable;
    CheckOutcome { cites, record: Some(record), ran, unevaluable, ..CheckOutcome::of(finding, class) }
}

/// Returns whether an expectation held on what a probe found before the work. What a failed program printed does not count: a
/// trace quotes what the program was to print.
fn held(before: &ToolRecord, expect: &Predicate, case: &Case<'_>) -> bool {
    let observed = of_record(before);
    look(expect, &observed, None).finding.holds
        && !only_an_error_meets(before, &observed, expect, case)
        && !fails_unasked(before, expect, case)
}

/// Returns whether an expectation holds only by the error of a command that failed: `wc: a.csv: No such file` names a.csv. A check
/// that asks for such an exit code may look at the error.
fn only_an_error_meets(
    record: &ToolRecord,
    observed: &Observation<'_>,
    expect: &Predicate,
    case: &Case<'_>,
) -> bool {
    if case.logic_version < WEIGHED_SINCE || !has_failed(record, expect) {
        return false;
    }
    let text = without_errors(observed.text, record);
    let rest = Observation { text: &text, value: observed.value, exit_code: observed.exit_code };
    !look(expect, &rest, Some(&claim(case.output))).finding.holds
}

/// Returns whether what a command printed, or did not print, says little, because it failed and nothing asks for that: its text
/// may be a trace, and what it did not print shows no absence. A model judges such a pass.
pub(super) fn fails_unasked(record: &ToolRecord, expect: &Predicate, case: &Case<'_>) -> bool {
    const fn is_of_text(part: &Predicate) -> bool {
        matches!(part, Predicate::Contains(_) | Predicate::Matches(_) | Predicate::NumberInRange { .. })
    }
    // `grep` found nothing, `diff` found a difference.
    let tells_by_it = || {
        record.exit_code == Some(1)
            && programs(record).all(|name| name.is_some_and(|name| EXITS.contains(&name)))
    };
    case.logic_version >= OWN_JUDGED_SINCE
        && has_failed(record, expect)
        && expect.has(&is_of_text)
        && !tells_by_it()
}

/// Returns whether a command failed with an exit code for which the check does not ask.
fn has_failed(record: &ToolRecord, expect: &Predicate) -> bool {
    let asks_for = |code: i32| {
        expect.has(&|part| match part {
            Predicate::ExitCode(wanted) => *wanted == code,
            Predicate::Not(part) => matches!(**part, Predicate::ExitCode(other) if other != code),
            _ => false,
        })
    };
    record.exit_code.is_some_and(|code| code != 0 && !asks_for(code))
}

/// Returns the class of a check that ran and failed: that of the last call's own error, if it had one.
pub(crate) fn class_of_the_work(case: &Case<'_>) -> Option<FailureClass> {
    match case.last_call() {
        // A refusal has no class, and a program's message may imply none; then the result itself is wrong.
        Some(call) if call.error_kind.is_some_and(|kind| kind != ErrorKind::Exit) => class_of_error(call),
        Some(call) => class_of_error(call).or(Some(FailureClass::Logical)),
        None => Some(FailureClass::Logical),
    }
}

/// Returns the output as a predicate sees it: a text that is a JSON object or array is parsed.
pub(super) fn claim(output: &Any) -> Cow<'_, Value> {
    if let Value::String(text) = &output.0
        && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
    {
        return Cow::Owned(value);
    }
    Cow::Borrowed(&output.0)
}

fn of_record(record: &ToolRecord) -> Observation<'_> {
    observed(&record.evidence, record.facts.as_ref(), record.exit_code)
}

fn observed<'a>(text: &'a str, facts: Option<&'a Any>, exit_code: Option<i32>) -> Observation<'a> {
    let text = if exit_code.is_some() { without_head(text) } else { text };
    Observation { text, value: facts.map(|facts| &facts.0), exit_code }
}

/// Returns the output of a command without the line that the runtime writes above it: `^10$` applies to the output.
fn without_head(text: &str) -> &str {
    if !text.starts_with("exit ") {
        return text;
    }
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    if rest.trim_end() == NOTHING { "" } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_ignore_the_line_above_a_commands_output() {
        for (text, seen) in [
            ("exit code zero\n10\n", "10\n"),
            ("exit code 2\n(it printed nothing)", ""),
            ("exit code zero", ""),
            ("10\n", "10\n"),
        ] {
            assert_eq!(observed(text, None, Some(0)).text, seen, "{text:?}");
        }
        assert_eq!(observed("exit a\nb", None, None).text, "exit a\nb");
    }
}
