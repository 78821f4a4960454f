//! The wording of numbers, times, judgements and ends, shared by all output.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use setpoint_protocol::message::{
    ApprovalDecision, ApprovalWord, EndState, EndedBy, FailureClass, FinalResult, JudgedBy, MacroState,
    MemoryAction, Shown, Strength, Verdict, VerdictWord,
};
use setpoint_protocol::{Instance, RoleId, Timestamp};

use crate::state::ViewState;
use crate::state::board::{Cell, Evidence};
use crate::state::calls::Calls;
use crate::text::columns::{clip, width};
use crate::text::{Line, Tone, sanitise};

/// At most this many columns of a call are shown in the short form of evidence.
const CALL_COLUMNS_SHORT: usize = 60;
/// A call keeps at least this many columns beside the observation.
const CALL_COLUMNS_MIN: usize = 12;

/// Formats a share with two digits and no leading zero: `.36`, `1.00`.
#[must_use]
pub fn share(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let text = format!("{value:.2}");
    match text.strip_prefix("0.") {
        Some(digits) => format!(".{digits}"),
        None => text.strip_prefix("-0.").map_or(text.clone(), |digits| format!("-.{digits}")),
    }
}

/// Formats milliseconds as `mm:ss`, from an hour on as `h:mm:ss`.
#[must_use]
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

/// Formats milliseconds in a suitable unit: `340 ms`, `2.4 s`, `03:20`.
#[must_use]
pub fn duration(ms: u64) -> String {
    match ms {
        0..=999 => format!("{ms} ms"),
        1_000..=59_999 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => clock(ms),
    }
}

/// Returns the time of day in the reader's zone.
#[must_use]
pub fn time_of_day(at: Timestamp, zone: &TimeZone) -> String {
    local(at, zone).map_or_else(|| "?".to_owned(), |local| local.strftime("%H:%M:%S").to_string())
}

/// Returns date and time in the reader's zone.
#[must_use]
pub fn date_and_time(at: Timestamp, zone: &TimeZone) -> String {
    local(at, zone).map_or_else(|| "?".to_owned(), |local| local.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Returns the offset of the reader's zone from UTC at this moment, as `UTC+02`.
#[must_use]
pub fn zone(at: Timestamp, zone: &TimeZone) -> String {
    let offset = local(at, zone).map(|local| local.offset());
    match offset.filter(|offset| offset.seconds() != 0) {
        Some(offset) => format!("UTC{offset}"),
        None => "UTC".to_owned(),
    }
}

/// Returns a role's label, with its instance if there are several: `R3.2`.
#[must_use]
pub fn role_label(role: RoleId, instance: Instance) -> String {
    if instance.0 > 0 { format!("{}.{}", role.label(), instance.0) } else { role.label().to_owned() }
}

/// Returns what the next plan should be like.
#[must_use]
pub const fn direction(state: MacroState) -> &'static str {
    match state {
        MacroState::Init => "a first plan",
        MacroState::Refine => "the same way, done more exactly",
        MacroState::ChangePath => "the same way on another path",
        MacroState::ChangeApproach => "another method",
        MacroState::BreakSymmetry => "another kind of tool",
        MacroState::Accept | MacroState::Success | MacroState::Abandon => "the end",
    }
}

/// Formats a number of things: `1 round`, `2 rounds`, with separated thousands.
#[must_use]
pub fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Formats a number of criteria.
#[must_use]
pub fn criteria(number: usize) -> String {
    if number == 1 { "1 criterion".to_owned() } else { format!("{} criteria", thousands(number as u64)) }
}

/// Formats a number with separated thousands.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns what memory's sums mean for a plan.
#[must_use]
pub const fn action(action: MemoryAction) -> (Tone, &'static str) {
    match action {
        MemoryAction::Ignore => (Tone::Dim, "Ignore"),
        MemoryAction::Exploit => (Tone::Good, "Exploit"),
        MemoryAction::Avoid => (Tone::Bad, "Avoid"),
        MemoryAction::Caution => (Tone::Care, "Caution"),
    }
}

/// Returns a person's decision on a call that needed consent.
#[must_use]
pub const fn approval(word: ApprovalWord) -> (Tone, &'static str) {
    match word {
        ApprovalWord::Once => (Tone::Good, "allowed once"),
        ApprovalWord::ForTask => (Tone::Good, "allowed for this task"),
        ApprovalWord::Never => (Tone::Bad, "refused"),
    }
}

/// Returns a decision on a call that needed consent: what was decided, by whom, and for what else.
#[must_use]
pub fn decided(decision: &ApprovalDecision) -> (Tone, String) {
    let (tone, word) = approval(decision.decision);
    let by = &decision.by;
    let text = match (decision.decision, decision.allows.as_slice()) {
        // A line that the person allowed at an earlier question covers this one.
        (ApprovalWord::Once, []) if by.starts_with("terminal: ") => format!("allowed before by {by}"),
        (_, []) => format!("{word} by {by}"),
        (_, lines) => {
            format!("allowed for this task, with all of {}, by {by}", sanitise::exact(&lines.join(", ")))
        }
    };
    (tone, text)
}

/// Returns the sign of a failed criterion, with its class.
#[must_use]
pub const fn failed(class: Option<FailureClass>) -> &'static str {
    match class {
        Some(FailureClass::Logical) => "✗L",
        Some(FailureClass::Environmental) => "✗E",
        None => "✗",
    }
}

