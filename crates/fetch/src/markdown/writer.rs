//! Writes Markdown piece by piece. What separates two pieces is decided when the second one comes.

use super::MARKDOWN_BYTES_MAX;

/// Levels of lists and of quotes that are shown; deeper ones look like the last.
const LEVELS_MAX: usize = 8;
/// Columns of a table that are counted for the line below its head.
const COLUMNS_MAX: usize = 100;

/// What separates the next piece from the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Block,
}

/// A table that is being written. One within it is written as text.
#[derive(Debug, Default)]
struct Table {
    /// Tables that are open.
    open: usize,
    /// Cells of the row so far; `None` between rows.
    cells: Option<usize>,
    has_head: bool,
}

/// A link whose text is being written.
#[derive(Debug)]
struct Link {
    /// Where its text begins, once there is some.
    start: Option<usize>,
    to: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    gap: Gap,
    /// For each list the number of its next item, if it is ordered.
    lists: Vec<Option<u64>>,
    /// Lists beyond [`LEVELS_MAX`].
    lists_beyond: usize,
    /// Whether no item of the last list has begun.
    is_list_new: bool,
    quotes: usize,
    /// Quotes around the last line.
    quotes_before: usize,
    /// What the next piece begins with: the mark of a heading or an item.
    mark: String,
    is_heading: bool,
    is_pre: bool,
    /// Whether a line end that comes now is the one after the tag, which does not count.
    is_pre_new: bool,
    is_code: bool,
    link: Option<Link>,
    table: Table,
    is_cut: bool,
}

impl Writer {
    pub(super) fn finished(mut self) -> (String, bool) {
        self.end_link();
        self.end_pre();
        let text = self.out.trim_end().len();
        self.out.truncate(text);
        (self.out, !self.is_cut)
    }

    /// Writes the text of an element.
    pub(super) fn text(&mut self, text: &str) {
        if self.is_pre {
            let is_new = std::mem::take(&mut self.is_pre_new);
            let text = text.strip_prefix('\n').filter(|_| is_new).unwrap_or(text);
            for (number, line) in text.split('\n').enumerate() {
                if number > 0 {
                    self.line();
                }
                self.push(line.trim_end_matches('\r'));
            }
            return;
        }
        for (number, word) in text.split(char::is_whitespace).enumerate() {
            if number > 0 {
                self.part(Gap::Space);
            }
            if !word.is_empty() {
                self.open();
                self.push(word);
            }
        }
    }

    pub(super) fn block(&mut self) {
        self.part(Gap::Block);
    }

    pub(super) fn line(&mut self) {
        if self.is_pre {
            // A line of code may be empty, so it is begun at once.
            self.gap = Gap::Line;
            self.open();
        } else {
            self.part(Gap::Line);
        }
    }

    pub(super) fn rule(&mut self) {
        self.block();
        if !self.is_on_one_line() {
            self.open();
            self.push("---");
        }
        self.block();
    }

    pub(super) fn heading(&mut self, level: usize) {
        self.block();
        if !self.is_on_one_line() {
            self.mark = format!("{} ", "#".repeat(level));
            self.is_heading = true;
        }
    }

    pub(super) fn end_heading(&mut self) {
        self.is_heading = false;
        self.mark.clear();
        self.block();
    }

    pub(super) fn list(&mut self, first: Option<u64>) {
        self.part(if self.lists.is_empty() { Gap::Block } else { Gap::Line });
        if self.lists.len() < LEVELS_MAX {
            self.lists.push(first);
        } else {
            self.lists_beyond += 1;
        }
        self.is_list_new = true;
    }

    pub(super) fn end_list(&mut self) {
        self.mark.clear();
        if self.lists_beyond > 0 {
            self.lists_beyond -= 1;
        } else {
            self.lists.pop();
        }
        self.part(if self.lists.is_empty() { Gap::Block } else { Gap::Line });
    }

