//! Looks ahead over a whole script for what is assigned anywhere in it.
//!
//! A variable keeps a known value only when a single assignment, seen on the way, gives it one. Everything else that is
//! set somewhere counts as unknown everywhere, except where all that is ever stored is a number or a plain word.

use std::collections::BTreeMap;

use super::grammar::assigned_name;
use super::lex::{Arithmetic, Form, Lexeme, LexemeKind, Piece, Script, Unit, Word, is_word_of, plain_text};
use super::state::{State, Value};

/// What is stored into a variable over a whole script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    pub(super) times: usize,
    /// What holds for every value stored.
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Numeric,
    Plain,
    Any,
}

/// Every variable that `script` assigns, inner scripts included.
#[derive(Clone, Debug, Default)]
pub(super) struct AssignedNames(BTreeMap<String, Assigned>);

impl AssignedNames {
    pub(super) fn of(script: &Script) -> Self {
        let mut names = Self::default();
        names.add_script(script);
        names
    }

    pub(super) fn times(&self, name: &str) -> usize {
        self.0.get(name).map_or(0, |assigned| assigned.times)
    }

    /// Whether the look ahead has seen that `name` is set to something like `value`; `None` stands for any text.
    pub(super) fn covers(&self, name: &str, value: Option<&str>) -> bool {
        self.0.get(name).is_some_and(|assigned| assigned.kind == Kind::Any || value.is_some_and(is_number))
    }

    /// Makes `state` right for every point of the script.
    pub(super) fn forget_in(&self, state: &mut State) {
        for (name, assigned) in &self.0 {
            let value = match assigned.kind {
                _ if state.is_exported(name) => Value::Unknown,
                Kind::Numeric => Value::Numeric,
                // Before the assignment it may be empty, so it is only plain where a loop sets it.
                Kind::Plain | Kind::Any => Value::Unknown,
            };
            state.set(name, value);
        }
    }

    /// What a loop over its variable may assume inside the loop.
    pub(super) fn loop_value(&self, name: &str) -> Value {
        match self.0.get(name).map(|assigned| assigned.kind) {
            Some(Kind::Numeric) => Value::Numeric,
            Some(Kind::Plain) => Value::Plain,
            Some(Kind::Any) | None => Value::Unknown,
        }
    }

    fn add(&mut self, name: &str, kind: Kind) {
        let entry = self.0.entry(name.to_owned()).or_insert(Assigned { times: 0, kind });
        entry.times += 1;
        entry.kind = entry.kind.max(kind);
    }

    fn add_script(&mut self, script: &Script) {
        let mut command: Option<String> = None;
        for (index, lexeme) in script.lexemes.iter().enumerate() {
            match &lexeme.kind {
                LexemeKind::Operator(";" | "&" | "|" | "\n" | "&&" | "||" | "|&" | "(" | ")" | ";;") => {
                    command = None;
                }
                LexemeKind::Operator(_) => {}
                LexemeKind::Word(word) => {
                    let before = command.clone();
                    self.add_word(word, before.as_deref());
                    if is_word_of(word, "for") || is_word_of(word, "select") {
                        self.add_loop(&script.lexemes, index);
                    }
                    if let Some(text) = plain_text(&word.units)
                        && NAMING.contains(&text.as_str())
                    {
                        command = Some(text);
                    }
                }
                LexemeKind::Arithmetic(arithmetic) => self.add_arithmetic(arithmetic),
                LexemeKind::HereDocument(word) => self.add_units(&word.units),
                LexemeKind::Number(_) | LexemeKind::HereTag => {}
            }
        }
    }

