//! Compares measured records with the rows that an answer lists.
//!
//! A list is proven correct only if it agrees as a whole with a list made by another program: the same number of rows,
//! and each cell equal.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::{as_decoded, clip};

/// Most cells of one row.
const CELLS_MAX: usize = 32;
/// Most differing figures of a row that the reason names.
const CELLS_TOLD_MAX: usize = 4;
/// Most characters of such a figure.
const CELL_CHARS_MAX: usize = 60;
/// Allowed relative difference of a number from the measured one: programs print decimals differently.
const TOLERANCE: f64 = 1e-9;

/// How the records of a measured text agree with the rows of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowsExpectation {
    /// Where the measured text is, as a JSON pointer into the structured result.
    pub at: String,
    /// Where the output has its rows, as a JSON pointer: an array, or a single value that counts as one row.
    pub of: String,
    /// What each cell of a record is of a row, as a JSON pointer into the row; empty for the row itself.
    pub cells: Vec<String>,
    /// What is between two cells of a record.
    #[serde(default)]
    pub cut: Cut,
    /// Which of the rows and records must agree.
    #[serde(default)]
    pub how: RowsAgreement,
}

/// What is between two cells. Records end with a NUL where the text has one, else with their lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// A tab; the last cell takes the rest of its record.
    #[default]
    Tab,
    /// A run of blanks; those before the first cell do not count, and the last cell takes the rest.
    Blanks,
    /// A NUL ends every cell, so a record is so many of them.
    Nul,
}

/// Which of the rows and records must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowsAgreement {
    /// All of both, in any order.
    #[default]
    All,
    /// All of both, in the same order.
    InOrder,
    /// Every row is among the records.
    Within,
    /// All of both, in the same order; of a list too long for the output its beginning, where the output says so under
    /// `left_out`: `200 of 1500 files are listed`. For playbooks.
    #[schemars(skip)]
    Beginning,
}

impl RowsExpectation {
    /// Returns why the comparison can never be evaluated; `None` if it can.
    pub(crate) fn fault(&self) -> Option<RowsFault> {
        let is_pointer = |text: &&String| text.is_empty() || text.starts_with('/');
        if let Some(at) = [&self.at, &self.of].into_iter().chain(&self.cells).find(|text| !is_pointer(text)) {
            return Some(RowsFault::Pointer(clip(at, 80)));
        }
        (self.cells.is_empty() || self.cells.len() > CELLS_MAX).then_some(RowsFault::Cells)
    }

    /// Returns whether the rows agree, and the first row that does not, in words.
    pub(crate) fn evaluate(&self, measured: Option<&Value>, output: &Value) -> (bool, String) {
        let Some(text) = measured.and_then(|value| value.pointer(&self.at)).and_then(Value::as_str) else {
            return (false, format!("no text at {}", Place(&self.at)));
        };
        let rows: Vec<&Value> = match output.pointer(&self.of) {
            None | Some(Value::Null) => {
                return (false, format!("the output has nothing at {}", Place(&self.of)));
            }
            Some(Value::Array(rows)) => rows.iter().collect(),
            Some(one) => vec![one],
        };
        let records = self.records(text);
        let is_short = self.how == RowsAgreement::Beginning && self.is_told_short(output, rows.len());
        let records = if is_short { records.get(..rows.len()).unwrap_or(&records) } else { &records };
        match self.differs(records, &rows) {
            Some(why) => (false, why),
            None => (true, self.agreement(rows.len(), output.pointer(&self.of).is_some_and(Value::is_array))),
        }
    }

    /// Returns whether the output's `left_out` says that only `length` of more rows are listed.
    fn is_told_short(&self, output: &Value, length: usize) -> bool {
        let name = self.of.rsplit('/').next().unwrap_or_default();
        let (begins, ends) = (format!("{length} of "), format!(" {name} are listed"));
        let told = output.get("left_out").and_then(Value::as_array).into_iter().flatten();
        length > 0
            && told.filter_map(Value::as_str).any(|said| said.starts_with(&begins) && said.ends_with(&ends))
    }

    /// Returns how many rows agree, in words.
    fn agreement(&self, rows: usize, is_list: bool) -> String {
        let of = OutputPlace(&self.of);
        match rows {
            0 => format!("there are no rows in {of} to compare"),
            1 if is_list => format!("the one row of {of} agrees"),
            1 => format!("{of} agrees with what was measured"),
            many => format!("all {many} rows of {of} agree"),
        }
    }

