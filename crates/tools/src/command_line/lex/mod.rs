//! Cuts a script into words and operators the way bash does, and gives up where shells or versions disagree.
//!
//! The grammar comes from `brush-parser`, the cutting does not: quoting decides what is a command and what is text, so it
//! is done here, strictly, and whatever is outside the well-trodden syntax is an error instead of a guess. Substitutions
//! are read on the spot, so that a word carries the scripts in it.

mod arithmetic;
mod dollar;
mod heredoc;
mod quotes;
mod token;
mod word;

pub(super) use token::{
    Arithmetic, Form, Lexeme, LexemeKind, Parameter, Piece, Script, Unit, Word, is_word_of, plain_text,
};

use super::verdict::Reason;
use super::{NESTING_MAX, WORDS_MAX};
use super::{expand, grammar};
use heredoc::Pending;

/// Reads a whole script.
///
/// # Errors
/// When its syntax is not understood without doubt.
pub(super) fn script(text: &str, depth: usize) -> Result<Script, Reason> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0, depth, needs_bash: false };
    lexer.script(Ends::AtEndOfText)
}

/// Where a script stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    AtEndOfText,
    /// At the `)` that closes the substitution; it is consumed.
    AtParenthesis,
}

/// A position in the text, and what was noticed so far.
struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    depth: usize,
    needs_bash: bool,
}

/// Operators, longest first where one starts another.
const OPERATORS: &[&str] = &[
    "<<<", "<<-", "&>>", ";;&", "&&", "||", ";;", ";&", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "|&", "&",
    "|", ";", "(", ")", "<", ">", "\n",
];

/// Operators that other shells read differently.
const BASH_OPERATORS: &[&str] = &["<<<", "&>>", ";;&", ";&", "&>", "|&"];

