//! Tables with separators.

use std::io::{self, Read};

use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use serde_json::{Value, json};
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::ToolAnswer;

use super::column::{self, Column, DISTINCT_MAX};
use super::{Halting, Source};
use crate::answer::{self, Gaps};
use crate::error::ToolError;
use crate::show;

/// Columns that are looked at; of a wider table the rest is left out.
const COLUMNS_MAX: usize = 16_000;
/// Columns that are told; the others are counted.
pub(super) const COLUMNS_TOLD_MAX: usize = 250;
/// Bytes that are read for one row; a table with a longer one (a quote that is never closed) is no table.
const ROW_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Characters of a column's name.
const NAME_CHARS_MAX: usize = 200;

/// What separates the values of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Separator {
    pub(super) byte: u8,
    /// Whether another character would separate the first lines as well.
    pub(super) is_doubtful: bool,
}

impl Separator {
    pub(super) const fn of(byte: u8) -> Self {
        Separator { byte, is_doubtful: false }
    }
}

/// What separates the values of a table, in the order in which it is guessed where nothing else decides.
const USUAL: &[u8] = b";\t|,";
/// What separates the values of some tables, but stands in names as well: never guessed, only doubted.
const RARE: &[u8] = b":~^ ";
/// Rows at the beginning that tell whether another character would separate the values as well.
const ROWS_COMPARED: usize = 20;

/// The separator of a table that begins like this: what stands equally often in its first two rows, quoted values left out, and
/// most often; a comma where nothing does. It is doubtful where another one is as even: `Netto, EUR;Brutto` over `1,50;2`.
pub(super) fn guess_separator(beginning: &[u8]) -> Separator {
    let mut rows: Vec<&[u8]> = rows(beginning).filter(|row| !row.trim_ascii().is_empty()).collect();
    if beginning.len() >= super::SNIFF_BYTES && rows.len() > 2 {
        // The last one may be cut.
        rows.pop();
    }
    let (first, rest) =
        rows.split_first().map_or((b"".as_slice(), [].as_slice()), |(one, rest)| (*one, rest));
    let rest = rest.get(..rest.len().min(ROWS_COMPARED)).unwrap_or_default();
    let in_first = |separator: &u8| times(first, *separator);
    let is_even =
        |separator: &&u8| rest.first().is_none_or(|row| times(row, **separator) == in_first(separator));
    let there: Vec<&u8> = USUAL.iter().filter(|separator| in_first(separator) > 0).collect();
    let even: Vec<&u8> = there.iter().copied().filter(is_even).collect();
    let of = if even.is_empty() { &there } else { &even };
    // Of equals the first: `max_by_key` would give the last. A comma is the one that stands in values most often.
    let byte = of.iter().rev().max_by_key(|separator| in_first(separator)).map_or(b',', |byte| **byte);

    // How often another one stands in each row below the first, where that is the same.
    let below = |separator: &u8| {
        let count = rest.first().map_or(0, |row| times(row, *separator));
        if rest.iter().all(|row| times(row, *separator) == count) { count } else { 0 }
    };
    // The first row is perhaps a title: below it another one is as good.
    let is_title = match there.is_empty() {
        true => USUAL.iter().any(|separator| rest.first().is_some_and(|row| times(row, *separator) > 0)),
        false => USUAL.iter().any(|other| {
            !matches!(*other, b',')
                && in_first(other) == 0
                && below(other) > 0
                && below(other) >= in_first(&byte)
        }),
    };
    let is_rivalled = there.iter().any(|other| in_first(other) > in_first(&byte));
    let is_one_column = there.is_empty()
        && RARE
            .iter()
            .any(|other| in_first(other) > 0 && (rest.is_empty() || below(other) == in_first(other)));
    Separator { byte, is_doubtful: even.len() > 1 || is_title || is_rivalled || is_one_column }
}

/// How often a separator stands in a row, quoted values left out; of blanks those that stand together count once.
fn times(row: &[u8], separator: u8) -> usize {
    let row = if separator == b' ' { row.trim_ascii() } else { row };
    let (mut is_quoted, mut before) = (false, 0);
    let is_one = |byte: &&u8| {
        is_quoted ^= **byte == b'"';
        let is_again = separator == b' ' && std::mem::replace(&mut before, **byte) == b' ';
        !is_quoted && **byte == separator && !is_again
    };
    row.iter().filter(is_one).count()
}

/// The lines, those within quotes taken together.
fn rows(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    text.split(move |byte| {
        is_quoted ^= *byte == b'"';
        *byte == b'\n' && !is_quoted
    })
}

