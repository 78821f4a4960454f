//! What starts with a dollar sign.

use super::Lexer;
use super::token::{Form, Parameter, Piece, Unit};
use crate::command_line::NESTING_MAX;
use crate::command_line::verdict::Reason;

const MALFORMED: &str = "an unusual parameter expansion";

impl Lexer<'_> {
    /// At `$`: pushes what it stands for, or the `$` itself where nothing follows that it applies to.
    pub(super) fn dollar(&mut self, quoted: bool, units: &mut Vec<Unit>) -> Result<(), Reason> {
        if self.depth > NESTING_MAX {
            return Err(Reason::TooDeep);
        }
        let piece = match self.peek(1) {
            Some('(') if self.peek(2) == Some('(') => {
                self.at += 3;
                self.depth += 1;
                let arithmetic = self.arithmetic_expansion();
                self.depth -= 1;
                Piece::Arithmetic(arithmetic?)
            }
            Some('(') => {
                self.at += 2;
                Piece::Command(Box::new(self.nested()?))
            }
            Some('{') => {
                self.at += 2;
                self.depth += 1;
                let parameter = self.braced_parameter();
                self.depth -= 1;
                Piece::Parameter(parameter?)
            }
            Some('[') => return Err(Reason::syntax("the old form of arithmetic")),
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                self.at += 1;
                Piece::Parameter(Parameter { name: self.name(), form: Form::Plain })
            }
            Some(c) if c.is_ascii_digit() || is_special(c) => {
                self.at += 2;
                Piece::Parameter(Parameter { name: c.to_string(), form: Form::Plain })
            }
            _ => {
                self.at += 1;
                units.push(Unit::Char { c: '$', quoted: true });
                return Ok(());
            }
        };
        units.push(Unit::Piece { piece, quoted });
        Ok(())
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek(0)
            && (c == '_' || c.is_ascii_alphanumeric())
        {
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// After `${`, up to and with `}`.
    fn braced_parameter(&mut self) -> Result<Parameter, Reason> {
        if self.peek(0) == Some('#') && self.peek(1) != Some('}') {
            self.at += 1;
            let name = self.subscripted_name()?;
            self.close_brace()?;
            return Ok(Parameter { name, form: Form::Length });
        }
        let name = self.subscripted_name()?;
        if self.peek(0) == Some('}') {
            self.at += 1;
            return Ok(Parameter { name, form: Form::Plain });
        }
        let form = self.operation()?;
        Ok(Parameter { name, form })
    }

    /// A name, a positional or special parameter, or an element with a plain index.
    fn subscripted_name(&mut self) -> Result<String, Reason> {
        let mut name = match self.peek(0) {
            Some(c) if c == '_' || c.is_ascii_alphabetic() => self.name(),
            Some(c) if c.is_ascii_digit() => {
                let mut digits = String::new();
                while let Some(c) = self.peek(0)
                    && c.is_ascii_digit()
                {
                    digits.push(c);
                    self.at += 1;
                }
                return Ok(digits);
            }
            Some(c) if is_special(c) && c != '!' => {
                self.at += 1;
                return Ok(c.to_string());
            }
            _ => return Err(Reason::syntax(MALFORMED)),
        };
        if self.peek(0) == Some('[') {
            self.needs_bash = true;
            loop {
                let c = self.peek(0).ok_or(Reason::syntax(MALFORMED))?;
                self.at += 1;
                name.push(c);
                match c {
                    ']' => break,
                    '[' | '@' | '*' | '-' => {}
                    _ if c.is_ascii_digit() => {}
                    _ => return Err(Reason::syntax("an array index that is not plain")),
                }
            }
        }
        Ok(name)
    }

    fn operation(&mut self) -> Result<Form, Reason> {
        let first = self.peek(0).ok_or(Reason::syntax(MALFORMED))?;
        let with_colon = first == ':';
        let operator = if with_colon { self.peek(1).ok_or(Reason::syntax(MALFORMED))? } else { first };
        match operator {
            '-' | '=' | '?' | '+' => {
                let mut shown = Vec::new();
                let length = if with_colon { 2 } else { 1 };
                for c in self.chars.get(self.at..self.at + length).unwrap_or_default() {
                    shown.push(Unit::Char { c: *c, quoted: false });
                }
                self.at += length;
                let word = self.operand()?;
                Ok(match operator {
                    '-' => Form::Default(word),
                    '=' => Form::Assign(word),
                    _ => {
                        shown.extend(word);
                        Form::Other(shown)
                    }
                })
            }
            _ if with_colon => {
                self.needs_bash = true;
                self.substring()
            }
            '#' | '%' => Ok(Form::Other(self.operand()?)),
            '/' | '^' | ',' => {
                self.needs_bash = true;
                Ok(Form::Other(self.operand()?))
            }
            '@' => {
                self.needs_bash = true;
                let operation = self.peek(1).ok_or(Reason::syntax(MALFORMED))?;
                // `P` would run the substitutions in the value.
                if !matches!(operation, 'Q' | 'U' | 'u' | 'L' | 'E') || self.peek(2) != Some('}') {
                    return Err(Reason::syntax(MALFORMED));
                }
                self.at += 3;
                let shown = ['@', operation].map(|c| Unit::Char { c, quoted: false });
                Ok(Form::Other(shown.to_vec()))
            }
            _ => Err(Reason::syntax(MALFORMED)),
        }
    }

    /// Offset and length: numbers only, since anything else is evaluated.
    fn substring(&mut self) -> Result<Form, Reason> {
        let mut shown = Vec::new();
        loop {
            let c = self.peek(0).ok_or(Reason::syntax(MALFORMED))?;
            self.at += 1;
            match c {
                '}' => return Ok(Form::Other(shown)),
                ':' | ' ' | '-' => {}
                _ if c.is_ascii_digit() => {}
                _ => return Err(Reason::Arithmetic),
            }
            shown.push(Unit::Char { c, quoted: false });
        }
    }

    /// What follows an operator, up to and with `}`. Quotes and inner braces are where shells differ: refused.
    fn operand(&mut self) -> Result<Vec<Unit>, Reason> {
        let mut units = Vec::new();
        loop {
            match self.peek(0).ok_or(Reason::syntax(MALFORMED))? {
                '}' => {
                    self.at += 1;
                    return Ok(units);
                }
                '$' => self.dollar(false, &mut units)?,
                '\\' => {
                    let c = self.peek(1).filter(|c| *c != '\n').ok_or(Reason::syntax(MALFORMED))?;
                    self.at += 2;
                    units.push(Unit::Char { c, quoted: true });
                }
                '{' | '\'' | '"' | '`' | '\n' | '<' | '>' => return Err(Reason::syntax(MALFORMED)),
                c => {
                    self.at += 1;
                    units.push(Unit::Char { c, quoted: false });
                }
            }
        }
    }

    fn close_brace(&mut self) -> Result<(), Reason> {
        if self.peek(0) != Some('}') {
            return Err(Reason::syntax(MALFORMED));
        }
        self.at += 1;
        Ok(())
    }
}

fn is_special(c: char) -> bool {
    matches!(c, '@' | '*' | '#' | '?' | '-' | '$' | '!')
}
