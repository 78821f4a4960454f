//! What memory says, in words.
//!
//! What the operator stated is their word. Lessons are made of what tasks did, and with it of names that models and files
//! gave, so they stand in a data fragment, whatever their heading.

use setpoint_machine::brief::{CalibrationLine, Heading};

pub(super) const HEADING: &str = "\
What earlier tasks taught is in the next block. MUST NOT: leave it out of the plan; a plan with it is refused. SHOULD \
PREFER: do it this way unless the goal asks for another. CAUTION: allowed, but let a criterion show that it worked. \
MIGHT TRY: nobody has, here. \
RELATED: other kinds of tasks; use what fits.";

/// What the operator stated; nothing where they stated nothing.
pub(super) fn facts(lines: &[CalibrationLine]) -> String {
    let facts = listed(lines, Heading::UserFact);
    if facts.is_empty() { facts } else { format!("The person who runs this machine has stated:\n{facts}") }
}

/// Everything else, by heading.
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
