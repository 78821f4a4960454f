//! Tables with separators.

use std::collections::BTreeSet;
use std::io::{self, Read};

use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use setpoint_protocol::text::clip;

use super::column::{Column, DISTINCT_MAX, TextReason};
use super::head::Head;
use super::separator::Separator;
use super::{HaltingReader, Source, value};
use crate::catalogue::prelude::*;

/// Maximum columns that are read; further columns of a wider table are ignored.
const COLUMNS_MAX: usize = 16_000;
/// Maximum columns that are reported; the others are counted.
pub(super) const COLUMNS_TOLD_MAX: usize = 250;
/// Maximum bytes per row; a table with a longer one (a quote that is never closed) is rejected.
const ROW_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Labels of a last row that holds totals.
const TOTALS: &[&str] = &["total", "totals", "grand total", "sum", "summe"];
/// Maximum columns that a remark names.
const COLUMNS_NAMED_MAX: usize = 3;
const NAMED_CHARS_MAX: usize = 60;
/// Maximum characters of a column's name.
const NAME_CHARS_MAX: usize = 500;

pub(super) fn summarise(source: Source<'_>, separator: Separator) -> Result<ToolAnswer, ToolError> {
    let delimiter = separator.byte;
    let path = source.path;
    let rationed =
        RationedReader { reader: source.reader, left: ROW_BYTES_MAX, quotes: Quotes::new(delimiter) };
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(true).from_reader(rationed);
    let failed = |error: csv::Error| match error.into_kind() {
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            ToolError::unfit(path, "a row is too long; perhaps a quote is never closed")
        }
        ErrorKind::Io(error) => ToolError::file("read", path, error),
        _ => ToolError::unfit(path, "it is no table"),
    };
    let names = reader.byte_headers().map_err(failed)?.clone();
    let mut columns: Vec<Column> = names
        .iter()
        .take(COLUMNS_MAX)
        .map(|name| Column::new(clip(&String::from_utf8_lossy(name), NAME_CHARS_MAX)))
        .collect();
    let is_text = |value: &&[u8]| std::str::from_utf8(value).is_ok();
    let not_utf8 = names.iter().filter(|name| !is_text(name)).count() as u64;
    let wide = names.len() > COLUMNS_MAX;
    let mut table = Table { not_utf8, wide, ..Table::default() };
    let mut room = DISTINCT_MAX;
    let mut head = Head::new(names.clone());
    let mut record = ByteRecord::new();
    loop {
        reader.get_mut().left = ROW_BYTES_MAX;
        if !reader.read_byte_record(&mut record).map_err(failed)? {
            break;
        }
        table.rows += 1;
        table.is_total_last = is_total(&record);
        head.see(&record);
        if record.len() != names.len() {
            table.ragged += 1;
            table.first_ragged.get_or_insert(table.rows);
        }
        for (value, column) in record.iter().zip(&mut columns) {
            table.not_utf8 += u64::from(!is_text(&value));
            column.add(value, &mut room);
        }
    }
    let quotes = &reader.get_ref().quotes;
    let (is_open, mut irregular, empty_lines) = (quotes.is_open(), quotes.irregular, quotes.empty_lines);
    let are_single = |name: &[u8]| matches!(name.trim_ascii(), [b'\'', .., b'\'']);
    if names.iter().all(are_single) {
        irregular += names.len() as u64;
    }
    let mut known = BTreeSet::new();
    let repeated = names.iter().find(|name| !name.is_empty() && !known.insert(*name));
    let repeated = repeated.map(|name| show::line(&clip(&String::from_utf8_lossy(name), NAMED_CHARS_MAX)));
    let is_cut = columns.iter().any(Column::is_cut);
    let complete = !reader.get_ref().reader.is_halted() && !table.wide;
    let texts = [TextReason::Form, TextReason::BesideNumbers, TextReason::BesideDates]
        .map(|why| of_figures(&columns, why));
    let unordered = counted(&columns, |name, column| column.has_unordered_dates().then(|| name.to_owned()));
    // Between commas, a point that certainly begins a fraction shows what the others do. Elsewhere a fraction may have a comma.
    let shows_fractions = delimiter == b','
        && columns.iter().any(Column::has_fractions)
        && !columns.iter().any(Column::has_decimal_commas);
    let is_of_thousands = !shows_fractions && columns.iter().any(Column::may_be_of_thousands);
    let is_doubtful = head.is_doubtful(&columns);
    let told = columns.iter().take(COLUMNS_TOLD_MAX);
    let columns: Vec<Value> = told.map(|column| column.facts(table.rows)).collect();
    let mut text = format!(
        "{}: {} of {}",
        show::path_line(path),
        show::count(table.rows, "row", "rows"),
        show::count(names.len() as u64, "column", "columns")
    );
    text.push_str(&answer::listing(columns.iter().map(column_line), COLUMNS_TOLD_MAX));
    if names.len() > columns.len() {
        text.push_str(&format!("\n… {} more columns", names.len() - columns.len()));
    }
    if is_doubtful {
        text.push_str(
            "\nthe first row was taken for the columns' names, but it looks like values or a title",
        );
    }
    if is_of_thousands {
        text.push_str("\na point may separate thousands and not a fraction");
    }
    if let Some(rival) = separator.rival {
        text.push_str(&format!(
            "\n“{}” could separate the values as well",
            char::from(rival).escape_default()
        ));
    }
    if is_open {
        text.push_str("\na quote is never closed, so that the end of the file is one value");
    }
    if irregular > 0 {
        text.push_str(&format!(
            "\n{} irregular: text follows the closing quote, a blank stands before the first one, a line ends within it, or the quotes are single ones",
            show::count(irregular, "quoted value is", "quoted values are")
        ));
    }
    if table.ragged > 0 {
        text.push_str(&format!(
            "\n{} with more or fewer values than columns, the first one is row {}",
            show::count(table.ragged, "row", "rows"),
            table.first_ragged.unwrap_or_default()
        ));
    }
    if empty_lines > 0 {
        text.push_str(&format!(
            "\n{} left out",
            show::count(empty_lines, "empty line is", "empty lines are")
        ));
    }
    if let Some(name) = &repeated {
        text.push_str(&format!("\na column name is given more than once ({name})"));
    }
    if table.is_total_last {
        text.push_str("\nthe last row looks like a total, and is counted as a row");
    }
    let holds = ["figures in another form", "numbers beside other values", "dates beside other values"];
    for ((count, named), held) in texts.iter().zip(holds).filter(|((count, _), _)| *count > 0) {
        text.push_str(&format!(
            "\n{} {held}, and was taken for text ({named})",
            show::count(*count, "column holds", "columns hold")
        ));
    }
    if unordered.0 > 0 {
        text.push_str(&format!(
            "\n{} dates in several forms or with zones, and was not put in order ({})",
            show::count(unordered.0, "column holds", "columns hold"),
            unordered.1
        ));
    }
    if is_cut {
        text.push_str(&format!("\ndistinct values were counted up to {DISTINCT_MAX} in all"));
    }
    let [form, numbers, dates] = texts;
    let facts = json!({
        "kind": if delimiter == b'\t' { "tsv" } else { "csv" },
        "rows": table.rows,
        "columns": columns,
        "column_count": names.len(),
        "names_doubtful": is_doubtful,
        "ragged": table.ragged,
        "first_ragged": table.first_ragged.map(|row| row.to_string()),
        "figures_unread": form.0,
        "figures_unread_named": form.1,
        "beside_numbers": numbers.0,
        "beside_numbers_named": numbers.1,
        "beside_dates": dates.0,
        "beside_dates_named": dates.1,
        "dates_unordered": unordered.0,
        "dates_unordered_named": unordered.1,
        "not_utf8": table.not_utf8,
        "empty_lines": empty_lines,
        "name_repeated": repeated,
        "distinct_cut": is_cut,
        "total_row": table.is_total_last,
        "thousands_doubtful": is_of_thousands,
        "unclosed_quote": is_open,
        "irregular_quotes": irregular,
        "delimiter": char::from(delimiter).to_string(),
        "separator_doubtful": separator.rival.is_some(),
        "separator_rival": separator.rival.map(|rival| char::from(rival).escape_default().to_string()),
        "complete": complete,
    });
    Ok(answer::walked(text, facts, Gaps { complete, ..Gaps::default() }))
}

