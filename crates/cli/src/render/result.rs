//! The result of a task for a person: what was done, the output, what was not met, and the evidence.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use setpoint_protocol::Any;
use setpoint_protocol::message::{
    EndState, EndedBy, FinalResult, JudgedBy, Shown, Strength, Verdict, VerdictWord, Withdrawal,
};
use setpoint_protocol::text::clip;
use setpoint_protocol::topology::Kind;

use super::value;
use crate::exit::Exit;
use crate::state::ViewState;
use crate::state::board::{Cell, Evidence};
use crate::state::changed::{Changed, Paths};
use crate::text::{Line, Tone, sanitise};
use crate::view::words;

/// The titles of what was refused.
const TO_ALLOW: &str =
    "to allow what was refused, put these lines into a file and run again with `--approve FILE`:";
const REFUSED: &str = "refused, because you could not be asked:";
/// At most this many refused calls are listed, and this many characters of each.
const REFUSED_TOLD_MAX: usize = 20;
const REFUSED_CHARS_MAX: usize = 120;
/// The titles of the lists of files.
const REMOVED: &str = "files that were removed";
const RENAMED: &str = "files that were renamed";
const CHANGED: &str = "files that were changed";
const MADE: &str = "files that were made";
const LOST: &str = "commits that nothing leads to any more";
const NEW: &str = "commits that are new";
/// At most this many files of a kind are listed; the rest are counted.
const TOUCHED_TOLD_MAX: usize = 10;

/// Returns the end of a task for other programs: the `FinalResult` with the task's id, or the answer to small
/// talk, with goal, models, duration and exit code.
pub(crate) fn on_the_wire(state: &ViewState) -> Value {
    let (kind, payload) = match (&state.result, &state.answer) {
        (Some(result), _) => (Kind::FinalResult, serde_json::to_value(result)),
        (None, answer) => (Kind::DirectAnswer, Ok(json!({ "text": answer }))),
    };
    let payload = payload.unwrap_or(Value::Null);
    let mut value = setpoint_protocol::envelope::on_the_wire(kind.name(), &state.task, Any(payload)).0;
    let exit = state.result.as_ref().map_or(Exit::DONE, Exit::of_result);
    let began = state.opened_at.unwrap_or(state.at);
    value["goal"] = json!(state.goal);
    value["models"] = json!(state.models);
    value["duration_ms"] = json!(state.at.millis_since(began));
    value["exit_code"] = json!(exit.code());
    if let Some(result) = &state.result {
        value["outcome"] = words::outcome(result).into();
    }
    value
}

/// Returns the result with the labels of its criteria and who is accountable; only the answer for small talk.
pub(crate) fn lines(state: &ViewState) -> Vec<Line> {
    let Some(result) = &state.result else { return small_talk(state) };
    let mut lines = vec![words::end(result)];
    section(&mut lines, whole(state, result, labelled));
    if let Some(role) = result.accountable {
        let name = words::accountable(role, result.ended_by);
        lines.push(Line::new().and(Tone::Dim, "accountable: ").and(Tone::Plain, &name));
    }
    lines.push(task(state));
    lines
}

/// Returns the result for the person who waits for it: the answer, then one line that says why it can be
/// trusted, then what is missing. `setpoint tasks show` has all the evidence.
pub(crate) fn brief(state: &ViewState) -> Vec<Line> {
    let Some(result) = &state.result else { return small_talk(state) };
    let output = set_apart(answer_lines(result));
    // The output of a task that was given up is not an answer, so it comes second.
    let is_answer = result.directive != EndState::Abandon;
    let (mut lines, second) =
        if is_answer { (output, Vec::new()) } else { (vec![end(state, result)], output) };
    section(&mut lines, second);
    section(&mut lines, about(state, result, is_answer));
    lines
}

