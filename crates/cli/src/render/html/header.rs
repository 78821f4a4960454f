//! The head of the page: what was wanted, how it ended, what it took.

use setpoint_protocol::message::{EndState, FinalResult};
use setpoint_protocol::text::{clip, head_and_tail};

use super::markup::Html;
use super::{Report, limit, measured};
use crate::state::ViewState;
use crate::state::asks::Question;
use crate::view::words;

pub(super) fn put(html: &mut Html, report: &Report<'_>) {
    let state = report.state;
    goal(html, &state.goal);
    html.tag("p", &[("class", "state")], |html| {
        let (class, word) = pill(state);
        html.leaf("strong", &[("class", class)], word);
        if state.result.as_ref().is_some_and(|result| result.unproven) {
            html.text(" ");
            html.leaf("strong", &[("class", "pill gaps")], "? unproven");
        }
        if let Some(result) = &state.result {
            html.text(" ");
            html.said(&words::end(result).to_text());
        }
    });
    if let Some(result) = state.result.as_ref().filter(|result| !result.summary.trim().is_empty()) {
        let summary = head_and_tail(&result.summary, limit::FIELD_CHARS_MAX);
        html.leaf("p", &[("class", "summary"), ("dir", "auto")], &summary);
    }
    trouble(html, state);
    html.tag("dl", &[("class", "facts")], |html| {
        for (name, value) in facts(report) {
            html.tag("div", &[], |html| {
                html.leaf("dt", &[], name);
                html.leaf("dd", &[("dir", "auto")], &value);
            });
        }
    });
}

/// The goal as a heading; below it verbatim where the heading cannot hold it.
fn goal(html: &mut Html, goal: &str) {
    let heading = clip(goal, limit::HEADING_CHARS_MAX);
    let shown = if heading.trim().is_empty() { "No goal is known" } else { &heading };
    html.leaf("h1", &[("dir", "auto")], shown);
    // A heading keeps no lines apart.
    if heading != goal || goal.contains('\n') {
        html.tag("details", &[], |html| {
            let chars = words::count(goal.chars().count() as u64, "character");
            html.leaf("summary", &[], &format!("The goal verbatim, {chars}"));
            let goal = head_and_tail(goal, limit::GOAL_CHARS_MAX);
            html.leaf("pre", &[("class", "goal"), ("dir", "auto")], &goal);
        });
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

/// What broke, and what is waited for.
fn trouble(html: &mut Html, state: &ViewState) {
    let waits: Vec<String> = state.questions().map(Question::words).collect();
    if state.faults.is_empty() && waits.is_empty() {
        return;
    }
    html.tag("ul", &[("class", "trouble")], |html| {
        let left_out = limit::each(html, &state.faults, limit::LINES_MAX, |html, fault| {
            html.tag("li", &[], |html| {
                html.leaf("strong", &[], &format!("✗ {} broke: ", fault.role.label()));
                html.said(&clip(&fault.reason, limit::FIELD_CHARS_MAX));
            });
        });
        if left_out > 0 {
            html.leaf("li", &[], &format!("and {left_out} more"));
        }
        limit::each(html, waits, limit::LINES_MAX, |html, wait| {
            html.tag("li", &[], |html| {
                html.leaf("strong", &[], "? It waits for you: ");
                html.said(&clip(&wait, limit::FIELD_CHARS_MAX));
            });
        });
    });
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
        None => "nobody: every criterion is met".to_owned(),
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
