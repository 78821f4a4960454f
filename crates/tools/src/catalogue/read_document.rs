//! `read_document`: returns the text of a PDF file or a workbook.
//!
//! A process of its own reads the file, because the libraries for these formats are not made for hostile ones.

use std::path::{Path, PathBuf};

use setpoint_documents::{CELL_CHARS_MAX, Document, Field, Limits, PageState, Pdf, Wanted, Workbook};
use setpoint_protocol::limits::EVIDENCE_CHARS_MAX;
use setpoint_protocol::text::clip;

use crate::catalogue::prelude::*;
use crate::files::open;
use crate::host::Host;

/// Characters that are reserved for what is said about pages or rows.
const NOTES_CHARS_MAX: usize = 4_000;
/// Maximum characters of a list of sheets.
const SHEETS_CHARS_MAX: usize = 2_000;
/// Maximum ranges of numbers that are named.
const RANGES_MAX: usize = 40;

pub(crate) struct ReadDocument {
    /// The executable that reads.
    reader: Option<PathBuf>,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The file.
    path: String,
    /// The sheet of a workbook by its name or its number from 1; the first unless set.
    sheet: Option<String>,
    /// The first page, or row of the sheet, to give, from 1.
    from: Option<u32>,
    /// The last page or row to give.
    to: Option<u32>,
}

impl ReadDocument {
    pub(crate) fn new(host: &Host) -> Self {
        ReadDocument { reader: host.keeper().map(Path::to_path_buf) }
    }
}

impl Typed for ReadDocument {
    type Input = Input;
    const NAME: &'static str = "read_document";
    const ABOUT: &'static str = "Gives the text of a PDF file by pages, or the cells of a sheet of a workbook (xlsx, ods) by \
         rows as CSV with the values that were stored. Says how many pages, sheets and rows there are, what was cut and where \
         to go on, which pages have no text, such as scans, and which formulas have no stored value.";
    const GIVES: &'static str = "text of a PDF or workbook; /pages /sheets /rows";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path))
            .with("sheet", input.sheet.as_ref())
            .with("from", input.from.filter(|from| *from > 1))
            .with("to", input.to))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let wanted =
            Wanted { sheet: input.sheet, from: input.from.unwrap_or(1), to: input.to.unwrap_or(u32::MAX) };
        if wanted.from == 0 || wanted.to < wanted.from {
            return Err(ToolError::parameter(
                "from",
                "pages and rows count from 1, and `to` is not before `from`",
            ));
        }
        let Some(reader) = &self.reader else {
            let hint = "; this program cannot start itself to read one".to_owned();
            return Err(ToolError::Missing { name: "a reader of documents".to_owned(), hint });
        };
        let path = ctx.existing("path", &input.path)?;
        let (file, path) = ctx
            .blocking(move |halt| match open::regular(&path, halt) {
                Ok(file) => Ok((file, path)),
                Err(source) => Err(ToolError::file("read", &path, source)),
            })
            .await?;
        let read = tokio::select! {
            read = setpoint_documents::read(reader, file, &wanted, Limits::default()) => read,
            () = ctx.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        let follows_links = ctx.place().follows_links(&path);
        let told = match read {
            Ok(Document::Pdf(_)) if wanted.sheet.is_some() => {
                Err(ToolError::parameter("sheet", "a PDF file has pages and no sheets; leave it out"))
            }
            Ok(Document::Pdf(pdf)) => Ok(pages(&path, &pdf)),
            Ok(Document::Workbook(book)) => Ok(rows(&path, &wanted, &book)),
            Err(source) => Err(ToolError::Document { path: show::path(&path), source: Box::new(source) }),
        };
        told.map(|answer| if follows_links { answer::through_links(answer) } else { answer })
    }
}

/// The text of an answer, bounded so that no reader of it has to cut it: then a hint where to go on would be wrong.
///
/// A line `[… … …]` says what is missing. For a judge, such a text shows nothing about what it does not hold.
struct Answer {
    text: String,
    /// Characters that pages or rows may still take.
    room: usize,
}

impl Answer {
    fn new(head: String) -> Self {
        let room = EVIDENCE_CHARS_MAX.saturating_sub(head.chars().count() + NOTES_CHARS_MAX);
        Answer { text: head, room }
    }

    /// Adds a page or a row, or as much of the first one as there is room for. Returns how much of it was added.
    fn add(&mut self, part: &str, is_first: bool) -> Added {
        let chars = part.chars().count();
        if chars <= self.room {
            self.room -= chars;
            self.text.push_str(part);
            return Added::Whole;
        }
        if !is_first {
            return Added::Nothing;
        }
        self.text.extend(part.chars().take(self.room));
        self.room = 0;
        Added::Part
    }

