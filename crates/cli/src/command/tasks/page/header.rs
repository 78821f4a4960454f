//! The head of the page: the goal, how the task ended, what it took.

use maud::{Markup, html};
use setpoint_protocol::message::{EndState, FinalResult};
use setpoint_protocol::text::{clip, head_and_tail};

use super::parts::isolated;
use super::{Report, limit, measured};
use crate::state::ViewState;
use crate::view::words;

pub(super) fn header(report: &Report<'_>) -> Markup {
    let state = report.state;
    let (class, word) = pill(state);
    let result = state.result.as_ref();
    html! {
        (goal(&state.goal))
        p.state {
            strong class=(class) { (word) }
            @if let Some(result) = result {
                @if result.unproven { " " strong.pill.gaps { "? unproven" } }
                " " (isolated(&words::end(result).to_text()))
            }
        }
        @if let Some(result) = result.filter(|result| !result.summary.trim().is_empty()) {
            p.summary dir="auto" { (head_and_tail(&result.summary, limit::FIELD_CHARS_MAX)) }
        }
        (trouble(state))
        dl.facts {
            @for (name, value) in facts(report) { div { dt { (name) } dd dir="auto" { (value) } } }
        }
    }
}

/// Returns the goal as a heading, and below it verbatim if the heading shows less.
fn goal(goal: &str) -> Markup {
    let heading = clip(goal, limit::HEADING_CHARS_MAX);
    html! {
        h1 dir="auto" { (if heading.trim().is_empty() { "No goal is known" } else { &heading }) }
        // A heading does not show line breaks.
        @if heading != goal || goal.contains('\n') {
            details {
                summary { "The goal verbatim, " (words::count(goal.chars().count() as u64, "character")) }
                pre.goal dir="auto" { (head_and_tail(goal, limit::GOAL_CHARS_MAX)) }
            }
        }
    }
}

fn pill(state: &ViewState) -> (&'static str, &'static str) {
    match (&state.result, &state.answer) {
        (Some(result), _) => match result.directive {
            EndState::Accept => ("pill accept", "✔ accept"),
            EndState::Success if result.unproven => ("pill gaps", "! accepted"),
            EndState::Success => ("pill gaps", "! accepted with gaps"),
            EndState::Abandon => ("pill abandon", "✗ abandoned"),
        },
        (None, Some(_)) => ("pill accept", "✔ answered at once"),
        (None, None) if state.is_cancelled => ("pill open", "◐ being cancelled"),
        (None, None) => ("pill open", "◐ open"),
    }
}

/// Returns what failed, and what the task waits for.
fn trouble(state: &ViewState) -> Markup {
    let line = |what: &str, why: &str| {
        html! { li { strong { (what) } (isolated(&clip(why, limit::FIELD_CHARS_MAX))) } }
    };
    let (faults, left_out) = limit::each(&state.faults, limit::LINES_MAX, |fault| {
        line(&format!("✗ {} broke: ", fault.role.label()), &fault.reason)
    });
    let (questions, _) = limit::each(state.questions(), limit::LINES_MAX, |question| {
        line("? It waits for you: ", &question.words())
    });
    html! {
        @if !state.faults.is_empty() || state.questions().next().is_some() {
            ul.trouble {
                (faults)
                @if left_out > 0 { li { "and " (left_out) " more" } }
                (questions)
            }
        }
    }
}

fn facts(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let state = report.state;
    let mut facts = vec![("Task", state.task.to_string())];
    if let Some(opened) = state.opened_at {
        facts.push(("Opened", words::date_and_time(opened, report.zone)));
        facts.push(("Times are those of", words::zone(opened, report.zone)));
    }
    facts.push(("Clock", words::duration(state.clock_ms)));
    if let Some(result) = &state.result {
        facts.push(("Ended by", result.ended_by.name().to_owned()));
        facts.push(("Accountable", accountable(result)));
    }
    let count = measured::rounds(state).len();
    let mut rounds = format!("{count} measured");
    if count > limit::ROUNDS_MAX {
        rounds.push_str(&format!(", the {} earliest left out here", count - limit::ROUNDS_MAX));
    }
    if !state.is_ended() {
        rounds.push_str(&format!(", round {} under way", state.round()));
    } else if state.board.round() > 0 && state.is_broken_off() {
        rounds.push_str(&format!(", round {} not measured", state.round()));
    }
    facts.push(("Rounds", rounds));
    facts.push(("Cost", cost(report)));
    facts.push(("Findings", report.findings.len().to_string()));
    facts
}

fn accountable(result: &FinalResult) -> String {
    match result.accountable {
        Some(role) => words::accountable(role, result.ended_by),
        None => "no role: every criterion is met".to_owned(),
    }
}

fn cost(report: &Report<'_>) -> String {
    let total = &report.cost.total;
    let calls = words::count(total.calls, "model call");
    let mut parts = vec![calls, words::count(report.state.used.tool_calls, "tool call")];
    if total.tokens_in + total.tokens_out > 0 {
        let (tokens_in, tokens_out) = (words::thousands(total.tokens_in), words::thousands(total.tokens_out));
        parts.push(format!("{tokens_in} tokens in, {tokens_out} out"));
    }
    if let Some(cost) = total.cost {
        parts.push(format!("price {cost}"));
    }
    if !total.failed.is_none() {
        parts.push(format!("{} without an answer", words::count(total.failed.calls, "attempt")));
    }
    parts.join(", ")
}
