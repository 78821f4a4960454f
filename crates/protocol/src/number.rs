//! Finds the one number in a text.

/// The number found in a text.
pub(crate) enum TheNumber {
    None,
    Is(f64),
    /// Several different numbers; the first two.
    Unclear(f64, f64),
}

/// Returns the number of a text, preferring numbers that are words of their own. If these differ, the result is
/// [`TheNumber::Unclear`]: the first one may be a date.
pub(crate) fn the_number(text: &str) -> TheNumber {
    let is_between = |c: char| c.is_whitespace() || "=:,;()[]{}<>|\"'`*".contains(c);
    let alone = |piece: &str| -> Option<f64> {
        let digits = piece.trim_end_matches(['%', '.', '!', '?']);
        let is_plain = digits.chars().all(|c| c.is_ascii_digit() || ".+-".contains(c));
        if is_plain { digits.parse().ok() } else { None }
    };
    let mut numbers = text.split(is_between).filter_map(alone);
    let Some(first) = numbers.next() else {
        return first_within_words(text).map_or(TheNumber::None, TheNumber::Is);
    };
    match numbers.find(|number| number.total_cmp(&first).is_ne()) {
        Some(other) => TheNumber::Unclear(first, other),
        None => TheNumber::Is(first),
    }
}

fn first_within_words(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = text.split_at(start);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (digits, _) = rest.split_at(end);
    let number: f64 = digits.trim_end_matches('.').parse().ok()?;
    Some(if before.ends_with('-') { -number } else { number })
}
