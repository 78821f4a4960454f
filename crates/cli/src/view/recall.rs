//! What memory gave to the plan: one line while the task runs, all of it when it is looked back at.

use setpoint_protocol::message::MemoryAction;

use super::words;
use crate::state::recall::{Given, Recall, What};
use crate::text::{Line, Tone};

/// The most that says something, in one line; nothing where memory gave nothing.
#[must_use]
pub fn line(recall: &Recall) -> Option<Line> {
    if let Some(reason) = &recall.unavailable {
        return Some(Line::new().and(Tone::Care, &format!("the plan is made without memory: {reason}")));
    }
    let first = recall.given.first()?;
    let mut line = match recall.potentials.action {
        // Rules and facts need no sums.
        MemoryAction::Ignore => given(first),
        _ => sums(recall).and(Tone::Dim, "; ").then(given(first)),
    };
    let more = recall.given.len() - 1;
    if more > 0 {
        line.push(Tone::Dim, &format!(" (and {more} more)"));
    }
    Some(line)
}

/// The same without the sums.
#[must_use]
pub fn brief(recall: &Recall) -> Option<Line> {
    if recall.unavailable.is_some() {
        return line(recall);
    }
    recall.given.first().map(given)
}

/// Everything that memory gave, with the ids that `setpoint memory show` takes.
#[must_use]
pub fn lines(recall: &Recall) -> Vec<Line> {
    let head = Line::new().and(Tone::Dim, "memory  ");
    if recall.is_empty() || recall.unavailable.is_some() {
        return line(recall).map(|line| head.then(line)).into_iter().collect();
    }
    let mut lines = vec![head.then(sums(recall))];
    for one in &recall.given {
        let mut line = Line::plain("        ").then(given(one));
        line.push(Tone::Dim, &format!("  {}", one.id));
        if recall.overridden.contains(&one.id) {
            line.push(Tone::Care, "  overridden: no plan could be made otherwise");
        }
        lines.push(line);
    }
    lines
}

fn sums(recall: &Recall) -> Line {
    let potentials = &recall.potentials;
    let (tone, word) = words::action(potentials.action);
    let mut line = Line::new().and(tone, word);
    let numbers =
        format!("  M_att {} M_dec {}", words::share(potentials.attention), words::share(potentials.decision));
    line.push(Tone::Dim, &numbers);
    line
}

fn given(given: &Given) -> Line {
    let tone = match given.what {
        What::Constraint | What::Avoided | What::Failed => Tone::Bad,
        What::BestPractice | What::Worked => Tone::Good,
        What::Noted | What::Hypothesis | What::Related | What::Fact => Tone::Plain,
    };
    Line::new().and(tone, given.what.words()).and(Tone::Plain, &format!(": {}", given.text))
}
