//! The loss over the rounds: its parts, and each measure beside its threshold.

use maud::{Markup, html};
use setpoint_protocol::settings::ControllerSettings;

use super::measured::Measured;
use super::parts::{keys, none};
use super::{limit, parts, svg};
use crate::view::words;

/// Pixels of width: for the axis, for the labels to the right of the bars, per round, per bar.
const LEFT: f64 = 40.0;
const RIGHT: f64 = 36.0;
const STEP: f64 = 58.0;
const BAR: f64 = 34.0;
/// Pixels of height: above the bars, of the bars, below them.
const TOP: f64 = 30.0;
const PLOT: f64 = 168.0;
const BOTTOM: f64 = 40.0;
/// Pixels that a part of a bar needs to carry its letter.
const LETTER_MIN: f64 = 15.0;
/// The narrowest chart has room for this many rounds.
const ROUNDS_MIN: usize = 4;

/// Returns the chart, the gauges, and all of it as a table.
pub(super) fn chart(all: &[Measured], settings: &ControllerSettings) -> Markup {
    let (left_out, rounds) = limit::latest(all, limit::ROUNDS_MAX);
    if rounds.is_empty() {
        return none("No round has been measured.");
    }
    let parts = [
        ("d", "α·D, distance from the goal"),
        ("p", "β·(1 − Ω)·P, implausible process"),
        ("w", "λ·Ω, budget used"),
    ];
    html! {
        div.charts {
            div.wide { (stack(rounds, settings)) }
            div.gauges { (gauges(rounds, settings)) }
        }
        ul.legend {
            (keys(&parts))
            li { "●— L, their sum" }
            li { "┄ α·δ: D below it is close enough" }
        }
        (table(rounds, settings))
        (limit::left_out_note(left_out, "earlier rounds are"))
    }
}

fn stack(rounds: &[Measured], settings: &ControllerSettings) -> Markup {
    let top = top(rounds, settings);
    let at = |value: f64| TOP + PLOT - PLOT * (value / top).clamp(0.0, 1.0);
    let width = LEFT + STEP * rounds.len().max(ROUNDS_MIN) as f64 + RIGHT;
    let height = TOP + PLOT + BOTTOM;
    let middle = |n: usize| LEFT + STEP * (n as f64 + 0.5);
    let points: Vec<(f64, f64)> =
        rounds.iter().enumerate().map(|(n, one)| (middle(n), at(one.loss.l))).collect();
    let near = at(settings.alpha * settings.delta);
    let described: Vec<String> = rounds.iter().map(|one| described(one, settings)).collect();
    let inner = html! {
        (svg::label("start", (2.0, 12.0), "loss"))
        @for tick in ticks(top) {
            (svg::line("rule", (LEFT, at(tick)), (width - RIGHT, at(tick))))
            (svg::label("end", (LEFT - 6.0, at(tick) + 4.0), &words::share(tick)))
        }
        @for (n, (one, tip)) in rounds.iter().zip(&described).enumerate() {
            g data-round=(one.round) { (bar(one.parts(settings), middle(n), at, tip)) }
            (svg::label("middle", (middle(n), TOP + PLOT + 16.0), &one.round.to_string()))
        }
        (svg::path("loss", &points))
        @for (((x, y), one), tip) in points.iter().zip(rounds).zip(&described) {
            (svg::circle("loss", (*x, *y), 3.5, Some(tip)))
            (svg::label("middle value over", (*x, *y - 8.0), &words::share(one.loss.l)))
        }
        (svg::line("threshold", (LEFT, near), (width - RIGHT, near)))
        (svg::label("start", (width - RIGHT + 4.0, near + 4.0), "α·δ"))
        (svg::label("middle", (LEFT + (width - LEFT - RIGHT) / 2.0, height - 6.0), "round"))
    };
    svg::picture(("loss-chart", "Loss by round", &described.join("; ")), (width, height), &inner)
}

fn bar(parts: [f64; 3], middle: f64, at: impl Fn(f64) -> f64, tip: &str) -> Markup {
    let mut below = 0.0;
    let stacked = parts.map(|part| {
        let (from, to) = (at(below), at(below + part));
        below += part;
        (from, to)
    });
    html! {
        @for ((from, to), (class, letter)) in stacked.into_iter().zip([("d", "D"), ("p", "P"), ("w", "Ω")]) {
            (svg::rectangle(class, (middle - BAR / 2.0, to), (BAR, from - to), Some(tip)))
            @if from - to >= LETTER_MIN {
                (svg::label(&format!("middle letter {class}"), (middle, f64::midpoint(from, to) + 4.0), letter))
            }
        }
    }
}

