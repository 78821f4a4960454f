//! Turns a word into the arguments it becomes: braces, tildes, parameters, splitting, file name patterns.

mod braces;

use super::argument::{Argument, ArgumentKind};
use super::assigned::prints_number;
use super::lex::{Form, Parameter, Piece, Unit, Word};
use super::normal;
use super::state::{State, Value};

/// The arguments that a word of a command becomes.
pub(super) fn arguments(word: &Word, state: &State) -> Vec<Argument> {
    match braces::alternatives(&word.units) {
        Some(alternatives) => {
            alternatives.iter().filter_map(|units| expand(units, word.has_quotes, state)).collect()
        }
        None => vec![Argument::unknown(normal::units(&word.units), true, true)],
    }
}

/// Whether braces in the word are more than characters.
pub(super) fn has_braces(word: &Word) -> bool {
    braces::alternatives(&word.units).is_none_or(|alternatives| alternatives.len() != 1)
}

/// The single word that stands after a redirection; `None` where there may be none or several.
pub(super) fn redirected(word: &Word, state: &State) -> Option<Argument> {
    match arguments(word, state).as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// The value of an assignment, a here-document or a word that is neither split nor matched; `None` where it is not known.
pub(super) fn value(units: &[Unit], state: &State) -> Option<String> {
    let quoted: Vec<Unit> = units
        .iter()
        .map(|unit| match unit {
            Unit::Char { c, quoted } => Unit::Char { c: *c, quoted: *quoted || *c != '~' },
            Unit::Piece { piece, .. } => Unit::Piece { piece: piece.clone(), quoted: true },
        })
        .collect();
    let inner_tilde = quoted.iter().skip(1).any(|unit| matches!(unit, Unit::Char { c: '~', quoted: false }));
    if inner_tilde {
        return None;
    }
    let argument = expand(&quoted, true, state)?;
    argument.known().map(str::to_owned)
}

/// What is put together while the units of one word are gone through.
#[derive(Default)]
struct Build {
    text: String,
    pattern: String,
    is_pattern: bool,
    /// An unquoted `[` still waits for its `]`.
    open_set: bool,
    /// Some part is not known.
    unknown: bool,
    /// An unknown part stands where the word starts, or may split.
    option: bool,
    splits: bool,
}

impl Build {
    fn push(&mut self, c: char, quoted: bool) {
        let wildcard = matches!(c, '*' | '?' | '[' | ']');
        if wildcard && !quoted {
            self.is_pattern |= matches!(c, '*' | '?') || (c == ']' && self.open_set);
            self.open_set |= c == '[';
        } else if wildcard || c == '\\' {
            self.pattern.push('\\');
        }
        self.pattern.push(c);
        self.text.push(c);
    }

    fn push_unknown(&mut self, part: Part) {
        self.unknown = true;
        // What is not known may hold the other bracket, quoted or not.
        self.is_pattern |= self.open_set;
        let starts = self.text.is_empty();
        self.option |= match part {
            Part::Number { .. } => false,
            Part::Plain => self.text.starts_with('-'),
            Part::Any { splits } => starts || splits || self.text.starts_with('-'),
        };
        self.splits |= matches!(part, Part::Any { splits: true } | Part::Number { splits: true });
        if starts && !matches!(part, Part::Number { splits: true }) {
            // Whatever follows no longer stands at the start.
            self.text.push('\u{fffd}');
        }
    }
}

/// A part of a word that is not known.
#[derive(Clone, Copy)]
enum Part {
    /// Digits, perhaps with a sign; perhaps none at all where it `splits`.
    Number {
        splits: bool,
    },
    /// Not empty, no dash at its start, in one piece.
    Plain,
    Any {
        splits: bool,
    },
}

fn expand(units: &[Unit], has_quotes: bool, state: &State) -> Option<Argument> {
    let mut build = Build::default();
    let rest = match tilde(units, state) {
        Tilde::None => units,
        Tilde::Known(text, rest) => {
            text.chars().for_each(|c| build.push(c, true));
            rest
        }
        Tilde::Unknown => return Some(Argument::unknown(normal::units(units), false, false)),
    };
    for unit in rest {
        match unit {
            Unit::Char { c, quoted } => build.push(*c, *quoted),
            Unit::Piece { piece, quoted } => expand_piece(piece, *quoted, state, &mut build),
        }
    }
    if build.unknown {
        let option = build.option || (build.is_pattern && build.pattern.starts_with(['*', '?', '[', '-']));
        return Some(Argument::unknown(normal::units(units), option, build.splits || build.is_pattern));
    }
    if build.text.is_empty() && !has_quotes {
        return None;
    }
    Some(if build.is_pattern {
        Argument { text: build.pattern, kind: ArgumentKind::Pattern }
    } else {
        Argument::literal(build.text)
    })
}

fn expand_piece(piece: &Piece, quoted: bool, state: &State, build: &mut Build) {
    match piece {
        Piece::Parameter(parameter) => match parameter_value(parameter, state) {
            Value::Known(text) if quoted || text.chars().all(stays_whole) => {
                text.chars().for_each(|c| build.push(c, true));
            }
            Value::Known(_) => build.push_unknown(Part::Any { splits: true }),
            Value::Numeric => {
                build.push_unknown(Part::Number { splits: !is_never_empty(parameter) && !quoted });
            }
            Value::Plain => build.push_unknown(Part::Plain),
            Value::Unknown => {
                let several = matches!(parameter.name.as_str(), "@" | "*")
                    || parameter.name.ends_with("[@]")
                    || parameter.name.ends_with("[*]");
                build.push_unknown(Part::Any { splits: !quoted || several });
            }
        },
        Piece::Command(script) if prints_number(script) => {
            build.push_unknown(Part::Number { splits: !quoted });
        }
        Piece::Command(_) => build.push_unknown(Part::Any { splits: !quoted }),
        Piece::Arithmetic(_) => build.push_unknown(Part::Number { splits: false }),
        Piece::Process { .. } => build.push_unknown(Part::Plain),
    }
}

/// What a parameter expands to.
pub(super) fn parameter_value(parameter: &Parameter, state: &State) -> Value {
    match &parameter.form {
        Form::Length => Value::Numeric,
        Form::Plain => match parameter.name.as_str() {
            "?" | "#" | "$" | "!" => Value::Numeric,
            name => state.value(name),
        },
        Form::Default(_) => match state.value(&parameter.name) {
            Value::Known(text) if !text.is_empty() => Value::Known(text),
            _ => Value::Unknown,
        },
        Form::Assign(_) | Form::Other(_) => Value::Unknown,
    }
}

fn is_never_empty(parameter: &Parameter) -> bool {
    matches!(parameter.form, Form::Length) || matches!(parameter.name.as_str(), "?" | "#" | "$")
}

/// Whether an unquoted value with this character stays one word and is not matched against files.
fn stays_whole(c: char) -> bool {
    !matches!(c, ' ' | '\t' | '\n' | '*' | '?' | '[' | '\\')
}

enum Tilde<'a> {
    None,
    Known(String, &'a [Unit]),
    Unknown,
}

fn tilde<'a>(units: &'a [Unit], state: &State) -> Tilde<'a> {
    if !matches!(units.first(), Some(Unit::Char { c: '~', quoted: false })) {
        return Tilde::None;
    }
    let end = units
        .iter()
        .position(|unit| matches!(unit, Unit::Char { c: '/', quoted: false }))
        .unwrap_or(units.len());
    let (prefix, rest) = units.split_at_checked(end).unwrap_or((units, &[]));
    // A quote in the prefix makes the tilde an ordinary character.
    let Some(prefix) = super::lex::plain_text(prefix) else { return Tilde::None };
    match prefix.as_str() {
        "~" => Tilde::Known(state.home().to_string_lossy().into_owned(), rest),
        "~+" => match state.directories.single() {
            Some(path) => Tilde::Known(path.to_string_lossy().into_owned(), rest),
            None => Tilde::Unknown,
        },
        _ => Tilde::Unknown,
    }
}