/// Returns the sign of a criterion without evidence, with its class.
#[must_use]
pub const fn not_shown(class: Option<FailureClass>) -> &'static str {
    match class {
        Some(FailureClass::Logical) => "?L",
        Some(FailureClass::Environmental) => "?E",
        None => "?",
    }
}

/// The note at a pass that rests on the work's own tests or files.
pub const SELF_MADE: &str = "on what the work made or changed itself";
/// The sign of a criterion that cannot hold here.
pub const CANNOT: &str = "⊘";

/// Returns a verdict in words: how a pass was judged, or the kind of failure.
#[must_use]
pub const fn verdict(verdict: &Verdict) -> &'static str {
    match (verdict.verdict, verdict.shown, verdict.judged_by) {
        (VerdictWord::Pass, _, by) => match (verdict.strength, by) {
            (Strength::Proof, JudgedBy::Check) if verdict.self_made || verdict.vacuous => "passes a check",
            (Strength::Proof, JudgedBy::Check) => "verified by a check",
            (Strength::Proof, JudgedBy::Model) => "judged by a model",
            (Strength::Form, _) => "only its form was checked",
            (Strength::Opinion, _) => "an opinion of a model",
        },
        (VerdictWord::Fail, Some(shown), _) => shown.words(),
        (VerdictWord::Fail, None, JudgedBy::Check) => "failed a check",
        (VerdictWord::Fail, None, JudgedBy::Model) => "failed, judged by a model",
    }
}

/// Returns a cell in words.
#[must_use]
pub const fn cell(cell: Cell) -> &'static str {
    match cell {
        Cell::NotYet => "not judged",
        Cell::Running => "under way",
        Cell::Verified => "verified",
        Cell::Vacuous => "green before the work, which proves nothing",
        Cell::Failed(Some(FailureClass::Logical)) => "failed, a wrong result",
        Cell::Failed(Some(FailureClass::Environmental)) => "failed, the environment",
        Cell::Failed(None) => "failed",
        Cell::NotShown(Some(FailureClass::Logical)) => "not shown, a wrong result",
        Cell::NotShown(Some(FailureClass::Environmental)) => "not shown, the environment",
        Cell::NotShown(None) => "not shown",
        Cell::Cannot => "cannot hold here",
    }
}