    /// `command` is the naming command that stands before the word.
    fn add_word(&mut self, word: &Word, command: Option<&str>) {
        if let Some(assigned) = assigned_name(word) {
            let value = word.units.get(assigned.value_at..).unwrap_or_default();
            let kind = if assigned.indexed || command == Some("declare") || command == Some("typeset") {
                Kind::Any
            } else {
                kind_of(value, assigned.appends)
            };
            self.add(&assigned.name, kind);
        } else if command.is_some() {
            let text: String = word
                .units
                .iter()
                .filter_map(|unit| match unit {
                    Unit::Char { c, .. } => Some(*c),
                    Unit::Piece { .. } => None,
                })
                .collect();
            if crate::paths::is_name(&text) {
                self.add(&text, Kind::Any);
                // Once more, since its value never comes from one assignment that can be followed.
                self.add(&text, Kind::Any);
            }
        }
        self.add_units(&word.units);
    }

    fn add_units(&mut self, units: &[Unit]) {
        for unit in units {
            let Unit::Piece { piece, .. } = unit else { continue };
            match piece {
                Piece::Parameter(parameter) => match &parameter.form {
                    Form::Assign(word) => {
                        self.add(&parameter.name, Kind::Any);
                        self.add(&parameter.name, Kind::Any);
                        self.add_units(word);
                    }
                    Form::Default(word) | Form::Other(word) => self.add_units(word),
                    Form::Plain | Form::Length => {}
                },
                Piece::Command(script) | Piece::Process { script, .. } => self.add_script(script),
                Piece::Arithmetic(arithmetic) => self.add_arithmetic(arithmetic),
            }
        }
    }

    fn add_arithmetic(&mut self, arithmetic: &Arithmetic) {
        for name in set_in(arithmetic) {
            self.add(&name, Kind::Numeric);
            // Once more, since its value never comes from one assignment that can be followed.
            self.add(&name, Kind::Numeric);
        }
        self.add_units(&arithmetic.units);
    }

    fn add_loop(&mut self, lexemes: &[Lexeme], at: usize) {
        let Some(LexemeKind::Word(variable)) = lexemes.get(at + 1).map(|lexeme| &lexeme.kind) else { return };
        let Some(name) = plain_text(&variable.units) else { return };
        let mut kind = Kind::Any;
        let in_list =
            lexemes.iter().skip(at + 2).skip_while(|l| matches!(l.kind, LexemeKind::Operator("\n")));
        let mut list = in_list;
        if let Some(LexemeKind::Word(word)) = list.next().map(|lexeme| &lexeme.kind)
            && is_word_of(word, "in")
        {
            kind = Kind::Numeric;
            for lexeme in list {
                let LexemeKind::Word(word) = &lexeme.kind else { break };
                kind = kind.max(listed_kind(word));
            }
        }
        self.add(&name, kind);
        self.add(&name, kind);
    }
}

/// Builtins whose operands are names of variables that they set.
pub(super) const NAMING: &[&str] = &[
    "read",
    "getopts",
    "mapfile",
    "readarray",
    "printf",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "let",
    "wait",
];

/// The identifiers of an expression.
pub(super) fn names_in(arithmetic: &Arithmetic) -> Vec<String> {
    text_of(arithmetic)
        .split(|c: char| c != '_' && c != '#' && !c.is_ascii_alphanumeric())
        // What starts with a digit is a number, its base and letters included.
        .filter(|part| !part.starts_with(|c: char| c.is_ascii_digit()))
        .flat_map(|part| part.split('#'))
        .filter(|part| crate::paths::is_name(part))
        .map(str::to_owned)
        .collect()
}

/// The identifiers that an expression sets: followed by an assignment, or beside `++` or `--`.
fn set_in(arithmetic: &Arithmetic) -> Vec<String> {
    const SETTING: &[&str] = &["++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
    let text = text_of(arithmetic);
    let mut names = Vec::new();
    let mut before = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c == '_' || c.is_ascii_alphanumeric()) {
        let (gap, tail) = rest.split_at_checked(start).unwrap_or((rest, ""));
        before.push_str(gap);
        let end = tail.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(tail.len());
        let (word, after) = tail.split_at_checked(end).unwrap_or((tail, ""));
        let next = after.trim_start();
        let previous = before.trim_end();
        let assigns = (next.starts_with('=') && !next.starts_with("=="))
            || SETTING.iter().any(|sign| next.starts_with(sign));
        if crate::paths::is_name(word) && (assigns || previous.ends_with("++") || previous.ends_with("--")) {
            names.push(word.to_owned());
        }
        before.push_str(word);
        rest = after;
    }
    names
}

