//! How many tokens a text is, roughly: for budgets before a call, and where a server does not count.

use setpoint_protocol::record::Part;

/// Characters of a Latin text that make one token, in most vocabularies.
const LATIN_CHARS: u64 = 4;

/// About so many tokens. Four characters of ASCII make one, of other scripts each makes one: rather too many than too
/// few.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    let mut ascii = 0_u64;
    let mut other = 0_u64;
    for c in text.chars() {
        if c.is_ascii() { ascii += 1 } else { other += 1 }
    }
    ascii.div_ceil(LATIN_CHARS) + other
}

/// About so many tokens of an answer.
#[must_use]
pub fn of_reply(parts: &[Part]) -> u64 {
    let part = |part: &Part| match part {
        Part::Text(text) => estimate(text),
        Part::ToolCall(call) => estimate(&call.tool).saturating_add(estimate(&call.input.to_text())),
    };
    parts.iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_rather_too_high() {
        for (text, expected) in [("", 0), ("four", 1), ("fives", 2), ("日本語", 3), ("ä b", 2)] {
            assert_eq!(estimate(text), expected, "{text}");
        }
    }
}