/// Returns the kinds of failure among these verdicts, counted: `1 refuted, 2 not shown`. Empty if none is
/// known.
#[must_use]
pub fn failures(verdicts: &[Verdict]) -> String {
    let count = |shown: Shown| verdicts.iter().filter(|one| one.shown == Some(shown)).count();
    let counts = [Shown::Refuted, Shown::NotShown, Shown::Cannot].map(|shown| (count(shown), shown.words()));
    let told = counts.into_iter().filter(|(count, _)| *count > 0);
    told.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// Returns the evidence: the last cited call with its outcome, and the observation.
#[must_use]
pub fn evidence(evidence: &Evidence, calls: &Calls) -> String {
    evidence_within(evidence, calls, usize::MAX)
}

/// Returns the evidence with a clipped call.
#[must_use]
pub fn evidence_in_short(evidence: &Evidence, calls: &Calls) -> String {
    let whole = evidence_within(evidence, calls, usize::MAX);
    let cited = evidence.calls.iter().rev().find_map(|id| calls.get(*id));
    let Some(call) = cited.map(|call| sanitise::line(&call.words())) else { return whole };
    whole.strip_prefix(&call).map_or_else(|| whole.clone(), |seen| clip(&call, CALL_COLUMNS_SHORT) + seen)
}

/// Returns the evidence in at most `columns` columns. The call is clipped first, because the observation
/// matters more.
#[must_use]
pub fn evidence_within(evidence: &Evidence, calls: &Calls, columns: usize) -> String {
    let seen = sanitise::line(&evidence.text);
    let cited = evidence.calls.iter().rev().find_map(|id| calls.get(*id));
    let Some(call) = cited else { return clip(&seen, columns) };
    let outcome = call.outcome().map(|outcome| format!(" ({outcome})")).unwrap_or_default();
    let arrow = if seen.is_empty() { "" } else { " → " };
    let rest = format!("{arrow}{seen}{outcome}");
    let room = columns.saturating_sub(width(&rest)).max(CALL_COLUMNS_MIN);
    clip(&(clip(&sanitise::line(&call.words()), room) + &rest), columns)
}

/// Replaces JSON pointers by names in an observation such as `/problem_count is 1`.
#[must_use]
pub fn without_pointers(seen: &str) -> String {
    let is_pointer = |word: &str| {
        let name = word.trim_start_matches('/');
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        word.starts_with('/') && !name.is_empty() && name.chars().all(is_of_name)
    };
    let words: Vec<&str> = seen.split(' ').collect();
    let is_told = |n: usize| words.get(n + 1).is_some_and(|next| *next == "is");
    let plain = words.iter().enumerate().map(|(n, word)| match is_pointer(word) && is_told(n) {
        true => word.trim_start_matches('/'),
        false => word,
    });
    plain.collect::<Vec<_>>().join(" ")
}

/// Formats bytes in a suitable unit: `812 bytes`, `1.2 MB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let tenths = |size: u64| {
        u128::from(bytes).saturating_mul(10).saturating_add(u128::from(size / 2)) / u128::from(size)
    };
    match UNITS.into_iter().find(|(_, size)| tenths(*size) >= 10 && bytes >= 1_000) {
        Some((unit, size)) => {
            let tenths = tenths(size);
            let whole = u64::try_from(tenths / 10).unwrap_or(u64::MAX);
            format!("{}.{} {unit}", thousands(whole), tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

/// Returns how a task ended, in a word. Never `success`, because gaps and missing proof can remain.
#[must_use]
pub const fn end_word(result: &FinalResult) -> &'static str {
    match (result.directive, result.ended_by) {
        (EndState::Accept, _) => "accepted",
        (EndState::Success, EndedBy::Unproven) => "accepted, unproven",
        (EndState::Success, _) => "accepted with gaps",
        (EndState::Abandon, EndedBy::Cancelled) => "cancelled",
        (EndState::Abandon, EndedBy::Consent) => "ended, consent refused",
        (EndState::Abandon, _) => "given up",
    }
}

/// Returns how a task ended, for other programs. Unlike `end_word`, it separates what never began or was
/// stopped from what was given up after an attempt.
#[must_use]
pub fn outcome(result: &FinalResult) -> &'static str {
    match (result.directive, result.ended_by, not_begun(&result.summary)) {
        (EndState::Abandon, EndedBy::Cancelled | EndedBy::Consent, _) | (_, _, None) => end_word(result),
        (_, _, Some((what, _))) => what,
    }
}

/// Returns how a task ended, in a line: with the names of the gaps, or the rule that ended it.
#[must_use]
pub fn end(result: &FinalResult) -> Line {
    end_with(result, &format!("not met: {}", result.unmet_criteria.join("; ")))
}

/// As [`end`], but a refusal because no person could be asked is reported as such.
#[must_use]
pub fn end_of(state: &ViewState, result: &FinalResult) -> Line {
    // The refusal was automatic, because no person could be asked.
    if result.ended_by == EndedBy::Consent && !state.consents.refused_unasked().is_empty() {
        let why = ": it needs your approval, and you could not be asked";
        return Line::new().and(Tone::Bad, "stopped").and(Tone::Plain, why);
    }
    end(result)
}

/// As [`end`], with the number of gaps, for output that lists them below.
#[must_use]
pub fn end_counted(result: &FinalResult) -> Line {
    let judged = result.verdicts.iter().chain(&result.subtask_verdicts);
    let judged = judged.map(|verdict| verdict.criterion.as_str());
    let all: BTreeSet<&str> = judged.chain(result.unmet_criteria.iter().map(String::as_str)).collect();
    let unmet = result.unmet_criteria.len();
    let are = if unmet == 1 { "is" } else { "are" };
    end_with(result, &format!("{unmet} of {} {are} not met", criteria(all.len())))
}

fn end_with(result: &FinalResult, gaps: &str) -> Line {
    let word = end_word(result);
    match (result.directive, result.ended_by) {
        (EndState::Abandon, EndedBy::Fault)
            if !result.unmet_criteria.is_empty() && not_begun(&result.summary).is_none() =>
        {
            let why = format!(": no further plan was found; {gaps}");
            Line::new().and(Tone::Bad, word).and(Tone::Plain, &why)
        }
        _ if result.unproven => {
            let why = match result.overlooked.is_empty() {
                true => rule_words(EndedBy::Unproven).to_owned(),
                false => format!("no call that ran names {}", result.overlooked.join(", ")),
            };
            Line::new().and(Tone::Care, word).and(Tone::Care, &format!(": {why}"))
        }
        (EndState::Accept, _) => Line::new().and(Tone::Good, word),
        (EndState::Success, _) => Line::new().and(Tone::Care, word).and(Tone::Care, &format!(": {gaps}")),
        (EndState::Abandon, EndedBy::Cancelled | EndedBy::Consent) => Line::new().and(Tone::Bad, word),
        (EndState::Abandon, rule) => match not_begun(&result.summary) {
            Some((what, why)) => Line::new().and(Tone::Bad, what).and(Tone::Plain, why),
            None => Line::new().and(Tone::Bad, word).and(Tone::Plain, &format!(": {}", rule_words(rule))),
        },
    }
}

/// Returns whether a task never began or was stopped, and why, from the first sentence of its summary.
fn not_begun(summary: &str) -> Option<(&'static str, &str)> {
    let what = [("Not started", "not started"), ("Stopped", "stopped")];
    let (begins, word) = what.into_iter().find(|(begins, _)| summary.starts_with(begins))?;
    let (first, _) = summary.split_once(". ").unwrap_or((summary, ""));
    Some((word, first.trim_end_matches('.').strip_prefix(begins)?))
}

/// Returns who is accountable for an end without an accept.
#[must_use]
pub fn accountable(role: RoleId, by: EndedBy) -> String {
    match (role, by) {
        (RoleId::User, EndedBy::Consent | EndedBy::Cancelled) => "you decided it".to_owned(),
        (RoleId::User, _) => "no role: something that the goal depends on is missing here".to_owned(),
        (role, _) => format!("{} ({role})", role.label()),
    }
}

/// Returns the rule that ended a task, in words.
const fn rule_words(rule: EndedBy) -> &'static str {
    match rule {
        EndedBy::CriteriaMet => "every criterion is met",
        EndedBy::Unproven => "nothing proves it",
        EndedBy::Distance => "close enough",
        EndedBy::Omega => "rounds and time are nearly used up",
        EndedBy::Law2 => "it got worse round after round",
        EndedBy::Rounds => "no replans are left",
        EndedBy::Infeasible => "the goal cannot be reached here",
        EndedBy::Fault => "something broke that another round cannot repair",
        EndedBy::Consent => "consent was refused",
        EndedBy::Budget => "a budget is used up",
        EndedBy::Deadline => "out of time",
        EndedBy::Cancelled => "cancelled",
    }
}

