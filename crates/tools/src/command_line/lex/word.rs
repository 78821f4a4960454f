//! One word: characters, quotes and substitutions up to the next blank or operator.

use super::token::{Piece, Unit, Word};
use super::{Ends, Lexer, is_substitution_start};
use crate::command_line::verdict::Reason;

impl Lexer<'_> {
    /// Reads the word that starts here; there is at least one character of it.
    pub(super) fn word(&mut self) -> Result<Word, Reason> {
        let mut word = Word::default();
        while let Some(c) = self.peek(0) {
            if is_substitution_start(c, self.peek(1)) {
                let piece = self.process_substitution(c == '>')?;
                word.units.push(Unit::Piece { piece, quoted: false });
                continue;
            }
            if matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>') {
                break;
            }
            self.word_part(c, &mut word)?;
        }
        refuse_open_subscript(&word)?;
        Ok(word)
    }

    fn word_part(&mut self, c: char, word: &mut Word) -> Result<(), Reason> {
        match c {
            '\\' => {
                let escaped = self.peek(1).ok_or(Reason::syntax("a backslash at the end"))?;
                if escaped == '\n' {
                    return Err(Reason::syntax("a word or operator broken over two lines"));
                }
                self.at += 2;
                word.has_quotes = true;
                word.units.push(Unit::Char { c: escaped, quoted: true });
            }
            '\'' => {
                self.at += 1;
                word.has_quotes = true;
                self.single_quoted(&mut word.units)?;
            }
            '"' => {
                self.at += 1;
                word.has_quotes = true;
                self.double_quoted(&mut word.units)?;
            }
            '`' => {
                let piece = self.backquoted()?;
                word.units.push(Unit::Piece { piece, quoted: false });
            }
            '$' => match self.peek(1) {
                Some('\'') => {
                    self.at += 2;
                    word.has_quotes = true;
                    self.needs_bash = true;
                    self.ansi_quoted(&mut word.units)?;
                }
                Some('"') => return Err(Reason::syntax("a translated string")),
                _ => self.dollar(false, &mut word.units)?,
            },
            _ => {
                self.at += 1;
                word.units.push(Unit::Char { c, quoted: false });
            }
        }
        Ok(())
    }

    fn process_substitution(&mut self, writes: bool) -> Result<Piece, Reason> {
        self.at += 2;
        self.needs_bash = true;
        let script = Box::new(self.nested()?);
        Ok(Piece::Process { script, writes })
    }

    /// Reads a script up to the `)` that closes it.
    pub(super) fn nested(&mut self) -> Result<super::Script, Reason> {
        self.depth += 1;
        let script = self.script(Ends::AtParenthesis);
        self.depth -= 1;
        script
    }
}

/// In `name[…` at the start of a command bash swallows blanks and operators up to the `]`; only what ends as a word
/// either way is read.
fn refuse_open_subscript(word: &Word) -> Result<(), Reason> {
    let mut units = word.units.iter().map(|unit| match unit {
        Unit::Char { c, quoted: false } => *c,
        Unit::Char { quoted: true, .. } | Unit::Piece { .. } => '\0',
    });
    let mut name = String::new();
    for c in units.by_ref() {
        if c == '[' {
            break;
        }
        name.push(c);
    }
    if !crate::paths::is_name(&name) || name.len() == word.units.len() {
        return Ok(());
    }
    match units.find(|c| matches!(c, ']' | '[' | '\0')) {
        Some(']') => Ok(()),
        _ => Err(Reason::syntax("an array index that is not plain")),
    }
}
