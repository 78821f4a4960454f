//! Here-documents: the tag after `<<`, and the lines after the end of its line.

use super::Lexer;
use super::token::{Lexeme, LexemeKind, Unit, Word};
use crate::command_line::verdict::Reason;

/// A here-document whose lines are still to come.
pub(super) struct Pending {
    /// Where its body stands among the lexemes.
    body: usize,
    tag: String,
    /// The tag was quoted: the lines stand for themselves.
    literal: bool,
    strips_tabs: bool,
}

pub(super) fn unfinished() -> Reason {
    Reason::syntax("a here-document without its end")
}

impl Lexer<'_> {
    /// After `<<` or `<<-`: reads the tag and leaves room for the body.
    pub(super) fn heredoc_tag(
        &mut self,
        strips_tabs: bool,
        lexemes: &mut Vec<Lexeme>,
        pending: &mut Vec<Pending>,
    ) -> Result<(), Reason> {
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
        let start = self.at;
        let tag = self.word()?;
        let text = tag_text(&tag).ok_or(Reason::syntax("an unusual here-document tag"))?;
        let end = self.at;
        lexemes.push(Lexeme { kind: LexemeKind::HereTag, start, end });
        pending.push(Pending { body: lexemes.len(), tag: text, literal: tag.has_quotes, strips_tabs });
        lexemes.push(Lexeme { kind: LexemeKind::HereDocument(Word::default()), start, end });
        lexemes.push(Lexeme { kind: LexemeKind::HereTag, start, end });
        Ok(())
    }

    /// After a newline: reads the lines of every here-document that waits for them.
    pub(super) fn heredoc_bodies(
        &mut self,
        lexemes: &mut [Lexeme],
        pending: &mut Vec<Pending>,
    ) -> Result<(), Reason> {
        for document in pending.drain(..) {
            let body = self.heredoc_body(&document)?;
            if let Some(lexeme) = lexemes.get_mut(document.body) {
                lexeme.kind = LexemeKind::HereDocument(body);
            }
        }
        Ok(())
    }

    fn heredoc_body(&mut self, document: &Pending) -> Result<Word, Reason> {
        let mut body: Vec<char> = Vec::new();
        loop {
            if self.at >= self.chars.len() {
                return Err(unfinished());
            }
            let rest = self.chars.get(self.at..).unwrap_or_default();
            let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            let mut line = rest.get(..length).unwrap_or_default();
            if document.strips_tabs {
                while let Some((&'\t', stripped)) = line.split_first() {
                    line = stripped;
                }
            }
            let is_end = line.iter().copied().eq(document.tag.chars());
            // Inside a substitution, bash takes such a line for the end of both.
            if !is_end && line.contains(&')') && starts_with(line, &document.tag) {
                return Err(Reason::syntax("a line that could end a here-document"));
            }
            if !is_end && !document.literal && line.last() == Some(&'\\') {
                return Err(Reason::syntax("a line of a here-document that continues on the next"));
            }
            if !is_end {
                body.extend_from_slice(line);
                body.push('\n');
            }
            self.at = (self.at + length + 1).min(self.chars.len());
            if is_end {
                break;
            }
        }
        if document.literal {
            let units = body.iter().map(|c| Unit::Char { c: *c, quoted: true }).collect();
            return Ok(Word { units, has_quotes: true });
        }
        self.expanded_body(&body)
    }

    /// A body in which parameters and substitutions take effect, but quotes do not.
    fn expanded_body(&mut self, body: &[char]) -> Result<Word, Reason> {
        let mut inner = Lexer { chars: body, at: 0, depth: self.depth, needs_bash: false };
        let mut units = Vec::new();
        while let Some(c) = inner.peek(0) {
            match c {
                '\\' => inner.escape_in_quotes(&['$', '`', '\\'], &mut units)?,
                '$' => inner.dollar(true, &mut units)?,
                '`' => {
                    let piece = inner.backquoted()?;
                    units.push(Unit::Piece { piece, quoted: true });
                }
                _ => {
                    inner.at += 1;
                    units.push(Unit::Char { c, quoted: true });
                }
            }
        }
        self.needs_bash |= inner.needs_bash;
        Ok(Word { units, has_quotes: true })
    }
}

fn starts_with(line: &[char], tag: &str) -> bool {
    tag.chars().enumerate().all(|(at, c)| line.get(at) == Some(&c))
}

/// The tag without its quotes, where it is a plain name: quoted altogether or not at all.
fn tag_text(tag: &Word) -> Option<String> {
    let mut quoted_chars = 0;
    let mut text = String::new();
    for unit in &tag.units {
        let Unit::Char { c, quoted } = unit else { return None };
        quoted_chars += usize::from(*quoted);
        text.push(*c);
    }
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.!".contains(c));
    let one_way = quoted_chars == 0 || quoted_chars == tag.units.len();
    (is_name && one_way && (quoted_chars > 0) == tag.has_quotes).then_some(text)
}
