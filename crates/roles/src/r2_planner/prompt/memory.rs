//! Puts memory's reply into words.
//!
//! What the operator stated is trusted. Lessons are derived from tasks, so they contain names that models and files
//! gave; they are in a data fragment, whatever their heading.

use setpoint_machine::brief::{CalibrationLine, Heading};

pub(super) const HEADING: &str = "\
What earlier tasks taught is in the next block. MUST NOT: leave it out of the plan; a plan with it is refused. SHOULD \
PREFER: do it this way unless the goal asks for another. CAUTION: allowed, but let a criterion show that it worked. \
MIGHT TRY: nobody has, here. \
RELATED: other kinds of tasks; use what fits.";

/// Returns what the operator stated; empty if nothing.
pub(super) fn facts(lines: &[CalibrationLine]) -> String {
    let facts = listed(lines, Heading::UserFact);
    if facts.is_empty() { facts } else { format!("The person who runs this machine has stated:\n{facts}") }
}

/// Returns everything else, by heading.
pub(super) fn remembered(lines: &[CalibrationLine]) -> String {
    let headings = [
        (Heading::MustNot, "MUST NOT"),
        (Heading::ShouldPrefer, "SHOULD PREFER"),
        (Heading::Caution, "CAUTION"),
        (Heading::MightTry, "MIGHT TRY"),
        (Heading::Related, "RELATED"),
    ];
    let blocks = headings.into_iter().filter_map(|(heading, name)| {
        let lines = listed(lines, heading);
        (!lines.is_empty()).then(|| format!("{name}\n{lines}"))
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn listed(lines: &[CalibrationLine], heading: Heading) -> String {
    let of_it = lines.iter().filter(|line| line.heading == heading);
    of_it.map(|line| format!("- {}", line.text)).collect::<Vec<_>>().join("\n")
}
