//! One column of a table, value by value, in bounded memory.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Distinct values that are told apart, over all columns of a table; beyond it `distinct` is a lower bound.
pub(super) const DISTINCT_MAX: usize = 1_000_000;

/// What the values of a column are, as long as all of them are.
#[derive(Clone, Copy, Debug)]
struct All {
    integers: bool,
    numbers: bool,
    booleans: bool,
    dates: bool,
}

/// A column so far.
#[derive(Clone, Debug)]
pub(super) struct Column {
    name: String,
    pub(super) filled: u64,
    all: All,
    distinct: BTreeSet<u64>,
    is_distinct_cut: bool,
    first_date: Option<String>,
    last_date: Option<String>,
    /// How all dates are written, digits as `9`; empty where they are written in several ways, or with several zones: such
    /// dates cannot be ordered as texts.
    date_shape: Option<String>,
    /// How many of its values are numbers.
    numbers: u64,
    /// Of these, how many have a point, and how many of those three digits behind it and no zero before it, as `1.500` has.
    pointed: u64,
    thousands: u64,
    /// Values such as `1,50`.
    decimal_commas: u64,
    /// Values that stand for a missing one, such as `NA`, and the first of these words as they are written.
    missing: u64,
    missing_words: BTreeSet<String>,
    /// Whether the first value is a text that may be a name or a unit.
    is_text_first: bool,
    least: f64,
    greatest: f64,
    sum: Sum,
}

impl Column {
    pub(super) fn new(name: String) -> Self {
        Column {
            name,
            filled: 0,
            all: All { integers: true, numbers: true, booleans: true, dates: true },
            distinct: BTreeSet::new(),
            is_distinct_cut: false,
            first_date: None,
            last_date: None,
            date_shape: None,
            numbers: 0,
            pointed: 0,
            thousands: 0,
            decimal_commas: 0,
            missing: 0,
            missing_words: BTreeSet::new(),
            is_text_first: false,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            sum: Sum::default(),
        }
    }

    /// Takes a value; `room` is what is left of [`DISTINCT_MAX`]. An empty value is counted by its not being taken.
    pub(super) fn add(&mut self, raw: &[u8], room: &mut usize) {
        let value = String::from_utf8_lossy(raw);
        let trimmed = value.trim_matches(BLANKS);
        if trimmed.is_empty() {
            return;
        }
        self.filled += 1;
        self.is_text_first |= self.filled == 1 && (may_be_a_name(raw) || is_sign(trimmed));
        self.add_distinct(raw, room);
        self.decimal_commas += u64::from(is_in_two_parts(trimmed, ','));
        if is_missing(trimmed) {
            self.missing += 1;
            if self.missing_words.len() < MISSING_WORDS_TOLD_MAX {
                self.missing_words.insert(trimmed.to_owned());
            }
        }
        match number(trimmed) {
            Some(number) => {
                self.numbers += 1;
                self.pointed += u64::from(trimmed.contains('.'));
                self.thousands += u64::from(is_of_thousands(trimmed));
                self.all.integers &= is_integer(trimmed);
                self.least = self.least.min(number);
                self.greatest = self.greatest.max(number);
                self.sum.add(number);
            }
            None => self.all = All { integers: false, numbers: false, ..self.all },
        }
        self.all.booleans &= matches!(trimmed.to_ascii_lowercase().as_str(), "true" | "false");
        self.all.dates = self.all.dates && is_date(trimmed);
        if self.all.dates {
            self.add_date(trimmed);
        }
    }

    /// The figures, for a table of `rows` rows.
    pub(super) fn facts(&self, rows: u64) -> Value {
        let (least, greatest) = match self.kind() {
            "integer" | "number" => (shown(self.least), shown(self.greatest)),
            "date" if self.date_shape.as_ref().is_some_and(|shape| !shape.is_empty()) => {
                (json!(self.first_date), json!(self.last_date))
            }
            _ => (Value::Null, Value::Null),
        };
        let mean =
            if matches!(self.kind(), "integer" | "number") { self.sum.mean(self.filled) } else { None };
        let mut facts = json!({
            "name": self.name, "type": self.kind(), "empty": rows.saturating_sub(self.filled),
            "distinct": self.distinct.len(), "min": least, "max": greatest, "mean": mean, "numbers": self.numbers,
        });
        if self.is_distinct_cut
            && let Some(object) = facts.as_object_mut()
        {
            object.insert("distinct_at_least".to_owned(), json!(true));
        }
        facts
    }

