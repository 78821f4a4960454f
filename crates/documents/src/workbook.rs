//! The cells of a sheet.

use std::collections::BTreeMap;
use std::io::Cursor;

use calamine::{
    Data, DataRef, ExcelDateTime, Ods, OdsError, Reader, Xls, XlsError, Xlsb, XlsbError, Xlsx, XlsxError,
};

use crate::document::{CELL_CHARS_MAX, ROWS_MAX, Row, SHEETS_MAX, TEXT_CHARS_MAX, Wanted, Workbook};
use crate::error::Refusal;
use crate::format::Format;

/// Reads the wanted rows of a sheet.
///
/// # Errors
/// Why nothing of it can be read.
pub(crate) fn read(bytes: &[u8], format: Format, wanted: &Wanted) -> Result<Workbook, Refusal> {
    let bytes = Cursor::new(bytes);
    match format {
        Format::Xlsx => {
            let mut book = Xlsx::new(bytes).map_err(xlsx)?;
            let (mut cells, name) = Cells::of("xlsx", &book.sheet_names(), wanted)?;
            // Cell by cell: a table of all cells would have a place for each of them up to the last one.
            let mut reader = book.worksheet_cells_reader(&name).map_err(xlsx)?;
            while let Some(cell) = reader.next_cell().map_err(xlsx)? {
                cells.add(cell.get_position(), || text_ref(cell.get_value()));
            }
            Ok(cells.finish())
        }
        Format::Xlsb => {
            let mut book = Xlsb::new(bytes).map_err(xlsb)?;
            let (mut cells, name) = Cells::of("xlsb", &book.sheet_names(), wanted)?;
            let mut reader = book.worksheet_cells_reader(&name).map_err(xlsb)?;
            while let Some(cell) = reader.next_cell().map_err(xlsb)? {
                cells.add(cell.get_position(), || text_ref(cell.get_value()));
            }
            Ok(cells.finish())
        }
        Format::Xls => {
            let mut book = Xls::new(bytes).map_err(|error| match error {
                XlsError::Password => Refusal::Encrypted,
                other => Refusal::damaged(other),
            })?;
            whole(&mut book, "xls", wanted)
        }
        Format::Ods => {
            let mut book = Ods::new(bytes).map_err(|error| match error {
                OdsError::Password => Refusal::Encrypted,
                other => Refusal::damaged(other),
            })?;
            whole(&mut book, "ods", wanted)
        }
        Format::Encrypted => Err(Refusal::Encrypted),
        Format::Pdf => Err(Refusal::Unknown),
    }
}

/// Reads a sheet of a format whose reader has no cells but those of a whole table.
fn whole<'b, B>(book: &mut B, format: &str, wanted: &Wanted) -> Result<Workbook, Refusal>
where
    B: Reader<Cursor<&'b [u8]>, Error: std::fmt::Display>,
{
    let (mut cells, name) = Cells::of(format, &book.sheet_names(), wanted)?;
    let range = book.worksheet_range(&name).map_err(Refusal::damaged)?;
    let (first_row, first_column) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let place = |offset: usize, first: u32| u32::try_from(offset).ok()?.checked_add(first);
        if let Some(place) = place(row, first_row).zip(place(column, first_column)) {
            cells.add(place, || text(value));
        }
    }
    Ok(cells.finish())
}

fn xlsx(error: XlsxError) -> Refusal {
    match error {
        XlsxError::Password => Refusal::Encrypted,
        other => Refusal::damaged(other),
    }
}

fn xlsb(error: XlsbError) -> Refusal {
    match error {
        XlsbError::Password => Refusal::Encrypted,
        other => Refusal::damaged(other),
    }
}

/// The cells that are wanted, in any order.
struct Cells<'w> {
    book: Workbook,
    wanted: &'w Wanted,
    rows: BTreeMap<u32, BTreeMap<u32, String>>,
    /// How many cells of a row were cut.
    cut: BTreeMap<u32, u32>,
    chars: usize,
}

