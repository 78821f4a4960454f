//! Numbers that depend on time, in which two equal runs may differ.

/// Returns whether the number `name` in an object `object` is a duration or depends on one. Ω counts the time used, L
/// and its gradient include Ω, and memory fades with time.
pub(super) fn depends_on_time(object: &str, name: &str) -> bool {
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

/// Returns a line of the loss reduced to D and P, which do not depend on time.
pub(super) fn without_time(line: &str) -> &str {
    line.split_once(" Ω ").map_or(line, |(measured, _)| measured)
}

/// Text before the numbers after a reason, up to a bracket, and before the note on a round that is worse only by its
/// budget.
const NUMBERS: &str = " (L = ";
const SENTENCE: &str = " The budget part alone makes this round look like worsening: ";
/// Maximum bytes of the numbers. A longer text is not the controller's.
const NUMBERS_BYTES_MAX: usize = 400;

/// Returns the controller's text without the numbers after its reason.
pub(super) fn without_numbers(text: &str) -> String {
    let mut places: Vec<(usize, &str)> =
        text.match_indices(NUMBERS).chain(text.match_indices(SENTENCE)).collect();
    places.sort_unstable();
    let mut kept = String::new();
    let mut rest = text;
    for (place, opening) in places {
        // This place is inside a part that was already skipped.
        let Some(before) = place.checked_sub(text.len() - rest.len()) else { continue };
        let (before, found) = rest.split_at(before);
        let inside = found.split_at(opening.len()).1;
        if let Some(length) = if opening == NUMBERS { numbers(inside) } else { sentence(inside) } {
            kept.push_str(before);
            rest = inside.split_at(length).1;
        }
    }
    kept.push_str(rest);
    kept
}

/// Returns the length of the numbers at this place, their bracket included; `None` if there are none.
fn numbers(inside: &str) -> Option<usize> {
    let near = inside.split_at(inside.floor_char_boundary(NUMBERS_BYTES_MAX)).0;
    let end = near.find(')')?;
    near.split_at(end).0.contains("; ∇L = ").then_some(end + 1)
}

/// Returns the length of such a sentence, which ends with its number.
fn sentence(inside: &str) -> Option<usize> {
    let near = inside.split_at(inside.floor_char_boundary(NUMBERS_BYTES_MAX)).0;
    let (before, number) = near.split_once("∇L would be ")?;
    let number = number.split(char::is_whitespace).next().unwrap_or_default();
    Some(before.len() + "∇L would be ".len() + number.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_depend_on_time_are_left_out() {
        let reason = "change_path (L = 0.6; ∇L = +0.1) because (L = x) of it. The budget part alone makes this round look \
                      like worsening: without it ∇L would be +0.02. So (L = 1; ∇L = 0)";
        assert_eq!(without_numbers(reason), "change_path because (L = x) of it. So");
        assert_eq!(without_numbers("(L = 0.6; ∇L = 1) (L = ∇"), "(L = 0.6; ∇L = 1) (L = ∇");
        assert_eq!(without_numbers("x (L = 1 (L = 2; ∇L = 3) y (L = 1; ∇L = 2) z"), "x y z");
        // Each place is examined once, and only as far as numbers extend.
        let hostile = " (L = ".repeat(500_000);
        assert_eq!(without_numbers(&hostile), hostile);
        let hostile = SENTENCE.repeat(50_000);
        assert_eq!(without_numbers(&hostile), hostile);
    }
}
