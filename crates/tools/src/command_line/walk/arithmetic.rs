//! Arithmetic evaluates the text of its variables as expressions, and an index in such a text can run a command. So every
//! name in it must be known to hold a number.

use super::Walk;
use crate::command_line::assigned::{names_in, prints_number};
use crate::command_line::expand::parameter_value;
use crate::command_line::grammar::lexemes_in;
use crate::command_line::lex::{Arithmetic, Piece, Script, Unit};
use crate::command_line::normal;
use crate::command_line::state::{State, Value};
use crate::command_line::verdict::Reason;

impl Walk {
    /// `((…))`, or a part of `for ((…))`; `text` is what the grammar glued together.
    pub(super) fn arithmetic_command(&mut self, script: &Script, text: &str, state: &State) {
        let indexes = lexemes_in(text);
        let found: Vec<&Arithmetic> = indexes.iter().filter_map(|index| script.arithmetic(*index)).collect();
        match (indexes.as_slice(), found.as_slice()) {
            ([index], [only]) => {
                self.visit(*index);
                self.show(&format!("(( {} ))", normal::units(&only.units).trim()));
                self.arithmetic(only, state);
            }
            // The grammar took parentheses for arithmetic that are none.
            _ => self.refuse(Reason::syntax("parentheses that may be arithmetic")),
        }
    }

    pub(super) fn arithmetic(&mut self, arithmetic: &Arithmetic, state: &State) {
        self.substitutions(&arithmetic.units, state);
        for name in names_in(arithmetic) {
            let checked = self.assignable(&name, state);
            self.check(checked);
            if !is_number(&state.value(&name)) {
                self.refuse(Reason::Arithmetic);
            }
        }
        let glued = arithmetic.units.windows(2).any(|pair| match pair {
            [Unit::Piece { .. }, Unit::Piece { .. }] => true,
            [Unit::Char { c, .. }, Unit::Piece { .. }] | [Unit::Piece { .. }, Unit::Char { c, .. }] => {
                *c == '_' || *c == '#' || c.is_ascii_alphabetic()
            }
            _ => false,
        });
        let numeric = arithmetic.units.iter().all(|unit| match unit {
            Unit::Char { .. } => true,
            Unit::Piece { piece, .. } => is_numeric(piece, state),
        });
        if glued || !numeric {
            self.refuse(Reason::Arithmetic);
        }
    }
}

/// Whether a word that is evaluated as arithmetic can only be a number.
pub(super) fn is_numeric_word(units: &[Unit], state: &State) -> bool {
    if let [Unit::Piece { piece, .. }] = units {
        return is_numeric(piece, state);
    }
    let digits: Option<String> = units
        .iter()
        .map(|unit| match unit {
            Unit::Char { c, .. } => Some(*c),
            Unit::Piece { .. } => None,
        })
        .collect();
    digits.is_some_and(|digits| is_number(&Value::Known(digits)))
}

fn is_numeric(piece: &Piece, state: &State) -> bool {
    match piece {
        Piece::Parameter(parameter) => is_number(&parameter_value(parameter, state)),
        Piece::Command(script) => prints_number(script),
        Piece::Arithmetic(_) => true,
        Piece::Process { .. } => false,
    }
}

fn is_number(value: &Value) -> bool {
    match value {
        Value::Numeric => true,
        Value::Known(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.len() < 18 && digits.chars().all(|c| c.is_ascii_digit())
        }
        Value::Plain | Value::Unknown => false,
    }
}