/// A reader that fails after a number of bytes, so that no row grows in memory without end.
struct RationedReader<'a> {
    reader: HaltingReader<'a>,
    left: usize,
    quotes: Quotes,
}

impl Read for RationedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let room = buffer.len().min(self.left);
        let got = self.reader.read(buffer.get_mut(..room).unwrap_or_default())?;
        self.left -= got;
        self.quotes.see(buffer.get(..got).unwrap_or_default());
        Ok(got)
    }
}

/// Tracks the quotes of a table, to know whether the last one is closed. Like the row reader, it lets a quote open a
/// value only at the value's beginning.
#[derive(Default)]
struct Quotes {
    delimiter: u8,
    at: Spot,
    /// Quoted values that a person might read differently: text follows the closing quote (RFC 4180, section 2, allows
    /// none), a space precedes the opening one, or line ends are quoted in a table with tabs, where a quote is mostly
    /// an ordinary character.
    irregular: u64,
    /// Empty lines between rows, and trailing ones that will count if a row follows.
    empty_lines: u64,
    empty_lines_waiting: u64,
    is_line_empty: bool,
    has_begun: bool,
    /// Bytes of a byte order mark that may still follow.
    mark: &'static [u8],
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Spot {
    #[default]
    Beginning,
    /// After leading blanks, where a quote is an ordinary character.
    Led,
    Bare,
    Quoted,
    /// After a quote inside a quoted value: the end of the value, unless another quote follows.
    Closing,
}

impl Quotes {
    fn new(delimiter: u8) -> Self {
        Quotes { delimiter, is_line_empty: true, mark: b"\xef\xbb\xbf", ..Quotes::default() }
    }