    fn kind(&self) -> &'static str {
        match self.all {
            _ if self.filled == 0 => "empty",
            All { booleans: true, .. } => "boolean",
            All { integers: true, .. } => "integer",
            All { numbers: true, .. } => "number",
            All { dates: true, .. } => "date",
            _ => "text",
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Whether all of it is numbers, in either way to write them, and words for missing ones.
    pub(super) const fn is_of_figures(&self) -> bool {
        let figures = self.numbers + self.decimal_commas;
        figures > 0 && figures + self.missing == self.filled
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind() == "text"
    }

    /// Whether each point in its numbers may separate thousands.
    pub(super) fn may_be_of_thousands(&self) -> bool {
        self.kind() == "number" && self.pointed > 0 && self.pointed == self.thousands
    }

    /// Whether a comma separates fractions in it.
    pub(super) const fn has_decimal_commas(&self) -> bool {
        self.decimal_commas > 0
    }

    /// Whether all of it is numbers with commas before their fractions, which are not reckoned with, words for missing values
    /// aside.
    pub(super) fn is_in_decimal_commas(&self) -> bool {
        self.decimal_commas > 0
            && self.kind() == "text"
            && self.numbers + self.decimal_commas + self.missing == self.filled
    }

    /// The words for missing values in a column that is a text for nothing but them: all else in it is numbers. Empty for any other.
    pub(super) fn words_beside_numbers(&self) -> BTreeSet<String> {
        match self.missing > 0 && self.is_of_figures() {
            true => self.missing_words.clone(),
            false => BTreeSet::new(),
        }
    }

    /// Whether all but the first value are numbers, or stand for a missing one: the first one may be its name.
    pub(super) fn is_of_figures_below_a_text(&self) -> bool {
        let figures = self.numbers + self.decimal_commas;
        self.is_text_first && figures >= 1 && figures + self.missing + 1 == self.filled
    }

    /// Whether it holds years and nothing else.
    pub(super) fn is_of_years(&self) -> bool {
        self.kind() == "integer" && self.least >= YEARS.0 && self.greatest <= YEARS.1
    }

    /// Whether `distinct` is a lower bound.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_distinct_cut
    }

    fn add_distinct(&mut self, value: &[u8], room: &mut usize) {
        let short = short_hash(value);
        if *room > 0 {
            *room -= usize::from(self.distinct.insert(short));
        } else {
            self.is_distinct_cut |= !self.distinct.contains(&short);
        }
    }

    fn add_date(&mut self, value: &str) {
        let has_offset = value.chars().skip(10).any(|c| matches!(c, '+' | '-'));
        let shape: String = match has_offset {
            true => String::new(),
            false => value.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect(),
        };
        match &mut self.date_shape {
            None => self.date_shape = Some(shape),
            Some(known) if *known != shape => known.clear(),
            Some(_) => {}
        }
        if self.first_date.as_deref().is_none_or(|first| value < first) {
            self.first_date = Some(value.to_owned());
        }
        if self.last_date.as_deref().is_none_or(|last| value > last) {
            self.last_date = Some(value.to_owned());
        }
    }
}

/// What tells texts apart in little room.
pub(super) fn short_hash(value: &[u8]) -> u64 {
    let hash = blake3::hash(value);
    hash.as_bytes().iter().take(8).fold(0_u64, |short, byte| (short << 8) | u64::from(*byte))
}

/// A sum that keeps what rounding loses (Neumaier), so that a mean does not depend on the size of the table.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, number: f64) {
        let next = self.total + number;
        self.lost += if self.total.abs() >= number.abs() {
            (self.total - next) + number
        } else {
            (number - next) + self.total
        };
        self.total = next;
    }

    fn mean(self, count: u64) -> Option<f64> {
        // Exact up to 2^53 values.
        #[expect(clippy::cast_precision_loss, reason = "no file has 2^53 rows")]
        let mean = (self.total + self.lost) / count as f64;
        mean.is_finite().then_some(mean)
    }
}

/// What may stand around a value: the blanks of ASCII.
const BLANKS: [char; 6] = [' ', '\t', '\r', '\n', '\x0b', '\x0c'];
/// What stands for a value that is missing; small letters.
const MISSING: &[&str] =
    &["", "na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", "missing", "unknown"];

/// Words for missing values that are told.
pub(super) const MISSING_WORDS_TOLD_MAX: usize = 4;

fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a value of the first row could be the name of a column: a text with letters that is no date and no word for a missing
/// one.
pub(super) fn may_be_a_name(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let text = text.trim_matches(BLANKS);
    !is_missing(text) && text.contains(char::is_alphabetic) && !is_number(text) && !is_date(text)
}

/// A unit without letters: `%`, `€`.
fn is_sign(text: &str) -> bool {
    !text.is_empty() && !is_missing(text) && !text.contains(char::is_alphanumeric)
}

/// What is taken for a year.
const YEARS: (f64, f64) = (1900.0, 2100.0);

/// Whether a column's name is a year.
pub(super) fn is_year(name: &str) -> bool {
    number(name.trim()).is_some_and(|year| is_integer(name.trim()) && year >= YEARS.0 && year <= YEARS.1)
}

fn is_in_two_parts(text: &str, sign: char) -> bool {
    text.trim_start_matches(['+', '-'])
        .split_once(sign)
        .is_some_and(|(whole, part)| is_integer(whole) && is_integer(part))
}

