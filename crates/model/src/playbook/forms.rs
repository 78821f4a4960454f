//! The shell commands of the built-in playbooks, as forms that the tools run without consent.
//!
//! Only commands marked `only_reads` in a built-in playbook count; a user's playbook passes the gate like any other
//! call.

use std::sync::LazyLock;

use serde_json::Value;
use setpoint_command_line::{Form, FormPiece, WordKind};

use super::book::{Book, Origin};
use super::built_in;
use super::goal::{ParamDefault, ParamKind};
use super::read::{self, command_of};
use super::template::{Filter, Piece, Slot, Source, TextTemplate, shell_word};

/// Returns the forms of the built-in commands that only read.
#[must_use]
pub fn forms() -> &'static [Form] {
    static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
        let books =
            built_in::SOURCES.iter().filter_map(|(file, text)| read::book(file, text, Origin::BuiltIn).ok());
        books.flat_map(|book| of(&book)).collect()
    });
    &FORMS
}

fn of(book: &Book) -> Vec<Form> {
    let calls = book.approaches.iter().flat_map(|approach| &approach.steps).flat_map(|step| &step.calls);
    let calls = calls
        .filter(|call| call.only_reads)
        .filter_map(|call| Some((command_of(&call.input)?, &call.programs)));
    let probes = book.criteria.values().filter(|criterion| criterion.only_reads);
    let probes = probes.filter_map(|criterion| {
        let (_, input) = criterion.probe()?;
        Some((command_of(input)?, &criterion.programs))
    });
    let forms = calls.chain(probes).filter_map(|(command, programs)| {
        Some(Form { pieces: pieces(book, command)?, programs: programs.iter().cloned().collect() })
    });
    forms.collect()
}

/// Splits a command into pieces; `None` if anything but a word, a number or one of a few texts can be inserted into it.
fn pieces(book: &Book, command: &TextTemplate) -> Option<Vec<FormPiece>> {
    let mut pieces: Vec<FormPiece> = command
        .pieces()
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => Some(FormPiece::Text(text.clone())),
            Piece::Slot(slot) => self::slot(book, slot),
        })
        .collect::<Option<_>>()?;
    // Blanks around a command are not part of it.
    if let Some(FormPiece::Text(text)) = pieces.first_mut() {
        *text = text.trim_start().to_owned();
    }
    if let Some(FormPiece::Text(text)) = pieces.last_mut() {
        *text = text.trim_end().to_owned();
    }
    Some(pieces)
}

fn slot(book: &Book, slot: &Slot) -> Option<FormPiece> {
    let Source::Named(name) = &slot.source else { return None };
    let param = book.params.get(name)?;
    let chosen = slot.filters.iter().find_map(|filter| match filter {
        Filter::Choose(pairs) => Some(pairs.iter().map(|(_, value)| plain(value)).collect::<Vec<_>>()),
        _ => None,
    });
    let is_word = slot.is_shell_word();
    if let Some(texts) = chosen {
        return Some(FormPiece::OneOf(if is_word {
            texts.iter().map(|text| shell_word(text)).collect()
        } else {
            texts
        }));
    }
    if is_word {
        let is_path = matches!(param.kind, ParamKind::Path(_));
        return Some(FormPiece::Word(if is_path { WordKind::Path } else { WordKind::Text }));
    }
    match (&param.kind, &param.default) {
        (ParamKind::Number { .. } | ParamKind::Size, _) => Some(FormPiece::Number),
        // No pattern sets it (`read::shell` ensures that), so its values are written in the playbook.
        (_, Some(ParamDefault::Fixed(value))) => {
            let variants = book.approaches.iter().flat_map(|approach| &approach.variants);
            let mut texts: Vec<String> = variants
                .filter_map(|variant| variant.set.get(name)?.fixed_text())
                .chain([plain(value)])
                .collect();
            // The longest text must match first, because one may be a prefix of another.
            texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
            Some(FormPiece::OneOf(texts))
        }
        _ => None,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_read_only_command_is_a_form() {
        let marked: usize =
            built_in::SOURCES.iter().map(|(_, text)| text.matches("\nonly_reads = true\n").count()).sum();
        assert!(marked > 15, "{marked}");
        assert_eq!(forms().len(), marked);
    }
}
