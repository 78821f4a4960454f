//! Statistics of one table column, value by value, in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use setpoint_protocol::text::clip;

use super::value;

/// Maximum distinct values that are tracked over all columns of a table; beyond it `distinct` is a lower bound.
pub(super) const DISTINCT_MAX: usize = 1_000_000;

/// Maximum characters of an example value.
const EXAMPLE_CHARS_MAX: usize = 40;

/// Most forms of figures that are tracked per column, and longest figure whose form is tracked, in bytes.
const FORMS_MAX: usize = 20;
const FORM_BYTES_MAX: usize = 60;

/// Why a column that is mostly figures counts as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextReason {
    /// Its figures have a form that is not read as numbers or dates.
    Form,
    /// It contains other values beside numbers.
    BesideNumbers,
    BesideDates,
}

/// The statistics of a column so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    name: String,
    pub(super) filled: u64,
    integers: u64,
    booleans: u64,
    dates: u64,
    /// Hashes of the values' keys ([`value::key`]), each with whether a value is written as its key.
    distinct: BTreeMap<u64, bool>,
    /// Hashes of the values that are written in another way than their key.
    spellings: BTreeSet<u64>,
    is_distinct_cut: bool,
    first_date: Option<String>,
    last_date: Option<String>,
    /// The common format of all dates, with digits as `9`; empty if there are several formats or zones: such dates
    /// cannot be ordered as texts.
    date_shape: Option<String>,
    /// Values that are numbers.
    numbers: u64,
    /// Numbers with a decimal point, and those of them with three digits after it and no zero before it, such as
    /// `1.500`.
    pointed: u64,
    thousands: u64,
    /// Values such as `1,50`, `$5` and `01.02.2026`.
    figures: u64,
    /// The forms of those figures, if they are few and short.
    forms: BTreeSet<String>,
    has_decimal_commas: bool,
    /// Values that mean a missing one, such as `NA`.
    missing: u64,
    /// The first value that is such a figure, that is not a number, and that is not a date.
    figure: Option<String>,
    no_number: Option<String>,
    no_date: Option<String>,
    /// Whether the first value is a text that may be a name or a unit.
    is_text_first: bool,
    least: f64,
    greatest: f64,
    sum: Sum,
}

impl Column {
    pub(super) fn new(name: String) -> Self {
        Column { name, least: f64::INFINITY, greatest: f64::NEG_INFINITY, ..Column::default() }
    }

    /// Adds a value; `room` is the remainder of [`DISTINCT_MAX`]. Empty values are not passed in: they are counted by
    /// their absence.
    pub(super) fn add(&mut self, raw: &[u8], room: &mut usize) {
        let value = String::from_utf8_lossy(raw);
        let value = value::trimmed(&value);
        if value.is_empty() {
            return;
        }
        self.filled += 1;
        self.is_text_first |= self.filled == 1 && (value::may_be_a_name(raw) || value::is_sign(value));
        self.add_distinct(raw, room);
        self.missing += u64::from(value::is_missing(value));
        self.booleans += u64::from(value::is_truth(value.as_bytes()));
        let example = || Some(clip(value, EXAMPLE_CHARS_MAX));
        let number = value::number(value);
        match number {
            Some(number) => {
                self.numbers += 1;
                self.pointed += u64::from(value.contains('.'));
                self.thousands += u64::from(value::is_of_thousands(value));
                self.integers += u64::from(value::is_integer(value));
                self.least = self.least.min(number);
                self.greatest = self.greatest.max(number);
                self.sum.add(number);
            }
            None => self.no_number = self.no_number.take().or_else(example),
        }
        if value::is_date(value) {
            self.dates += 1;
            self.add_date(value);
        } else {
            self.no_date = self.no_date.take().or_else(example);
            if number.is_none() && value::is_figure(value) {
                self.figures += 1;
                if self.forms.len() < FORMS_MAX && value.len() <= FORM_BYTES_MAX {
                    self.forms.insert(value::form(value));
                }
                self.has_decimal_commas |= value::is_in_two_parts(value, ',');
                self.figure = self.figure.take().or_else(example);
            }
        }
    }

