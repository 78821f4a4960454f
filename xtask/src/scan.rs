//! Splits Rust source into code, comments and literals, line by line.
//!
//! A search over raw text would find a rule's words in the strings and comments that discuss them; a full parser is
//! more than these rules need. This reads comments, strings, raw strings and characters, and ignores the grammar.

/// The line before code that is compiled for tests only.
const TEST_MARK: &str = "#[cfg(test)]";

/// One line of a source file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Code without comments, and without the content of literals between their quotes.
    pub(crate) code: String,
    /// Text of comments, without the marks that start and end them.
    pub(crate) comment: String,
    /// Whether the line contains a part of a literal's text.
    pub(crate) literal: bool,
    /// Text of strings, with a space between two strings and for each escape.
    pub(crate) text: String,
}

impl Line {
    /// Returns whether the line counts as code.
    pub(crate) fn is_code(&self) -> bool {
        self.literal || !self.code.trim().is_empty()
    }
}

/// A source file split into lines, and the start of its tests.
#[derive(Debug)]
pub(crate) struct Source {
    lines: Vec<Line>,
    /// Index of the first line of the file's test module.
    tests_from: usize,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let lines = lines(text);
        let tests_from = tests_from(&lines).unwrap_or(lines.len());
        Self { lines, tests_from }
    }

    /// Returns line numbers, from 1, with their lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        (1..).zip(&self.lines)
    }

    /// Returns the lines before the file's test module.
    pub(crate) fn shipped(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines().take(self.tests_from)
    }

    /// Returns the names of the modules in other files that this one declares under `#[cfg(test)]`.
    pub(crate) fn test_modules(&self) -> Vec<&str> {
        let after_mark = self.lines.windows(2).filter_map(|pair| match pair {
            [mark, item] if mark.code.trim() == TEST_MARK => item.code.trim().strip_suffix(';'),
            _ => None,
        });
        after_mark.filter_map(|item| Some(item.split_once("mod ")?.1)).collect()
    }

    /// Returns the lines of the file's test module.
    pub(crate) fn tests(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines().skip(self.tests_from)
    }
}

/// Returns the paths (`std::fs::read`, `value`) in some lines, each with its line number. Expands the groups of `use`:
/// `use std::{env, fs}` gives `std::env` and `std::fs`.
pub(crate) fn paths<'a>(lines: impl Iterator<Item = (usize, &'a Line)>) -> Vec<(usize, Vec<String>)> {
    let mut reader = Paths::default();
    for (number, line) in lines {
        let mut rest = line.code.chars().peekable();
        while let Some(first) = rest.next() {
            if first == '_' || first.is_alphanumeric() {
                let mut word = String::from(first);
                while let Some(next) = rest.next_if(|c| is_word(*c)) {
                    word.push(next);
                }
                reader.word(number, word);
            } else if first == ':' && rest.next_if_eq(&':').is_some() {
                reader.separator = true;
            } else if !first.is_whitespace() {
                reader.mark(first);
            }
        }
    }
    reader.end_path();
    reader.found
}

/// Returns whether `text` contains `word`, not as a part of another word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(start + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Returns whether a character can be part of a name.
pub(crate) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// State of [`paths`] between two tokens.
#[derive(Default)]
struct Paths {
    found: Vec<(usize, Vec<String>)>,
    line: usize,
    path: Vec<String>,
    separator: bool,
    /// Prefixes of the open braces: the path before `::{`, or nothing for a block.
    groups: Vec<Vec<String>>,
}

impl Paths {
    fn word(&mut self, line: usize, word: String) {
        if !self.separator {
            self.end_path();
        }
        if self.path.is_empty() {
            self.line = line;
        }
        self.separator = false;
        self.path.push(word);
    }

    fn mark(&mut self, mark: char) {
        let opens_group = mark == '{' && self.separator && !self.path.is_empty();
        if opens_group {
            let mut prefix = self.groups.last().cloned().unwrap_or_default();
            prefix.append(&mut self.path);
            self.groups.push(prefix);
        } else {
            self.end_path();
            match mark {
                '{' => self.groups.push(Vec::new()),
                '}' => drop(self.groups.pop()),
                _ => {}
            }
        }
        self.separator = false;
    }