/// Whether a point in a number may separate thousands: `1.500`, not `0.125`.
fn is_of_thousands(text: &str) -> bool {
    let plain = text.trim_start_matches(['+', '-']);
    is_in_two_parts(plain, '.')
        && plain
            .split_once('.')
            .is_some_and(|(whole, part)| part.len() == 3 && whole.len() <= 3 && !whole.starts_with('0'))
}

/// Whether a text is a number as a column's values are.
pub(super) fn is_number(text: &str) -> bool {
    number(text.trim()).is_some()
}

/// Digits of a whole number that is exact in the arithmetic here. One with more is a name (an account, an id) and no amount.
const INTEGER_DIGITS_MAX: usize = 15;

/// A plain decimal number; neither `inf` nor `nan` nor anything with separators of thousands, nor one that would lose digits
/// before its point, nor one with zeros before it: a postal code or an article's number is a name.
fn number(text: &str) -> Option<f64> {
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

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `2026-01-31`, with or without a time and a zone.
pub(super) fn is_date(text: &str) -> bool {
    if text.len() < 10 || text.len() > 64 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    text.parse::<jiff::civil::Date>().is_ok()
        || text.parse::<jiff::civil::DateTime>().is_ok()
        || text.parse::<jiff::Timestamp>().is_ok()
}

/// A number as JSON writes it: whole ones without a fraction, as far as they are exact.
fn shown(number: f64) -> Value {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
        let whole = number as i64;
        return json!(whole);
    }
    json!(number)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(values: &[&str], expected: &Expect) {
        let mut column = Column::new("c".to_owned());
        let mut room = DISTINCT_MAX;
        values.iter().for_each(|value| column.add(value.as_bytes(), &mut room));
        expected.assert_eq(&setpoint_protocol::Any(column.facts(values.len() as u64)).to_text());
    }

    #[test]
    fn every_type_has_its_figures() {
        check(
            &["1", " 2 ", "", "-3", "2"],
            &expect![[
                r#"{"distinct":4,"empty":1,"max":2,"mean":0.5,"min":-3,"name":"c","numbers":4,"type":"integer"}"#
            ]],
        );
        check(
            &["1.5", "2", "1e3"],
            &expect![[
                r#"{"distinct":3,"empty":0,"max":1000,"mean":334.5,"min":1.5,"name":"c","numbers":3,"type":"number"}"#
            ]],
        );
        check(
            &["true", "False"],
            &expect![[
                r#"{"distinct":2,"empty":0,"max":null,"mean":null,"min":null,"name":"c","numbers":0,"type":"boolean"}"#
            ]],
        );
        check(
            &["2026-02-01 10:00:00", "2026-01-31 23:00:00"],
            &expect![[
                r#"{"distinct":2,"empty":0,"max":"2026-02-01 10:00:00","mean":null,"min":"2026-01-31 23:00:00","name":"c","numbers":0,"type":"date"}"#
            ]],
        );
        // As texts these would be in another order than in time.
        for values in [
            ["2026-01-31", "2026-02-01T10:00:00Z"],
            ["2026-01-31T08:00:00", "2026-01-31 09:00:00"],
            ["2026-01-31T10:00:00+05:00", "2026-01-31T09:00:00+02:00"],
        ] {
            check(
                &values,
                &expect![[
                    r#"{"distinct":2,"empty":0,"max":null,"mean":null,"min":null,"name":"c","numbers":0,"type":"date"}"#
                ]],
            );
        }
        check(
            &["1", "x"],
            &expect![[
                r#"{"distinct":2,"empty":0,"max":null,"mean":null,"min":null,"name":"c","numbers":1,"type":"text"}"#
            ]],
        );
        check(
            &["", " "],
            &expect![[
                r#"{"distinct":0,"empty":2,"max":null,"mean":null,"min":null,"name":"c","numbers":0,"type":"empty"}"#
            ]],
        );
    }

    #[test]
    fn hostile_numbers_are_texts() {
        for value in [
            "inf",
            "NaN",
            "1,000",
            "0x10",
            "1e999",
            "--1",
            "e",
            "-",
            "2026-13-01",
            "1234567890123456",
            "9007199254740993.0",
        ] {
            let mut column = Column::new(String::new());
            column.add(value.as_bytes(), &mut 10);
            assert_eq!(column.kind(), "text", "{value}");
        }
    }

    #[test]
    fn sums_do_not_lose_small_values() {
        check(
            &["1e16", "1", "-1e16"],
            &expect![[
                r#"{"distinct":3,"empty":0,"max":1e+16,"mean":0.3333333333333333,"min":-1e+16,"name":"c","numbers":3,"type":"number"}"#
            ]],
        );
    }

    #[test]
    fn distinct_values_are_bounded() {
        let mut column = Column::new("c".to_owned());
        let mut room = 2;
        ["a", "b", "c", "a"].iter().for_each(|value| column.add(value.as_bytes(), &mut room));
        assert_eq!(column.facts(4).get("distinct"), Some(&json!(2)));
        assert_eq!(column.facts(4).get("distinct_at_least"), Some(&json!(true)));
    }
}
