//! Two tasks side by side.

use std::collections::BTreeSet;

use setpoint_history::comparison::{Aspect, Comparison};
use setpoint_protocol::text::clip;

use crate::text::{Line, Tone};

/// At most this many characters of one line of an aspect are shown.
const TEXT_CHARS_MAX: usize = 300;
/// At most this many lines of an aspect that is the same in both are shown; the rest are counted.
const SAME_LINES_MAX: usize = 3;

/// Returns every aspect: once if both tasks agree, else the lines of each in which they differ.
pub(crate) fn lines(comparison: &Comparison) -> Vec<Line> {
    let mut lines = vec![
        Line::new().and(Tone::Bad, "- ").and(Tone::Name, comparison.one.as_str()),
        Line::new().and(Tone::Good, "+ ").and(Tone::Name, comparison.other.as_str()),
        Line::new(),
    ];
    for aspect in &comparison.aspects {
        lines.extend(of_aspect(aspect));
    }
    lines.push(Line::new());
    lines.push(match &comparison.first_record {
        None => Line::new().and(Tone::Good, "all records are the same, except for ids and times"),
        Some(parting) => {
            let shown = |record: &Option<String>| record.clone().unwrap_or_else(|| "no record".to_owned());
            let (one, other) = (shown(&parting.one), shown(&parting.other));
            let what =
                if one == other { format!("{one}, with another body") } else { format!("{one} / {other}") };
            Line::new()
                .and(Tone::Care, &format!("the first record that differs: {}", parting.seq))
                .and(Tone::Plain, &format!("  {what}"))
        }
    });
    lines
}

fn of_aspect(aspect: &Aspect) -> Vec<Line> {
    let text = |text: &str| clip(&text.split_whitespace().collect::<Vec<_>>().join(" "), TEXT_CHARS_MAX);
    if aspect.is_same {
        let shown: Vec<String> = aspect.one.iter().take(SAME_LINES_MAX).map(|line| text(line)).collect();
        let more = match aspect.one.len().saturating_sub(SAME_LINES_MAX) {
            0 => String::new(),
            n => format!(" … and {n} more"),
        };
        let line = Line::new().and(Tone::Dim, &format!("= {}: ", aspect.name));
        return vec![line.and(Tone::Dim, &format!("{}{more}", shown.join(" · ")))];
    }
    let mut lines = vec![Line::new().and(Tone::Strong, &format!("≠ {}", aspect.name))];
    let sides =
        [("  - ", Tone::Bad, &aspect.one, &aspect.other), ("  + ", Tone::Good, &aspect.other, &aspect.one)];
    for (sign, tone, mine, theirs) in sides {
        // A line that both have, however often, is not a difference.
        let theirs: BTreeSet<&String> = theirs.iter().collect();
        let own = mine.iter().filter(|line| !theirs.contains(*line));
        lines.extend(own.map(|line| Line::new().and(tone, sign).and(Tone::Plain, &text(line))));
    }
    if lines.len() == 1 {
        lines.push(
            Line::new().and(Tone::Dim, "    the same lines in another order, or another number of times"),
        );
    }
    lines
}