/// Returns the result with every criterion and its evidence, as `setpoint tasks show` prints it.
pub(crate) fn detailed(state: &ViewState) -> Vec<Line> {
    state.result.as_ref().map_or_else(|| small_talk(state), |result| whole(state, result, in_full))
}

fn small_talk(state: &ViewState) -> Vec<Line> {
    Line::block(Tone::Plain, state.answer.as_deref().unwrap_or_default())
}

fn whole(state: &ViewState, result: &FinalResult, criterion: Criterion) -> Vec<Line> {
    let mut lines = set_apart(answer_lines(result));
    section(&mut lines, summary(result));
    criteria(&mut lines, state, result, criterion);
    around(&mut lines, state, result);
    section(&mut lines, vec![cost(result)]);
    lines
}

/// Adds what was made, what was withdrawn, what to try next, and the lines that would allow what was refused.
fn around(lines: &mut Vec<Line>, state: &ViewState, result: &FinalResult) {
    section(lines, touched(state, result));
    section(lines, withdrawn(result));
    section(lines, list("what to try next:", Tone::Care, &result.next_moves));
    section(lines, allowing(state, result));
}

fn task(state: &ViewState) -> Line {
    let id = state.task.as_str();
    let line = Line::new().and(Tone::Dim, "task: ").and(Tone::Plain, id);
    line.and(Tone::Dim, &format!("  (setpoint tasks show {id})"))
}

/// Marks an answer with a bar at its left if one of its lines could be mistaken for one of the program's own.
fn set_apart(answer: Vec<Line>) -> Vec<Line> {
    const OURS: &[&str] = &[
        "accepted",
        "verified",
        "unproven",
        "given up",
        "stopped",
        "refused",
        "not started",
        "cancelled",
        "made:",
        REMOVED,
        LOST,
        NEW,
        RENAMED,
        CHANGED,
        MADE,
        "to allow what was refused",
        "cost:",
        "task:",
        "warning:",
        "what to try",
    ];
    let is_ours = |line: &Line| {
        let text = line.to_text().to_lowercase();
        let is_mark = |c: char| c == '✗' || c == '✔';
        let said = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !is_mark(c));
        // A line of progress: `00:00  accepted`.
        let behind_time =
            said.split_once("  ").filter(|(time, _)| time.chars().all(|c| c.is_ascii_digit() || c == ':'));
        let said = behind_time.map_or(said, |(_, said)| said.trim_start());
        said.starts_with(is_mark) || OURS.iter().any(|ours| said.starts_with(ours))
    };
    if !answer.iter().any(is_ours) {
        return answer;
    }
    answer.into_iter().map(|line| Line::new().and(Tone::Dim, "│ ").then(line)).collect()
}

/// Returns only the answer, laid out for a person.
pub(crate) fn answer_lines(result: &FinalResult) -> Vec<Line> {
    value::lines(&answer(&result.output))
}

/// Returns how the task ended, with the number of unmet criteria if they are listed below.
pub(crate) fn ending(state: &ViewState, result: &FinalResult) -> Line {
    let is_listed = !open(state, result).is_empty() && result.ended_by != EndedBy::Consent;
    if is_listed { words::end_counted(result) } else { words::end_of(state, result) }
}

/// Returns how the task ended, with the first evidence for it.
fn end(state: &ViewState, result: &FinalResult) -> Line {
    ending(state, result).then(shown_by(result))
}

/// Returns everything except the answer; how the task ended only if `has_end`.
pub(crate) fn about(state: &ViewState, result: &FinalResult, has_end: bool) -> Vec<Line> {
    let mut lines = if has_end { vec![end(state, result)] } else { Vec::new() };
    section(&mut lines, summary(result));
    section(&mut lines, open(state, result));
    around(&mut lines, state, result);
    section(&mut lines, vec![cost(result), task(state)]);
    lines
}