/// Tabs, as the name of the file says; doubtful where the first line has none and something else that separates.
pub(super) fn tabs(beginning: &[u8]) -> Separator {
    let first = rows(beginning).next().unwrap_or_default();
    let is_doubtful = !first.contains(&b'\t') && first.iter().any(|byte| b",;|".contains(byte));
    Separator { byte: b'\t', is_doubtful }
}

pub(super) fn summarise(source: Source<'_>, separator: Separator) -> Result<ToolAnswer, ToolError> {
    let delimiter = separator.byte;
    let path = source.path;
    let rationed = Rationed { reader: source.reader, left: ROW_BYTES_MAX, quotes: Quotes::new(delimiter) };
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
    let mut table = Table { rows: 0, ragged: 0, not_utf8, is_ruled: false, wide: names.len() > COLUMNS_MAX };
    let mut room = DISTINCT_MAX;
    let mut record = ByteRecord::new();
    loop {
        reader.get_mut().left = ROW_BYTES_MAX;
        if !reader.read_byte_record(&mut record).map_err(failed)? {
            break;
        }
        table.rows += 1;
        table.is_ruled |= table.rows == 1 && record.iter().all(is_rule);
        table.ragged += u64::from(record.len() != names.len());
        for (value, column) in record.iter().zip(&mut columns) {
            table.not_utf8 += u64::from(!is_text(&value));
            column.add(value, &mut room);
        }
    }
    let quotes = &reader.get_ref().quotes;
    let (is_open, irregular) = (quotes.is_open(), quotes.irregular);
    let is_cut = columns.iter().any(Column::is_cut);
    let complete = !reader.get_ref().reader.is_halted() && !table.wide && !is_cut;
    let has_commas = delimiter == b';' || columns.iter().any(Column::has_decimal_commas);
    let is_of_thousands = has_commas && columns.iter().any(Column::may_be_of_thousands);
    // A name that is a number is no name: the table may have none, and its first row was taken for them. Nor is the line with
    // which spreadsheets tell the separator.
    let is_separator_line = names
        .iter()
        .next()
        .is_some_and(|name| name.starts_with(b"#") || name.to_ascii_lowercase().starts_with(b"sep="));
    let is_value = |(name, column): (&[u8], &Column)| {
        let name = String::from_utf8_lossy(name);
        let is_of_values = column::is_date(name.trim())
            || matches!(name.trim().to_ascii_lowercase().as_str(), "true" | "false")
            || name.contains('@');
        is_of_values || (column::is_number(&name) && (!column::is_year(&name) || column.is_of_years()))
    };
    // A title above the table, or a line of a table in Markdown, leaves names empty; an index of rows leaves one.
    let nameless = names.iter().filter(|name| name.trim_ascii().is_empty()).count();
    let is_title = nameless > 1
        || (nameless == 1 && names.iter().next_back().is_some_and(|name| name.trim_ascii().is_empty()));
    let is_doubtful =
        is_separator_line || is_title || table.is_ruled || names.iter().zip(&columns).any(is_value);
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
        text.push_str("\nthe first row was taken for the columns' names, but it looks like values");
    }
    if is_of_thousands {
        text.push_str("\na point may separate thousands and not a fraction");
    }
    if separator.is_doubtful {
        text.push_str("\nanother character could separate the values as well");
    }
    if is_open {
        text.push_str("\na quote is never closed, so that the end of the file is one value");
    }
    if irregular > 0 {
        text.push_str(&format!(
            "\n{} irregular: text follows the closing quote, or a line ends within it",
            show::count(irregular, "quoted value is", "quoted values are")
        ));
    }
    if table.ragged > 0 {
        text.push_str(&format!(
            "\n{} with more or fewer values than columns",
            show::count(table.ragged, "row", "rows")
        ));
    }
    text.push_str(&Gaps { unreadable: 0, complete, ..Gaps::default() }.text());
    let facts = json!({
        "kind": if delimiter == b'\t' { "tsv" } else { "csv" },
        "rows": table.rows,
        "columns": columns,
        "column_count": names.len(),
        "names_doubtful": is_doubtful,
        "ragged": table.ragged,
        "not_utf8": table.not_utf8,
        "thousands_doubtful": is_of_thousands,
        "unclosed_quote": is_open,
        "irregular_quotes": irregular,
        "delimiter": char::from(delimiter).to_string(),
        "separator_doubtful": separator.is_doubtful,
        "complete": complete,
    });
    Ok(answer::found(text, facts))
}

