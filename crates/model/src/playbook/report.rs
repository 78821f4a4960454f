//! R2's report of an abandon: the verdicts in words.

use serde_json::Value;
use setpoint_extract::draft::ReportDraft;
use setpoint_machine::brief::ReportBrief;
use setpoint_protocol::Any;
use setpoint_protocol::message::{Shown, Verdict, VerdictWord};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::text::clip;

use super::book::Book;
use super::library::Library;
use super::template::{Scope, TextTemplate};
use super::{unable, values};

/// Maximum criteria that are named; the rest is counted.
const NAMED_MAX: usize = 6;
/// Maximum characters of one criterion or of its evidence.
const NAMED_CHARS_MAX: usize = 200;

pub(crate) fn report(library: &Library, brief: &ReportBrief) -> ReportDraft {
    let met: Vec<&str> = brief
        .verdicts
        .iter()
        .filter(|verdict| verdict.verdict == VerdictWord::Pass)
        .map(|verdict| verdict.criterion.as_str())
        .collect();
    let achieved = match met.len() {
        0 => "no criterion was met".to_owned(),
        _ => format!("met{}", named(met.into_iter())),
    };
    let failed = brief.verdicts.iter().chain(&brief.subtask_verdicts);
    let seen: Vec<String> = failed
        .filter(|verdict| verdict.verdict == VerdictWord::Fail && !verdict.evidence.is_empty())
        .map(|verdict| format!("{} ({})", verdict.criterion, verdict.evidence))
        .collect();
    let blocked_by = named(seen.iter().map(String::as_str)).trim_start_matches(": ").to_owned();
    ReportDraft { achieved, blocked_by, next_moves: next_moves(library, brief) }
}

fn next_moves(library: &Library, brief: &ReportBrief) -> Vec<String> {
    let nowhere = Surroundings::default();
    let mut moves = Vec::new();
    if let Some(found) = library.look_up(&brief.spec.raw_input)
        && let Ok(values) = values::complete(found.book, &found.values, &nowhere)
    {
        let scope = Scope::new(&values, &nowhere);
        let doubt = disagreement(found.book, &scope, brief);
        moves = doubt.map_or_else(|| unable::own_moves(found.book, &scope), |doubt| vec![doubt]);
    }
    moves
}

/// Says that there is an answer but another program gives a different one: then a hint to check the files would not
/// help.
fn disagreement(book: &Book, scope: &Scope<'_>, brief: &ReportBrief) -> Option<String> {
    let Any(Value::Object(answer)) = &brief.partial_output else { return None };
    answer.values().find(|value| value.is_array() || value.is_number())?;
    let compares = |verdict: &&Verdict| {
        let is_said = |text: &TextTemplate| text.text(scope).is_ok_and(|text| text == verdict.criterion);
        verdict.shown == Some(Shown::Refuted)
            && book.criteria.values().any(|form| form.check.has_key("rows") && is_said(&form.text))
    };
    let refuted = brief.verdicts.iter().find(compares)?;
    let criterion = clip(&refuted.criterion, NAMED_CHARS_MAX);
    Some(format!("do not rely on this answer: two programs do not agree on it (“{criterion}” was refuted)"))
}

fn named<'t>(texts: impl ExactSizeIterator<Item = &'t str>) -> String {
    let count = texts.len();
    let shown: Vec<String> = texts.take(NAMED_MAX).map(|text| clip(text, NAMED_CHARS_MAX)).collect();
    match (shown.is_empty(), count.saturating_sub(NAMED_MAX)) {
        (true, _) => String::new(),
        (false, 0) => format!(": {}", shown.join("; ")),
        (false, more) => format!(": {}; and {more} more", shown.join("; ")),
    }
}
