//! Checks shell commands in playbooks: no word of a goal is inserted unquoted.

use std::collections::BTreeSet;

use crate::playbook::book::Book;
use crate::playbook::goal::ParamDefault;
use crate::playbook::template::{Piece, Slot, Source, TextTemplate, ValueTemplate};

/// Name of the tool whose commands are checked here.
pub(super) const SHELL: &str = "shell";

/// Returns the command in the input of a shell call.
pub(crate) fn command_of(input: &ValueTemplate) -> Option<&TextTemplate> {
    match input.get("command") {
        Some(ValueTemplate::Text(command)) => Some(command),
        _ => None,
    }
}

/// Returns why a command is not allowed: an inserted value could be more than one word.
pub(super) fn refusal(book: &Book, command: &TextTemplate) -> Option<String> {
    let mut quotes = Quotes::default();
    for piece in command.pieces() {
        match piece {
            Piece::Text(text) => text.chars().for_each(|c| quotes.read(c)),
            Piece::Slot(slot) => {
                if quotes.is_open() {
                    return Some(format!("{} is inside quotes", shown(slot)));
                }
                if !slot.is_shell_word() && !is_fixed(book, slot) {
                    return Some(format!("{} comes from outside and needs the filter sh", shown(slot)));
                }
            }
        }
    }
    quotes.is_open().then(|| "a quote is not closed".to_owned())
}

/// Returns a declared program that the command does not contain.
pub(super) fn undeclared<'p>(command: &TextTemplate, programs: &'p BTreeSet<String>) -> Option<&'p String> {
    let mut words = BTreeSet::new();
    for piece in command.pieces() {
        if let Piece::Text(text) = piece {
            words.extend(text.split(|c: char| c.is_whitespace() || "|;&()<>".contains(c)));
        }
    }
    programs.iter().find(|program| !words.contains(program.as_str()))
}

/// Returns whether the value can only be a text of the playbook's author, or a number.
fn is_fixed(book: &Book, slot: &Slot) -> bool {
    let Source::Named(name) = &slot.source else { return false };
    let Some(param) = book.params.get(name) else { return false };
    if param.kind.is_harmless_in_a_shell() {
        return true;
    }
    let from_a_goal =
        book.patterns.iter().flat_map(|pattern| pattern.slots()).any(|slot| slot.param == *name);
    let made = matches!(param.default, Some(ParamDefault::Made(_)));
    let made_by_a_variant = book
        .approaches
        .iter()
        .flat_map(|approach| &approach.variants)
        .filter_map(|variant| variant.set.get(name))
        .any(|value| !value.slots().is_empty());
    !from_a_goal && !made && !made_by_a_variant
}

fn shown(slot: &Slot) -> String {
    match &slot.source {
        Source::Named(name) => format!("{{{name}}}"),
        Source::Result { call, pointer } => format!("{{result.{call}{pointer}}}"),
        Source::Printed { call } => format!("{{text.{call}}}"),
    }
}

/// Tracks whether a position in a command is inside quotes.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    escaped: bool,
}

impl Quotes {
    fn read(&mut self, c: char) {
        match (self.open, c) {
            _ if self.escaped => self.escaped = false,
            (None | Some('"'), '\\') => self.escaped = true,
            (None, '\'' | '"') => self.open = Some(c),
            (Some(open), c) if open == c => self.open = None,
            _ => {}
        }
    }

    fn is_open(&self) -> bool {
        self.open.is_some() || self.escaped
    }
}
