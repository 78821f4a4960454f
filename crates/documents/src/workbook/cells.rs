//! The cells that are wanted of a sheet, and how large the sheet is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::document::{
    CELL_CHARS_MAX, NAME_CHARS_MAX, ROWS_MAX, Row, SHEETS_MAX, TEXT_CHARS_MAX, Wanted, Workbook,
};
use crate::error::Refusal;

/// Maximum rows of a sheet, in each format.
const SHEET_ROWS_MAX: u32 = 1_048_576;
/// Maximum columns of a sheet.
const SHEET_COLUMNS_MAX: u32 = 16_384;
/// What follows a formula without a stored value in place of it.
const NOT_COMPUTED: &str = " [no stored value]";

/// What a cell holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A value; an empty one is none.
    Value(String),
    /// A value that a formula gave when it was stored.
    Result(String),
    /// A formula whose value was not stored.
    Formula(String),
}

impl Content {
    /// Returns whether the cell is as good as empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Content::Value(text) | Content::Result(text) => text.is_empty(),
            Content::Formula(_) => false,
        }
    }
}

/// The cells of the wanted rows, added in any order.
pub(crate) struct Cells<'w> {
    book: Workbook,
    wanted: &'w Wanted,
    rows: BTreeMap<u32, Built>,
    /// Which rows and columns have content, from 0.
    filled: (Vec<bool>, Vec<bool>),
    /// Hidden rows and columns, from 0.
    hidden_rows: Vec<Range<u32>>,
    hidden_columns: BTreeSet<u32>,
    chars: usize,
}

#[derive(Default)]
struct Built {
    cells: BTreeMap<u32, String>,
    /// Cells that were cut.
    cut: u32,
    /// Formulas without a stored value, and with one.
    formulas: (u32, u32),
    /// Cells that were there before.
    replaced: u32,
}

/// Returns the place of the wanted sheet among all.
///
/// # Errors
/// If the workbook has no sheet of that name.
pub(crate) fn choose(sheets: &[String], wanted: &Wanted) -> Result<usize, Refusal> {
    let numbered = |wanted: &String| wanted.parse::<usize>().ok()?.checked_sub(1);
    let named = |wanted: &String| sheets.iter().position(|sheet| sheet == wanted);
    let found = match &wanted.sheet {
        None => Some(0),
        Some(name) => named(name).or_else(|| numbered(name)),
    };
    found.filter(|place| *place < sheets.len()).ok_or_else(|| Refusal::NoSheet {
        wanted: wanted.sheet.clone().unwrap_or_default(),
        sheets: names(sheets),
        count: sheets.len(),
    })
}

fn names(sheets: &[String]) -> Vec<String> {
    sheets.iter().take(SHEETS_MAX).map(|name| name.chars().take(NAME_CHARS_MAX).collect()).collect()
}

impl<'w> Cells<'w> {
    /// Begins with the sheet at a place that [`choose`] returned.
    pub(crate) fn of(format: &str, sheets: &[String], place: usize, wanted: &'w Wanted) -> Self {
        let sheet = sheets.get(place).map(std::slice::from_ref).map(names).unwrap_or_default();
        let book = Workbook {
            format: format.to_owned(),
            sheets: names(sheets),
            sheet_count: sheets.len(),
            sheet: sheet.concat(),
            ..Workbook::default()
        };
        let (rows, filled) = (BTreeMap::new(), (Vec::new(), Vec::new()));
        Cells {
            book,
            wanted,
            rows,
            filled,
            hidden_rows: Vec::new(),
            hidden_columns: BTreeSet::new(),
            chars: 0,
        }
    }

    /// Returns whether cells of a row are still taken; others only count for the size of the sheet.
    pub(crate) fn takes(&self, row: u32) -> bool {
        self.book.next.is_none() && (self.wanted.from..=self.wanted.to).contains(&(row.saturating_add(1)))
    }

    /// Notes that rows have content, without their cells.
    ///
    /// # Errors
    /// If no sheet can have them.
    pub(crate) fn fill(&mut self, rows: Range<u32>) -> Result<(), Refusal> {
        fill(&mut self.filled.0, rows, SHEET_ROWS_MAX)
    }