    fn see_line(&mut self, byte: u8) {
        let is_quoted = self.at == Spot::Quoted;
        match byte {
            b'\n' if self.is_line_empty && !is_quoted => {
                self.empty_lines_waiting += u64::from(self.has_begun);
            }
            b'\n' => self.is_line_empty = !is_quoted,
            b'\r' => {}
            _ => {
                self.empty_lines += std::mem::take(&mut self.empty_lines_waiting);
                self.is_line_empty = false;
                self.has_begun = true;
            }
        }
    }

    const fn is_open(&self) -> bool {
        matches!(self.at, Spot::Quoted)
    }

    fn see(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some((first, rest)) = self.mark.split_first()
                && first == byte
            {
                self.mark = rest;
                continue;
            }
            self.mark = &[];
            self.see_line(*byte);
            let is_end = *byte == self.delimiter || matches!(byte, b'\n' | b'\r');
            let is_irregular = match self.at {
                Spot::Closing => *byte != b'"' && !is_end,
                Spot::Quoted => *byte == b'\n' && self.delimiter == b'\t',
                Spot::Led => *byte == b'"',
                Spot::Beginning | Spot::Bare => false,
            };
            self.irregular += u64::from(is_irregular);
            self.at = match (self.at, byte) {
                (Spot::Quoted, b'"') => Spot::Closing,
                (Spot::Quoted, _) | (Spot::Closing | Spot::Beginning, b'"') => Spot::Quoted,
                _ if is_end => Spot::Beginning,
                (Spot::Beginning | Spot::Led, b' ') => Spot::Led,
                _ => Spot::Bare,
            };
        }
    }
}

#[derive(Default)]
struct Table {
    rows: u64,
    /// Rows with more or fewer values than there are columns, and the first of them.
    ragged: u64,
    first_ragged: Option<u64>,
    /// Names and values that are not UTF-8.
    not_utf8: u64,
    wide: bool,
    is_total_last: bool,
}

