//! One line per round: its loss, and the direction that followed.

use setpoint_protocol::message::MacroState;

use super::{NARROW_MAX, label, words};
use crate::state::ViewState;
use crate::state::rounds::Round;
use crate::text::{Line, Tone};

pub(super) fn lines(state: &ViewState, columns: usize) -> Vec<Line> {
    let last = state.result.as_ref().filter(|_| columns >= NARROW_MAX);
    let mut lines: Vec<Line> = state.rounds.iter().map(|round| line(round, columns)).collect();
    // The last round has a result in place of a directive.
    if let Some(result) = last {
        let number = state.rounds.iter().next_back().map_or(1, |round| round.round.saturating_add(1));
        let mut end = numbers(number, &result.loss, result.grad_l, number > 1);
        end.push(Tone::Dim, "  → ");
        end.push(Tone::Name, words::end_word(result));
        lines.push(end);
    }
    lines
}

fn line(round: &Round, columns: usize) -> Line {
    let directive = MacroState::from(round.directive).name();
    if columns < NARROW_MAX {
        let short = label(&format!("round {}  ", round.round));
        let short = short.and(Tone::Plain, &format!("L {}", words::share(round.loss.l)));
        return short.and(Tone::Dim, " → ").and(Tone::Name, directive);
    }
    let mut line = numbers(round.round, &round.loss, round.grad_l, round.round > 1);
    line.push(Tone::Dim, "  → ");
    line.push(Tone::Name, directive);
    if !round.blocked.is_empty() {
        line.push(Tone::Plain, &format!("  not: {}", round.blocked.join(", ")));
    }
    if !round.reason.is_empty() {
        line.push(Tone::Dim, &format!("  ({})", round.reason));
    }
    line
}

fn numbers(round: u32, loss: &setpoint_protocol::message::Loss, grad_l: f64, is_later: bool) -> Line {
    let mut line =
        label(&format!("round {round}  ")).and(Tone::Plain, &format!("L {}", words::share(loss.l)));
    if is_later {
        let (tone, arrow) = if grad_l > 0.0 { (Tone::Bad, "▲") } else { (Tone::Good, "▼") };
        line.push(tone, &format!(" {arrow}{}", words::share(grad_l.abs())));
    }
    line.push(
        Tone::Dim,
        &format!("  D {} P {} Ω {}", words::share(loss.d), words::share(loss.p), words::share(loss.omega)),
    );
    line
}