    fn note(&mut self, note: &str) {
        self.text.push_str(&format!("\n[{note}]"));
    }

    fn missing(&mut self, what: &str) {
        self.text.push_str(&format!("\n[… {what} …]"));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Added {
    Whole,
    Part,
    Nothing,
}

fn pages(path: &Path, pdf: &Pdf) -> ToolAnswer {
    let mut answer = Answer::new(format!(
        "{}: a PDF file of {}",
        show::path_line(path),
        show::count(u64::from(pdf.pages), "page", "pages")
    ));
    let first = pdf.given.first().map_or(0, |page| page.number);
    let fields_shown = if first <= 1 { form(&mut answer, pdf) } else { 0 };
    let (mut next, mut last, mut is_page_cut) = (pdf.next, 0, pdf.is_page_cut);
    let (mut scans, mut unreadable) = (Vec::new(), Vec::new());
    for (at, page) in pdf.given.iter().enumerate() {
        let note = match page.state {
            PageState::Read => "",
            PageState::WithoutText => ": no text; it is empty or a picture, such as a scan",
            PageState::Unreadable => ": NOT READABLE as a whole; what could be read follows",
        };
        match answer.add(&format!("\n\n[page {}{note}]\n{}", page.number, page.text), at == 0) {
            Added::Whole => {}
            Added::Part => is_page_cut = true,
            Added::Nothing => {
                next = Some(page.number);
                break;
            }
        }
        last = page.number;
        match page.state {
            PageState::Read => {}
            PageState::WithoutText => scans.push(page.number),
            PageState::Unreadable => unreadable.push(page.number),
        }
    }
    if is_page_cut {
        answer.missing(&format!("page {last} has more text than can be given; its rest is missing"));
    }
    if !scans.is_empty() {
        answer.missing(&format!("no text on page {}: a picture there was not read", ranges(&scans)));
    }
    if !unreadable.is_empty() {
        answer.missing(&format!("page {} could not be read as a whole", ranges(&unreadable)));
    }
    if let Some(next) = next {
        answer
            .missing(&format!("given are pages {first} to {last} of {}; go on with from {next}", pdf.pages));
    } else if first > 1 || last < pdf.pages {
        answer.missing(&format!("given are pages {first} to {last} of {}", pdf.pages));
    }
    if fields_shown < pdf.fields.len() || pdf.is_form_cut {
        let more = show::count(pdf.fields.len() as u64, "form field", "form fields");
        let at_least = if pdf.is_form_cut { "at least " } else { "" };
        answer.missing(&format!(
            "{at_least}{more} in the file, {fields_shown} are given; the first call gives most"
        ));
    }
    let is_complete = !is_page_cut && unreadable.is_empty() && first <= 1 && last == pdf.pages;
    let fields: Vec<_> =
        pdf.fields.iter().map(|field| json!({ "name": field.name, "value": field.value })).collect();
    let facts = json!({
        "path": show::path(path), "kind": "pdf", "pages": pdf.pages, "form_fields": fields,
        "complete": !pdf.is_form_cut,
        "given": {
            "from": first, "to": last, "next": next, "pages_without_text": scans, "pages_unreadable": unreadable,
            "complete": is_complete,
        },
    });
    answer::found(answer.text, facts)
}

/// Adds the fields of the form, which belong to no page's text. Returns how many.
fn form(answer: &mut Answer, pdf: &Pdf) -> usize {
    if pdf.fields.is_empty() {
        return 0;
    }
    answer.text.push_str("\n\n[form fields]");
    let pages_room = answer.room / 2;
    answer.room -= pages_room;
    let line = |field: &Field| format!("\n{}: {}", show::line(&field.name), show::line(&field.value));
    let added = pdf.fields.iter().take_while(|field| answer.add(&line(field), false) == Added::Whole).count();
    answer.room += pages_room;
    added
}

fn rows(path: &Path, wanted: &Wanted, book: &Workbook) -> ToolAnswer {
    let names: Vec<String> = book.sheets.iter().map(|name| format!("{name:?}")).collect();
    let left_out = book.sheet_count.saturating_sub(names.len());
    let more = if left_out == 0 { String::new() } else { format!(" and {left_out} more") };
    let size = if book.rows == 0 {
        "it is empty".to_owned()
    } else {
        format!(
            "{} and {} with content, the last cell is in row {} and column {}; each line is a row with its number, empty rows \
             are left out",
            show::count(u64::from(book.rows), "row", "rows"),
            show::count(u64::from(book.columns), "column", "columns"),
            book.last_row,
            book.last_column,
        )
    };
    let mut answer = Answer::new(format!(
        "{}: a workbook ({}) with {}: {}{more}\nsheet {:?}: {size}",
        show::path_line(path),
        book.format,
        show::count(book.sheet_count as u64, "sheet", "sheets"),
        clip(&names.join(", "), SHEETS_CHARS_MAX),
        book.sheet,
    ));
    let first = book.given.first().map_or(0, |row| row.number);
    let (mut next, mut last, mut is_row_cut) = (book.next, 0, book.is_row_cut);
    for (at, row) in book.given.iter().enumerate() {
        match answer.add(&format!("\n{}: {}", row.number, csv_line(&row.cells)), at == 0) {
            Added::Whole => {}
            Added::Part => is_row_cut = true,
            Added::Nothing => {
                next = Some(row.number);
                break;
            }
        }
        last = row.number;
    }
    let is_given = |row: &&u32| **row <= last;
    let hidden_rows: Vec<u32> = book.hidden_rows.iter().filter(is_given).copied().collect();
    notes(&mut answer, book, &hidden_rows);
    if is_row_cut {
        answer.missing(&format!("row {last} has more text than can be given; its rest is missing"));
    }
    let is_from_first = wanted.from <= 1;
    if let Some(next) = next {
        answer.missing(&format!(
            "given are rows {first} to {last}, the last is {}; go on with from {next}",
            book.last_row
        ));
    } else if !is_from_first || wanted.to < book.last_row {
        answer.missing(&format!(
            "given are rows {} to {}, the last is {}",
            wanted.from,
            wanted.to.min(book.last_row),
            book.last_row
        ));
    }
    if book.sheet_count > 1 {
        let others = show::count(book.sheet_count as u64 - 1, "other sheet was", "other sheets were");
        answer.missing(&format!("{others} not read; `sheet` names one"));
    }
    let is_whole = !is_row_cut && next.is_none() && book.cells_cut == 0 && book.cells_replaced == 0;
    let has_values = book.formulas_without_value == 0 && !book.is_stale;
    let is_complete = is_whole && has_values && is_from_first && wanted.to >= book.last_row;
    let facts = json!({
        "path": show::path(path), "kind": book.format, "sheets": book.sheets, "sheet_count": book.sheet_count,
        "sheets_hidden": book.hidden_sheets, "sheet": book.sheet, "rows": book.rows, "columns": book.columns,
        "last_row": book.last_row, "last_column": book.last_column, "columns_hidden": book.hidden_columns,
        "complete": book.sheets.len() == book.sheet_count,
        "given": {
            "from": first, "to": last, "next": next, "rows_hidden": hidden_rows,
            "formulas_without_value": book.formulas_without_value, "complete": is_complete,
        },
    });
    answer::found(answer.text, facts)
}

/// Says what a reader of the rows should know of them.
fn notes(answer: &mut Answer, book: &Workbook, hidden_rows: &[u32]) {
    if !book.hidden_sheets.is_empty() {
        let names: Vec<String> = book.hidden_sheets.iter().map(|name| format!("{name:?}")).collect();
        answer.note(&format!("hidden sheets: {}", clip(&names.join(", "), SHEETS_CHARS_MAX)));
    }
    if !hidden_rows.is_empty() {
        answer.note(&format!("hidden rows: {}", ranges(hidden_rows)));
    }
    if !book.hidden_columns.is_empty() {
        answer.note(&format!("hidden columns: {}", ranges(&book.hidden_columns)));
    }
    if book.cells_cut > 0 {
        let cells = show::count(u64::from(book.cells_cut), "cell was", "cells were");
        answer.missing(&format!("{cells} cut at {CELL_CHARS_MAX} characters"));
    }
    if book.cells_replaced > 0 {
        let cells = show::count(u64::from(book.cells_replaced), "cell is", "cells are");
        answer
            .missing(&format!("{cells} in the file twice, so it is damaged; of each the last one is given"));
    }
    if book.formulas_without_value > 0 {
        let formulas = show::count(u64::from(book.formulas_without_value), "formula has", "formulas have");
        answer.missing(&format!("{formulas} no stored value; their text is given"));
    }
    if book.is_stale {
        answer.note(
            "the file leaves its formulas to the program that opens it: their stored values may be old or 0",
        );
    }
}

/// Returns numbers in order as text: `2 to 4, 7`; of many, the first.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.saturating_add(1) == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    let shown: Vec<String> = ranges.iter().take(RANGES_MAX).map(text).collect();
    let more = ranges.len() - shown.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    shown.join(", ") + &more
}

/// Returns cells as a line of CSV. A cell with a line end stays on the line, with the end written out.
fn csv_line(cells: &[String]) -> String {
    let cell = |cell: &String| {
        let cell = show::line(cell);
        let is_plain = !cell.contains([',', '"']) && cell.trim() == cell;
        if is_plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
    };
    cells.iter().map(cell).collect::<Vec<String>>().join(",")
}