    /// Returns why the rows differ; `None` if they agree.
    fn differs(&self, records: &[Vec<&str>], rows: &[&Value]) -> Option<String> {
        let of = OutputPlace(&self.of);
        let mut records: Vec<&Vec<&str>> = records.iter().collect();
        let mut rows: Vec<Row<'_>> = rows.iter().map(|row| Row::of(row, &self.cells)).collect();
        if !matches!(self.how, RowsAgreement::InOrder | RowsAgreement::Beginning) {
            records.sort_by_cached_key(|record| key(record.iter().map(|cell| (*cell).to_owned())));
            rows.sort_by_cached_key(|row| {
                key(row.0.iter().map(|cell| as_decoded(&plain(*cell)).into_owned()))
            });
        }
        let mut left = records.into_iter().peekable();
        for row in &rows {
            if self.how == RowsAgreement::Within {
                while left.peek().is_some_and(|record| !row.is(record)) {
                    left.next();
                }
            }
            match left.next() {
                Some(record) if row.is(record) => {}
                Some(record) if self.cells.len() > 1 && rows.len() == 1 && row.0.len() == record.len() => {
                    return Some(self.cells_that_differ(row, record));
                }
                Some(record) => {
                    let (said, seen) = (row.shown(), shown_record(record));
                    return Some(format!("{said} in {of} differs from the measured {seen}"));
                }
                None => {
                    return Some(format!("{} in {of} was not measured", row.shown()));
                }
            }
        }
        if self.how == RowsAgreement::Within {
            return None;
        }
        let first = left.next()?;
        let more = left.count();
        let others = if more > 0 { format!(", and so are {more} more") } else { String::new() };
        Some(format!("the measured {} is missing in {of}{others}", shown_record(first)))
    }

    /// Lists the differing figures of a single row, each with its name.
    fn cells_that_differ(&self, row: &Row<'_>, record: &[&str]) -> String {
        let cells = self.cells.iter().zip(&row.0).zip(record);
        let others = cells.filter(|((_, cell), measured)| !is(**cell, measured));
        let mut told: Vec<String> = others
            .map(|((at, cell), measured)| {
                let (said, seen) = (clip(&plain(*cell), CELL_CHARS_MAX), clip(measured, CELL_CHARS_MAX));
                format!("{} is {said:?} where {seen:?} was measured", Place(at))
            })
            .collect();
        let more = told.len().saturating_sub(CELLS_TOLD_MAX);
        told.truncate(CELLS_TOLD_MAX);
        let more = if more > 0 { format!(", and {more} more differ") } else { String::new() };
        format!("{}{more}", told.join(", "))
    }

    fn records<'t>(&self, text: &'t str) -> Vec<Vec<&'t str>> {
        let width = self.cells.len();
        if self.cut == Cut::Nul {
            let mut cells: Vec<&str> = text.split('\0').collect();
            // The text after the last NUL is not a cell.
            cells.pop();
            return cells.chunks(width).map(<[&str]>::to_vec).collect();
        }
        let records: Vec<&str> = match text.contains('\0') {
            true => text.split_terminator('\0').collect(),
            false => text.lines().collect(),
        };
        records.into_iter().map(|record| self.cells_of(record, width)).collect()
    }

    fn cells_of<'t>(&self, record: &'t str, width: usize) -> Vec<&'t str> {
        let mut cells = Vec::with_capacity(width);
        let mut rest = record;
        while cells.len() + 1 < width {
            let cut = match self.cut {
                Cut::Tab => rest.split_once('\t'),
                Cut::Blanks => rest.trim_start().split_once(char::is_whitespace),
                Cut::Nul => None,
            };
            let Some((cell, after)) = cut else { break };
            cells.push(cell);
            rest = after;
        }
        cells.push(if self.cut == Cut::Blanks { rest.trim() } else { rest });
        cells
    }
}

/// Why rows can never be compared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RowsFault {
    Pointer(String),
    Cells,
}

/// The cells of one row of the output; `None` for a missing cell.
struct Row<'v>(Vec<Option<&'v Value>>);

impl<'v> Row<'v> {
    fn of(row: &'v Value, cells: &[String]) -> Self {
        Row(cells.iter().map(|at| row.pointer(at).filter(|cell| !cell.is_null())).collect())
    }

