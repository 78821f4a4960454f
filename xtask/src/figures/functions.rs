//! The length of each function, from its `fn` to its closing brace.

use serde::Serialize;

use super::lines::Sources;
use crate::scan::{self, Line, Source};

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) line: usize,
    /// Lines of code, signature included.
    pub(super) lines: usize,
}

/// Returns the functions of the code. The lines of an inner function count for the outer one too.
pub(super) fn all(sources: &Sources<'_>) -> Vec<Function> {
    sources.code().flat_map(|(path, source)| functions(path, source)).collect()
}

/// A function that is still being read.
struct Open {
    name: String,
    line: usize,
    /// Lines of code before it.
    before: usize,
    /// Brackets open at its `fn`. A `;` or `{` inside further brackets, as in `[u8; 2]`, does not end the signature.
    brackets: usize,
    /// Braces that were open before its body; `None` in its signature.
    body: Option<usize>,
}

fn functions(path: &str, source: &Source) -> Vec<Function> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let (mut braces, mut brackets, mut lines) = (0_usize, 0_usize, 0);
    for (number, line) in source.shipped() {
        let before = lines;
        lines += usize::from(line.is_code());
        for token in tokens(line) {
            let signature = open.last_mut().filter(|open| open.body.is_none() && open.brackets == brackets);
            match token {
                Token::Function(name) => open.push(Open { name, line: number, before, brackets, body: None }),
                Token::Mark('(' | '[') => brackets += 1,
                Token::Mark(')' | ']') => brackets = brackets.saturating_sub(1),
                // A trait's function without a body.
                Token::Mark(';') if signature.is_some() => drop(open.pop()),
                Token::Mark('{') => {
                    if let Some(signature) = signature {
                        signature.body = Some(braces);
                    }
                    braces += 1;
                }
                Token::Mark('}') => {
                    braces = braces.saturating_sub(1);
                    if let Some(ended) = open.pop_if(|open| open.body == Some(braces)) {
                        let Open { name, line, before, .. } = ended;
                        found.push(Function { name, path: path.to_owned(), line, lines: lines - before });
                    }
                }
                Token::Mark(_) => {}
            }
        }
    }
    found
}

enum Token {
    /// `fn` and the name after it.
    Function(String),
    Mark(char),
}

fn tokens(line: &Line) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = line.code.chars().peekable();
    let mut is_after_fn = false;
    while let Some(first) = rest.next() {
        if scan::is_word(first) {
            let mut word = String::from(first);
            while let Some(next) = rest.next_if(|c| scan::is_word(*c)) {
                word.push(next);
            }
            let is_fn = word == "fn";
            if is_after_fn {
                tokens.push(Token::Function(word));
            }
            is_after_fn = is_fn;
        } else if !first.is_whitespace() {
            is_after_fn = false;
            tokens.push(Token::Mark(first));
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, usize, usize)]) {
        let found = functions("a.rs", &Source::new(text));
        let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.line, one.lines)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_function_ends_with_its_own_brace() {
        check(
            "impl A {\n    fn a(\n        b: fn(u8) -> [u8; 2],\n    ) {\n\n        // why\n        if b { '}' } else { \"}\" }\n    }\n}\nfn c() {}",
            &[("a", 2, 5), ("c", 10, 1)],
        );
    }

    #[test]
    fn a_function_without_a_body_is_ignored() {
        check("trait A {\n    fn a(b: [u8; 2]);\n    fn c() {}\n}\nstruct D {}", &[("c", 3, 1)]);
    }

    #[test]
    fn an_inner_function_counts_for_both() {
        check("fn a() {\n    fn b() {\n    }\n}", &[("b", 2, 2), ("a", 1, 4)]);
    }

    #[test]
    fn functions_of_the_test_module_are_left_out() {
        check("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}", &[("a", 1, 1)]);
    }
}
