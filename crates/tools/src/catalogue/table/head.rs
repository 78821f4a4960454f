//! Decides whether the first row of a table holds column names: it may be a title, a comment or values instead.

use csv::ByteRecord;

use super::column::Column;
use super::value;

/// The first row, and what the rows below say about it.
#[derive(Default)]
pub(super) struct Head {
    names: ByteRecord,
    rows: u64,
    /// The next row is the rule below the header of a Markdown table.
    is_ruled: bool,
    /// The next row contains only values that could be names.
    is_over_texts: bool,
    /// Which values of the next row are not empty.
    filled_below: Vec<bool>,
    /// A row further below repeats the first one.
    is_repeated: bool,
    /// A value below begins with a space.
    has_led_values: bool,
}

impl Head {
    pub(super) fn new(names: ByteRecord) -> Self {
        Head { names, ..Head::default() }
    }

    /// Records the next row.
    pub(super) fn see(&mut self, row: &ByteRecord) {
        self.rows += 1;
        if self.rows == 1 {
            self.is_ruled = row.iter().all(is_rule);
            self.is_over_texts = row.iter().all(value::may_be_a_name);
            self.filled_below = row.iter().map(|value| !value.trim_ascii().is_empty()).collect();
        }
        let is_same =
            |(value, name): (&[u8], &[u8])| value.trim_ascii().eq_ignore_ascii_case(name.trim_ascii());
        self.is_repeated |=
            row.len() > 1 && row.len() == self.names.len() && row.iter().zip(&self.names).all(is_same);
        self.has_led_values |= row.iter().any(|value| value.starts_with(b" "));
    }

    /// Returns whether the row looks unlike a row of names.
    pub(super) fn is_doubtful(&self, columns: &[Column]) -> bool {
        let are_names_below = self.is_over_texts && columns.iter().any(Column::is_of_figures_below_a_text);
        let is_value = |(name, column): (&[u8], &Column)| is_value(name, column);
        self.is_mark()
            || self.is_title(columns)
            || self.is_ruled
            || self.is_repeated
            || are_names_below
            || self.is_over_units(columns)
            || self.is_phrase(columns)
            || (!self.is_index() && self.names.iter().zip(columns).any(is_value))
    }

    /// Returns whether it is HTML, JSON, a comment, or the line with which spreadsheets declare the separator. `#` and `# id`
    /// are names if others are beside them.
    fn is_mark(&self) -> bool {
        let first = self.names.iter().next().unwrap_or_default();
        let comment = first.strip_prefix(b"#").map(<[u8]>::trim_ascii);
        let is_comment =
            |text: &[u8]| self.names.len() == 1 || text.contains(&b' ') || text.starts_with(b"#");
        matches!(first.trim_ascii(), [b'<' | b'{', ..] | [b'['] | [b'[', b'{', ..])
            || comment.is_some_and(is_comment)
            || first.to_ascii_lowercase().starts_with(b"sep=")
    }

    /// Returns whether the row below holds only units, each above a column of numbers: `,kg,cm`.
    fn is_over_units(&self, columns: &[Column]) -> bool {
        let filled = || columns.iter().zip(&self.filled_below).filter(|(_, is_filled)| **is_filled);
        filled().count() > 0 && filled().all(|(column, _)| column.is_of_figures_below_a_text())
    }

    /// Returns whether it is a title with commas above text columns: spaces follow its commas and those of no other row, as in
    /// `Customers, exported today`.
    fn is_phrase(&self, columns: &[Column]) -> bool {
        self.rows > 0
            && self.names.len() > 1
            && !self.has_led_values
            && self.names.iter().skip(1).all(|name| name.starts_with(b" "))
            && self.names.iter().any(|name| name.trim_ascii().contains(&b' '))
            && columns.iter().all(Column::is_text)
    }

    /// Returns whether it is a title above the table, or a Markdown line, which leave names empty. An index column leaves only
    /// one name empty, and separators at the end of every row leave columns without values.
    fn is_title(&self, columns: &[Column]) -> bool {
        let is_nameless = |name: &[u8]| name.trim_ascii().is_empty();
        let nameless = self.names.iter().filter(|name| is_nameless(name)).count();
        let at_end = self.names.iter().rev().take_while(|name| is_nameless(name)).count();
        let are_empty = self.rows > 0
            && nameless < self.names.len()
            && columns.len() == self.names.len()
            && columns.iter().rev().take(at_end).all(Column::is_empty);
        let kept = if are_empty { nameless - at_end } else { nameless };
        // A Markdown row: `| a | b |`.
        let is_framed = at_end > 0 && nameless > at_end && columns.first().is_some_and(Column::is_empty);
        is_framed || kept > 1 || (kept > 0 && at_end == nameless)
    }

    /// Returns whether it is the index that pandas writes above its columns: an empty name, then 0, 1, 2.
    fn is_index(&self) -> bool {
        self.names.len() > 1
            && self.names.iter().enumerate().all(|(at, name)| match at {
                0 => name.is_empty(),
                _ => *name == *(at - 1).to_string().as_bytes(),
            })
    }
}

/// Returns whether a name looks like a value of its column: a number is not a name, so the table may have no header, and the
/// first row of values was taken for it; nor is a text without letters, such as `01.02.2026`, `10:30` and `$5`. Years
/// and days are names above figures of another form.
fn is_value(name: &[u8], column: &Column) -> bool {
    let name = String::from_utf8_lossy(name);
    let name = name.trim();
    if value::is_number(name) {
        return !value::is_year(name) || column.is_of_years();
    }
    if value::is_date(name) {
        return !column.is_of_figures();
    }
    let is_of_signs = name.contains(|c: char| c.is_ascii_digit()) && !name.contains(char::is_alphabetic);
    value::is_truth(name.as_bytes())
        || name.contains('@')
        || name.contains("://")
        || is_uuid(name)
        || (is_of_signs && (!column.is_of_figures() || column.has_form_of(name)))
}

fn is_uuid(name: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && name.split('-').all(is_hex)
}

fn is_rule(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    value.contains(&b'-') && value.iter().all(|byte| b"-:".contains(byte))
}