    /// Returns the facts, for a table of `rows` rows.
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
            "distinct": self.distinct(), "min": least, "max": greatest, "mean": mean, "numbers": self.numbers,
        });
        if self.is_distinct_cut {
            facts["distinct_at_least"] = json!(true);
        }
        facts
    }

    fn kind(&self) -> &'static str {
        match self.filled {
            0 => "empty",
            all if self.booleans == all => "boolean",
            all if self.integers == all => "integer",
            all if self.numbers == all => "number",
            all if self.dates == all => "date",
            _ => "text",
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Returns whether all values are numbers, in any notation, or missing.
    pub(super) const fn is_of_figures(&self) -> bool {
        let figures = self.numbers + self.figures;
        figures > 0 && figures + self.missing == self.filled
    }

    pub(super) fn is_text(&self) -> bool {
        self.kind() == "text"
    }

    /// Returns whether every point in its numbers may be a thousands separator.
    pub(super) fn may_be_of_thousands(&self) -> bool {
        self.kind() == "number" && self.pointed > 0 && self.pointed == self.thousands
    }

    /// Returns whether a point in its numbers begins a fraction: `0.5`, `1.25`.
    pub(super) const fn has_fractions(&self) -> bool {
        self.pointed > self.thousands
    }

    /// Returns whether it has no first and last date, because its dates have several forms or zones.
    pub(super) fn has_unordered_dates(&self) -> bool {
        self.kind() == "date" && self.date_shape.as_ref().is_none_or(String::is_empty)
    }

    /// Returns whether a comma may be a decimal separator in it.
    pub(super) const fn has_decimal_commas(&self) -> bool {
        self.has_decimal_commas
    }

    /// Returns why the column counts as text although at least half of its values, missing ones aside, are figures;
    /// with the first value that makes it text.
    pub(super) fn text_beside_figures(&self) -> Option<(TextReason, &str)> {
        let is_most = |count: u64| count > 0 && count * 2 >= self.filled - self.missing;
        let read = self.numbers + self.dates;
        let (why, value) = match self.is_text() {
            true if is_most(read) && self.numbers >= self.dates => {
                (TextReason::BesideNumbers, &self.no_number)
            }
            true if is_most(read) => (TextReason::BesideDates, &self.no_date),
            true if self.figures > 0 && is_most(read + self.figures) => (TextReason::Form, &self.figure),
            _ => return None,
        };
        value.as_deref().map(|value| (why, value))
    }

    /// Returns whether figures in it that are not read as numbers have the form of this text.
    pub(super) fn has_form_of(&self, text: &str) -> bool {
        self.forms.contains(&value::form(text))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether all values but the first are numbers or missing: the first may be the column's name.
    pub(super) fn is_of_figures_below_a_text(&self) -> bool {
        let figures = self.numbers + self.figures;
        self.is_text_first && figures >= 1 && figures + self.missing + 1 == self.filled
    }

    /// Returns whether it contains only years.
    pub(super) fn is_of_years(&self) -> bool {
        self.kind() == "integer" && self.least >= value::YEARS.0 && self.greatest <= value::YEARS.1
    }

    /// Returns whether `distinct` is a lower bound.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_distinct_cut
    }

    fn add_distinct(&mut self, raw: &[u8], room: &mut usize) {
        let raw = value::written(raw);
        let key = value::key(raw);
        let (is_as_key, short) = (*key == *raw, short_hash(&key));
        match self.distinct.get_mut(&short) {
            Some(is_written) => *is_written |= is_as_key,
            None if *room > 0 => {
                *room -= 1;
                self.distinct.insert(short, is_as_key);
            }
            None => self.is_distinct_cut = true,
        }
        let short = short_hash(raw);
        if is_as_key || self.spellings.contains(&short) {
            return;
        }
        if *room > 0 {
            *room -= 1;
            self.spellings.insert(short);
        } else {
            self.is_distinct_cut = true;
        }
    }

    /// Returns the number of different values: of texts as they are written, without blanks around them, else by what they
    /// mean.
    fn distinct(&self) -> usize {
        if self.kind() == "text" {
            self.distinct.values().filter(|is_written| **is_written).count() + self.spellings.len()
        } else {
            self.distinct.len()
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

/// Returns a short hash that distinguishes texts in little memory.
pub(super) fn short_hash(value: &[u8]) -> u64 {
    let hash = blake3::hash(value);
    hash.as_bytes().iter().take(8).fold(0_u64, |short, byte| (short << 8) | u64::from(*byte))
}

/// A compensated sum (Neumaier), so that rounding does not make the mean depend on the size of the table.
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

/// Returns a number as JSON: whole numbers without a fraction, while they are exact.
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
    fn every_column_type_has_its_facts() {
        check(
            &["1", " 2 ", "", "-3", "2"],
            &expect![[
                r#"{"distinct":3,"empty":1,"max":2,"mean":0.5,"min":-3,"name":"c","numbers":4,"type":"integer"}"#
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
        // As texts these would be ordered differently than in time.
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
    fn odd_numbers_count_as_text() {
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
    fn sums_keep_small_values() {
        check(
            &["1e16", "1", "-1e16"],
            &expect![[
                r#"{"distinct":3,"empty":0,"max":1e+16,"mean":0.3333333333333333,"min":-1e+16,"name":"c","numbers":3,"type":"number"}"#
            ]],
        );
    }

    #[test]
    fn texts_are_different_as_they_are_written() {
        for (values, distinct) in [
            (&["1.0", "1.00", "1.10", "1.1", "v2"][..], 5),
            (&["true", "TRUE", "maybe"], 3),
            (&["Ann", "Ann ", "ann"], 2),
            (&["1", "1.0", "1.00", "1"], 1),
            (&["1", "1.0", "01.0", "1"], 3),
            (&["true", "TRUE"], 1),
        ] {
            let mut column = Column::new("c".to_owned());
            values.iter().for_each(|value| column.add(value.as_bytes(), &mut 100));
            assert_eq!(column.facts(5).get("distinct"), Some(&json!(distinct)), "{values:?}");
        }
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