/// Returns whether a row begins with a word for a total, followed by figures.
fn is_total(row: &ByteRecord) -> bool {
    let first = row.iter().next().unwrap_or_default().trim_ascii();
    let first = first.strip_suffix(b":").unwrap_or(first);
    let is_figure = |value: &[u8]| {
        let value = String::from_utf8_lossy(value);
        value::is_number(&value) || value::is_figure(&value)
    };
    TOTALS.iter().any(|word| first.eq_ignore_ascii_case(word.as_bytes())) && row.iter().skip(1).any(is_figure)
}

/// Returns how many columns count as text for this reason, and the first of them with a value of each: `price: $5`.
fn of_figures(columns: &[Column], why: TextReason) -> (u64, String) {
    counted(columns, |name, column| {
        let (_, value) = column.text_beside_figures().filter(|(of, _)| *of == why)?;
        Some(format!("{name}: {value}"))
    })
}

/// Returns how many columns have a remark, and the first ones.
fn counted(columns: &[Column], remark: impl Fn(&str, &Column) -> Option<String>) -> (u64, String) {
    let all = columns.iter().enumerate().filter_map(|(at, column)| {
        let name = clip(column.name().trim(), NAMED_CHARS_MAX);
        let name = if name.is_empty() { format!("column {}", at + 1) } else { name };
        remark(&name, column).map(|remark| show::line(&remark))
    });
    let all: Vec<String> = all.collect();
    let mut named = all.iter().take(COLUMNS_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > COLUMNS_NAMED_MAX {
        named.push_str(", …");
    }
    (all.len() as u64, named)
}

/// Formats a column's facts for a reader.
pub(super) fn column_line(facts: &Value) -> String {
    let get = |key: &str| match facts.get(key) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => format!(" {key} {}", show::line(text)),
        Some(value) => format!(" {key} {value}"),
    };
    let name = facts.get("name").and_then(Value::as_str).unwrap_or_default();
    let kind = facts.get("type").and_then(Value::as_str).unwrap_or_default();
    let figures: String = ["empty", "distinct", "min", "max", "mean"].iter().map(|key| get(key)).collect();
    format!("  {}: {kind},{figures}", show::line(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_quote_is_detected_across_any_block_border() {
        for (text, is_open) in [
            ("a,b\n1,\"x\n2,y\n", true),
            ("a,b\n1,\"x\n2,y\"\n", false),
            ("\u{feff}\"a\",b\n", false),
            ("\u{feff}\"a,b\n", true),
            ("a\n\"x\"\"\n", true),
            ("a\n\"x\"\"\"\n", false),
            ("a\n5\" pipe\n", false),
            ("a\n\"x\"y\"\n", false),
            ("", false),
        ] {
            for cut in 0..text.len() {
                let (one, other) = text.as_bytes().split_at(cut);
                let mut quotes = Quotes::new(b',');
                quotes.see(one);
                quotes.see(other);
                assert_eq!(quotes.is_open(), is_open, "{text:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn empty_lines_between_rows_are_counted() {
        for (text, count) in [
            ("v\n1\n\n3\n", 1),
            ("\n\nv\r\n\r\n1\r\n\r\n\r\n", 1),
            ("v\n\"a\n\n\nb\"\n\n\nc", 2),
            ("v\n1\n\n", 0),
            ("\u{feff}\nv\n", 0),
        ] {
            let mut quotes = Quotes::new(b',');
            quotes.see(text.as_bytes());
            assert_eq!(quotes.empty_lines, count, "{text:?}");
        }
    }

    #[test]
    fn ambiguous_quotes_are_counted() {
        for (text, delimiter, irregular) in [
            ("a,b\n\"z\"k,1\n", b',', 1),
            ("a,b\n\"x\ny\",1\n", b',', 0),
            ("a,b\n\"\"\"x\"\"\",5\" pipe\n", b',', 0),
            ("a\tb\n1\t\"a\n2\t\"b\n", b'\t', 2),
            ("a, \"b\"\n1,  \"x\"\n2, 5\" pipe\n", b',', 2),
            ("a\tb\n1\t\"x\ny\"\n", b'\t', 1),
        ] {
            let mut quotes = Quotes::new(delimiter);
            quotes.see(text.as_bytes());
            assert_eq!(quotes.irregular, irregular, "{text:?}");
        }
    }
}
