//! The goal, the progress, which roles work, and what the task waits for.

use setpoint_protocol::CallId;
use setpoint_protocol::record::Purpose;

use super::{Look, NARROW_MAX, label, recall, words};
use crate::state::ViewState;
use crate::state::asks::{PendingCall, PendingKind};
use crate::state::roles::{RoleState, Roles};
use crate::text::{Line, Tone};

/// From this many columns on, goal and figures share a line.
const ONE_LINE_MIN: usize = 80;
/// Cells of the bar that shows Ω.
const BAR_CELLS: usize = 8;

pub(super) fn lines(state: &ViewState, look: &Look, columns: usize) -> Vec<Line> {
    let goal = label("goal  ").and(Tone::Strong, &state.goal);
    let figures = figures(state, look, columns);
    let mut lines = if columns >= ONE_LINE_MIN {
        let room = columns.saturating_sub(figures.width() + 2);
        let mut first = goal.clip(room);
        first.pad(room + 2);
        first.append(figures);
        vec![first]
    } else {
        vec![goal, figures]
    };
    let mut roles = roles(state);
    let waiting = waiting(state, look.clock_ms);
    if columns >= ONE_LINE_MIN {
        roles.push(Tone::Plain, "   ");
        roles.append(waiting);
        lines.push(roles);
    } else {
        lines.extend([roles, waiting]);
    }
    if let Some(recalled) = state.recall.as_ref().and_then(recall::line) {
        lines.push(label("memory  ").then(recalled));
    }
    lines
}

fn figures(state: &ViewState, look: &Look, columns: usize) -> Line {
    let id = state.task.as_str();
    let short: String = id.chars().skip(id.chars().count().saturating_sub(4)).collect();
    let mut line = label("task ").and(Tone::Plain, &short);
    line.push(Tone::Plain, &format!("  {}", words::clock(look.clock_ms)));
    let calls = match state.budgets.calls {
        Some(most) => format!("{}/{most}", state.used.model_calls),
        None => state.used.model_calls.to_string(),
    };
    line.push(Tone::Dim, "  calls ");
    line.push(Tone::Plain, &calls);
    let omega = state.omega_at(look.clock_ms);
    line.push(Tone::Dim, "  Ω ");
    let tone = if omega >= state.controller.theta { Tone::Bad } else { Tone::Plain };
    if columns >= NARROW_MAX {
        line.push(tone, &bar(omega));
        line.push(Tone::Plain, " ");
    }
    line.push(tone, &words::share(omega));
    line
}

fn bar(omega: f64) -> String {
    // `omega` is between 0 and 1; a partial cell counts as filled.
    let filled = (1..=BAR_CELLS).filter(|n| omega * BAR_CELLS as f64 > (*n - 1) as f64 + 1e-9).count();
    "▓".repeat(filled) + &"░".repeat(BAR_CELLS - filled)
}

fn roles(state: &ViewState) -> Line {
    let mut line = Line::new();
    for (n, role) in Roles::SHOWN.into_iter().enumerate() {
        if n > 0 {
            line.push(Tone::Plain, " ");
        }
        line.push(Tone::Name, role.label());
        match state.roles.state_of(role) {
            RoleState::Idle => line.push(Tone::Dim, "○"),
            RoleState::Working(1) if !role.is_effector() => line.push(Tone::Care, "◐"),
            RoleState::Working(count) => line.push(Tone::Care, &format!("◐{count}")),
            RoleState::Done => line.push(Tone::Good, "●"),
        }
    }
    if let Some(recall) = &state.recall {
        line.push(Tone::Name, "   R5");
        match recall.unavailable {
            None => line.push(Tone::Plain, &format!(" {} recalled", recall.given.len())),
            Some(_) => line.push(Tone::Care, " unavailable"),
        }
    }
    line
}

/// Returns what the task waits for.
fn waiting(state: &ViewState, clock_ms: u64) -> Line {
    let mut line = label("waiting: ");
    if state.is_ended() {
        line.push(Tone::Dim, "—");
        return line;
    }
    if state.is_cancelled {
        line.push(Tone::Care, "stopping what runs");
        return line;
    }
    let questions = state.questions().count();
    if let Some(question) = state.questions().next() {
        line.push(Tone::Care, "you");
        line.push(Tone::Plain, &format!(", {}", question.words()));
        if questions > 1 {
            line.push(Tone::Plain, &format!(" (and {} more)", questions - 1));
        }
        return line;
    }
    let mut open: Vec<_> = state.asks.open().filter(|(_, open)| open.what != PendingKind::Timer).collect();
    open.sort_by_key(|(_, open)| open.since_ms);
    let Some((call, first)) = open.first() else {
        line.push(Tone::Dim, "—");
        return line;
    };
    line.push(Tone::Plain, &open_words(state, **call, first, clock_ms));
    if open.len() > 1 {
        line.push(Tone::Dim, &format!(" (and {} more)", open.len() - 1));
    }
    line
}

fn open_words(state: &ViewState, call: CallId, open: &PendingCall, clock_ms: u64) -> String {
    let who = words::role_label(call.role, call.instance);
    let what = match open.what {
        PendingKind::Model(purpose) => purpose_words(purpose).to_owned(),
        PendingKind::Tool => {
            state.calls.get(call).map_or_else(String::new, |call| format!("runs {}", call.words()))
        }
        PendingKind::Timer => String::new(),
        PendingKind::Survey => "surveys the working directory".to_owned(),
    };
    let seconds = clock_ms.saturating_sub(open.since_ms) / 1_000;
    let again = match (&open.reason, open.attempt) {
        (Some(reason), attempt) => format!(", attempt {attempt}: {reason}"),
        (None, _) => String::new(),
    };
    format!("{who} {what} {seconds} s{again}")
}

fn purpose_words(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Perceive => "reads the goal",
        Purpose::Plan => "plans",
        Purpose::Report => "writes the report",
        Purpose::Execute => "decides what to do",
        Purpose::Judge => "judges",
        Purpose::Merge => "merges the results",
        Purpose::Distil => "writes a rule",
        Purpose::Reflect => "thinks about what was learnt",
    }
}
