//! Estimates the tokens of a text: for the window and the budgets before a call, and if a server does not count.

use setpoint_protocol::record::Part;

/// Parts per token.
const PARTS: u64 = 20;

/// Estimates the tokens of a text; rather too many than too few.
///
/// In most vocabularies four letters or blanks of ASCII make one, two or three digits or marks make one, and other
/// characters about one each.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    let parts = |c: char| match c {
        'a'..='z' | 'A'..='Z' | ' ' | '\n' => PARTS / 4,
        c if c.is_ascii() => PARTS * 2 / 5,
        _ => PARTS,
    };
    text.chars().map(parts).sum::<u64>().div_ceil(PARTS)
}

/// Returns a lower bound on the tokens, in any vocabulary: a server that counted fewer has not read all of it.
///
/// Runs of one character may be a single token, however long; of other text no token holds more than eight characters
/// on average.
#[must_use]
pub fn at_least(text: &str) -> u64 {
    const CHANGES_A_TOKEN: u64 = 8;
    let changes = text.chars().zip(text.chars().skip(1)).filter(|(one, next)| one != next).count();
    u64::try_from(changes).unwrap_or(u64::MAX) / CHANGES_A_TOKEN
}

/// Estimates the tokens of an answer.
#[must_use]
pub fn of_reply(parts: &[Part]) -> u64 {
    let part = |part: &Part| match part {
        Part::Text(text) => estimate(text),
        Part::ToolCall(call) => estimate(&call.tool).saturating_add(estimate(&call.input.to_text())),
        Part::Opaque(opaque) => estimate(&opaque.body),
    };
    parts.iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_count_letters_digits_and_marks() {
        for (text, expected) in
            [("", 0), ("four", 1), ("fives", 2), ("日本語", 3), ("ä b", 2), ("{\"a\":1}", 3)]
        {
            assert_eq!(estimate(text), expected, "{text}");
        }
    }

    #[test]
    fn the_lower_bound_is_far_below_the_estimate() {
        let prose = "The quick brown fox jumps over the lazy dog. ".repeat(40);
        assert!(at_least(&prose) * 3 < estimate(&prose) * 2);
        assert_eq!((at_least("short"), at_least(&" ".repeat(10_000))), (0, 0));
    }
}