    pub(super) fn item(&mut self) {
        self.part(Gap::Line);
        if !std::mem::take(&mut self.is_list_new) {
            // Between items there is one line end, whatever their content asked for.
            self.gap = self.gap.min(Gap::Line);
        }
        if self.is_on_one_line() {
            return;
        }
        self.mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "- ".to_owned(),
        };
    }

    pub(super) fn quote(&mut self) {
        self.block();
        self.quotes += 1;
    }

    pub(super) fn end_quote(&mut self) {
        self.block();
        self.quotes = self.quotes.saturating_sub(1);
    }

    pub(super) fn pre(&mut self) {
        self.block();
        if self.is_pre || self.is_on_one_line() {
            return;
        }
        self.open();
        self.push("```");
        self.is_pre = true;
        self.is_pre_new = true;
        self.line();
    }

    pub(super) fn end_pre(&mut self) {
        if !std::mem::take(&mut self.is_pre) {
            return;
        }
        if !self.out.ends_with('\n') {
            self.gap = Gap::Line;
            self.open();
        }
        self.push("```");
        self.gap = Gap::Block;
    }

    pub(super) fn code(&mut self) {
        if !self.is_pre && !std::mem::replace(&mut self.is_code, true) {
            self.open();
            self.push("`");
        }
    }

    pub(super) fn end_code(&mut self) {
        if std::mem::take(&mut self.is_code) {
            self.push("`");
        }
    }

    pub(super) fn link(&mut self, to: Option<String>) {
        self.end_link();
        if !self.is_pre {
            self.link = Some(Link { start: None, to });
        }
    }

    pub(super) fn end_link(&mut self) {
        let Some(Link { start: Some(start), to: Some(to) }) = self.link.take() else { return };
        // The start is where a piece began, so it is the border of a character.
        if !self.is_cut {
            self.out.insert(start, '[');
            self.push(&format!("]({to})"));
        }
    }

    pub(super) fn image(&mut self, alt: &str, from: Option<&str>) {
        if alt.is_empty() || self.is_pre {
            return;
        }
        self.open();
        match from.filter(|_| self.link.is_none()) {
            Some(from) => self.push(&format!("![{alt}]({from})")),
            None => self.push(alt),
        }
    }

    pub(super) fn table(&mut self) {
        self.block();
        self.table.open += 1;
        if self.table.open == 1 {
            self.table = Table { open: 1, ..Table::default() };
        }
    }

    pub(super) fn end_table(&mut self) {
        if self.table.open == 1 {
            self.end_row();
        }
        self.table.open = self.table.open.saturating_sub(1);
        self.block();
    }

    pub(super) fn row(&mut self) {
        if self.table.open == 1 {
            self.end_row();
            self.line();
        }
    }

    pub(super) fn cell(&mut self) {
        if self.table.open != 1 {
            return self.part(Gap::Space);
        }
        self.end_link();
        let cells = self.table.cells.get_or_insert(0);
        *cells += 1;
        let mark = if *cells == 1 { "|" } else { " |" };
        self.gap = if *cells == 1 { self.gap.max(Gap::Line) } else { Gap::None };
        self.open();
        self.push(mark);
        self.gap = Gap::Space;
    }

    pub(super) fn end_row(&mut self) {
        if self.table.open != 1 {
            return;
        }
        let Some(cells) = self.table.cells.take() else { return };
        self.end_link();
        self.gap = Gap::None;
        self.push(" |");
        self.gap = Gap::Line;
        if !std::mem::replace(&mut self.table.has_head, true) {
            self.open();
            self.push(&format!("|{}", " --- |".repeat(cells.min(COLUMNS_MAX))));
            self.gap = Gap::Line;
        }
    }

    /// Whether what comes has to stay on the line: in a heading, a link or a cell.
    fn is_on_one_line(&self) -> bool {
        self.is_heading || self.link.is_some() || self.table.cells.is_some()
    }

    /// Asks for at least this separation.
    fn part(&mut self, gap: Gap) {
        let gap = if self.is_on_one_line() { gap.min(Gap::Space) } else { gap };
        // What has its mark already begins right there.
        if !self.is_pre && self.mark.is_empty() {
            self.gap = self.gap.max(gap);
        }
    }

    /// Writes what separates the next piece from the last, and its mark.
    fn open(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        let is_first = self.out.is_empty();
        if is_first || gap >= Gap::Line || !self.mark.is_empty() {
            if !is_first {
                self.push("\n");
            }
            if !is_first && gap == Gap::Block {
                let quotes = "> ".repeat(self.quotes.min(self.quotes_before).min(LEVELS_MAX));
                self.push(quotes.trim_end());
                self.push("\n");
            }
            let mark = std::mem::take(&mut self.mark);
            let prefix = self.prefix(!mark.is_empty() && !self.is_heading);
            self.push(&prefix);
            self.push(&mark);
            self.quotes_before = self.quotes;
        } else if gap == Gap::Space && !self.out.ends_with([' ', '\n']) {
            self.push(" ");
        }
        if let Some(Link { start: start @ None, .. }) = &mut self.link {
            *start = Some(self.out.len());
        }
    }

    /// Returns the beginning of a line: the marks of quotes, and the indent of a list.
    fn prefix(&self, is_item: bool) -> String {
        let levels = if is_item { self.lists.len().saturating_sub(1) } else { self.lists.len() };
        format!("{}{}", "> ".repeat(self.quotes.min(LEVELS_MAX)), "  ".repeat(levels))
    }

    fn push(&mut self, piece: &str) {
        if self.out.len() + piece.len() > MARKDOWN_BYTES_MAX {
            self.is_cut = true;
        }
        if !self.is_cut {
            self.out.push_str(piece);
        }
    }
}