/// Returns the upper end of the axis: 1, or the next quarter above the highest bar.
fn top(rounds: &[Measured], settings: &ControllerSettings) -> f64 {
    let sums = rounds.iter().map(|one| one.parts(settings).iter().sum::<f64>().max(one.loss.l));
    let highest = sums.filter(|sum| sum.is_finite()).fold(0.0, f64::max).min(100.0);
    (highest * 4.0).ceil().max(4.0) / 4.0
}

/// Returns at most eight values from 0 to the upper end.
fn ticks(top: f64) -> impl Iterator<Item = f64> {
    let step = [0.25, 0.5, 1.0, 5.0, 25.0].into_iter().find(|step| top / step <= 7.0).unwrap_or(top);
    (0..8).map(move |n| f64::from(n) * step).take_while(move |tick| *tick <= top)
}

fn gauges(rounds: &[Measured], settings: &ControllerSettings) -> Markup {
    let all = |of: fn(&Measured) -> f64| rounds.iter().map(of).collect::<Vec<f64>>();
    html! {
        (gauge("D", "δ", settings.delta, "d", &all(|one| one.loss.d)))
        (gauge("P", "ρ", settings.rho, "p", &all(|one| one.loss.p)))
        (gauge("Ω", "θ", settings.theta, "w", &all(|one| one.loss.omega)))
        (gauge("|∇L|", "ε", settings.epsilon, "g", &all(|one| one.grad_l.unwrap_or(0.0).abs())))
    }
}

/// Returns one measure over the rounds, from 0 to 1, with its threshold as a line.
fn gauge(name: &str, sign: &str, threshold: f64, class: &str, values: &[f64]) -> Markup {
    const WIDTH: f64 = 164.0;
    const HEIGHT: f64 = 64.0;
    const HEAD: f64 = 20.0;
    let at = |value: f64| HEAD + HEIGHT - HEIGHT * value.clamp(0.0, 1.0);
    let step = (WIDTH / values.len().max(ROUNDS_MIN) as f64).min(32.0);
    let shares: Vec<String> = values.iter().map(|value| words::share(*value)).collect();
    let limit = words::share(threshold);
    let inner = html! {
        (svg::label("start", (0.0, 12.0), &format!("{name}  ┄ {sign} {limit}")))
        @for (n, (value, share)) in values.iter().zip(&shares).enumerate() {
            (svg::rectangle(
                class,
                (step * n as f64, at(*value)),
                (step * 0.7, at(0.0) - at(*value)),
                Some(share),
            ))
        }
        (svg::line("rule", (0.0, at(0.0)), (WIDTH, at(0.0))))
        (svg::line("threshold", (0.0, at(threshold)), (WIDTH, at(threshold))))
    };
    let title = format!("{name}, threshold {sign} {limit}");
    let names = (&*format!("gauge-{class}"), &*title, &*shares.join(", "));
    svg::picture(names, (WIDTH, HEAD + HEIGHT + 2.0), &inner)
}

const HEAD: [&str; 10] = ["Round", "α·D", "β·(1−Ω)·P", "λ·Ω", "L", "∇L", "D", "P", "Ω", "Decision"];

fn table(rounds: &[Measured], settings: &ControllerSettings) -> Markup {
    let rows = html! {
        @for one in rounds {
            @let [d, p, omega] = one.parts(settings);
            @let loss = &one.loss;
            tr {
                th scope="row" { (one.round) }
                @for number in [d, p, omega, loss.l] { td.number { (words::share(number)) } }
                td.number { (one.grad_l.map_or_else(|| "–".to_owned(), slope)) }
                @for number in [loss.d, loss.p, loss.omega] { td.number { (words::share(number)) } }
                td.short { (one.decision.name()) }
            }
        }
    };
    parts::table("The loss of each round in numbers", &HEAD, &rows)
}

/// Returns ∇L with an arrow and a word for its direction.
pub(super) fn slope(grad_l: f64) -> String {
    let arrow = if grad_l > 0.0 {
        "▲ worse"
    } else if grad_l < 0.0 {
        "▼ better"
    } else {
        "= the same"
    };
    let (arrow, word) = arrow.split_once(' ').unwrap_or((arrow, ""));
    // Use no-break spaces, because an arrow on another line than its number says nothing.
    format!("{arrow}\u{a0}{}\u{a0}{word}", words::share(grad_l.abs()))
}

fn described(one: &Measured, settings: &ControllerSettings) -> String {
    let [d, p, omega] = one.parts(settings).map(words::share);
    let l = words::share(one.loss.l);
    format!("round {}: L {l} = D {d} + P {p} + Ω {omega}, then {}", one.round, one.decision.name())
}
