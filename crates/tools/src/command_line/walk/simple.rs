//! Simple commands: assignments, words and redirections.

use brush_parser::ast;

use super::{Certainty, Outcome, Walk};
use crate::command_line::argument::Argument;
use crate::command_line::expand;
use crate::command_line::grammar::{AssignedName, Meaning, assigned_name, meaning};
use crate::command_line::insides;
use crate::command_line::lex::{Script, Unit, Word};
use crate::command_line::normal;
use crate::command_line::programs::Stdin;
use crate::command_line::state::{State, Value};
use crate::command_line::variables::is_harmless_to_programs;
use crate::command_line::verdict::Reason;
use crate::command_line::{Assignment, SimpleCommand};

/// A simple command while it is put together.
struct Parts<'a> {
    command: SimpleCommand,
    /// The assignments before the program.
    assigned: Vec<(AssignedName, &'a [Unit])>,
    stdin: Stdin,
}

impl Walk {
    pub(super) fn simple(
        &mut self,
        script: &Script,
        simple: &ast::SimpleCommand,
        state: &mut State,
        certainty: Certainty,
    ) -> Outcome {
        let mut parts =
            Parts { command: SimpleCommand::default(), assigned: Vec::new(), stdin: Stdin::Inherited };
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(script, item, state, true, &mut parts);
        }
        if let Some(word) = &simple.word_or_name {
            self.argument(script, &word.value, state, &mut parts.command.argv);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(script, item, state, false, &mut parts);
        }
        let has_program = simple.word_or_name.is_some();
        let program = parts.command.argv.first().and_then(Argument::known).map(str::to_owned);
        for (name, value) in &parts.assigned {
            self.assignment(name, value, program.as_deref().filter(|_| has_program), state, certainty);
        }
        let Parts { command, stdin, .. } = parts;
        let argv = command.argv.clone();
        self.show(&normal::line(&argv));
        self.keep(command);
        if argv.is_empty() {
            return Outcome::same(state);
        }
        self.run(&argv, &stdin, state)
    }

    fn item<'a>(
        &mut self,
        script: &'a Script,
        item: &ast::CommandPrefixOrSuffixItem,
        state: &State,
        before_program: bool,
        parts: &mut Parts<'a>,
    ) {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirection) => {
                let (redirection, stdin) = self.redirection(script, redirection, state);
                parts.command.redirections.push(redirection);
                if let Some(stdin) = stdin {
                    parts.stdin = stdin;
                }
            }
            ast::CommandPrefixOrSuffixItem::Word(word) => {
                self.argument(script, &word.value, state, &mut parts.command.argv);
            }
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                self.assignment_word(script, assignment, word, state, before_program, parts);
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.refuse(Reason::syntax("parentheses after a redirection"));
                self.list(script, &subshell.list, &mut state.clone(), Certainty::Perhaps);
            }
        }
    }

    fn assignment_word<'a>(
        &mut self,
        script: &'a Script,
        assignment: &ast::Assignment,
        word: &ast::Word,
        state: &State,
        before_program: bool,
        parts: &mut Parts<'a>,
    ) {
        if let ast::AssignmentValue::Array(elements) = &assignment.value {
            for (_, element) in elements {
                self.word_substitutions(script, &element.value, state);
            }
            if !before_program {
                self.refuse(Reason::syntax("an array as an argument"));
                parts.command.argv.push(Argument::unknown("(…)", true, true));
                return;
            }
            let name = match &assignment.name {
                ast::AssignmentName::VariableName(name) | ast::AssignmentName::ArrayElementName(name, _) => {
                    format!("{name}=")
                }
            };
            if let Some(name) = lexeme(script, &name).and_then(assigned_name) {
                let shown = Argument::unknown("(…)", true, true);
                parts.command.assignments.push(Assignment { name: name.name.clone(), value: shown });
                // Not followed any further, like a value that is added to.
                parts.assigned.push((AssignedName { appends: true, ..name }, &[]));
            } else {
                self.refuse(Reason::syntax("an assignment that is not understood"));
            }
            return;
        }
        if !before_program {
            self.argument(script, &word.value, state, &mut parts.command.argv);
            return;
        }
        self.word_substitutions(script, &word.value, state);
        let assigned = lexeme(script, &word.value).and_then(|word| Some((word, assigned_name(word)?)));
        let Some((word, name)) = assigned else {
            self.refuse(Reason::syntax("an assignment that is not understood"));
            return;
        };
        let units = word.units.get(name.value_at..).unwrap_or_default();
        let value = match expand::value(units, state) {
            Some(text) => Argument::literal(text),
            None if units.is_empty() => Argument::literal(""),
            None => Argument::unknown(normal::units(units), true, false),
        };
        if insides::are_named_by(&value, state) {
            self.refuse(Reason::Insides);
        }
        parts.command.assignments.push(Assignment { name: name.name.clone(), value });
        parts.assigned.push((name, units));
    }

    /// What a word of the command becomes.
    fn argument(&mut self, script: &Script, text: &str, state: &State, argv: &mut Vec<Argument>) {
        self.word_substitutions(script, text, state);
        match meaning(text) {
            Meaning::Text(text) => argv.push(Argument::literal(text)),
            Meaning::Lexeme(index) => match script.word(index) {
                Some(word) => argv.extend(expand::arguments(word, state)),
                None => argv.push(Argument::unknown("?", true, true)),
            },
        }
    }

    /// An assignment takes effect: for the shell, or for `program` alone.
    fn assignment(
        &mut self,
        name: &AssignedName,
        value: &[Unit],
        program: Option<&str>,
        state: &mut State,
        certainty: Certainty,
    ) {
        if name.indexed {
            self.refuse(Reason::syntax("an array element is set"));
        }
        if let Some(program) = program {
            // How `read` splits its input changes no program.
            let splits_input = program == "read" && name.name == "IFS";
            if !is_harmless_to_programs(&name.name) && !splits_input {
                self.refuse(Reason::Variable { name: name.name.clone() });
            }
            return;
        }
        let assignable = self.assignable(&name.name, state);
        self.check(assignable);
        let once = self.assigned.times(&name.name) == 1 && certainty == Certainty::Always && !name.appends;
        if once && !name.indexed && !state.is_exported(&name.name) {
            let known = if value.is_empty() { Some(String::new()) } else { expand::value(value, state) };
            if let Some(text) = known {
                state.set(&name.name, Value::Known(text));
            }
        }
    }
}

fn lexeme<'a>(script: &'a Script, text: &str) -> Option<&'a Word> {
    match meaning(text) {
        Meaning::Lexeme(index) => script.word(index),
        Meaning::Text(_) => None,
    }
}