impl Lexer<'_> {
    fn script(&mut self, ends: Ends) -> Result<Script, Reason> {
        if self.depth > NESTING_MAX {
            return Err(Reason::TooDeep);
        }
        let outer_needs_bash = std::mem::take(&mut self.needs_bash);
        let lexemes = self.lexemes(ends)?;
        let needs_bash = std::mem::replace(&mut self.needs_bash, outer_needs_bash);
        self.needs_bash |= needs_bash;
        let program = grammar::parse(&lexemes, self.depth)?;
        Ok(Script { lexemes, program, needs_bash })
    }

    fn lexemes(&mut self, ends: Ends) -> Result<Vec<Lexeme>, Reason> {
        let mut lexemes: Vec<Lexeme> = Vec::new();
        let mut pending: Vec<Pending> = Vec::new();
        let mut open = 0_usize;
        // How many parentheses are open inside an array's, one for its own.
        let mut in_array = 0_usize;
        loop {
            self.skip_blanks_and_comment()?;
            if lexemes.len() > WORDS_MAX {
                return Err(Reason::TooManyWords);
            }
            let start = self.at;
            let Some(c) = self.peek(0) else {
                if ends == Ends::AtParenthesis {
                    return Err(Reason::syntax("a substitution without its end"));
                }
                return if pending.is_empty() { Ok(lexemes) } else { Err(heredoc::unfinished()) };
            };
            if c == ')' && open == 0 && ends == Ends::AtParenthesis {
                self.at += 1;
                return if pending.is_empty() { Ok(lexemes) } else { Err(heredoc::unfinished()) };
            }
            if c == '(' && self.peek(1) == Some('(') {
                self.arithmetic_command(&mut lexemes)?;
                continue;
            }
            if is_substitution_start(c, self.peek(1)) {
                self.word_lexeme(&mut lexemes, &pending)?;
                continue;
            }
            let Some(operator) = self.operator() else {
                self.word_lexeme(&mut lexemes, &pending)?;
                continue;
            };
            if operator == "(" && matches!(lexemes.last(), Some(last) if last.is_operator("(")) {
                // The grammar would take `( (` for arithmetic. A newline means nothing here.
                lexemes.push(Lexeme { kind: LexemeKind::Operator("\n"), start, end: start });
            }
            let starts_array = operator == "("
                && lexemes.last().is_some_and(|last| last.end == start && last.is_array_name());
            match operator {
                "(" => {
                    open += 1;
                    in_array += usize::from(starts_array || in_array > 0);
                    self.needs_bash |= starts_array;
                }
                ")" => {
                    open = open.saturating_sub(1);
                    // The word of an array goes on after its parenthesis, unlike a command.
                    if in_array == 1 && self.peek(0).is_some_and(|c| !" \t\n;&|()<>".contains(c)) {
                        return Err(Reason::syntax("a word that goes on after an array"));
                    }
                    in_array = in_array.saturating_sub(1);
                }
                _ => {}
            }
            lexemes.push(Lexeme { kind: LexemeKind::Operator(operator), start, end: self.at });
            match operator {
                "<<" | "<<-" => self.heredoc_tag(operator == "<<-", &mut lexemes, &mut pending)?,
                "\n" => self.heredoc_bodies(&mut lexemes, &mut pending)?,
                _ => self.needs_bash |= BASH_OPERATORS.contains(&operator),
            }
        }
    }

    fn word_lexeme(&mut self, lexemes: &mut Vec<Lexeme>, pending: &[Pending]) -> Result<(), Reason> {
        let start = self.at;
        let word = self.word()?;
        let end = self.at;
        let spans_lines = self.chars.get(start..end).is_some_and(|raw| raw.contains(&'\n'));
        if spans_lines && !pending.is_empty() {
            return Err(Reason::syntax("a word over several lines before a here-document"));
        }
        self.needs_bash |= self.is_bash_word(&word);
        let before_redirection = matches!(self.peek(0), Some('<' | '>'));
        let unquoted = if word.has_quotes { None } else { plain_text(&word.units) };
        let kind = match unquoted {
            Some(text) if before_redirection && text.chars().all(|c| c.is_ascii_digit()) => {
                if text.len() > 3 {
                    return Err(Reason::syntax("a file descriptor with many digits"));
                }
                LexemeKind::Number(text)
            }
            Some(text) if before_redirection && text.starts_with('{') && text.ends_with('}') => {
                return Err(Reason::syntax("a redirection that sets a variable"));
            }
            Some(_) | None => LexemeKind::Word(word),
        };
        lexemes.push(Lexeme { kind, start, end });
        Ok(())
    }

    /// Whether other shells take this word for something else: their grammar has no such word, no braces, no `~+`.
    fn is_bash_word(&self, word: &Word) -> bool {
        let reserved =
            ["[[", "function", "select", "coproc", "time"].iter().any(|text| is_word_of(word, text));
        let appends = grammar::assigned_name(word).is_some_and(|assigned| assigned.appends);
        let other_tilde = matches!(
            word.units.as_slice(),
            [
                Unit::Char { c: '~', quoted: false },
                Unit::Char { c: '+' | '-' | '0'..='9', quoted: false },
                ..
            ]
        );
        reserved || appends || other_tilde || expand::has_braces(word)
    }

    fn operator(&mut self) -> Option<&'static str> {
        let found = OPERATORS.iter().find(|operator| self.looking_at(operator))?;
        self.at += found.len();
        Some(found)
    }

    fn skip_blanks_and_comment(&mut self) -> Result<(), Reason> {
        loop {
            match self.peek(0) {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek(1) == Some('\n') => {
                    let before = self.at.checked_sub(1).and_then(|at| self.chars.get(at));
                    if !matches!(before, None | Some(' ' | '\t' | '\n')) {
                        return Err(Reason::syntax("a word or operator broken over two lines"));
                    }
                    self.at += 2;
                }
                Some('#') => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }
}

/// Whether `<(` or `>(` starts here.
fn is_substitution_start(c: char, next: Option<char>) -> bool {
    matches!(c, '<' | '>') && next == Some('(')
}
