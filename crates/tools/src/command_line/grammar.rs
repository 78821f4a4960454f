//! The grammar of a script: `brush-parser` arranges the lexemes.
//!
//! It never sees the words themselves. Each is replaced by a stand-in that carries its number among the lexemes, unless it
//! is one of the few words that the grammar knows; so no text can lead the parser astray, and its answer points back to
//! words that are understood exactly.

use std::sync::Arc;

use brush_parser::{ParserOptions, SourcePosition, SourceSpan, Token, ast, parse_tokens};

use super::lex::{Lexeme, LexemeKind, Unit, Word, plain_text};
use super::verdict::Reason;

/// Most parentheses inside one another, and most of all where `case` makes their counting unsure. The parser tries every
/// pair as arithmetic first, which doubles its work.
const PARENTHESES_MAX: usize = 6;

/// Most words that open a compound command, wherever they stand, in the outermost script and in an inner one. They bound
/// the parser's recursion, and the walk's.
const OPENERS_MAX: usize = 24;
const INNER_OPENERS_MAX: usize = 12;

/// Most `case` words; each may double the parser's work.
const CASES_MAX: usize = 8;

/// Most `!`, `&&` and `||` in a script with `[[`, where each is one level of the parser's recursion.
const CONDITIONS_MAX: usize = 40;

/// Words that the grammar has to see as they are.
const RESERVED: &[&str] = &[
    "!", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until",
    "while", "[[", "]]", "function", "select", "coproc", "time", "-p",
];

/// Those that open a compound command.
const OPENERS: &[&str] = &["{", "if", "for", "while", "until", "case", "[[", "coproc", "function", "select"];

/// Words that only mean something between `[[` and `]]`.
const TEST_OPERATORS: &[&str] = &[
    "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot", "=", "==", "!=", "=~", "-a", "-b", "-c",
    "-d", "-e", "-f", "-g", "-h", "-k", "-n", "-o", "-r", "-s", "-t", "-u", "-v", "-w", "-x", "-z", "-G",
    "-L", "-N", "-O", "-R", "-S",
];

/// Arranges the lexemes of a script that stands `depth` scripts deep into a program.
pub(super) fn parse(lexemes: &[Lexeme], depth: usize) -> Result<ast::Program, Reason> {
    check_effort(lexemes, if depth == 0 { OPENERS_MAX } else { INNER_OPENERS_MAX })?;
    let tokens: Vec<Token> = lexemes.iter().enumerate().map(|(index, lexeme)| token(index, lexeme)).collect();
    parse_tokens(&tokens, &ParserOptions::default()).map_err(|_| Reason::syntax("a syntax error"))
}

/// What a word of the program stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    /// The lexeme with this number.
    Lexeme(usize),
    /// A word that the grammar knows, or the number of a file descriptor.
    Text(&'a str),
}

/// Looks up a word that the parser gave back.
pub(super) fn meaning(text: &str) -> Meaning<'_> {
    let number = text.strip_prefix('w').or_else(|| {
        let rest = text.strip_prefix('n')?;
        rest.strip_suffix("=v").or_else(|| rest.strip_suffix('='))
    });
    match number.and_then(|digits| digits.parse().ok()) {
        Some(index) => Meaning::Lexeme(index),
        None => Meaning::Text(text),
    }
}

/// The numbers of all lexemes named in a text that the parser glued together.
pub(super) fn lexemes_in(text: &str) -> Vec<usize> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|part| part.strip_prefix(['w', 'n'])?.parse().ok())
        .collect()
}

/// An assignment's name and whether it adds to the value; `None` for a word of another form.
pub(super) fn assigned_name(word: &Word) -> Option<AssignedName> {
    let mut name = String::new();
    for (at, unit) in word.units.iter().enumerate() {
        let Unit::Char { c, quoted: false } = unit else { return None };
        match c {
            '=' => {
                let (name, appends) = match name.strip_suffix('+') {
                    Some(shorter) => (shorter.to_owned(), true),
                    None => (name, false),
                };
                let (name, indexed) = match name.split_once('[') {
                    Some((before, _)) => (before.to_owned(), true),
                    None => (name, false),
                };
                return crate::paths::is_name(&name).then_some(AssignedName {
                    name,
                    appends,
                    indexed,
                    value_at: at + 1,
                });
            }
            _ => name.push(*c),
        }
    }
    None
}

/// The left side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AssignedName {
    pub(super) name: String,
    pub(super) appends: bool,
    pub(super) indexed: bool,
    /// Where the value starts among the word's units.
    pub(super) value_at: usize,
}

fn check_effort(lexemes: &[Lexeme], openers_max: usize) -> Result<(), Reason> {
    let words: Vec<String> = lexemes.iter().filter_map(reserved_lexeme).collect();
    let cases = words.iter().filter(|word| *word == "case").count();
    let openers = words.iter().filter(|word| OPENERS.contains(&word.as_str())).count();
    if words.iter().any(|word| word == "[[") {
        let joints =
            lexemes.iter().filter(|lexeme| lexeme.is_operator("&&") || lexeme.is_operator("||")).count();
        if joints + words.iter().filter(|word| *word == "!").count() > CONDITIONS_MAX {
            return Err(Reason::TooDeep);
        }
    }
    let mut open = 0_usize;
    for lexeme in lexemes {
        match &lexeme.kind {
            LexemeKind::Operator("(") => open += 1,
            LexemeKind::Operator(")") if cases == 0 => {
                open = open.checked_sub(1).ok_or(Reason::syntax("a parenthesis without its start"))?;
            }
            _ => {}
        }
        if open > PARENTHESES_MAX {
            return Err(Reason::TooDeep);
        }
    }
    if open > 0 && cases == 0 {
        return Err(Reason::syntax("a parenthesis without its end"));
    }
    if openers > openers_max || cases > CASES_MAX {
        return Err(Reason::TooDeep);
    }
    Ok(())
}

fn reserved_lexeme(lexeme: &Lexeme) -> Option<String> {
    match &lexeme.kind {
        LexemeKind::Word(word) => reserved(word),
        _ => None,
    }
}

fn token(index: usize, lexeme: &Lexeme) -> Token {
    let span = SourceSpan { start: position(lexeme.start), end: position(lexeme.end) };
    match &lexeme.kind {
        LexemeKind::Operator(text) => Token::Operator((*text).to_owned(), span),
        LexemeKind::Number(text) => Token::Word(text.clone(), span),
        LexemeKind::Word(word) => Token::Word(stand_in(index, word), span),
        LexemeKind::Arithmetic(_) | LexemeKind::HereTag | LexemeKind::HereDocument(_) => {
            Token::Word(format!("w{index}"), span)
        }
    }
}

fn stand_in(index: usize, word: &Word) -> String {
    if let Some(text) = reserved(word) {
        return text;
    }
    match assigned_name(word) {
        Some(assigned) if assigned.value_at == word.units.len() && !word.has_quotes => format!("n{index}="),
        Some(_) => format!("n{index}=v"),
        None => format!("w{index}"),
    }
}

/// The word's text where the grammar has to see it.
fn reserved(word: &Word) -> Option<String> {
    let text = if word.has_quotes { None } else { plain_text(&word.units) }?;
    (RESERVED.contains(&text.as_str()) || TEST_OPERATORS.contains(&text.as_str())).then_some(text)
}

fn position(index: usize) -> Arc<SourcePosition> {
    Arc::new(SourcePosition { index, line: 1, column: index + 1 })
}