fn local(at: Timestamp, zone: &TimeZone) -> Option<jiff::Zoned> {
    let time = jiff::Timestamp::from_microsecond(at.as_micros()).ok()?;
    Some(time.to_zoned(zone.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_worded_alike() {
        let shares: Vec<String> = [0.0, 0.36, 0.999, 1.0, -0.2, f64::NAN].into_iter().map(share).collect();
        assert_eq!(shares, [".00", ".36", "1.00", "1.00", "-.20", "?"]);
        assert_eq!([clock(0), clock(161_000), clock(3_600_000 * 26)], ["00:00", "02:41", "26:00:00"]);
        assert_eq!([duration(7), duration(2_449), duration(200_000)], ["7 ms", "2.4 s", "03:20"]);
        assert_eq!([count(1, "call"), count(12_345, "token")], ["1 call", "12,345 tokens"]);
        assert_eq!(
            [0, 999, 1_000, 1_249_999, 1_999_999, 999_999, u64::MAX].map(bytes),
            ["0 bytes", "999 bytes", "1.0 kB", "1.2 MB", "2.0 MB", "1.0 MB", "18,446,744,073.7 GB"]
        );
        assert_eq!([thousands(0), thousands(999), thousands(1_000_000)], ["0", "999", "1,000,000"]);
    }

    #[test]
    fn times_are_in_the_readers_zone() {
        let at = Timestamp::from_micros(1_767_225_871_000_000);
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(self::zone(at, &zone), "UTC+02");
        assert_eq!(self::zone(at, &TimeZone::UTC), "UTC");
        assert_eq!(date_and_time(at, &zone), "2026-01-01 02:04:31");
        assert_eq!(time_of_day(Timestamp::from_micros(i64::MAX), &zone), "?");
    }

    #[test]
    fn a_decision_says_for_how_long_it_holds() {
        let say = |decision: ApprovalWord, by: &str, allows: &[&str]| {
            let allows = allows.iter().map(|line| (*line).to_owned()).collect();
            let call_id = "r3.1/2".parse().unwrap();
            decided(&ApprovalDecision { call_id, decision, digest: String::new(), by: by.to_owned(), allows })
                .1
        };
        for (decision, by, allows, said) in [
            (ApprovalWord::Once, "terminal", &[][..], "allowed once by terminal"),
            (ApprovalWord::Once, "file:approve:2", &[], "allowed once by file:approve:2"),
            (
                ApprovalWord::Once,
                "terminal: host a.example",
                &[],
                "allowed before by terminal: host a.example",
            ),
            (
                ApprovalWord::Once,
                "terminal",
                &["host a.example", "path x\u{202e}"],
                "allowed for this task, with all of host a.example, path x\\u{202e}, by terminal",
            ),
            (ApprovalWord::ForTask, "terminal", &[], "allowed for this task by terminal"),
            (ApprovalWord::Never, "headless", &[], "refused by headless"),
        ] {
            assert_eq!(say(decision, by, allows), said);
        }
    }
}
