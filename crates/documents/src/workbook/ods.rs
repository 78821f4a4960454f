//! Workbooks of OpenDocument (`ods`).

use std::collections::BTreeSet;

use crate::document::{CELL_CHARS_MAX, Wanted, Workbook};
use crate::error::Refusal;
use crate::workbook::archive::{Archive, Piece, Tag};
use crate::workbook::cells::{Cells, Content, choose};
use crate::workbook::value::{self, Shown};

const CONTENT: &str = "content.xml";
const MANIFEST: &str = "META-INF/manifest.xml";

/// Reads the wanted rows of a sheet.
///
/// # Errors
/// Why nothing of it can be read.
pub(crate) fn read(bytes: &[u8], wanted: &Wanted) -> Result<Workbook, Refusal> {
    let mut archive = Archive::open(bytes)?;
    if archive.has(MANIFEST) {
        let mut is_encrypted = false;
        archive.walk(MANIFEST, |piece| {
            is_encrypted |= matches!(piece, Piece::Start(tag) if tag.name() == "encryption-data");
            Ok(())
        })?;
        if is_encrypted {
            return Err(Refusal::Encrypted);
        }
    }
    let (mut names, mut hidden) = (Vec::new(), Vec::new());
    let mut nesting = Nesting::default();
    // Styles come before the sheets that they are for.
    let mut style = String::new();
    let mut hiding = BTreeSet::new();
    archive.walk(CONTENT, |piece| {
        if let Some(tag) = nesting.take(&piece) {
            let name = tag.get("table:name")?.unwrap_or_default();
            if tag.get("table:style-name")?.is_some_and(|style| hiding.contains(&style)) {
                hidden.push(name.clone());
            }
            names.push(name);
        } else if let Piece::Start(tag) = &piece {
            match tag.name() {
                "style" => style = tag.get("style:name")?.unwrap_or_default(),
                "table-properties" if tag.get("table:display")?.is_some_and(|display| display == "false") => {
                    hiding.insert(style.clone());
                }
                _ => {}
            }
        }
        Ok(())
    })?;
    let place = choose(&names, wanted)?;
    let mut cells = Cells::of("ods", &names, place, wanted);
    let mut reader = SheetReader { wanted: place, ..SheetReader::default() };
    archive.walk(CONTENT, |piece| reader.take(&piece, &mut cells))?;
    cells.hide_sheets(&hidden);
    cells.finish(false)
}

/// How deep a piece is, and where the sheets are: directly below the spreadsheet. Tables elsewhere are none.
#[derive(Default)]
struct Nesting {
    depth: usize,
    spreadsheet: Option<usize>,
}

impl Nesting {
    /// Takes a piece, and returns the beginning of a sheet.
    fn take<'p>(&mut self, piece: &'p Piece<'p>) -> Option<&'p Tag<'p>> {
        match piece {
            Piece::Start(tag) => {
                self.depth = self.depth.saturating_add(1);
                if tag.name() == "spreadsheet" {
                    self.spreadsheet = Some(self.depth);
                }
                let is_below = self.spreadsheet.is_some_and(|depth| depth.saturating_add(1) == self.depth);
                (is_below && tag.name() == "table").then_some(tag)
            }
            Piece::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                None
            }
            Piece::Text(_) => None,
        }
    }
}

#[derive(Default)]
struct SheetReader {
    nesting: Nesting,
    /// The place of the wanted sheet, and how many began.
    wanted: usize,
    begun: usize,
    /// Where the next cell is, from 0.
    row: u32,
    column: u32,
    rows_repeated: u32,
    /// Columns that were declared.
    columns: u32,
    /// The cells of this row, and how many columns each takes.
    cells: Vec<(u32, u32, Content)>,
    cell: Option<Cell>,
    /// How deep the paragraph is that is read.
    paragraph: Option<usize>,
}

#[derive(Default)]
struct Cell {
    depth: usize,
    repeated: u32,
    kind: String,
    value: String,
    formula: Option<String>,
    text: String,
    paragraphs: usize,
}

impl SheetReader {
    fn take(&mut self, piece: &Piece<'_>, cells: &mut Cells<'_>) -> Result<(), Refusal> {
        let depth = self.nesting.depth;
        if self.nesting.take(piece).is_some() {
            self.begun = self.begun.saturating_add(1);
        }
        if self.begun != self.wanted.saturating_add(1) {
            return Ok(());
        }
        match piece {
            Piece::Start(tag) => self.start(tag, cells),
            Piece::Text(more) => {
                self.push(more);
                Ok(())
            }
            Piece::End(name) => self.end(name, depth, cells),
        }
    }