    fn end_path(&mut self) {
        if self.path.is_empty() {
            return;
        }
        let mut whole = self.groups.last().cloned().unwrap_or_default();
        whole.append(&mut self.path);
        self.found.push((self.line, whole));
    }
}

/// Returns the line of `#[cfg(test)]` before a module with a body in this file.
fn tests_from(lines: &[Line]) -> Option<usize> {
    let mut candidates = lines.iter().enumerate().filter(|(_, line)| line.code.trim() == TEST_MARK);
    let opens_module = |start: usize| {
        let after = lines.iter().skip(start + 1).map(|line| line.code.trim());
        let mut items = after.filter(|code| !code.is_empty() && !code.starts_with("#["));
        items.next().is_some_and(|item| has_word(item, "mod") && item.ends_with('{'))
    };
    candidates.find(|(start, _)| opens_module(*start)).map(|(start, _)| start)
}

/// The state of the reader in [`lines`].
enum State {
    Code,
    LineComment,
    /// The number of nested open comments.
    BlockComment(usize),
    Text,
    /// The number of `#` that end it.
    RawText(usize),
}

fn lines(text: &str) -> Vec<Line> {
    let mut state = State::Code;
    let mut lines = Vec::new();
    for text in text.lines() {
        let mut line = Line::default();
        let characters: Vec<char> = text.chars().collect();
        let mut rest = characters.as_slice();
        while !rest.is_empty() {
            (state, rest) = step(state, rest, &mut line);
        }
        if matches!(state, State::LineComment) {
            state = State::Code;
        }
        lines.push(line);
    }
    lines
}

/// Reads one mark or character and returns the rest of the line.
fn step<'a>(state: State, rest: &'a [char], line: &mut Line) -> (State, &'a [char]) {
    match (state, rest) {
        (State::Code, ['/', '/', rest @ ..]) => (State::LineComment, rest),
        (State::Code, ['/', '*', rest @ ..]) => (State::BlockComment(1), rest),
        (State::Code, ['"', rest @ ..]) => {
            line.code.push('"');
            (State::Text, rest)
        }
        (State::Code, ['r', rest @ ..]) if !line.code.ends_with(is_name_before_raw) => raw_start(rest, line),
        (State::Code, ['\'', rest @ ..]) => {
            line.code.push('\'');
            (State::Code, character_literal(rest, line))
        }
        (State::Code, [first, rest @ ..]) => {
            line.code.push(*first);
            (State::Code, rest)
        }
        (State::LineComment, rest) => {
            line.comment.extend(rest);
            (State::LineComment, &[])
        }
        (State::BlockComment(depth), ['/', '*', rest @ ..]) => (State::BlockComment(depth + 1), rest),
        (State::BlockComment(1), ['*', '/', rest @ ..]) => (State::Code, rest),
        (State::BlockComment(depth), ['*', '/', rest @ ..]) => (State::BlockComment(depth - 1), rest),
        (State::BlockComment(depth), [first, rest @ ..]) => {
            line.comment.push(*first);
            (State::BlockComment(depth), rest)
        }
        (State::Text, ['\\', _, rest @ ..]) => {
            line.literal = true;
            line.text.push(' ');
            (State::Text, rest)
        }
        (State::Text, ['"', rest @ ..]) => {
            line.code.push('"');
            line.text.push(' ');
            (State::Code, rest)
        }
        (State::RawText(hashes), ['"', rest @ ..]) if starts_with_hashes(rest, hashes) => {
            line.code.push('"');
            line.text.push(' ');
            (State::Code, rest.get(hashes..).unwrap_or_default())
        }
        (state, rest) => {
            line.literal = true;
            line.text.extend(rest.first());
            (state, rest.get(1..).unwrap_or_default())
        }
    }
}

