//! Workbooks of Office Open XML (`xlsx`, `xlsm`).

use std::collections::BTreeMap;

use crate::document::{Wanted, Workbook};
use crate::error::Refusal;
use crate::workbook::archive::{Archive, Piece, Tag};
use crate::workbook::cells::{Cells, Content, choose};
use crate::workbook::value::{self, Shown};

/// Reads the wanted rows of a sheet.
///
/// # Errors
/// Why nothing of it can be read.
pub(crate) fn read(bytes: &[u8], wanted: &Wanted) -> Result<Workbook, Refusal> {
    let mut archive = Archive::open(bytes)?;
    let root = relations(&mut archive, "")?;
    let main = root.into_iter().find(|part| part.kind == "officeDocument").map(|part| part.target);
    let main = main.unwrap_or_else(|| "xl/workbook.xml".to_owned());
    if main.ends_with(".bin") {
        return Err(Refusal::Binary);
    }
    let book = book(&mut archive, &main)?;
    let parts = relations(&mut archive, &main)?;
    let names: Vec<String> = book.sheets.iter().map(|(name, _)| name.clone()).collect();
    let place = choose(&names, wanted)?;
    let of_kind = |kind: &str| parts.iter().find(|part| part.kind == kind).map(|part| part.target.clone());
    let strings = match of_kind("sharedStrings").filter(|part| archive.has(part)) {
        Some(part) => strings(&mut archive, &part)?,
        None => Vec::new(),
    };
    let formats = match of_kind("styles").filter(|part| archive.has(part)) {
        Some(part) => formats(&mut archive, &part)?,
        None => Vec::new(),
    };
    let id = book.sheets.get(place).map(|(_, id)| id);
    let sheet = parts.iter().find(|part| Some(&part.id) == id);
    let sheet = sheet.ok_or_else(|| Refusal::damaged("the part of the sheet is not named"))?;
    let texts = Texts { strings, formats, is_1904: book.is_1904 };
    let mut cells = Cells::of("xlsx", &names, place, wanted);
    let mut reader = SheetReader::default();
    archive.walk(&sheet.target, |piece| reader.take(piece, &texts, &mut cells))?;
    cells.hide_sheets(&book.hidden);
    cells.finish(book.is_computed_when_opened)
}

/// A part that another part names.
struct Part {
    id: String,
    kind: String,
    target: String,
}

/// Returns what a part names; the root has the name "".
fn relations(archive: &mut Archive<'_>, part: &str) -> Result<Vec<Part>, Refusal> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let separator = if folder.is_empty() { "" } else { "/" };
    let name = format!("{folder}{separator}_rels/{file}.rels");
    let mut parts = Vec::new();
    if !archive.has(&name) {
        return Ok(parts);
    }
    archive.walk(&name, |piece| {
        if let Piece::Start(tag) = piece
            && tag.name() == "Relationship"
        {
            let target = tag.get("Target")?.unwrap_or_default();
            let kind = tag.get("Type")?.unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            parts.push(Part {
                id: tag.get("Id")?.unwrap_or_default(),
                kind,
                target: resolved(folder, &target),
            });
        }
        Ok(())
    })?;
    Ok(parts)
}

/// Returns the name of a part as another one in `folder` gives it.
fn resolved(folder: &str, target: &str) -> String {
    let from = if target.starts_with('/') { "" } else { folder };
    let mut path: Vec<&str> = Vec::new();
    for step in from.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(path.pop()),
            step => path.push(step),
        }
    }
    path.join("/")
}

#[derive(Default)]
struct Book {
    /// Names of the sheets, and by which names their parts are called.
    sheets: Vec<(String, String)>,
    /// Names of those that are hidden.
    hidden: Vec<String>,
    /// Whether days count from 1904.
    is_1904: bool,
    /// Whether the writer leaves all formulas to the program that opens the file.
    is_computed_when_opened: bool,
}