    fn push(&mut self, text: &str) {
        if let (Some(cell), Some(_)) = (&mut self.cell, self.paragraph) {
            cell.text.push_str(text);
        }
    }

    fn start(&mut self, tag: &Tag<'_>, cells: &mut Cells<'_>) -> Result<(), Refusal> {
        let depth = self.nesting.depth;
        if let Some(cell) = &mut self.cell {
            match tag.name() {
                // Notes and drawings in the cell have paragraphs too, which are deeper.
                "p" if depth == cell.depth.saturating_add(1) => {
                    if cell.paragraphs > 0 {
                        cell.text.push('\n');
                    }
                    cell.paragraphs = cell.paragraphs.saturating_add(1);
                    self.paragraph = Some(depth);
                }
                "s" => {
                    let count = usize::try_from(tag.number("text:c")?.unwrap_or(1)).unwrap_or(usize::MAX);
                    self.push(&" ".repeat(count.min(CELL_CHARS_MAX)));
                }
                "tab" => self.push("\t"),
                "line-break" => self.push("\n"),
                _ => {}
            }
            return Ok(());
        }
        match tag.name() {
            "table-row" => {
                self.rows_repeated = tag.number("table:number-rows-repeated")?.unwrap_or(1);
                self.column = 0;
                self.cells.clear();
                if is_hidden(tag)? {
                    cells.hide_rows(self.row..self.row.saturating_add(self.rows_repeated));
                }
            }
            "table-column" => {
                let first = self.columns;
                self.columns =
                    first.saturating_add(tag.number("table:number-columns-repeated")?.unwrap_or(1));
                if is_hidden(tag)? {
                    cells.hide_columns(first..self.columns);
                }
            }
            "table-cell" | "covered-table-cell" => {
                let kind = tag.get("office:value-type")?.unwrap_or_default();
                let value = match kind.as_str() {
                    "date" => tag.get("office:date-value")?,
                    "time" => tag.get("office:time-value")?,
                    "boolean" => tag.get("office:boolean-value")?,
                    "string" => tag.get("office:string-value")?,
                    _ => tag.get("office:value")?,
                };
                self.cell = Some(Cell {
                    depth,
                    repeated: tag.number("table:number-columns-repeated")?.unwrap_or(1),
                    kind,
                    value: value.unwrap_or_default(),
                    formula: tag.get("table:formula")?,
                    ..Cell::default()
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, depth: usize, cells: &mut Cells<'_>) -> Result<(), Refusal> {
        if self.paragraph == Some(depth) {
            self.paragraph = None;
        }
        if let Some(cell) = self.cell.take_if(|cell| cell.depth == depth) {
            let repeated = cell.repeated;
            let content = cell.content();
            if !content.is_empty() {
                self.cells.push((self.column, repeated, content));
            }
            self.column = self.column.saturating_add(repeated);
        } else if self.cell.is_none() && name == "table-row" {
            let first = self.row;
            self.row = first.saturating_add(self.rows_repeated);
            self.add(first..self.row, cells)?;
        }
        Ok(())
    }

    /// Adds the cells of a row that is there several times. Beyond what is wanted, the repetitions only count.
    fn add(&self, rows: std::ops::Range<u32>, cells: &mut Cells<'_>) -> Result<(), Refusal> {
        if self.cells.is_empty() {
            return Ok(());
        }
        // Beyond the last possible row this is an error, before anything is repeated.
        cells.fill(rows.clone())?;
        let first = rows.start;
        for row in rows {
            if row != first && !cells.takes(row) {
                continue;
            }
            for (column, repeated, content) in &self.cells {
                for column in *column..column.saturating_add(*repeated) {
                    cells.add((row, column), || Ok(content.clone()))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns whether a row or a column is hidden, by hand or by a filter.
fn is_hidden(tag: &Tag<'_>) -> Result<bool, Refusal> {
    Ok(tag.get("table:visibility")?.is_some_and(|visibility| visibility != "visible"))
}

impl Cell {
    fn content(self) -> Content {
        if let (true, true, Some(formula)) = (self.kind.is_empty(), self.text.is_empty(), &self.formula) {
            // It begins with the name of its language.
            let (_, formula) = formula.split_once('=').unwrap_or(("", formula));
            return Content::Formula(formula.to_owned());
        }
        let text = match self.kind.as_str() {
            "float" | "percentage" | "currency" => value::number(&self.value, Shown::Number, false),
            "date" => self.value.replacen('T', " ", 1),
            "time" => value::stored_duration(&self.value),
            "boolean" => self.value,
            _ if self.paragraphs == 0 => self.value,
            _ => self.text,
        };
        if self.formula.is_some() { Content::Result(text) } else { Content::Value(text) }
    }
}