    fn is(&self, record: &[&str]) -> bool {
        self.0.len() == record.len() && self.0.iter().zip(record).all(|(cell, measured)| is(*cell, measured))
    }

    fn shown(&self) -> String {
        clip(&format!("{:?}", self.0.iter().map(|cell| plain(*cell)).collect::<Vec<_>>().join(" ")), 120)
    }
}

/// Returns whether a cell of the output equals the measured one: numbers by value, texts exactly, after lossy decoding.
fn is(cell: Option<&Value>, measured: &str) -> bool {
    match cell {
        None => measured.is_empty(),
        Some(Value::String(text)) => as_decoded(text) == measured,
        Some(Value::Number(number)) => match (number.as_f64(), measured.trim().parse::<f64>()) {
            (Some(x), Ok(y)) if number.is_f64() || measured.contains(['.', 'e', 'E']) => {
                (x - y).abs() <= TOLERANCE * x.abs().max(1.0)
            }
            _ => number.to_string() == measured.trim(),
        },
        Some(other) => plain(Some(other)) == measured,
    }
}

fn plain(cell: Option<&Value>) -> String {
    match cell {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Returns the sort key of a row or record. Numbers are keyed by value, so that 0.10 and 0.1 are equal.
fn key(cells: impl Iterator<Item = String>) -> Vec<String> {
    let number = |cell: &String| cell.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    cells.map(|cell| number(&cell).map_or(cell, |number| format!("{number:.9e}"))).collect()
}

fn shown_record(record: &[&str]) -> String {
    clip(&format!("{:?}", record.join(" ")), 120)
}

/// A JSON pointer, written as a person reads it.
struct Place<'t>(&'t str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "text" } else { self.0.trim_start_matches('/') })
    }
}

/// A pointer into the output, written as a person reads it; an empty one is all of it.
struct OutputPlace<'t>(&'t str);