/// Reads what follows an `r` in code: a raw string, a raw name (`r#type`), or a name that starts with `r`.
fn raw_start<'a>(rest: &'a [char], line: &mut Line) -> (State, &'a [char]) {
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    line.code.push('r');
    match rest.get(hashes..) {
        Some(['"', rest @ ..]) => {
            line.code.push('"');
            (State::RawText(hashes), rest)
        }
        _ => (State::Code, rest),
    }
}

/// Reads what follows a quote in code: the end of a character literal, or a lifetime, which has no end.
fn character_literal<'a>(rest: &'a [char], line: &mut Line) -> &'a [char] {
    let after = match rest {
        ['\\', _, rest @ ..] => rest.iter().position(|c| *c == '\'').and_then(|end| rest.get(end + 1..)),
        [_, '\'', rest @ ..] => Some(rest),
        _ => None,
    };
    match after {
        Some(after) => {
            line.code.push('\'');
            line.literal = true;
            after
        }
        None => rest,
    }
}

/// Returns whether a character before an `r` makes it part of a name. `br"…"` and `cr"…"` are raw strings, so `b` and
/// `c` do not.
fn is_name_before_raw(c: char) -> bool {
    is_word(c) && c != 'b' && c != 'c'
}

fn starts_with_hashes(rest: &[char], hashes: usize) -> bool {
    rest.iter().take(hashes).filter(|c| **c == '#').count() == hashes
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: &Expect) {
        let source = Source::new(text);
        let lines = source.lines().map(|(number, line)| {
            let literal = if line.literal { "L" } else { " " };
            format!("{number}{literal} {}|{}|\n", line.code, line.comment)
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn comments_and_literals_are_separated_from_code() {
        check(
            "let a = \"// no\"; // yes \"\nlet b = 'x'; /* in /* deep */ out */ let c: &'a str;\nlet d = '\\''; //! doc",
            &expect![[r#"
                1L let a = ""; | yes "|
                2L let b = '';  let c: &'a str;| in  deep  out |
                3L let d = ''; |! doc|
            "#]],
        );
    }

    #[test]
    fn strings_may_span_lines() {
        check(
            "let a = \"one\ntwo \\\" // three\nfour\"; b()\n/* x\ny */ c()",
            &expect![[r#"
                1L let a = "||
                2L ||
                3L "; b()||
                4  | x|
                5   c()|y |
            "#]],
        );
    }

    #[test]
    fn raw_strings_end_at_their_own_hashes() {
        check(
            "f(r#\"a \"quoted\" // b\"#, br\"\\\", r#type, for_r, var\"x\")",
            &expect![[r#"
                1L f(r"", br"", r#type, for_r, var"")||
            "#]],
        );
    }

    #[test]
    fn tests_begin_at_the_test_module() {
        let tests_line = |text: &str| Source::new(text).tests().next().map(|(number, _)| number);
        assert_eq!(
            tests_line("a\n#[cfg(test)]\nuse b;\nc\n#[cfg(test)]\n#[expect(x)]\nmod tests {\n}"),
            Some(5)
        );
        assert_eq!(tests_line("a\n#[cfg(test)]\nmod tests;\nb"), None);
        assert_eq!(tests_line("const X: &str = \"\n#[cfg(test)]\nmod tests {\n\";"), None);
    }

    #[test]
    fn groups_of_use_are_expanded() {
        let text = "use std::{env, io::{self, Read}};\nfn f() { std::fs::read(p); S { a: b::c } }";
        let found = paths(Source::new(text).lines());
        let found = found.iter().map(|(line, path)| format!("{line} {}\n", path.join("::")));
        expect![[r#"
            1 use
            1 std::env
            1 std::io::self
            1 std::io::Read
            2 fn
            2 f
            2 std::fs::read
            2 p
            2 S
            2 a
            2 b::c
        "#]]
        .assert_eq(&found.collect::<String>());
    }

    #[test]
    fn only_whole_words_match() {
        assert!(has_word("a word, here", "word"));
        assert!(!has_word("sword words _word", "word"));
    }
}
