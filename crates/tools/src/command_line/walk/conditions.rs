//! `[[ … ]]`.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use super::Walk;
use super::arithmetic::is_numeric_word;
use crate::command_line::grammar::{Meaning, lexemes_in, meaning};
use crate::command_line::lex::{Script, plain_text};
use crate::command_line::normal;
use crate::command_line::state::State;
use crate::command_line::verdict::Reason;

impl Walk {
    pub(super) fn condition(&mut self, script: &Script, expression: &ExtendedTestExpr, state: &State) {
        self.findings.programs.insert("test".to_owned());
        self.show(&format!("[[ {} ]]", shown(script, &expression.to_string())));
        self.test(script, expression, state);
    }

    fn test(&mut self, script: &Script, expression: &ExtendedTestExpr, state: &State) {
        match expression {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(script, left, state);
                self.test(script, right, state);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(script, inner, state);
            }
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                self.word_substitutions(script, &word.value, state);
                let names_variable = matches!(
                    predicate,
                    UnaryPredicate::ShellVariableIsSetAndAssigned
                        | UnaryPredicate::ShellVariableIsSetAndNameRef
                );
                if names_variable && !is_plain_name(script, &word.value) {
                    self.refuse(Reason::Arithmetic);
                }
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                for word in [left, right] {
                    for part in words_in(&word.value) {
                        self.word_substitutions(script, &part, state);
                    }
                    let evaluated = matches!(
                        predicate,
                        BinaryPredicate::ArithmeticEqualTo
                            | BinaryPredicate::ArithmeticNotEqualTo
                            | BinaryPredicate::ArithmeticLessThan
                            | BinaryPredicate::ArithmeticLessThanOrEqualTo
                            | BinaryPredicate::ArithmeticGreaterThan
                            | BinaryPredicate::ArithmeticGreaterThanOrEqualTo
                    );
                    if evaluated && !is_number(script, &word.value, state) {
                        self.refuse(Reason::Arithmetic);
                    }
                }
            }
        }
    }
}

/// The words of an operand; a regular expression may have been glued together from several.
fn words_in(text: &str) -> Vec<String> {
    match meaning(text) {
        Meaning::Lexeme(_) => vec![text.to_owned()],
        Meaning::Text(_) => lexemes_in(text).iter().map(|index| format!("w{index}")).collect(),
    }
}

fn is_plain_name(script: &Script, text: &str) -> bool {
    match meaning(text) {
        Meaning::Text(_) => false,
        Meaning::Lexeme(index) => script
            .word(index)
            .and_then(|word| plain_text(&word.units))
            .is_some_and(|text| crate::paths::is_name(&text)),
    }
}

fn is_number(script: &Script, text: &str, state: &State) -> bool {
    match meaning(text) {
        Meaning::Text(_) => false,
        Meaning::Lexeme(index) => script.word(index).is_some_and(|word| is_numeric_word(&word.units, state)),
    }
}

/// The grammar's text with the words put back.
fn shown(script: &Script, text: &str) -> String {
    let mut out = String::new();
    let mut part = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '=' {
            part.push(c);
            continue;
        }
        match meaning(&part) {
            Meaning::Lexeme(index) => {
                let word = script.word(index).map(|word| normal::units(&word.units));
                out.push_str(word.as_deref().unwrap_or_default());
            }
            Meaning::Text(text) => out.push_str(text),
        }
        part.clear();
        out.push(c);
    }
    out.trim().to_owned()
}