impl fmt::Display for OutputPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => f.write_str("the output"),
            false => write!(f, "the output's {}", Place(self.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn agree(how: Value, text: &str, output: Value) -> (bool, String) {
        let mut whole = json!({"at": "/stdout", "of": "/rows"});
        whole.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
        let expectation: RowsExpectation = serde_json::from_value(whole).unwrap();
        assert_eq!(expectation.fault(), None);
        expectation.evaluate(Some(&json!({"stdout": text})), &output)
    }

    #[test]
    fn every_row_of_both_lists_must_agree() {
        let of = || json!({"cells": ["/n", "/path"]});
        let rows = |rows: Value| json!({ "rows": rows });
        let two = || rows(json!([{"n": 2, "path": "b\tc"}, {"n": 1, "path": "a\nx"}]));
        assert!(agree(of(), "1\ta\nx\u{0}2\tb\tc\u{0}", two()).0);
        for (text, why) in [
            ("2\tb\tc\u{0}", "\"1 a\\nx\" in the output's rows differs from the measured \"2 b\\tc\""),
            ("1\ta\nx\u{0}", "\"2 b\\tc\" in the output's rows was not measured"),
            ("1\ta\nx\u{0}2\tb\tc\u{0}3\td\u{0}", "the measured \"3 d\" is missing in the output's rows"),
            ("1\ta\nx\u{0}2\tb\u{0}", "\"2 b\\tc\" in the output's rows differs from the measured \"2 b\""),
            ("1\ta\nx\u{0}7\tb\tc\u{0}", "differs from the measured \"7 b\\tc\""),
            ("", "was not measured"),
        ] {
            let (holds, said) = agree(of(), text, two());
            assert!(!holds && said.contains(why), "{text:?}: {said}");
        }
        for (output, text, said) in [
            (json!([]), "", "there are no rows in the output's rows to compare"),
            (json!([{"n": 1, "path": "a"}]), "1\ta\n", "the one row of the output's rows agrees"),
            (json!({"n": 1, "path": "a"}), "1\ta\n", "the output's rows agrees with what was measured"),
        ] {
            assert_eq!(agree(of(), text, rows(output)), (true, said.to_owned()));
        }
        let whole = agree(json!({"of": "", "cells": ["/n"]}), "1\n", json!({"n": 1}));
        assert_eq!(whole, (true, "the output agrees with what was measured".to_owned()));
        let single = agree(json!({"cells": [""]}), "another", rows(json!("sha512")));
        assert_eq!(single.1, "\"sha512\" in the output's rows differs from the measured \"another\"");
        assert!(!agree(of(), "", json!({})).0);
    }

    #[test]
    fn order_counts_if_asked_for() {
        let output = || json!({"rows": ["b", "a"]});
        assert!(agree(json!({"cells": [""]}), "a\nb\n", output()).0);
        assert!(!agree(json!({"cells": [""], "how": "in_order"}), "a\nb\n", output()).0);
        assert!(agree(json!({"cells": [""], "how": "in_order"}), "b\na\n", output()).0);
        assert!(agree(json!({"cells": [""], "how": "within"}), "a\naa\nb\nc\n", output()).0);
        assert!(!agree(json!({"cells": [""], "how": "within"}), "a\nc\n", output()).0);
    }

    #[test]
    fn the_beginning_is_enough_if_the_output_says_so() {
        let of = || json!({"cells": [""], "how": "beginning"});
        let output = |rows: Value, said: &str| json!({"rows": rows, "left_out": [said]});
        let said = "1 of 3 rows are listed";
        assert!(agree(of(), "b\na\nc\n", output(json!(["b"]), said)).0);
        assert!(agree(of(), "b\na\n", output(json!(["b", "a"]), "")).0);
        for (rows, said) in [
            (json!(["b"]), ""),
            (json!(["b"]), "1 of 3 files are listed"),
            (json!(["b", "a"]), said),
            (json!(["a"]), said),
            (json!([]), "0 of 3 rows are listed"),
            (json!(["b", "a", "c", "d"]), "4 of 9 rows are listed"),
        ] {
            assert!(!agree(of(), "b\na\nc\n", output(rows.clone(), said)).0, "{rows} {said}");
        }
    }

    #[test]
    fn cells_are_split_at_the_given_separator() {
        let of = |cut: &str| json!({"cells": ["/a", "/b"], "cut": cut});
        let output = || json!({"rows": {"a": "x", "b": "y z"}});
        assert!(agree(of("blanks"), "  x   y z \n", output()).0);
        assert!(agree(of("nul"), "x\0y z\0", output()).0);
        assert!(!agree(of("nul"), "x\0y z\0more\0", output()).0);
        assert!(!agree(of("tab"), "x y z\n", output()).0);
    }

    #[test]
    fn numbers_compare_by_value_and_texts_exactly() {
        let holds = |measured: &str, value: Value| {
            agree(json!({"cells": ["/v"]}), measured, json!({"rows": [{"v": value}]})).0
        };
        assert!(
            holds("0.30000000000000004\n", json!(0.3)) && holds("3\n", json!(3)) && holds("3.0\n", json!(3))
        );
        assert!(!holds("4\n", json!(3)) && !holds("3\n", json!("03")) && !holds("3\n", json!("3.0")));
        assert!(holds("\n", Value::Null) && !holds("null\n", Value::Null));
        assert!(!holds("9007199254740993\n", json!(9_007_199_254_740_992_u64)));
        assert!(holds("true\n", json!(true)));
    }

    #[test]
    fn names_that_are_not_utf8_are_compared_as_decoded() {
        let of = json!({"cells": [""]});
        let rows = json!({"rows": ["z", "\\xffa [name is not UTF-8]", "a\\xff"]});
        assert!(agree(of.clone(), "a\\xff\u{0}\u{fffd}a\u{0}z\u{0}", rows.clone()).0);
        assert!(!agree(of.clone(), "a\u{fffd}\u{0}\u{fffd}a\u{0}z\u{0}", rows.clone()).0);
        assert!(!agree(of, "a\\xff\u{0}\u{fffd}b\u{0}z\u{0}", rows).0);
    }

    #[test]
    fn rows_that_can_never_be_compared_are_reported() {
        let fault = |whole: Value| serde_json::from_value::<RowsExpectation>(whole).unwrap().fault();
        assert_eq!(
            fault(json!({"at": "stdout", "of": "/r", "cells": [""]})),
            Some(RowsFault::Pointer("stdout".to_owned()))
        );
        assert_eq!(fault(json!({"at": "/stdout", "of": "/r", "cells": []})), Some(RowsFault::Cells));
    }
}
