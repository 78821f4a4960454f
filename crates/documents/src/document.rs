//! What is asked of a document, and what was read of it.

use serde::{Deserialize, Serialize};

/// Maximum characters of text that one call reads.
pub const TEXT_CHARS_MAX: usize = 200_000;
/// Maximum pages that one call reads.
pub const PAGES_MAX: u32 = 100;
/// Maximum rows with content that one call reads.
pub const ROWS_MAX: usize = 5_000;
/// Maximum characters of a cell; the rest is left out.
pub const CELL_CHARS_MAX: usize = 4_000;
/// Maximum characters of the name of a sheet; the rest is left out.
pub(crate) const NAME_CHARS_MAX: usize = 100;
/// Maximum sheets that are named.
pub const SHEETS_MAX: usize = 200;

/// Maximum form fields that are read.
pub const FIELDS_MAX: usize = 500;
/// Maximum characters of the name or the value of a form field; the rest is left out.
pub const FIELD_CHARS_MAX: usize = 1_000;

/// What is wanted of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The sheet of a workbook by its name, or its number from 1; otherwise the first one.
    pub sheet: Option<String>,
    /// The first page, or row of the sheet, from 1.
    pub from: u32,
    /// The last one. Fewer are read if a limit is reached before.
    pub to: u32,
}

/// A document that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Document {
    Pdf(Pdf),
    Workbook(Workbook),
}

/// A PDF file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pdf {
    /// Pages of the file.
    pub pages: u32,
    /// The form fields of the file that have a value, at most [`FIELDS_MAX`].
    pub fields: Vec<Field>,
    /// Whether there are more, or some could not be read.
    pub is_form_cut: bool,
    /// The pages that were read, in order.
    pub given: Vec<Page>,
    /// Whether the only page was cut at [`TEXT_CHARS_MAX`].
    pub is_page_cut: bool,
    /// The first page that was wanted and not read, because a limit was reached.
    pub next: Option<u32>,
}

/// A page of a PDF file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its number, from 1.
    pub number: u32,
    pub text: String,
    pub state: PageState,
}

/// A field of a form, as it was filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its full name, with the names of the fields around it.
    pub name: String,
    /// Its value as text; several are separated by commas.
    pub value: String,
}

/// What could be read of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageState {
    /// Its text.
    Read,
    /// It has no text: it is empty, or a picture such as a scan.
    WithoutText,
    /// The reader failed on it; what it read before is given.
    Unreadable,
}

/// A sheet of a workbook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workbook {
    /// `xlsx` or `ods`.
    pub format: String,
    /// The names of the sheets, at most [`SHEETS_MAX`].
    pub sheets: Vec<String>,
    /// How many sheets there are.
    pub sheet_count: usize,
    /// The name of the sheet that was read.
    pub sheet: String,
    /// The names of the sheets that programs do not show, at most [`SHEETS_MAX`].
    pub hidden_sheets: Vec<String>,
    /// Which of the rows that were read are hidden.
    pub hidden_rows: Vec<u32>,
    /// Which columns are hidden.
    pub hidden_columns: Vec<u32>,
    /// Cells of the rows that were read that are in the file twice; the last one is given.
    pub cells_replaced: u32,
    /// How many of its rows have content.
    pub rows: u32,
    /// How many of its columns have content.
    pub columns: u32,
    /// The number of the last row with content; 0 if there is none.
    pub last_row: u32,
    /// The number of the last column with content.
    pub last_column: u32,
    /// The rows with content that were read, in order.
    pub given: Vec<Row>,
    /// Cells of these rows that were cut at [`CELL_CHARS_MAX`].
    pub cells_cut: u32,
    /// Formulas in these rows whose value was not stored; their cells hold the formula and say so.
    pub formulas_without_value: u32,
    /// Whether these rows have stored results of formulas that the writer of the file did not compute itself.
    pub is_stale: bool,
    /// Whether the only row was cut at [`TEXT_CHARS_MAX`].
    pub is_row_cut: bool,
    /// The first row that was wanted and not read, because a limit was reached.
    pub next: Option<u32>,
}

/// A row of a sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its number, from 1.
    pub number: u32,
    /// Its cells up to the last one with content, as text.
    pub cells: Vec<String>,
}
