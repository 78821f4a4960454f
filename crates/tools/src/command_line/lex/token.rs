//! What a script is cut into.

use brush_parser::ast;

/// A script that was read: its lexemes, and their grammar, whose words point back into them.
#[derive(Clone, Debug)]
pub(in crate::command_line) struct Script {
    pub(in crate::command_line) lexemes: Vec<Lexeme>,
    pub(in crate::command_line) program: ast::Program,
    /// It uses something that only bash reads this way.
    pub(in crate::command_line) needs_bash: bool,
}

impl Script {
    /// The word that the grammar calls `text`, see [`crate::command_line::grammar`].
    pub(in crate::command_line) fn word(&self, index: usize) -> Option<&Word> {
        match &self.lexemes.get(index)?.kind {
            LexemeKind::Word(word) | LexemeKind::HereDocument(word) => Some(word),
            _ => None,
        }
    }

    pub(in crate::command_line) fn arithmetic(&self, index: usize) -> Option<&Arithmetic> {
        match &self.lexemes.get(index)?.kind {
            LexemeKind::Arithmetic(arithmetic) => Some(arithmetic),
            _ => None,
        }
    }
}

/// A lexeme and where it stands, in characters.
#[derive(Clone, Debug)]
pub(in crate::command_line) struct Lexeme {
    pub(in crate::command_line) kind: LexemeKind,
    pub(in crate::command_line) start: usize,
    pub(in crate::command_line) end: usize,
}

impl Lexeme {
    /// Whether expanding it runs or evaluates something.
    pub(in crate::command_line) fn has_substitutions(&self) -> bool {
        let units = match &self.kind {
            LexemeKind::Word(word) | LexemeKind::HereDocument(word) => &word.units,
            LexemeKind::Arithmetic(arithmetic) => &arithmetic.units,
            LexemeKind::Operator(_) | LexemeKind::Number(_) | LexemeKind::HereTag => return false,
        };
        units.iter().any(|unit| matches!(unit, Unit::Piece { .. }))
    }

    /// Whether a parenthesis right after it would open an array.
    pub(in crate::command_line) fn is_array_name(&self) -> bool {
        matches!(&self.kind, LexemeKind::Word(word)
            if matches!(word.units.last(), Some(Unit::Char { c: '=', quoted: false })))
    }

    pub(in crate::command_line) fn is_operator(&self, text: &str) -> bool {
        matches!(self.kind, LexemeKind::Operator(operator) if operator == text)
    }
}

#[derive(Clone, Debug)]
pub(in crate::command_line) enum LexemeKind {
    Operator(&'static str),
    Word(Word),
    /// Digits right before a redirection.
    Number(String),
    /// What stands between `((` and `))`, or between the semicolons of a `for ((`.
    Arithmetic(Arithmetic),
    HereTag,
    /// The body; empty until its lines are reached.
    HereDocument(Word),
}

/// A word before any expansion.
#[derive(Clone, Debug, Default)]
pub(in crate::command_line) struct Word {
    pub(in crate::command_line) units: Vec<Unit>,
    /// An empty pair of quotes makes a word where there would be none.
    pub(in crate::command_line) has_quotes: bool,
}

/// The smallest part of a word.
#[derive(Clone, Debug)]
pub(in crate::command_line) enum Unit {
    Char { c: char, quoted: bool },
    Piece { piece: Piece, quoted: bool },
}

/// A part of a word that the shell replaces.
#[derive(Clone, Debug)]
pub(in crate::command_line) enum Piece {
    Parameter(Parameter),
    Command(Box<Script>),
    /// `<(…)`, or `>(…)` where `writes`.
    Process {
        script: Box<Script>,
        writes: bool,
    },
    Arithmetic(Arithmetic),
}

#[derive(Clone, Debug)]
pub(in crate::command_line) struct Parameter {
    pub(in crate::command_line) name: String,
    pub(in crate::command_line) form: Form,
}

/// What is done with a parameter.
#[derive(Clone, Debug)]
pub(in crate::command_line) enum Form {
    Plain,
    Length,
    /// `${name:-word}`.
    Default(Vec<Unit>),
    /// `${name:=word}`.
    Assign(Vec<Unit>),
    /// Any other operator, kept as text for people, with what stands after it.
    Other(Vec<Unit>),
}

/// An arithmetic expression: characters and pieces.
#[derive(Clone, Debug, Default)]
pub(in crate::command_line) struct Arithmetic {
    pub(in crate::command_line) units: Vec<Unit>,
}

/// The text of units that are all unquoted characters.
pub(in crate::command_line) fn plain_text(units: &[Unit]) -> Option<String> {
    units
        .iter()
        .map(|unit| match unit {
            Unit::Char { c, quoted: false } => Some(*c),
            Unit::Char { quoted: true, .. } | Unit::Piece { .. } => None,
        })
        .collect()
}

/// Whether a word is exactly this unquoted text.
pub(in crate::command_line) fn is_word_of(word: &Word, text: &str) -> bool {
    !word.has_quotes && plain_text(&word.units).is_some_and(|plain| plain == text)
}
