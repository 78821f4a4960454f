//! Arithmetic: `((…))`, `for ((…;…;…))` and `$((…))`.
//!
//! Which characters may stand in it is decided here, what its names may hold in `walk::arithmetic`.

use super::Lexer;
use super::token::{Arithmetic, Lexeme, LexemeKind, Unit};
use crate::command_line::verdict::Reason;

impl Lexer<'_> {
    /// At `((`: pushes the parentheses and what is between them, cut at semicolons.
    pub(super) fn arithmetic_command(&mut self, lexemes: &mut Vec<Lexeme>) -> Result<(), Reason> {
        self.needs_bash = true;
        for _ in 0..2 {
            self.push_operator("(", lexemes);
        }
        loop {
            let start = self.at;
            let (arithmetic, last) = self.expression(true)?;
            let kind = LexemeKind::Arithmetic(arithmetic);
            lexemes.push(Lexeme { kind, start, end: self.at });
            if last {
                break;
            }
            self.push_operator(";", lexemes);
        }
        for _ in 0..2 {
            self.push_operator(")", lexemes);
        }
        Ok(())
    }

    /// After `$((`, up to and with `))`.
    pub(super) fn arithmetic_expansion(&mut self) -> Result<Arithmetic, Reason> {
        let (arithmetic, _) = self.expression(false)?;
        self.at += 2;
        Ok(arithmetic)
    }

    /// Up to `))` (and true), or to a semicolon where `in_parts` (and false); neither is consumed.
    fn expression(&mut self, in_parts: bool) -> Result<(Arithmetic, bool), Reason> {
        let mut units = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.peek(0).ok_or(Reason::Arithmetic)? {
                ')' if open == 0 => {
                    // A single one would make the whole a subshell in a subshell.
                    return if self.peek(1) == Some(')') {
                        Ok((Arithmetic { units }, true))
                    } else {
                        Err(Reason::syntax("two opening parentheses that are no arithmetic"))
                    };
                }
                ';' if in_parts && open == 0 => return Ok((Arithmetic { units }, false)),
                '$' => self.dollar(false, &mut units)?,
                c if is_arithmetic(c) => {
                    match c {
                        '(' => open += 1,
                        ')' => open -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    units.push(Unit::Char { c, quoted: false });
                }
                _ => return Err(Reason::Arithmetic),
            }
        }
    }

    fn push_operator(&mut self, operator: &'static str, lexemes: &mut Vec<Lexeme>) {
        let start = self.at;
        self.at += 1;
        lexemes.push(Lexeme { kind: LexemeKind::Operator(operator), start, end: self.at });
    }
}

/// Neither quotes nor brackets nor backslashes: an index or a quoted part can hold a command.
fn is_arithmetic(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(
            c,
            '_' | ' '
                | '\t'
                | '+'
                | '-'
                | '*'
                | '/'
                | '%'
                | '<'
                | '>'
                | '='
                | '!'
                | '&'
                | '|'
                | '^'
                | '~'
                | '?'
                | ':'
                | ','
                | '('
                | ')'
                | '#'
        )
}