/// An expression's characters, a blank for each substitution.
fn text_of(arithmetic: &Arithmetic) -> String {
    arithmetic
        .units
        .iter()
        .map(|unit| match unit {
            Unit::Char { c, .. } => *c,
            Unit::Piece { .. } => ' ',
        })
        .collect()
}

fn kind_of(value: &[Unit], appends: bool) -> Kind {
    if let [Unit::Piece { piece, .. }] = value {
        return match piece {
            Piece::Arithmetic(_) => Kind::Numeric,
            Piece::Command(script) if prints_number(script) => Kind::Numeric,
            Piece::Parameter(parameter) if matches!(parameter.form, Form::Length) => Kind::Numeric,
            Piece::Parameter(parameter) if matches!(parameter.name.as_str(), "?" | "#" | "$") => {
                Kind::Numeric
            }
            _ => Kind::Any,
        };
    }
    match literal(value) {
        Some(text) if is_number(&text) && !(appends && text.starts_with('-')) => Kind::Numeric,
        _ => Kind::Any,
    }
}

/// A word in the list of a `for`.
fn listed_kind(word: &Word) -> Kind {
    if let [Unit::Piece { piece: Piece::Command(script), .. }] = word.units.as_slice() {
        return if prints_number(script) { Kind::Numeric } else { Kind::Any };
    }
    let Some(text) = literal(&word.units) else { return Kind::Any };
    let sequence =
        text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).and_then(|t| t.split_once(".."));
    if let Some((from, to)) = sequence
        && is_number(from)
        && is_number(to)
    {
        return Kind::Numeric;
    }
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_./:@%+-".contains(c));
    match text.chars().next() {
        _ if is_number(&text) => Kind::Numeric,
        Some(first) if plain && first != '-' => Kind::Plain,
        _ => Kind::Any,
    }
}

fn literal(units: &[Unit]) -> Option<String> {
    units
        .iter()
        .map(|unit| match unit {
            Unit::Char { c, .. } => Some(*c),
            Unit::Piece { .. } => None,
        })
        .collect()
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() < 18 && digits.chars().all(|c| c.is_ascii_digit())
}

/// Whether all that a script can print is numbers: its last command counts something or is a clock.
pub(super) fn prints_number(script: &Script) -> bool {
    let last = script
        .lexemes
        .iter()
        .rposition(|lexeme| matches!(lexeme.kind, LexemeKind::Operator("|")))
        .map_or(0, |bar| bar + 1);
    let before = script.lexemes.iter().take(last);
    let only_pipes = before
        .filter(|lexeme| matches!(lexeme.kind, LexemeKind::Operator(_)))
        .all(|lexeme| matches!(lexeme.kind, LexemeKind::Operator("|" | "<" | ">")));
    let Some(words) = script.lexemes.get(last..).and_then(counting_words) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    only_pipes
        && match words.as_slice() {
            ["wc", "-l" | "-c" | "-w" | "-m"] | ["nproc"] | ["date", "+%s"] | ["id", "-u" | "-g"] => true,
            ["stat", "-c", "%s" | "%Y", file] => !file.contains(['*', '?', '[', '{']),
            ["git", "rev-list", "--count", revision] => !revision.starts_with('-'),
            ["seq", numbers @ ..] => !numbers.is_empty() && numbers.iter().all(|number| is_number(number)),
            _ => false,
        }
}

/// The words of a command without its input redirection.
fn counting_words(lexemes: &[Lexeme]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut lexemes = lexemes.iter();
    while let Some(lexeme) = lexemes.next() {
        match &lexeme.kind {
            LexemeKind::Word(word) => words.push(literal(&word.units)?),
            LexemeKind::Operator("<") => {
                lexemes.next()?;
            }
            _ => return None,
        }
    }
    Some(words)
}