    /// Adds a cell; rows and columns count from 0.
    ///
    /// # Errors
    /// If no sheet can have it, or what `content` returns.
    pub(crate) fn add(
        &mut self,
        (row, column): (u32, u32),
        content: impl FnOnce() -> Result<Content, Refusal>,
    ) -> Result<(), Refusal> {
        let takes = self.takes(row);
        if !takes && is_filled(&self.filled.0, row) && is_filled(&self.filled.1, column) {
            return Ok(());
        }
        let content = content()?;
        if content.is_empty() {
            return Ok(());
        }
        let formulas = match &content {
            Content::Value(_) => (0, 0),
            Content::Result(_) => (0, 1),
            Content::Formula(_) => (1, 0),
        };
        let text = match content {
            Content::Value(text) | Content::Result(text) => text,
            Content::Formula(formula) => format!("={formula}{NOT_COMPUTED}"),
        };
        self.fill(row..row.saturating_add(1))?;
        fill(&mut self.filled.1, column..column.saturating_add(1), SHEET_COLUMNS_MAX)?;
        if !takes {
            return Ok(());
        }
        let (number, places) = (row.saturating_add(1), column.saturating_add(1));
        let chars = text.chars().count().min(CELL_CHARS_MAX);
        let built = self.rows.get(&row);
        // Each column up to this one takes a place in its row.
        let widest = built.and_then(|row| row.cells.last_key_value()).map_or(0, |(column, _)| column + 1);
        let widened = usize::try_from(places.saturating_sub(widest)).unwrap_or(usize::MAX);
        let cost = chars.saturating_add(widened);
        let is_full = built.is_none() && self.rows.len() >= ROWS_MAX;
        if is_full || self.chars.saturating_add(cost) > TEXT_CHARS_MAX {
            // Half a row would look like a whole one, so it is left out, except where it is the only row.
            let is_only = built.is_some() && self.rows.len() == 1;
            self.book.is_row_cut = is_only;
            self.book.next = Some(if is_only { number.saturating_add(1) } else { number });
            if !is_only {
                self.rows.remove(&row);
            }
            return Ok(());
        }
        self.chars = self.chars.saturating_add(cost);
        let is_long = text.chars().count() > CELL_CHARS_MAX;
        let text = if is_long { text.chars().take(CELL_CHARS_MAX).collect() } else { text };
        let built = self.rows.entry(row).or_default();
        built.cut += u32::from(is_long);
        built.formulas = (built.formulas.0 + formulas.0, built.formulas.1 + formulas.1);
        built.replaced += u32::from(built.cells.insert(column, text).is_some());
        Ok(())
    }

    /// Notes that rows, from 0, are hidden. Only those that were read are named.
    pub(crate) fn hide_rows(&mut self, rows: Range<u32>) {
        let wanted = rows.start.max(self.wanted.from.saturating_sub(1))..rows.end.min(self.wanted.to);
        if self.hidden_rows.len() < ROWS_MAX && !wanted.is_empty() {
            self.hidden_rows.push(wanted);
        }
    }

    /// Notes that columns, from 0, are hidden.
    pub(crate) fn hide_columns(&mut self, columns: Range<u32>) {
        let end = columns.end.min(SHEET_COLUMNS_MAX);
        self.hidden_columns.extend(columns.start.min(end)..end);
    }

    /// Notes the sheets that are hidden.
    pub(crate) fn hide_sheets(&mut self, hidden: &[String]) {
        self.book.hidden_sheets = names(hidden);
    }

    /// Returns what was read. `is_stale` says that stored results of formulas may be old.
    ///
    /// # Errors
    /// If the sheet ends before the wanted rows.
    pub(crate) fn finish(self, is_stale: bool) -> Result<Workbook, Refusal> {
        let sum = |part: fn(&Built) -> u32| self.rows.values().map(part).sum::<u32>();
        let book = Workbook {
            rows: count(&self.filled.0),
            last_row: last(&self.filled.0),
            columns: count(&self.filled.1),
            last_column: last(&self.filled.1),
            cells_cut: sum(|row| row.cut),
            formulas_without_value: sum(|row| row.formulas.0),
            is_stale: is_stale && sum(|row| row.formulas.1) > 0,
            cells_replaced: sum(|row| row.replaced),
            ..self.book
        };
        if self.wanted.from > book.last_row.max(1) {
            return Err(Refusal::NoRow { sheet: book.sheet, last: book.last_row });
        }
        let is_hidden = |row: &u32| self.hidden_rows.iter().any(|hidden| hidden.contains(row));
        let hidden = self.rows.keys().filter(|row| is_hidden(row));
        let hidden_rows = hidden.map(|row| row.saturating_add(1)).collect();
        let is_filled = |column: &u32| is_filled(&self.filled.1, *column);
        let hidden = self.hidden_columns.into_iter().filter(is_filled);
        let hidden_columns = hidden.map(|column| column.saturating_add(1)).collect();
        let row = |(row, mut built): (u32, Built)| {
            let last = built.cells.last_key_value().map_or(0, |(column, _)| *column);
            let cells = (0..=last).map(|column| built.cells.remove(&column).unwrap_or_default()).collect();
            Row { number: row.saturating_add(1), cells }
        };
        Ok(Workbook { given: self.rows.into_iter().map(row).collect(), hidden_rows, hidden_columns, ..book })
    }
}

fn fill(filled: &mut Vec<bool>, places: Range<u32>, max: u32) -> Result<(), Refusal> {
    if places.end > max {
        return Err(Refusal::damaged(format!("it has a cell beyond row or column {max}")));
    }
    let index = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
    let (first, end) = (index(places.start), index(places.end));
    if filled.len() < end {
        filled.resize(end, false);
    }
    filled.get_mut(first..end).unwrap_or_default().fill(true);
    Ok(())
}

fn is_filled(filled: &[bool], place: u32) -> bool {
    usize::try_from(place).ok().and_then(|place| filled.get(place)).copied().unwrap_or(false)
}

fn count(filled: &[bool]) -> u32 {
    u32::try_from(filled.iter().filter(|is_filled| **is_filled).count()).unwrap_or(u32::MAX)
}

/// Nothing is noted without content, so the last place has some.
fn last(filled: &[bool]) -> u32 {
    u32::try_from(filled.len()).unwrap_or(u32::MAX)
}