impl<'w> Cells<'w> {
    fn of(format: &str, sheets: &[String], wanted: &'w Wanted) -> Result<(Self, String), Refusal> {
        let numbered = |wanted: &String| sheets.get(wanted.parse::<usize>().ok()?.checked_sub(1)?);
        let found = match &wanted.sheet {
            None => sheets.first(),
            Some(name) => sheets.iter().find(|sheet| *sheet == name).or_else(|| numbered(name)),
        };
        let named: Vec<String> = sheets.iter().take(SHEETS_MAX).cloned().collect();
        let Some(sheet) = found.cloned() else {
            let wanted = wanted.sheet.clone().unwrap_or_default();
            return Err(Refusal::NoSheet { wanted, sheets: named, count: sheets.len() });
        };
        let book = Workbook {
            format: format.to_owned(),
            sheets: named,
            sheet_count: sheets.len(),
            sheet: sheet.clone(),
            rows: 0,
            columns: 0,
            given: Vec::new(),
            cells_cut: 0,
            is_cut: false,
        };
        Ok((Cells { book, wanted, rows: BTreeMap::new(), cut: BTreeMap::new(), chars: 0 }, sheet))
    }

    /// Adds a cell; rows and columns count from 0. After a limit, cells only count for the size of the sheet.
    fn add(&mut self, (row, column): (u32, u32), text: impl FnOnce() -> String) {
        let (number, column_number) = (row.saturating_add(1), column.saturating_add(1));
        let is_wanted = (self.wanted.from..=self.wanted.to).contains(&number);
        if (!is_wanted || self.book.is_cut) && number <= self.book.rows && column_number <= self.book.columns
        {
            return;
        }
        let text = text();
        if text.is_empty() {
            return;
        }
        self.book.rows = self.book.rows.max(number);
        self.book.columns = self.book.columns.max(column_number);
        if !is_wanted || self.book.is_cut {
            return;
        }
        let chars = text.chars().count().min(CELL_CHARS_MAX);
        // Each column up to this one takes a place in its row.
        let places = usize::try_from(column_number).unwrap_or(usize::MAX);
        let is_new_row = !self.rows.contains_key(&row);
        let cost = chars.saturating_add(places);
        if self.chars.saturating_add(cost) > TEXT_CHARS_MAX || is_new_row && self.rows.len() >= ROWS_MAX {
            self.book.is_cut = true;
            // Half a row would look like a whole one.
            if !is_new_row && self.rows.len() > 1 {
                self.rows.remove(&row);
                self.cut.remove(&row);
            }
            return;
        }
        let widest =
            self.rows.get(&row).and_then(|cells| cells.last_key_value()).map_or(0, |last| last.0 + 1);
        let widened = places.saturating_sub(usize::try_from(widest).unwrap_or(usize::MAX));
        self.chars = self.chars.saturating_add(chars).saturating_add(widened);
        let is_long = text.chars().count() > CELL_CHARS_MAX;
        let text = if is_long { text.chars().take(CELL_CHARS_MAX).collect() } else { text };
        *self.cut.entry(row).or_default() += u32::from(is_long);
        self.rows.entry(row).or_default().insert(column, text);
    }

    fn finish(self) -> Workbook {
        let row = |(row, mut cells): (u32, BTreeMap<u32, String>)| {
            let last = cells.last_key_value().map_or(0, |(column, _)| *column);
            let cells = (0..=last).map(|column| cells.remove(&column).unwrap_or_default()).collect();
            Row { number: row.saturating_add(1), cells }
        };
        let cells_cut = self.cut.values().sum();
        Workbook { cells_cut, given: self.rows.into_iter().map(row).collect(), ..self.book }
    }
}

fn text_ref(value: &DataRef<'_>) -> String {
    match value {
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::DateTime(time) => date(time),
        other => text(&Data::from(other.clone())),
    }
}

fn text(value: &Data) -> String {
    match value {
        Data::DateTime(time) => date(time),
        other => other.to_string(),
    }
}

/// Returns a date, a time or a length of time as people of any country read it.
fn date(time: &ExcelDateTime) -> String {
    let days = time.as_f64();
    if time.is_duration() {
        let seconds = (days * 86_400.0).round();
        let (hours, rest) = ((seconds / 3_600.0).trunc(), (seconds % 3_600.0).abs());
        return format!("{hours}:{:02}:{:02}", (rest / 60.0).trunc(), rest % 60.0);
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    let clock = if milli == 0 { clock } else { format!("{clock}.{milli:03}") };
    match (days.abs() < 1.0, days.fract() == 0.0) {
        (true, _) => clock,
        (false, true) => date,
        (false, false) => format!("{date} {clock}"),
    }
}
