//! The four kinds of quotes, and the old form of command substitution.

use super::token::{Piece, Unit};
use super::{Ends, Lexer, Script};
use crate::command_line::verdict::Reason;

const UNFINISHED: &str = "a quote without its end";

impl Lexer<'_> {
    /// After `'`, up to and with the closing one.
    pub(super) fn single_quoted(&mut self, units: &mut Vec<Unit>) -> Result<(), Reason> {
        loop {
            let c = self.peek(0).ok_or(Reason::syntax(UNFINISHED))?;
            self.at += 1;
            if c == '\'' {
                return Ok(());
            }
            units.push(Unit::Char { c, quoted: true });
        }
    }

    /// After `"`, up to and with the closing one.
    pub(super) fn double_quoted(&mut self, units: &mut Vec<Unit>) -> Result<(), Reason> {
        loop {
            match self.peek(0).ok_or(Reason::syntax(UNFINISHED))? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => self.escape_in_quotes(&['$', '`', '"', '\\', '\n'], units)?,
                '$' => self.dollar(true, units)?,
                '`' => {
                    let piece = self.backquoted()?;
                    units.push(Unit::Piece { piece, quoted: true });
                }
                c => {
                    self.at += 1;
                    units.push(Unit::Char { c, quoted: true });
                }
            }
        }
    }

    /// A backslash that only takes effect before `special`; before a newline both vanish.
    pub(super) fn escape_in_quotes(&mut self, special: &[char], units: &mut Vec<Unit>) -> Result<(), Reason> {
        let next = self.peek(1).ok_or(Reason::syntax(UNFINISHED))?;
        if special.contains(&next) {
            self.at += 2;
            if next != '\n' {
                units.push(Unit::Char { c: next, quoted: true });
            }
        } else {
            self.at += 1;
            units.push(Unit::Char { c: '\\', quoted: true });
        }
        Ok(())
    }

    /// From a backquote to the next one. Backslashes in between mean something else in every shell and quote, so they are
    /// refused.
    pub(super) fn backquoted(&mut self) -> Result<Piece, Reason> {
        let start = self.at + 1;
        let rest = self.chars.get(start..).unwrap_or_default();
        let length =
            rest.iter().position(|c| *c == '`').ok_or(Reason::syntax("a backquote without its end"))?;
        let inner = rest.get(..length).unwrap_or_default();
        if inner.contains(&'\\') {
            return Err(Reason::syntax("a backslash between backquotes"));
        }
        let script = self.script_of(inner)?;
        self.at = start + length + 1;
        Ok(Piece::Command(Box::new(script)))
    }

    fn script_of(&mut self, chars: &[char]) -> Result<Script, Reason> {
        let mut inner = Lexer { chars, at: 0, depth: self.depth + 1, needs_bash: false };
        let script = inner.script(Ends::AtEndOfText)?;
        self.needs_bash |= script.needs_bash;
        Ok(script)
    }

    /// After `$'`, up to and with the closing quote, escapes decoded.
    pub(super) fn ansi_quoted(&mut self, units: &mut Vec<Unit>) -> Result<(), Reason> {
        loop {
            let c = self.peek(0).ok_or(Reason::syntax(UNFINISHED))?;
            self.at += 1;
            let c = match c {
                '\'' => return Ok(()),
                '\\' => self.ansi_escape()?,
                _ => c,
            };
            units.push(Unit::Char { c, quoted: true });
        }
    }

    fn ansi_escape(&mut self) -> Result<char, Reason> {
        let c = self.peek(0).ok_or(Reason::syntax(UNFINISHED))?;
        self.at += 1;
        let decoded = match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => c,
            'x' => self.code(16, 2)?,
            'u' => self.code(16, 4)?,
            'U' => self.code(16, 8)?,
            '0'..='7' => {
                self.at -= 1;
                self.code(8, 3)?
            }
            _ => return Err(Reason::syntax("an unusual escape")),
        };
        Ok(decoded)
    }

    /// A number of at most `digits_max` digits as a character; only ASCII without NUL, where bytes and characters agree.
    fn code(&mut self, radix: u32, digits_max: usize) -> Result<char, Reason> {
        let mut value = 0_u32;
        let mut digits = 0;
        while let Some(digit) = self.peek(0).and_then(|c| c.to_digit(radix))
            && digits < digits_max
        {
            value = value.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
            digits += 1;
        }
        match char::from_u32(value) {
            Some(c) if digits > 0 && c.is_ascii() && c != '\0' => Ok(c),
            _ => Err(Reason::syntax("an unusual escape")),
        }
    }
}