/// Removes fields that say nothing unusual from an answer, such as that it is complete. `--json` has them
/// all.
fn answer(output: &Any) -> Any {
    let without_saying = [
        ("algorithm", json!("any")),
        ("below_top", json!("")),
        ("complete", json!(true)),
        ("duplicate_keys", json!(0)),
        ("irregular_quotes", json!(0)),
        ("links_not_followed", json!(0)),
        ("names_doubtful", json!(false)),
        ("outside", json!(0)),
        ("ragged", json!(0)),
        ("separator", json!(",")),
        ("separator_doubtful", json!(false)),
        ("thousands_doubtful", json!(false)),
        ("unclosed_quote", json!(false)),
        ("unfinished", Value::Null),
    ];
    let mut answer = output.clone();
    if let Some(fields) = answer.0.as_object_mut() {
        fields
            .retain(|name, value| !without_saying.iter().any(|(said, usual)| name == said && value == usual));
    }
    answer
}

/// Returns the evidence of an accepted answer: the first criterion that a call proves, and the number of
/// further ones.
fn shown_by(result: &FinalResult) -> Line {
    let joint = match result.directive {
        EndState::Accept => ": ",
        EndState::Success if !result.unproven => "; shown: ",
        EndState::Success | EndState::Abandon => return Line::new(),
    };
    let all = || result.verdicts.iter().chain(&result.subtask_verdicts);
    let is_proof = |verdict: &&Verdict| {
        verdict.verdict == VerdictWord::Pass
            && verdict.strength == Strength::Proof
            && !verdict.vacuous
            && !verdict.self_made
    };
    let is_checked = |verdict: &&Verdict| is_proof(verdict) && verdict.judged_by == JudgedBy::Check;
    let Some(first) = all().find(is_checked).or_else(|| all().find(is_proof)) else { return Line::new() };
    let mut names: Vec<&str> = all().map(|verdict| verdict.criterion.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut line = Line::new().and(Tone::Plain, joint).and(Tone::Plain, &first.criterion);
    let by_model: BTreeSet<&str> = all()
        .filter(|verdict| verdict.judged_by == JudgedBy::Model)
        .map(|verdict| verdict.criterion.as_str())
        .collect();
    if first.judged_by == JudgedBy::Model {
        line.push(Tone::Care, ", as a model judged");
    }
    if names.len() > 1 && result.directive == EndState::Accept {
        let more = words::count(names.len() as u64 - 1, "more criterion");
        let more = more.replace("criterions", "criteria");
        let judged = by_model.iter().filter(|name| **name != first.criterion).count();
        let judged = if judged == 0 { String::new() } else { format!(", {judged} of which a model judged") };
        line.push(Tone::Dim, &format!("  (and {more}{judged})"));
    }
    line
}

/// Returns the summary if it says more than the other lines.
fn summary(result: &FinalResult) -> Vec<Line> {
    let made = ["Every criterion is met: ", "Met: ", "No criterion ", "Not started: ", "Stopped: "];
    let says_more = !made.iter().any(|made| result.summary.starts_with(made))
        && result.output.to_text().trim() != result.summary.trim();
    if says_more { Line::block(Tone::Plain, &result.summary) } else { Vec::new() }
}

/// Returns the files that were removed, renamed, changed and made, and that the answer does not name, so that the reader
/// need not search for them, and how many commits are new and lost: as the task measured them, or else those that its calls made.
fn touched(state: &ViewState, result: &FinalResult) -> Vec<Line> {
    // A folder is left out if files in it are listed.
    let is_folder = |path: &str| state.made.iter().any(|other| other.starts_with(&format!("{path}/")));
    let made = || {
        let first: Vec<String> = state.made.iter().filter(|path| !is_folder(path)).cloned().collect();
        Changed { made: Paths { count: first.len(), first }, ..Changed::default() }
    };
    let Changed { removed, renamed, changed, made, commits_new, commits_lost } =
        state.changed.clone().unwrap_or_else(made);
    let commits = [(LOST, commits_lost), (NEW, commits_new)].into_iter().filter(|(_, count)| *count > 0);
    let commits = commits.map(|(title, count)| Line::new().and(Tone::Dim, &format!("{title}: {count}")));
    let answer = result.output.to_text();
    [(REMOVED, removed), (RENAMED, renamed), (CHANGED, changed), (MADE, made)]
        .into_iter()
        .flat_map(|(title, Paths { first, count })| {
            let is_named = |path: &&String| answer.contains(path.as_str());
            let named = first.iter().filter(is_named).count();
            let unnamed = first.iter().filter(|path| !is_named(path)).take(TOUCHED_TOLD_MAX);
            let mut items: Vec<String> = unnamed.map(|path| sanitise::exact(path)).collect();
            if let Some(more @ 1..) = count.checked_sub(named + items.len()) {
                items.push(format!("and {more} more"));
            }
            list(&format!("{title}:"), Tone::Dim, &items)
        })
        .chain(commits)
        .collect()
}

/// Returns the criteria that are not shown, with the evidence, without duplicates; and those that are proved
/// only by their form, an opinion or the work's own tests.
fn open(state: &ViewState, result: &FinalResult) -> Vec<Line> {
    let all = || result.verdicts.iter().chain(&result.subtask_verdicts);
    // In a playbook, a criterion about the form of its answer comes with one that measures all of it.
    let is_form = |verdict: &Verdict| is_of_form(verdict) && state.has_language_model;
    let is_weak = |verdict: &Verdict| {
        verdict.vacuous || verdict.self_made || verdict.strength == Strength::Opinion || is_form(verdict)
    };
    let mut told: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for verdict in all().filter(|verdict| verdict.verdict == VerdictWord::Fail || is_weak(verdict)) {
        if !told.contains(&verdict.criterion.as_str()) {
            told.push(&verdict.criterion);
            lines.push(if is_told_above(result, verdict) {
                above(verdict)
            } else {
                in_short(state, verdict)
            });
        }
    }
    lines.extend(unjudged(result));
    // A task that never began has nothing to judge.
    let is_begun = !["Not started", "Stopped"].iter().any(|what| result.summary.starts_with(what));
    if is_begun { lines } else { Vec::new() }
}

fn unjudged(result: &FinalResult) -> Vec<Line> {
    let judged = || result.verdicts.iter().chain(&result.subtask_verdicts);
    let is_open = |name: &&String| judged().all(|verdict| verdict.criterion != **name);
    let line = |name: &String| {
        Line::new().and(Tone::Dim, "· ").and(Tone::Plain, name).and(Tone::Dim, "  not judged")
    };
    result.unmet_criteria.iter().filter(is_open).map(line).collect()
}

/// Returns whether it failed only because of what the answer lists under `left_out`: `complete is false,
/// expected true`.
fn is_told_above(result: &FinalResult, verdict: &Verdict) -> bool {
    let left_out = result.output.0.get("left_out").and_then(Value::as_array);
    let is_flag =
        |part: &str| part.ends_with(" is false, expected true") || part.ends_with(" is true, expected false");
    left_out.is_some_and(|texts| !texts.is_empty())
        && verdict.shown == Some(Shown::Refuted)
        && verdict.evidence.split("; ").all(is_flag)
}

fn above(verdict: &Verdict) -> Line {
    let line = Line::new().and(Tone::Bad, "✗").and(Tone::Plain, " ").and(Tone::Plain, &verdict.criterion);
    line.and(Tone::Dim, "  see what was left out")
}

/// Returns whether it passed by its form alone, without a look at the world.
fn is_of_form(verdict: &Verdict) -> bool {
    verdict.verdict == VerdictWord::Pass && verdict.strength == Strength::Form
}

/// A function that formats a criterion.
type Criterion = fn(&ViewState, &Verdict) -> Line;

/// Formats a criterion with its evidence, without labels, classes and pointers.
fn in_short(state: &ViewState, verdict: &Verdict) -> Line {
    let seen = words::evidence_in_short(&Evidence::of(verdict, state.at), &state.calls);
    criterion(verdict, "", &words::without_pointers(&seen))
}

/// Formats a criterion with the whole command that was run.
fn in_full(state: &ViewState, verdict: &Verdict) -> Line {
    let seen = words::evidence(&Evidence::of(verdict, state.at), &state.calls);
    criterion(verdict, "", &words::without_pointers(&seen))
}

/// Formats a criterion with its label and pointers, for readers who know the roles.
fn labelled(state: &ViewState, verdict: &Verdict) -> Line {
    let label = state.board.row(&verdict.criterion_id).map_or("", |row| row.label.as_str());
    criterion(verdict, label, &words::evidence(&Evidence::of(verdict, state.at), &state.calls))
}

fn criterion(verdict: &Verdict, label: &str, seen: &str) -> Line {
    let (tone, sign) = crate::view::cell(Cell::of(verdict));
    // The class of a failure is for readers who know the roles.
    let sign: String = sign.chars().take(if label.is_empty() { 1 } else { usize::MAX }).collect();
    let mut line = Line::new().and(tone, &sign).and(Tone::Plain, " ");
    if !label.is_empty() {
        line.push(Tone::Name, &format!("{label} "));
    }
    line.push(Tone::Plain, &verdict.criterion);
    line.push(Tone::Dim, &format!("  {}", words::verdict(verdict)));
    if verdict.vacuous {
        line.push(Tone::Care, ", which was green before the work and proves nothing");
    }
    if verdict.self_made {
        line.push(Tone::Care, &format!(", {}", words::SELF_MADE));
    }
    if !seen.is_empty() {
        line.push(Tone::Dim, ": ");
        line.push(Tone::Plain, seen);
    }
    line
}

/// Returns what was refused because no person could be asked, with the lines of an approval file that allow it. Where that
/// ended the task, the reasons are listed already, and the lines are what matters.
fn allowing(state: &ViewState, result: &FinalResult) -> Vec<Line> {
    let refused = state.consents.refused_unasked();
    let has_ended_it = result.ended_by == EndedBy::Consent;
    let head = if has_ended_it { TO_ALLOW } else { REFUSED };
    let told = if has_ended_it { refused.len() } else { refused.len().min(REFUSED_TOLD_MAX) };
    let named = refused.iter().take(told).map(|need| {
        let line = format!("command {}", need.digest);
        if has_ended_it {
            return Line::plain("  ").and(Tone::Plain, &line);
        }
        let words = sanitise::exact(&clip(&need.command, REFUSED_CHARS_MAX));
        Line::plain("- ")
            .and(Tone::Plain, &words)
            .and(Tone::Dim, &format!("  ({line} in an approval file allows it)"))
    });
    let more = Some(refused.len() - told).filter(|more| *more > 0);
    let more = more.map(|more| Line::plain(&format!("- and {more} more")));
    let head = (!refused.is_empty()).then(|| Line::new().and(Tone::Care, head));
    head.into_iter().chain(named).chain(more).collect()
}

/// Returns model calls, tokens, tool calls and price.
pub(crate) fn cost(result: &FinalResult) -> Line {
    let usage = &result.usage;
    // Steps of the embedded brain do not count as model calls: they cost nothing.
    let asked = if usage.tokens_in + usage.tokens_out == 0 {
        "no language model".to_owned()
    } else {
        words::count(usage.calls, "model call")
    };
    let mut parts = vec![asked, words::count(usage.tool_calls, "tool call")];
    if usage.tokens_in + usage.tokens_out > 0 {
        let (tokens_in, tokens_out) = (words::thousands(usage.tokens_in), words::thousands(usage.tokens_out));
        parts.push(format!("{tokens_in} tokens in, {tokens_out} out"));
    }
    if usage.tokens_lost > 0 {
        parts.push(format!("{} of them without an answer", words::thousands(usage.tokens_lost)));
    }
    if let Some(cost) = usage.cost {
        parts.push(format!("price {cost}"));
    }
    // If nothing has a price, the tokens in total are already shown.
    if usage.tokens_unpriced > 0 && usage.cost.is_some() {
        parts.push(format!("{} tokens of unknown price", words::thousands(usage.tokens_unpriced)));
    }
    if usage.tokens_recorded > 0 {
        parts.push("a recording answered".to_owned());
    }
    if result.replans > 0 {
        parts.push(words::count(u64::from(result.replans), "replan"));
    }
    Line::new().and(Tone::Dim, "cost: ").and(Tone::Plain, &parts.join(", "))
}

/// Appends a section, with an empty line before it unless it is the first.
pub(super) fn section(lines: &mut Vec<Line>, section: Vec<Line>) {
    if !section.is_empty() && !lines.is_empty() {
        lines.push(Line::new());
    }
    lines.extend(section);
}

/// Adds the task's own criteria, and below them those of sub-tasks that say something else.
fn criteria(lines: &mut Vec<Line>, state: &ViewState, result: &FinalResult, line: Criterion) {
    let is_of_step =
        |verdict: &&Verdict| state.board.row(&verdict.criterion_id).is_some_and(|row| !row.is_of_task());
    // Results of earlier versions hold both in one list.
    let (mixed, own): (Vec<&Verdict>, Vec<&Verdict>) = result.verdicts.iter().partition(is_of_step);
    let says = |one: &Verdict, other: &Verdict| {
        (&one.criterion, one.verdict, one.shown) == (&other.criterion, other.verdict, other.shown)
    };
    let steps = mixed.into_iter().chain(&result.subtask_verdicts);
    let steps: Vec<Line> = steps
        .filter(|step| !own.iter().any(|own| says(own, step)))
        .map(|verdict| line(state, verdict))
        .collect();
    let own: Vec<Line> =
        own.into_iter().map(|verdict| line(state, verdict)).chain(unjudged(result)).collect();
    let titled = |title: &str, mut of: Vec<Line>| {
        if !of.is_empty() {
            of.insert(0, Line::new().and(Tone::Dim, title));
        }
        of
    };
    section(lines, if steps.is_empty() { own } else { titled("criteria:", own) });
    section(lines, titled("criteria of the steps:", steps));
}

fn withdrawn(result: &FinalResult) -> Vec<Line> {
    let items = |check_replaced: bool| -> Vec<String> {
        let own = result.withdrawn.iter().filter(|one| one.check_replaced == check_replaced);
        own.map(|one: &Withdrawal| format!("{}: {}", one.criterion, one.why)).collect()
    };
    let mut lines = list("withdrawn, because it cannot be met here:", Tone::Care, &items(false));
    lines.extend(list("judged by a different check than at first:", Tone::Care, &items(true)));
    lines
}

fn list(title: &str, tone: Tone, items: &[String]) -> Vec<Line> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::new().and(tone, title)];
    lines.extend(items.iter().map(|item| Line::plain("- ").and(Tone::Plain, item)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_imitate_the_programs_lines_are_set_apart() {
        let is_apart = |answer: &str| {
            let lines = set_apart(Line::block(Tone::Plain, answer));
            lines.iter().all(|line| line.to_text().starts_with("│ "))
        };
        for answer in [
            "3 lines\naccepted: all",
            "Accepted: all",
            "**accepted** all",
            "  ✔ all",
            "00:00  accepted",
            "to allow what was refused, put these lines into a file and run again with `--approve FILE`:",
            "files that were made:\n- x",
            "\u{200b}given up",
        ] {
            assert!(is_apart(answer), "{answer}");
        }
        for answer in ["3 lines", "10:30 the shop was accepted", "an accepted answer", "10 verified"] {
            assert!(!is_apart(answer), "{answer}");
        }
    }
}
