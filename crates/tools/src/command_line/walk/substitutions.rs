//! What happens while words are expanded: inner scripts run, variables are set, arithmetic is evaluated.

use super::{Certainty, Walk};
use crate::command_line::grammar::{Meaning, meaning};
use crate::command_line::lex::{Form, Parameter, Piece, Script, Unit};
use crate::command_line::state::State;
use crate::command_line::variables::{changes_programs, is_harmless_to_programs};
use crate::command_line::verdict::Reason;

/// Variables with another value each time.
const VOLATILE: &[&str] = &["RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME"];

impl Walk {
    /// Goes through the substitutions of a word that the grammar gave back.
    pub(super) fn word_substitutions(&mut self, script: &Script, text: &str, state: &State) {
        match meaning(text) {
            Meaning::Text(_) => {}
            Meaning::Lexeme(index) => match script.word(index) {
                Some(word) => {
                    self.visit(index);
                    self.substitutions(&word.units, state);
                }
                None => self.refuse(Reason::syntax("arithmetic where a word should be")),
            },
        }
    }

    pub(super) fn visit(&mut self, index: usize) {
        if let Some(visited) = self.visited.last_mut() {
            visited.insert(index);
        }
    }

    pub(super) fn substitutions(&mut self, units: &[Unit], state: &State) {
        for unit in units {
            let Unit::Piece { piece, .. } = unit else { continue };
            match piece {
                Piece::Parameter(parameter) => self.parameter(parameter, state),
                Piece::Command(inner) | Piece::Process { script: inner, .. } => {
                    self.inner_script(inner, state);
                }
                Piece::Arithmetic(arithmetic) => self.arithmetic(arithmetic, state),
            }
        }
    }

    /// A script that runs in a shell of its own while a word is expanded.
    fn inner_script(&mut self, inner: &Script, state: &State) {
        self.hidden += 1;
        self.depth += 1;
        self.script(inner, &mut state.clone(), Certainty::Always);
        self.depth -= 1;
        self.hidden -= 1;
    }

    fn parameter(&mut self, parameter: &Parameter, state: &State) {
        self.findings.volatile |= VOLATILE.contains(&parameter.name.as_str());
        match &parameter.form {
            Form::Plain | Form::Length => {}
            Form::Default(word) | Form::Other(word) => self.substitutions(word, state),
            Form::Assign(word) => {
                let name = parameter.name.split('[').next().unwrap_or_default();
                let assignable = self.assignable(name, state);
                self.check(assignable);
                self.substitutions(word, state);
            }
        }
    }

    /// Whether the shell may set `name` without a change in what programs do.
    pub(super) fn assignable(&self, name: &str, state: &State) -> Result<(), Reason> {
        let seen_by_programs = state.is_exported(name) && !is_harmless_to_programs(name);
        if changes_programs(name) || seen_by_programs || !crate::paths::is_name(name) {
            return Err(Reason::Variable { name: name.to_owned() });
        }
        Ok(())
    }
}
