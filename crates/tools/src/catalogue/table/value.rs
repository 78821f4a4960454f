//! Classifies one value of a table: a number, a date, a word for a missing one, a figure in another form, or perhaps a
//! name.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Characters that are trimmed from a value: the blanks of ASCII.
const BLANKS: [char; 6] = [' ', '\t', '\r', '\n', '\x0b', '\x0c'];
/// Words for a missing value; lower case.
const MISSING: &[&str] =
    &["", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", "missing", "unknown"];
/// Numbers that count as years.
pub(super) const YEARS: (f64, f64) = (1900.0, 2100.0);
/// Digits of the largest exact whole number. One with more digits is a name (an account, an id), not an amount.
const INTEGER_DIGITS_MAX: usize = 15;

pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(BLANKS)
}

pub(super) fn is_truth(text: &[u8]) -> bool {
    text.eq_ignore_ascii_case(b"true") || text.eq_ignore_ascii_case(b"false")
}

/// Returns a value as it is written, without blanks around it.
pub(super) fn written(raw: &[u8]) -> &[u8] {
    let is_in = |byte: &u8| !BLANKS.contains(&char::from(*byte));
    let from = raw.iter().position(is_in).unwrap_or(raw.len());
    let to = raw.iter().rposition(is_in).map_or(from, |last| last + 1);
    raw.get(from..to).unwrap_or_default()
}

/// Returns the key that distinguishes values: trimmed, booleans in lower case, and numbers that are exact by their
/// amount.
pub(super) fn key(raw: &[u8]) -> Cow<'_, [u8]> {
    let value = written(raw);
    if is_truth(value) {
        return value.to_ascii_lowercase().into();
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let number = str::from_utf8(value).ok().filter(|_| digits <= INTEGER_DIGITS_MAX).and_then(number);
    // Adding zero turns minus zero into zero.
    number.map_or(value.into(), |number| (number + 0.0).to_string().into_bytes().into())
}

pub(super) fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Returns whether a value of the first row could be a column's name: a text with letters, neither a date nor a word for a
/// missing value.
pub(super) fn may_be_a_name(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let text = trimmed(&text);
    !is_missing(text) && text.contains(char::is_alphabetic) && !is_number(text) && !is_date(text)
}

/// Returns whether it is a unit without letters: `%`, `€`.
pub(super) fn is_sign(text: &str) -> bool {
    !text.is_empty() && !is_missing(text) && !text.contains(char::is_alphanumeric)
}

/// Returns whether a column's name is a year.
pub(super) fn is_year(name: &str) -> bool {
    number(name.trim()).is_some_and(|year| is_integer(name.trim()) && year >= YEARS.0 && year <= YEARS.1)
}

pub(super) fn is_in_two_parts(text: &str, sign: char) -> bool {
    text.trim_start_matches(['+', '-'])
        .split_once(sign)
        .is_some_and(|(whole, part)| is_integer(whole) && is_integer(part))
}

/// Returns whether a point in a number may be a thousands separator: `1.500`, not `0.125`.
pub(super) fn is_of_thousands(text: &str) -> bool {
    let plain = text.trim_start_matches(['+', '-']);
    is_in_two_parts(plain, '.')
        && plain
            .split_once('.')
            .is_some_and(|(whole, part)| part.len() == 3 && whole.len() <= 3 && !whole.starts_with('0'))
}

/// Returns whether a text that is neither a number nor a date consists of the characters of numbers, dates and times in any
/// country's form, or is a number as programs write it: `1.234,50`, `$5`, `12 %`, `01.02.2026`, `1_000`, `0x1F`.
pub(super) fn is_figure(text: &str) -> bool {
    let is_currency = |c| "$¢£¤¥".contains(c) || ('\u{20a0}'..='\u{20cf}').contains(&c);
    let is_part = |c: char| {
        c.is_ascii_digit() || c.is_whitespace() || ".,':/-+()%_\u{2019}\u{2212}".contains(c) || is_currency(c)
    };
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if hex.is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return true;
    }
    text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(is_part)
}

/// Returns the form of a figure, with digits replaced: `9.9.9` for `01.02.2026`.
pub(super) fn form(text: &str) -> String {
    let mut form: Vec<char> = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    form.dedup_by(|one, other| *one == '9' && *other == '9');
    form.into_iter().collect()
}

/// Returns whether a text counts as a number in a column.
pub(super) fn is_number(text: &str) -> bool {
    number(text.trim()).is_some()
}

/// Parses a plain decimal number. Rejects `inf`, `nan`, thousands separators, a number that would lose digits before
/// its point, and one with leading zeros: a postal code or an article number is a name.
pub(super) fn number(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
    let whole = digits.split('.').next().unwrap_or_default();
    if whole.len() > INTEGER_DIGITS_MAX && whole.bytes().all(|byte| byte.is_ascii_digit()) && !has_power(text)
    {
        return None;
    }
    let mut after_sign = text.trim_start_matches(['+', '-']).bytes();
    if after_sign.next() == Some(b'0') && after_sign.next().is_some_and(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let number: f64 = if is_plain && has_digit { text.parse().ok()? } else { return None };
    number.is_finite().then_some(number)
}

fn has_power(text: &str) -> bool {
    text.contains(['e', 'E'])
}

pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A date in ISO 8601, with or without a time and an offset (RFC 3339 and its common variants).
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
        "([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)([.,][0-9]+)?)?",
        "([Zz]|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?$",
    ))
    .ok()
});

/// Returns whether it is a date such as `2026-01-31`, with or without a time and a zone.
pub(super) fn is_date(text: &str) -> bool {
    let is_in_form = || DATE.as_ref().is_some_and(|form| form.is_match(text));
    let day = || text.chars().take(10).collect::<String>();
    text.starts_with(|c: char| c.is_ascii_digit())
        && is_in_form()
        && day().parse::<jiff::civil::Date>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_share_a_key() {
        for (value, told) in [
            (" TRUE\t", "true"),
            ("False", "false"),
            ("+1", "1"),
            ("1.0", "1"),
            ("1.", "1"),
            ("-1.50", "-1.5"),
            ("100", "100"),
            ("100.00", "100"),
            ("+0.0", "0"),
            ("007", "007"),
            (".50", "0.5"),
            ("1e3", "1000"),
            ("1.5.0", "1.5.0"),
            ("+-1.0", "+-1.0"),
            ("+x", "+x"),
            ("1234567890123456789", "1234567890123456789"),
            ("2024-01-01 ", "2024-01-01"),
            ("+", "+"),
            ("-.0", "0"),
            ("-0", "0"),
            ("0.1234567890123450", "0.1234567890123450"),
        ] {
            assert_eq!(String::from_utf8_lossy(&key(value.as_bytes())), told, "{value:?}");
        }
    }
}
