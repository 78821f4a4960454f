//! The action grid: which state each round led to, and the path from state to state.

use maud::{Markup, html};
use setpoint_protocol::message::MacroState;
use setpoint_protocol::settings::ControllerSettings;

use super::measured::Measured;
use super::{limit, svg};
use crate::view::words;

/// Pixels of the picture, which fits a phone.
const WIDTH: f64 = 348.0;
const HEIGHT: f64 = 282.0;
/// Pixels: of a band above or below the cells, of the labels to their left, of a cell.
const BAND: f64 = 32.0;
const LEFT: f64 = 72.0;
const CELL: (f64, f64) = ((WIDTH - LEFT) / 2.0, 92.0);
const CELLS: [MacroState; 4] =
    [MacroState::ChangePath, MacroState::BreakSymmetry, MacroState::Refine, MacroState::ChangeApproach];
/// Pixels from the top to the cells.
const CELLS_TOP: f64 = BAND + 24.0;
/// Places for rounds within one cell, which can hold all rounds that are shown.
struct Places {
    a_row: usize,
    radius: f64,
    has_numbers: bool,
}
/// A cell with at most this many rounds has wide places.
const WIDE_MAX: usize = 10;
const WIDE: Places = Places { a_row: 5, radius: 11.0, has_numbers: true };
const NARROW: Places = Places { a_row: 10, radius: 4.5, has_numbers: false };

/// Returns the grid with the path through it.
pub(super) fn grid(all: &[Measured], settings: &ControllerSettings) -> Markup {
    let (left_out, trail) = limit::latest(all, limit::ROUNDS_MAX);
    let most = CELLS.map(|state| trail.iter().filter(|one| one.decision == state).count());
    let places = if most.iter().all(|count| *count <= WIDE_MAX) { WIDE } else { NARROW };
    let walked: Vec<String> =
        trail.iter().map(|one| format!("round {}: {}", one.round, one.decision.name())).collect();
    let described = if walked.is_empty() { "no round is over".to_owned() } else { walked.join(", then ") };
    let before = |n: usize, one: &Measured| {
        trail.iter().take(n).filter(|other| other.decision == one.decision).count()
    };
    let points: Vec<(f64, f64)> =
        trail.iter().enumerate().map(|(n, one)| place(one.decision, before(n, one), &places)).collect();
    let inner = html! {
        (field())
        (svg::path("trail", &points))
        (names(settings))
        @for ((point, one), tip) in points.iter().zip(trail).zip(&walked) {
            g data-step=(one.round) {
                (svg::circle("step", *point, places.radius, Some(tip)))
                @if places.has_numbers {
                    (svg::label("middle step", (point.0, point.1 + 4.0), &one.round.to_string()))
                }
            }
        }
    };
    html! {
        div.wide { (svg::picture(("action-grid", "Action grid", &described), (WIDTH, HEIGHT), &inner)) }
        p.trail { "Trail: " (described) "." }
        (limit::left_out_note(left_out, "earlier rounds are"))
    }
}

/// Draws the bands and cells, below the path.
fn field() -> Markup {
    html! {
        (svg::rectangle("band good", (0.0, 0.0), (WIDTH, BAND), None))
        @for at in CELLS.into_iter().filter_map(corner) { (svg::rectangle("cell", at, CELL, None)) }
        (svg::rectangle("band bad", (0.0, HEIGHT - BAND), (WIDTH, BAND), None))
    }
}

/// Draws the names of bands and cells, above the path so that they can be read.
fn names(settings: &ControllerSettings) -> Markup {
    let [delta, rho, epsilon, theta] =
        [settings.delta, settings.rho, settings.epsilon, settings.theta].map(words::share);
    let heads = [(format!("P ≤ ρ {rho}"), 0.0), (format!("P > ρ {rho}"), 1.0)];
    let rows = [("stuck", "|∇L| < ε", 0.0), ("has signal", "|∇L| ≥ ε", 1.0)];
    let end = format!("Ω ≥ θ {theta}, or worse {} × in a row: abandon", settings.law2_rounds);
    html! {
        (svg::label("start", (8.0, 20.0), &format!("D = 0: accept · D ≤ δ {delta}: success")))
        @for (head, column) in &heads {
            (svg::label("middle over", (LEFT + CELL.0 * (column + 0.5), BAND + 17.0), head))
        }
        @for (word, head, row) in rows {
            @let y = CELLS_TOP + CELL.1 * (row + 0.5);
            (svg::label("start", (0.0, y - 14.0), head))
            (svg::label("start", (0.0, y + 2.0), &format!("ε = {epsilon}")))
            (svg::label("start dim", (0.0, y + 18.0), word))
        }
        @for (state, (x, y)) in CELLS.into_iter().filter_map(|state| Some((state, corner(state)?))) {
            (svg::label("start name over", (x + 8.0, y + 17.0), state.name()))
        }
        (svg::label("start", (8.0, HEIGHT - BAND + 20.0), &end))
    }
}

/// Returns the middle of the `n`th place of a state, from 0.
fn place(state: MacroState, n: usize, places: &Places) -> (f64, f64) {
    let gap = places.radius * 2.0 + if places.has_numbers { 4.0 } else { 3.0 };
    let (column, row) = ((n % places.a_row) as f64, (n / places.a_row) as f64);
    match (corner(state), state) {
        (Some((x, y)), _) => (x + 8.0 + places.radius + gap * column, y + 40.0 + gap * row),
        // A task has one end, so an end needs one place.
        (None, MacroState::Abandon) => (WIDTH - 24.0, HEIGHT - BAND / 2.0),
        (None, _) => (WIDTH - 24.0, BAND / 2.0),
    }
}

/// Returns the upper left corner of a state's cell; `None` for the ends and the beginning.
const fn corner(state: MacroState) -> Option<(f64, f64)> {
    let (column, row) = match state {
        MacroState::ChangePath => (0.0, 0.0),
        MacroState::BreakSymmetry => (1.0, 0.0),
        MacroState::Refine => (0.0, 1.0),
        MacroState::ChangeApproach => (1.0, 1.0),
        MacroState::Init | MacroState::Accept | MacroState::Success | MacroState::Abandon => return None,
    };
    Some((LEFT + CELL.0 * column, CELLS_TOP + CELL.1 * row))
}
