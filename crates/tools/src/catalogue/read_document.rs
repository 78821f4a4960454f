//! `read_document`: returns the text of a PDF file or a workbook.
//!
//! A process of its own reads the file, because the libraries for these formats are not made for hostile ones.

use std::path::{Path, PathBuf};

use setpoint_documents::{
    CELL_CHARS_MAX, Document, Limits, PAGES_MAX, PageState, Pdf, ROWS_MAX, TEXT_CHARS_MAX, Wanted, Workbook,
};

use crate::catalogue::prelude::*;
use crate::files::open;
use crate::host::Host;

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
        match read {
            Ok(Document::Pdf(pdf)) => Ok(pages(&path, &pdf)),
            Ok(Document::Workbook(book)) => Ok(rows(&path, &wanted, &book)),
            Err(source) => Err(ToolError::Document { path: show::path(&path), source: Box::new(source) }),
        }
    }
}

fn pages(path: &Path, pdf: &Pdf) -> ToolAnswer {
    let numbers = |state: PageState| -> Vec<u32> {
        pdf.given.iter().filter(|page| page.state == state).map(|page| page.number).collect()
    };
    let (scans, unreadable) = (numbers(PageState::WithoutText), numbers(PageState::Unreadable));
    let (first, last) = ends(pdf.given.iter().map(|page| page.number));
    let mut text = format!(
        "{}: a PDF file of {}; pages {first} to {last}",
        show::path_line(path),
        show::count(u64::from(pdf.pages), "page", "pages")
    );
    for page in &pdf.given {
        let note = match page.state {
            PageState::Read => "",
            PageState::WithoutText => ": no text; it is empty or a picture, such as a scan",
            PageState::Unreadable => ": NOT READABLE as a whole; what could be read follows",
        };
        text.push_str(&format!("\n\n[page {}{note}]\n{}", page.number, page.text));
    }
    if pdf.is_page_cut {
        text.push_str(&format!(
            "\n[… page {last} has more than {TEXT_CHARS_MAX} characters; its rest cannot be given …]"
        ));
    }
    if let Some(next) = pdf.next {
        text.push_str(&format!(
            "\n[… at most {PAGES_MAX} pages and {TEXT_CHARS_MAX} characters are given at once; go on with from {next} …]"
        ));
    }
    let is_complete = !pdf.is_page_cut && unreadable.is_empty() && first <= 1 && last == pdf.pages;
    let facts = json!({
        "path": show::path(path), "kind": "pdf", "pages": pdf.pages, "from": first, "to": last,
        "next": pdf.next, "pages_without_text": scans, "pages_unreadable": unreadable, "complete": is_complete,
    });
    answer::found(text, facts)
}

fn rows(path: &Path, wanted: &Wanted, book: &Workbook) -> ToolAnswer {
    let names: Vec<String> = book.sheets.iter().map(|name| format!("{name:?}")).collect();
    let left_out = book.sheet_count.saturating_sub(names.len());
    let more = if left_out == 0 { String::new() } else { format!(" and {left_out} more") };
    let mut text = format!(
        "{}: a workbook ({}) with {}: {}{more}\nsheet {:?}: {} and {} with content, the last cell is in row {} and column {}; \
         each line is a row with its number, empty rows are left out",
        show::path_line(path),
        book.format,
        show::count(book.sheet_count as u64, "sheet", "sheets"),
        names.join(", "),
        book.sheet,
        show::count(u64::from(book.rows), "row", "rows"),
        show::count(u64::from(book.columns), "column", "columns"),
        book.last_row,
        book.last_column,
    );
    for row in &book.given {
        text.push_str(&format!("\n{}: {}", row.number, csv_line(&row.cells)));
    }
    let (first, last) = ends(book.given.iter().map(|row| row.number));
    if book.cells_cut > 0 {
        let cells = show::count(u64::from(book.cells_cut), "cell was", "cells were");
        text.push_str(&format!("\n[{cells} cut at {CELL_CHARS_MAX} characters]"));
    }
    if book.formulas_without_value > 0 {
        let formulas = show::count(u64::from(book.formulas_without_value), "formula has", "formulas have");
        text.push_str(&format!(
            "\n[{formulas} no stored value, because no spreadsheet program computed the file; their text is given]"
        ));
    }
    if book.is_stale {
        text.push_str(
            "\n[the file leaves its formulas to the program that opens it: their stored values may be old or 0]",
        );
    }
    if book.is_row_cut {
        text.push_str(&format!(
            "\n[… row {last} has more than {TEXT_CHARS_MAX} characters; its rest cannot be given …]"
        ));
    }
    if let Some(next) = book.next {
        text.push_str(&format!(
            "\n[… at most {ROWS_MAX} rows and {TEXT_CHARS_MAX} characters are given at once; go on with from {next} …]"
        ));
    }
    let is_whole = !book.is_row_cut && book.next.is_none() && book.cells_cut == 0;
    let has_values = book.formulas_without_value == 0 && !book.is_stale;
    let is_complete = is_whole && has_values && wanted.from <= 1 && wanted.to >= book.last_row;
    let facts = json!({
        "path": show::path(path), "kind": book.format, "sheets": book.sheets, "sheet_count": book.sheet_count,
        "sheet": book.sheet, "rows": book.rows, "columns": book.columns, "last_row": book.last_row,
        "last_column": book.last_column, "from": first, "to": last, "next": book.next,
        "formulas_without_value": book.formulas_without_value, "complete": is_complete,
    });
    answer::found(text, facts)
}

fn ends(mut numbers: impl DoubleEndedIterator<Item = u32>) -> (u32, u32) {
    let first = numbers.next().unwrap_or(0);
    (first, numbers.next_back().unwrap_or(first))
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