fn book(archive: &mut Archive<'_>, part: &str) -> Result<Book, Refusal> {
    let mut book = Book::default();
    archive.walk(part, |piece| {
        let Piece::Start(tag) = piece else { return Ok(()) };
        match tag.name() {
            "sheet" => {
                let (name, id) = (tag.get("name")?.unwrap_or_default(), tag.get("id")?);
                // `veryHidden` is one that not even the program's menu names.
                if tag.get("state")?.is_some_and(|state| state != "visible") {
                    book.hidden.push(name.clone());
                }
                book.sheets.push((name, id.unwrap_or_default()));
            }
            "workbookPr" => book.is_1904 = is_true(&tag, "date1904")?,
            "calcPr" => book.is_computed_when_opened = is_true(&tag, "fullCalcOnLoad")?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(book)
}

fn is_true(tag: &Tag<'_>, name: &str) -> Result<bool, Refusal> {
    Ok(tag.get(name)?.is_some_and(|value| value == "1" || value == "true"))
}

/// Returns the texts that cells name by number.
fn strings(archive: &mut Archive<'_>, part: &str) -> Result<Vec<Box<str>>, Refusal> {
    let mut strings = Vec::new();
    let mut text = String::new();
    let (mut is_text, mut is_sound) = (false, false);
    archive.walk(part, |piece| {
        match piece {
            Piece::Start(tag) => match tag.name() {
                "si" => text.clear(),
                "t" => is_text = !is_sound,
                // How the text above is pronounced.
                "rPh" => is_sound = true,
                _ => {}
            },
            Piece::End("t") => is_text = false,
            Piece::End("rPh") => is_sound = false,
            Piece::End("si") => strings.push(unescaped(&text).into_boxed_str()),
            Piece::End(_) => {}
            Piece::Text(more) if is_text => text.push_str(more),
            Piece::Text(_) => {}
        }
        Ok(())
    })?;
    Ok(strings)
}

/// Returns how numbers are shown, for each style that cells name by number.
fn formats(archive: &mut Archive<'_>, part: &str) -> Result<Vec<Shown>, Refusal> {
    let mut codes: BTreeMap<u32, String> = BTreeMap::new();
    let mut styles: Vec<u32> = Vec::new();
    let mut is_of_cells = false;
    archive.walk(part, |piece| {
        match piece {
            Piece::Start(tag) => match tag.name() {
                "numFmt" => {
                    if let Some((id, code)) = tag.number("numFmtId")?.zip(tag.get("formatCode")?) {
                        codes.insert(id, code);
                    }
                }
                "cellXfs" => is_of_cells = true,
                "xf" if is_of_cells => styles.push(tag.number("numFmtId")?.unwrap_or_default()),
                _ => {}
            },
            Piece::End("cellXfs") => is_of_cells = false,
            Piece::End(_) | Piece::Text(_) => {}
        }
        Ok(())
    })?;
    Ok(styles.into_iter().map(|id| value::shown(id, codes.get(&id).map(String::as_str))).collect())
}

/// What the texts of cells are made with.
struct Texts {
    strings: Vec<Box<str>>,
    formats: Vec<Shown>,
    is_1904: bool,
}

#[derive(Default)]
struct SheetReader {
    /// Where the next cell is that does not say it itself, from 0.
    row: u32,
    column: u32,
    /// Whether a row has begun.
    has_row: bool,
    cell: Option<Cell>,
    part: Option<CellPart>,
    is_sound: bool,
}

#[derive(Clone, Copy)]
enum CellPart {
    Value,
    Formula,
    Inline,
}

#[derive(Default)]
struct Cell {
    place: (u32, u32),
    kind: String,
    style: usize,
    value: Option<String>,
    formula: Option<String>,
    inline: String,
}

impl SheetReader {
    fn take(&mut self, piece: Piece<'_>, texts: &Texts, cells: &mut Cells<'_>) -> Result<(), Refusal> {
        match piece {
            Piece::Start(tag) => self.start(&tag, cells),
            Piece::Text(more) => {
                if let (Some(cell), Some(part)) = (&mut self.cell, self.part) {
                    match part {
                        CellPart::Value => cell.value.get_or_insert_default().push_str(more),
                        CellPart::Formula => cell.formula.get_or_insert_default().push_str(more),
                        CellPart::Inline => cell.inline.push_str(more),
                    }
                }
                Ok(())
            }
            Piece::End(name) => match name {
                "v" | "f" | "t" => {
                    self.part = None;
                    Ok(())
                }
                "rPh" => {
                    self.is_sound = false;
                    Ok(())
                }
                "c" => match self.cell.take() {
                    Some(cell) => cells.add(cell.place, || cell.content(texts)),
                    None => Ok(()),
                },
                _ => Ok(()),
            },
        }
    }

    fn start(&mut self, tag: &Tag<'_>, cells: &mut Cells<'_>) -> Result<(), Refusal> {
        match tag.name() {
            "col" if is_true(tag, "hidden")? => {
                let (first, last) = (tag.number("min")?.unwrap_or(1), tag.number("max")?.unwrap_or(0));
                cells.hide_columns(first.saturating_sub(1)..last);
            }
            "row" => {
                let next = if self.has_row { self.row.saturating_add(1) } else { 0 };
                self.row = tag.number("r")?.and_then(|number| number.checked_sub(1)).unwrap_or(next);
                (self.column, self.has_row) = (0, true);
                if is_true(tag, "hidden")? {
                    cells.hide_rows(self.row..self.row.saturating_add(1));
                }
            }
            "c" => {
                let place = tag.get("r")?.and_then(|name| place(&name)).unwrap_or((self.row, self.column));
                self.column = place.1.saturating_add(1);
                let style = tag.number("s")?.and_then(|style| usize::try_from(style).ok());
                self.cell = Some(Cell {
                    place,
                    kind: tag.get("t")?.unwrap_or_default(),
                    style: style.unwrap_or_default(),
                    ..Cell::default()
                });
            }
            "rPh" => self.is_sound = true,
            name => {
                if let Some(cell) = &mut self.cell {
                    match name {
                        "v" => {
                            cell.value = Some(String::new());
                            self.part = Some(CellPart::Value);
                        }
                        "f" => {
                            cell.formula = Some(String::new());
                            self.part = Some(CellPart::Formula);
                        }
                        "t" if !self.is_sound => self.part = Some(CellPart::Inline),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }
}

impl Cell {
    fn content(self, texts: &Texts) -> Result<Content, Refusal> {
        // A formula may have given an empty text; then that is stored as a text.
        let has_value = match (&self.value, self.kind.as_str()) {
            (Some(value), kind) => !value.is_empty() || kind == "str",
            (None, _) => !self.inline.is_empty(),
        };
        match self.formula {
            Some(ref formula) if !has_value => {
                // The cells that share a formula name it by number only.
                Ok(Content::Formula(if formula.is_empty() { "…".to_owned() } else { formula.clone() }))
            }
            Some(_) => self.text(texts).map(Content::Result),
            None => self.text(texts).map(Content::Value),
        }
    }

    fn text(self, texts: &Texts) -> Result<String, Refusal> {
        let value = self.value.unwrap_or_default();
        Ok(match self.kind.as_str() {
            _ if value.is_empty() && self.kind != "inlineStr" => String::new(),
            "s" => {
                let text = value.trim().parse::<usize>().ok().and_then(|index| texts.strings.get(index));
                let text = text.ok_or_else(|| Refusal::damaged("a cell names a text that is not there"))?;
                text.to_string()
            }
            "inlineStr" => unescaped(&self.inline),
            "str" => unescaped(&value),
            "b" => (value.trim() == "1" || value.trim() == "true").to_string(),
            "d" => value.replacen('T', " ", 1),
            "e" => value,
            _ => {
                let shown = texts.formats.get(self.style).copied().unwrap_or_default();
                value::number(&value, shown, texts.is_1904)
            }
        })
    }
}

/// Returns row and column, from 0, of a name like `B12`.
fn place(name: &str) -> Option<(u32, u32)> {
    let digits = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let letters = name.strip_suffix(digits)?;
    let digit = |letter: char| u32::from(letter.to_ascii_uppercase()) - u32::from('A') + 1;
    let column =
        letters.chars().try_fold(0_u32, |column, letter| column.checked_mul(26)?.checked_add(digit(letter)));
    digits.parse::<u32>().ok()?.checked_sub(1).zip(column?.checked_sub(1))
}

/// Returns a text with the characters that XML cannot hold, written as `_x0007_`, as themselves.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("_x") {
        plain.push_str(before);
        let code =
            after.get(..4).and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match code.zip(after.get(4..).and_then(|tail| tail.strip_prefix('_'))) {
            Some((character, tail)) => {
                plain.push(character);
                rest = tail;
            }
            None => {
                plain.push_str("_x");
                rest = after;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_from_its_name() {
        for (name, wanted) in [
            ("A1", Some((0, 0))),
            ("xfd1048576", Some((1_048_575, 16_383))),
            ("AA10", Some((9, 26))),
            ("A0", None),
            ("7", None),
            ("A", None),
            ("A-1", None),
            ("ZZZZZZZZZ1", None),
        ] {
            assert_eq!(place(name), wanted, "{name}");
        }
    }

    #[test]
    fn names_of_parts_are_resolved() {
        assert_eq!(resolved("xl", "worksheets/a.xml"), "xl/worksheets/a.xml");
        assert_eq!(resolved("xl/worksheets", "../media/./b"), "xl/media/b");
        assert_eq!(resolved("xl", "/xl/a.xml"), "xl/a.xml");
        assert_eq!(resolved("xl", "../../../a"), "a");
    }

    #[test]
    fn characters_that_xml_cannot_hold_are_read() {
        for (text, plain) in
            [("a_x000A_b", "a\nb"), ("_x005F_x000A_", "_x000A_"), ("_x12", "_x12"), ("_xé000_", "_xé000_")]
        {
            assert_eq!(unescaped(text), plain);
        }
    }
}
