//! A rerun of the controller with other settings, beside the recorded decisions.

use setpoint_protocol::replay::{Decided, PartingKind, Rerun, RerunRound};

use crate::text::table::{Cell, table};
use crate::text::{Line, Tone};
use crate::view::words;

/// Returns the settings, the decisions side by side, and what they mean.
pub(crate) fn lines(rerun: &Rerun) -> Vec<Line> {
    let mut lines = Vec::new();
    for setting in &rerun.settings {
        let (recorded, tried) = (shown(&setting.recorded), shown(&setting.tried));
        lines.push(
            Line::new()
                .and(Tone::Name, &setting.name)
                .and(Tone::Plain, &format!(" {tried}"))
                .and(Tone::Dim, &format!(" instead of {recorded}")),
        );
    }
    lines.push(Line::new());
    let names = [
        "round",
        "record",
        "D",
        "P",
        "Ω",
        "L",
        "∇L",
        "decided",
        "D",
        "P",
        "Ω",
        "L",
        "∇L",
        "would decide",
        "",
    ];
    let parted = rerun.parting.map(|parting| parting.round);
    let rows: Vec<Vec<Cell>> = rerun.rounds.iter().map(|round| row(round, parted)).collect();
    lines.extend(table(&names, &rows));
    lines.push(Line::new());
    lines.extend(verdict(rerun));
    lines.extend(rerun.notes.iter().map(|note| Line::new().and(Tone::Care, "note: ").and(Tone::Plain, note)));
    lines
}

/// Returns the result of the comparison in words.
pub(crate) fn words_of(rerun: &Rerun) -> String {
    let Some(parting) = rerun.parting else {
        return match rerun.rounds.len() {
            0 => "the controller has decided nothing yet".to_owned(),
            _ => "the decisions are the same".to_owned(),
        };
    };
    let round = rerun.rounds.iter().find(|round| round.round == parting.round);
    let word = |decided: Option<&Decided>| decided.map_or_else(|| "nothing".to_owned(), decision);
    let recorded = word(round.and_then(|round| round.recorded.as_ref()));
    let tried = word(round.and_then(|round| round.tried.as_ref()));
    let number = parting.round;
    match parting.kind {
        PartingKind::Direction => format!(
            "round {number} differs: {recorded} was decided, and {tried} would be; what follows is unknown, because \
             the later measurements are of the plans that were made"
        ),
        PartingKind::Manner => format!(
            "round {number} differs: both decide {tried}, but not with the same words or blocks; what follows is \
             unknown, because the later measurements are of the plans that were made"
        ),
        PartingKind::Ends => format!(
            "round {number} differs: the task would end there ({tried}), and it went on with {recorded}; the later \
             rounds would not have happened"
        ),
        PartingKind::GoesOn => format!(
            "round {number} differs: the task ended there ({recorded}), and it would go on with {tried}; what that \
             would have achieved is unknown"
        ),
        PartingKind::OtherEnd => {
            format!("round {number} differs: the task ended there as {recorded}, and it would end as {tried}")
        }
    }
}

fn verdict(rerun: &Rerun) -> Vec<Line> {
    let tone = if rerun.parting.is_some() { Tone::Care } else { Tone::Good };
    let mut lines = vec![Line::new().and(tone, &words_of(rerun))];
    let Some(parting) = rerun.parting else { return lines };
    let Some(round) = rerun.rounds.iter().find(|round| round.round == parting.round) else { return lines };
    for (name, decided) in [("decided", &round.recorded), ("would decide", &round.tried)] {
        if let Some(decided) = decided {
            let name = format!("{name}: ");
            lines.push(Line::new().and(Tone::Dim, &name).and(Tone::Plain, &decided.rationale));
            let tools = decided.blocked_tools.iter().map(ToString::to_string);
            let blocked: Vec<String> = tools.chain(decided.blocked_targets.iter().cloned()).collect();
            if !blocked.is_empty() {
                lines.push(Line::new().and(Tone::Dim, "  blocked: ").and(Tone::Plain, &blocked.join(", ")));
            }
        }
    }
    lines
}

fn row(round: &RerunRound, parted: Option<u32>) -> Vec<Cell> {
    let mut cells = vec![(Tone::Plain, round.round.to_string()), (Tone::Dim, round.seq.to_string())];
    cells.extend(side(round.recorded.as_ref(), ""));
    // After the decisions differ, later measurements of the changed controller are unknown.
    cells.extend(side(round.tried.as_ref(), "unknown"));
    let mark = if parted == Some(round.round) { "parts here" } else { "" };
    cells.push((Tone::Care, mark.to_owned()));
    cells
}

fn side(decided: Option<&Decided>, missing: &str) -> Vec<Cell> {
    let Some(decided) = decided else {
        let mut cells = vec![(Tone::Dim, String::new()); 5];
        cells.push((Tone::Dim, missing.to_owned()));
        return cells;
    };
    let loss = decided.loss;
    let mut cells: Vec<Cell> = [loss.d, loss.p, loss.omega, loss.l, decided.grad_l]
        .into_iter()
        .map(|number| (Tone::Plain, words::share(number)))
        .collect();
    cells.push((Tone::Name, decision(decided)));
    cells
}

/// Returns a direction, or an end with the rule that decided it.
fn decision(decided: &Decided) -> String {
    match decided.ended_by {
        Some(rule) => format!("{} ({})", decided.decision.name(), rule.name()),
        None => decided.decision.name().to_owned(),
    }
}

fn shown(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
