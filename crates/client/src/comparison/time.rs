//! Numbers that are born of time: the same run a second later has others.

/// Whether the number of this name, in an object of that one, is a duration or holds one. Ω counts the time that is used up,
/// and L and its gradient count Ω; what memory knows fades.
pub(super) fn is_of_time(object: &str, name: &str) -> bool {
    match object {
        "loss" => matches!(name, "Omega" | "L"),
        "potentials" => matches!(name, "attention" | "decision"),
        _ => {
            name == "ms"
                || name.ends_with("_ms")
                || matches!(name, "grad_l" | "grad_l_budget" | "budget_pressure")
        }
    }
}

/// A line of the loss without them: what is left is D and P.
pub(super) fn loss_aside(line: &str) -> &str {
    line.split_once(" Ω ").map_or(line, |(measured, _)| measured)
}

/// What the controller says, without the numbers behind its reason.
pub(super) fn numbers_aside(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = around_numbers(rest).or_else(|| around_sentence(rest)) {
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

fn around_numbers(text: &str) -> Option<(&str, &str)> {
    let (before, rest) = text.split_once(" (L = ")?;
    let (numbers, after) = rest.split_once(')')?;
    numbers.contains("; ∇L = ").then_some((before, after))
}

/// Said of a round that is worse by its budget alone.
fn around_sentence(text: &str) -> Option<(&str, &str)> {
    let (before, rest) = text.split_once(" The budget part alone makes this round look like worsening: ")?;
    let (_, number) = rest.split_once("∇L would be ")?;
    Some((before, number.trim_start_matches(|part: char| !part.is_whitespace())))
}
