//! Splits a text into words and operators like `bash -c`, as long as every word is literal.
//!
//! Only `~` is expanded. Anything else that bash would expand, define or run is returned as the reason to stop.

use std::path::Path;

use super::word::Word;
use super::{Reason, WORDS_MAX};

/// Characters after which a `$` is literal.
const AFTER_LITERAL_DOLLAR: &str = " \t\n/|),.:;%";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme {
    Word(Word),
    /// `&&`, `||`, `|`, or `;`, also for a line end.
    Operator(&'static str),
    /// A redirection to `/dev/null` or between the descriptors 1 and 2, in normal form.
    Redirection(&'static str),
}

struct Lexer<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    home: &'a Path,
    word: Option<Word>,
    out: Vec<Lexeme>,
    words: usize,
}

/// Returns the words and operators of `text`.
pub(crate) fn words(text: &str, home: &Path) -> Result<Vec<Lexeme>, Reason> {
    let mut lexer = Lexer { chars: text.chars().peekable(), home, word: None, out: Vec::new(), words: 0 };
    while let Some(c) = lexer.chars.next() {
        lexer.read(c)?;
    }
    lexer.end_word()?;
    Ok(lexer.out)
}

fn not_literal(what: &'static str) -> Reason {
    Reason::NotLiteral { what }
}

impl Lexer<'_> {
    fn read(&mut self, c: char) -> Result<(), Reason> {
        match c {
            ' ' | '\t' => self.end_word(),
            '\n' | ';' => {
                if c == ';' && self.chars.peek() == Some(&';') {
                    return Err(Reason::Syntax { what: "`;;`" });
                }
                self.operator(";")
            }
            '|' => match self.chars.peek() {
                Some('|') => self.double("||"),
                Some('&') => Err(not_literal("a redirection by `|&`")),
                _ => self.operator("|"),
            },
            '&' => match self.chars.peek() {
                Some('&') => self.double("&&"),
                Some('>') => {
                    self.end_word()?;
                    self.chars.next();
                    self.redirection("&", '>')
                }
                _ => Err(not_literal("a background job")),
            },
            '(' | ')' => Err(not_literal("a subshell, an array or a function")),
            '`' => Err(not_literal("a command substitution")),
            '<' | '>' => {
                let fd = self.take_descriptor()?;
                self.redirection(&fd, c)
            }
            '#' if self.word.is_none() => {
                while self.chars.next_if(|c| *c != '\n').is_some() {}
                Ok(())
            }
            '\'' => self.single_quotes(),
            '"' => self.double_quotes(),
            '\\' => self.escape(),
            '$' => self.dollar(false),
            '~' => self.tilde(),
            '*' | '?' => {
                self.current().push_wildcard(c.to_string());
                Ok(())
            }
            '[' => self.bracket(),
            '{' | '}' => self.brace(c),
            c => {
                self.current().push(c);
                Ok(())
            }
        }
    }

    fn current(&mut self) -> &mut Word {
        self.word.get_or_insert_with(Word::default)
    }

    fn end_word(&mut self) -> Result<(), Reason> {
        let Some(word) = self.word.take() else { return Ok(()) };
        self.words += 1;
        if self.words > WORDS_MAX {
            return Err(Reason::TooManyWords);
        }
        self.out.push(Lexeme::Word(word));
        Ok(())
    }

    fn operator(&mut self, operator: &'static str) -> Result<(), Reason> {
        self.end_word()?;
        self.out.push(Lexeme::Operator(operator));
        Ok(())
    }

    fn double(&mut self, operator: &'static str) -> Result<(), Reason> {
        self.chars.next();
        self.operator(operator)
    }

    /// Returns the digits right before a redirection, which are its descriptor.
    fn take_descriptor(&mut self) -> Result<String, Reason> {
        let is_digits = |word: &Word| {
            !word.is_quoted
                && word
                    .text()
                    .is_some_and(|text| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()))
        };
        match self.word.take_if(|word| is_digits(word)) {
            Some(word) => Ok(word.text().unwrap_or_default().to_owned()),
            None => self.end_word().map(|()| String::new()),
        }
    }

    /// Reads a redirection after its first character.
    fn redirection(&mut self, fd: &str, direction: char) -> Result<(), Reason> {
        let mut operator = String::from(direction);
        while let Some(c) = self.chars.next_if(|c| "<>&|-(".contains(*c)) {
            operator.push(c);
        }
        while self.chars.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
        let mut target = String::new();
        while let Some(c) = self.chars.next_if(|c| !" \t\n;|&<>()".contains(*c)) {
            target.push(c);
        }
        let known = match (fd, operator.as_str(), target.as_str()) {
            ("" | "1", ">" | ">>", "/dev/null") => ">/dev/null",
            ("2", ">" | ">>", "/dev/null") => "2>/dev/null",
            ("&", ">" | ">>", "/dev/null") => ">/dev/null 2>&1",
            ("2", ">&", "1") => "2>&1",
            ("" | "1", ">&", "2") => ">&2",
            ("" | "0", "<", "/dev/null") => "</dev/null",
            _ => return Err(Reason::Redirection),
        };
        self.out.push(Lexeme::Redirection(known));
        Ok(())
    }

    fn single_quotes(&mut self) -> Result<(), Reason> {
        self.current().is_quoted = true;
        loop {
            match self.chars.next() {
                Some('\'') => break,
                Some(c) => self.current().push(c),
                None => return Err(Reason::Syntax { what: "a quote is not closed" }),
            }
        }
        self.keep_empty();
        Ok(())
    }

    fn double_quotes(&mut self) -> Result<(), Reason> {
        self.current().is_quoted = true;
        loop {
            match self.chars.next() {
                Some('"') => break,
                Some('`') => return Err(not_literal("a command substitution")),
                Some('$') => self.dollar(true)?,
                Some('\\') => match self.chars.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.current().push(c),
                    Some(c) => {
                        self.current().push('\\');
                        self.current().push(c);
                    }
                    None => return Err(Reason::Syntax { what: "a quote is not closed" }),
                },
                Some(c) => self.current().push(c),
                None => return Err(Reason::Syntax { what: "a quote is not closed" }),
            }
        }
        self.keep_empty();
        Ok(())
    }

    /// Keeps an empty word: `''` is one too.
    fn keep_empty(&mut self) {
        let word = self.current();
        if word.is_empty() {
            *word = Word::of("");
        }
    }

    fn escape(&mut self) -> Result<(), Reason> {
        match self.chars.next() {
            Some('\n') => Ok(()),
            Some(c) => {
                let word = self.current();
                word.is_quoted = true;
                word.push(c);
                Ok(())
            }
            None => Err(Reason::Syntax { what: "a backslash at the end" }),
        }
    }

    fn dollar(&mut self, is_in_quotes: bool) -> Result<(), Reason> {
        match self.chars.peek() {
            None => {}
            Some('"') if is_in_quotes => {}
            Some(c) if AFTER_LITERAL_DOLLAR.contains(*c) => {}
            Some('(') => return Err(not_literal("a command substitution")),
            Some(_) => return Err(not_literal("a parameter")),
        }
        self.current().push('$');
        Ok(())
    }

    fn tilde(&mut self) -> Result<(), Reason> {
        if let Some(word) = &self.word {
            // Bash expands it after the `=` and `:` of a word that looks like an assignment.
            if word.text().is_none_or(|text| text.contains('=')) {
                return Err(not_literal("a tilde within a word"));
            }
            self.current().push('~');
            return Ok(());
        }
        match self.chars.peek() {
            None | Some(' ' | '\t' | '\n' | '/' | ';' | '|' | '&' | '<' | '>') => {
                self.word = Some(Word::of(self.home.to_string_lossy()));
                Ok(())
            }
            Some(_) => Err(not_literal("a tilde with a name")),
        }
    }

    /// Reads a bracket expression, or a literal bracket.
    fn bracket(&mut self) -> Result<(), Reason> {
        let mut ahead = self.chars.clone();
        let mut inside = String::new();
        loop {
            match ahead.next() {
                None | Some(' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>') => {
                    self.current().push('[');
                    return Ok(());
                }
                Some(']') if !inside.is_empty() && inside != "!" && inside != "^" => break,
                Some(c) if c.is_alphanumeric() || "!^-_.,+@%]".contains(c) => inside.push(c),
                Some(_) => return Err(not_literal("an unusual wildcard")),
            }
        }
        self.chars = ahead;
        self.current().push_wildcard(format!("[{inside}]"));
        Ok(())
    }

    /// Reads literal braces around a plain word (`HEAD@{1}`); other braces are an expansion or a group, and refused.
    fn brace(&mut self, c: char) -> Result<(), Reason> {
        let mut ahead = self.chars.clone();
        let mut inside = String::new();
        while let Some(next) = ahead.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            inside.push(next);
        }
        let is_group = c == '}' || (self.word.is_none() && !inside.is_empty());
        if is_group || ahead.next() != Some('}') {
            return Err(not_literal("a brace"));
        }
        self.chars = ahead;
        let word = self.current();
        word.push('{');
        inside.chars().for_each(|c| word.push(c));
        word.push('}');
        Ok(())
    }
}