/// A reader that gives so much and then fails, so that no row grows in memory without end.
struct Rationed<'a> {
    reader: Halting<'a>,
    left: usize,
    quotes: Quotes,
}

impl Read for Rationed<'_> {
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

/// Follows the quotes of a table, to know whether the last one is closed. A quote opens a value only at its beginning, as it
/// does for the reader of rows.
struct Quotes {
    delimiter: u8,
    at: Spot,
    /// Quoted values that a person would perhaps read in another way: text follows the closing quote (RFC 4180, section 2,
    /// has none there), or lines end within a table with tabs, where a quote is mostly a letter like any other.
    irregular: u64,
    /// Bytes of a byte order mark that may still come.
    mark: &'static [u8],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Beginning,
    Bare,
    Quoted,
    /// After a quote inside of a quoted value: its end, unless another one follows.
    Closing,
}

impl Quotes {
    const fn new(delimiter: u8) -> Self {
        Quotes { delimiter, at: Spot::Beginning, irregular: 0, mark: b"\xef\xbb\xbf" }
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
            let is_end = *byte == self.delimiter || matches!(byte, b'\n' | b'\r');
            let is_irregular = match self.at {
                Spot::Closing => *byte != b'"' && !is_end,
                Spot::Quoted => *byte == b'\n' && self.delimiter == b'\t',
                Spot::Beginning | Spot::Bare => false,
            };
            self.irregular += u64::from(is_irregular);
            self.at = match (self.at, byte) {
                (Spot::Quoted, b'"') => Spot::Closing,
                (Spot::Quoted, _) | (Spot::Closing | Spot::Beginning, b'"') => Spot::Quoted,
                _ if is_end => Spot::Beginning,
                _ => Spot::Bare,
            };
        }
    }
}

struct Table {
    rows: u64,
    /// Rows with more or fewer values than there are columns.
    ragged: u64,
    /// Names and values that are not UTF-8.
    not_utf8: u64,
    /// The first row is the line below the head of a table in Markdown.
    is_ruled: bool,
    wide: bool,
}

fn is_rule(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    value.contains(&b'-') && value.iter().all(|byte| b"-:".contains(byte))
}

/// A column's figures for a reader.
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
    fn an_open_quote_is_known_wherever_the_bytes_are_cut() {
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
    fn quotes_that_could_be_read_in_another_way_are_counted() {
        for (text, delimiter, irregular) in [
            ("a,b\n\"z\"k,1\n", b',', 1),
            ("a,b\n\"x\ny\",1\n", b',', 0),
            ("a,b\n\"\"\"x\"\"\",5\" pipe\n", b',', 0),
            ("a\tb\n1\t\"a\n2\t\"b\n", b'\t', 2),
            ("a\tb\n1\t\"x\ny\"\n", b'\t', 1),
        ] {
            let mut quotes = Quotes::new(delimiter);
            quotes.see(text.as_bytes());
            assert_eq!(quotes.irregular, irregular, "{text:?}");
        }
    }

    #[test]
    fn the_first_line_tells_the_separator() {
        for (lines, byte, is_doubtful) in [
            ("a,b;c,d\n1,2,3", b',', false),
            ("Stand: 1.1.2026, Quelle: X\nid;1,n\n1;2,5", b',', true),
            ("id,tags;x,y\n1,p;q", b';', true),
            ("id,tags,n\n1,a|b,2\n2,c|d,3", b',', false),
            ("user:uid:shell\nroot:0:/bin/sh\nada:1000:/bin/zsh", b',', true),
            ("name    age\nAda      36\nGrace   107", b',', true),
            ("a~b\n1~2", b',', true),
            ("url\nhttps://example.org", b',', false),
            ("note\nbuy milk\ncall", b',', false),
            ("a,b;c\n", b';', true),
            ("a;b;c\n1,2,3", b';', false),
            ("\n\na\tb", b'\t', false),
            ("a|b", b'|', false),
            ("a", b',', false),
            ("", b',', false),
            ("\"a, b\";c;d\n\"x\";1;2", b';', false),
            ("name;price\nx;1,5", b';', false),
            ("\"first\nname\";\"last\nname\";age\nA;B;3", b';', false),
            ("Export\nid;n\n1;2", b',', true),
            // As spreadsheets of half of Europe write it: both would do.
            ("k;Netto, EUR;Brutto, EUR\nMeyer;1,50;2,75", b';', true),
            ("name;price, eur\nx;1,5", b';', true),
        ] {
            assert_eq!(guess_separator(lines.as_bytes()), Separator { byte, is_doubtful }, "{lines:?}");
        }
    }
}
