//! Where an object might begin in a text, and where one that cannot be read ends.
//!
//! Goes through the text once, from the front. Fences are never needed to find anything; they only bound what is
//! broken.

use std::cell::Cell;

use super::cursor::{Cursor, Work};
use super::parse::{self, Stop, Unread};

/// The marks of a fence.
const FENCES: &[&str] = &["```", "~~~"];
/// Maximum characters of a tag such as `<tool_call>`, without its brackets.
const TAG_CHARS_MAX: usize = 32;
/// Mark that some models write before their calls.
const CALLS_MARK: &str = "[TOOL_CALLS]";

/// A walk through a text.
#[derive(Debug)]
pub(super) struct Starts<'t> {
    text: &'t str,
    at: usize,
    work: &'t Work,
    /// Mark that would close the open fence.
    fence: Option<&'static str>,
    /// Position from which its end was looked for, and the end; past everything if there is none.
    fence_end: Cell<Option<(usize, usize)>>,
    line_begins: bool,
    /// Whether only blanks, tags and the opening of a fence have been passed.
    is_first: bool,
}

/// A place where an object, or a list of objects, might begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) at: usize,
    /// Whether no text precedes it.
    pub(super) is_first: bool,
    pub(super) is_fenced: bool,
    /// Whether it begins with a brace.
    pub(super) is_object: bool,
}

impl<'t> Starts<'t> {
    pub(super) fn of(text: &'t str, work: &'t Work) -> Self {
        let fence_end = Cell::new(None);
        Starts { text, at: 0, work, fence: None, fence_end, line_begins: true, is_first: true }
    }

    /// Returns the next place; the walk continues after it.
    pub(super) fn next(&mut self) -> Option<Start> {
        loop {
            let rest = self.text.get(self.at..)?;
            if std::mem::take(&mut self.line_begins) && self.pass_fence(rest) {
                continue;
            }
            let c = rest.chars().next()?;
            self.work.add(1);
            let at = self.at;
            self.at += c.len_utf8();
            match c {
                '\n' => self.line_begins = true,
                '<' => self.at += tag_len(rest),
                '[' if rest.starts_with(CALLS_MARK) => self.at = at + CALLS_MARK.len(),
                '{' | '[' => {
                    let is_fenced = self.fence.is_some();
                    return Some(Start { at, is_first: self.is_first, is_fenced, is_object: c == '{' });
                }
                c if c.is_alphanumeric() => self.is_first = false,
                _ => {}
            }
            if self.work.is_spent() {
                return None;
            }
        }
    }

    /// Continues at `at`.
    pub(super) fn resume(&mut self, at: usize) {
        self.at = at;
        self.is_first = false;
        self.line_begins = self.text.get(..at).is_some_and(|before| before.ends_with('\n'));
    }

    /// Returns where the value that broke at `unread` ends: with its brackets, with its fence, or with the text.
    pub(super) fn end_of(&self, start: Start, unread: &Unread) -> usize {
        let fence_end = self.fence_end(start.at).unwrap_or(self.text.len());
        let cursor = Cursor::new(self.text, unread.at, self.text.len(), self.work);
        let end = match unread.stop {
            Stop::Cut => None,
            _ => parse::end_of_broken(cursor, unread.depth),
        };
        end.unwrap_or(fence_end).min(fence_end)
    }

    /// Returns where the fence open at `from` is closed, before its last line.
    pub(super) fn fence_end(&self, from: usize) -> Option<usize> {
        let fence = self.fence?;
        let end = match self.fence_end.get() {
            Some((known, end)) if known <= from && from < end => end,
            _ => {
                let end = self.find_fence_end(fence, from);
                self.fence_end.set(Some((from, end)));
                end
            }
        };
        (end != usize::MAX).then_some(end)
    }

    fn find_fence_end(&self, fence: &str, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let mut end = from;
        for line in rest.split_inclusive('\n') {
            if end > from && line.trim_start().starts_with(fence) {
                return end;
            }
            end += line.len();
            self.work.add(line.len());
        }
        usize::MAX
    }

    /// Moves past the line of a fence. Of an opening one only the mark and the language are passed, because the
    /// object may begin on the same line.
    fn pass_fence(&mut self, rest: &str) -> bool {
        let line = rest.trim_start_matches([' ', '\t', '\r']);
        let Some(mark) = FENCES.iter().find(|mark| line.starts_with(**mark)) else { return false };
        let blanks = rest.len() - line.len();
        let after = line.trim_start_matches(['`', '~']);
        let language =
            after.len() - after.trim_start_matches(|c: char| c.is_alphanumeric() || c == '-').len();
        self.at += blanks + (line.len() - after.len()) + language;
        match self.fence {
            Some(open) if open == *mark => self.fence = None,
            Some(_) => {}
            None => self.fence = Some(mark),
        }
        self.work.add(blanks + 8);
        true
    }
}

/// Returns the length of the rest of a tag at the start of `rest`, or 0.
fn tag_len(rest: &str) -> usize {
    let inside = rest.strip_prefix('<').unwrap_or_default();
    let name =
        inside.chars().take(TAG_CHARS_MAX).take_while(|c| c.is_ascii_alphanumeric() || "_|/-".contains(*c));
    let len = name.count();
    // All of them are one byte long.
    if inside.get(len..).is_some_and(|rest| rest.starts_with('>')) { len + 1 } else { 0 }
}
