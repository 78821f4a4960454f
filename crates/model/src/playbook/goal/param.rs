//! Parameters: what a goal may leave open, and which words are valid values.

use regex::RegexBuilder;
use serde_json::Value;
use setpoint_protocol::limits::{PATTERN_CHARS_MAX, PATTERN_COMPILED_BYTES_MAX};

use super::number;
use super::words::{Goal, Word};
use crate::playbook::limits::VALUE_CHARS_MAX;
use crate::playbook::template::TextTemplate;

/// A parameter of a playbook.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    /// Name of the parameter.
    pub(crate) name: String,
    /// Type of its value.
    pub(crate) kind: ParamKind,
    /// Purpose of the parameter.
    pub(crate) description: String,
    /// Default value.
    pub(crate) default: Option<ParamDefault>,
}

/// The default value of a parameter.
#[derive(Clone, Debug)]
pub(crate) enum ParamDefault {
    /// Always the same.
    Fixed(Value),
    /// Filled in from other parameters.
    Made(TextTemplate),
}

/// The type of a parameter.
#[derive(Clone, Debug)]
pub(crate) enum ParamKind {
    /// A path: one word, one quoted text, or a phrase such as “the current directory”.
    Path(PathRequirement),
    /// A whole number in this range.
    Number {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// One plain word, or a text in quotes.
    Text,
    /// As `Text`, but a text in quotes may be empty.
    TextOrNothing,
    /// A regular expression: one word or one quoted text.
    Pattern,
    /// A file name with wildcards: one word or one quoted text.
    Glob,
    /// A number of bytes.
    Size,
    /// One of these.
    Choice(Vec<Choice>),
}

/// What must exist at a path before a plan is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathRequirement {
    /// Anything or nothing.
    Anything,
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A file or a directory.
    FileOrDirectory,
}

impl PathRequirement {
    /// Returns whether a path of this kind, as a survey names it, may stand there.
    pub(crate) fn takes(self, kind: &str) -> bool {
        let is_directory = matches!(kind, "directory" | "link to a directory");
        let is_file = matches!(kind, "file" | "link to a file");
        match self {
            PathRequirement::Anything => true,
            PathRequirement::File => is_file,
            PathRequirement::Directory => is_directory,
            PathRequirement::FileOrDirectory => is_file || is_directory,
        }
    }

    /// Returns words that may precede such a path.
    const fn kinds(self) -> &'static [&'static [&'static str]] {
        match self {
            PathRequirement::File => &[&["file"]],
            PathRequirement::Directory => &[FOLDERS],
            PathRequirement::Anything | PathRequirement::FileOrDirectory => &[&["file"], FOLDERS],
        }
    }
}

const FOLDERS: &[&str] = &["directory", "folder", "dir"];

/// One value of a choice, with the words for it.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) value: String,
    /// Folded words for it, including the value itself.
    pub(crate) words: Vec<String>,
}

/// Words that end or begin a phrase; unquoted, they are never a path or a value.
const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "the", "this", "that", "these", "those", "my", "your", "our", "its", "it", "all", "each",
    "every", "any", "and", "or", "in", "on", "of", "to", "for", "from", "under", "below", "inside", "within",
    "with", "by", "at", "as", "into", "is", "are", "current", "working", "here", "there", "me", "you",
    "which", "what", "most", "please",
];

/// Phrases that mean a path.
const PATH_PHRASES: &[(&[&str], &str)] = &[
    (&["here"], "."),
    (&["this", "directory"], "."),
    (&["this", "folder"], "."),
    (&["this", "dir"], "."),
    (&["this", "tree"], "."),
    (&["current", "directory"], "."),
    (&["current", "folder"], "."),
    (&["current", "dir"], "."),
    (&["the", "current", "directory"], "."),
    (&["the", "current", "folder"], "."),
    (&["the", "current", "dir"], "."),
    (&["working", "directory"], "."),
    (&["the", "working", "directory"], "."),
    (&["current", "working", "directory"], "."),
    (&["the", "current", "working", "directory"], "."),
    (&["my", "home", "directory"], "~"),
    (&["my", "home", "folder"], "~"),
    (&["my", "home"], "~"),
    (&["the", "home", "directory"], "~"),
    (&["home", "directory"], "~"),
];

/// Returns whether a word alone means a place, although it could also be the name of a file: `here`.
pub(crate) fn always_means_a_place(word: &Word) -> bool {
    !word.quoted && PATH_PHRASES.iter().any(|(phrase, _)| **phrase == [word.fold.as_str()])
}

impl ParamKind {
    /// Returns the name of the type in a playbook.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            ParamKind::Path(PathRequirement::Anything) => "path",
            ParamKind::Path(PathRequirement::File) => "file",
            ParamKind::Path(PathRequirement::Directory) => "directory",
            ParamKind::Path(PathRequirement::FileOrDirectory) => "file_or_directory",
            ParamKind::Number { .. } => "number",
            ParamKind::Text => "text",
            ParamKind::TextOrNothing => "text_or_nothing",
            ParamKind::Pattern => "pattern",
            ParamKind::Glob => "glob",
            ParamKind::Size => "size",
            ParamKind::Choice(_) => "choice",
        }
    }

    /// Returns whether a goal can choose only among numbers and texts of the playbook's author.
    pub(crate) const fn is_harmless_in_a_shell(&self) -> bool {
        match self {
            ParamKind::Number { .. } | ParamKind::Size | ParamKind::Choice(_) => true,
            ParamKind::Path(_)
            | ParamKind::Text
            | ParamKind::TextOrNothing
            | ParamKind::Pattern
            | ParamKind::Glob => false,
        }
    }

    /// Returns the possible values in the goal's words from `at` on, with the number of words of each, the most likely
    /// first.
    pub(crate) fn candidates(&self, goal: &Goal, at: usize) -> Vec<(usize, Value)> {
        let words = goal.words().get(at..).unwrap_or_default();
        let Some(first) = words.first() else { return Vec::new() };
        match self {
            ParamKind::Path(there) => path(*there, words),
            ParamKind::Number { .. } => numbers(words),
            ParamKind::Size => sizes(words),
            // Several unquoted words may mean anything.
            ParamKind::Text | ParamKind::TextOrNothing => {
                text(goal, at, !first.glued && (first.quoted || !is_function_word(first)))
            }
            ParamKind::Pattern => text(goal, at, true),
            ParamKind::Glob => text(goal, at, first.quoted || !is_function_word(first)),
            ParamKind::Choice(choices) => choice(goal, at, choices),
        }
    }

    /// Returns the word at `at` as typed, if `value` was taken from it and lacks a mark that may belong to it.
    pub(crate) fn other_reading(&self, goal: &Goal, at: usize, value: &Value) -> Option<String> {
        let word = goal.words().get(at)?;
        let is_unclear = match self {
            ParamKind::Path(_) => word.typed != word.text && value.as_str() == Some(word.text.as_str()),
            ParamKind::Text | ParamKind::TextOrNothing | ParamKind::Pattern | ParamKind::Glob => {
                goal.text(at)?.1
            }
            ParamKind::Number { .. } | ParamKind::Size | ParamKind::Choice(_) => false,
        };
        is_unclear.then(|| word.typed.clone())
    }

    /// Returns why a bound value is not allowed, for a person.
    pub(crate) fn refusal(&self, value: &Value) -> Option<String> {
        let text = match value {
            Value::String(text) => text.as_str(),
            _ => "",
        };
        if text.chars().count() > VALUE_CHARS_MAX {
            return Some(format!("it has more than {VALUE_CHARS_MAX} characters"));
        }
        if text.chars().any(char::is_control) {
            return Some("it holds a control character".to_owned());
        }
        match self {
            ParamKind::Number { min, max } => match value.as_u64() {
                Some(number) if (*min..=*max).contains(&number) => None,
                _ => Some(format!("it must be between {min} and {max}, and is {value}")),
            },
            ParamKind::Size => value.as_u64().is_none().then(|| "it is not a number of bytes".to_owned()),
            ParamKind::Pattern => {
                let compiled = (text.chars().count() <= PATTERN_CHARS_MAX)
                    .then(|| RegexBuilder::new(text).size_limit(PATTERN_COMPILED_BYTES_MAX).build().ok())
                    .flatten();
                compiled.is_none().then(|| "it is not a usable regular expression".to_owned())
            }
            ParamKind::Choice(choices) => {
                let known = choices.iter().any(|choice| choice.value == text);
                (!known).then(|| "it is not one of the known values".to_owned())
            }
            ParamKind::Path(_) | ParamKind::Text | ParamKind::Glob => {
                (value.as_str() == Some("")).then(|| "it is empty".to_owned())
            }
            ParamKind::TextOrNothing => None,
        }
    }
}

fn text(goal: &Goal, at: usize, allowed: bool) -> Vec<(usize, Value)> {
    let text = goal.text(at).filter(|_| allowed);
    text.map(|(text, _)| (1, Value::String(text.to_owned()))).into_iter().collect()
}

fn is_function_word(word: &Word) -> bool {
    FUNCTION_WORDS.contains(&word.fold.as_str())
}

fn path(there: PathRequirement, words: &[Word]) -> Vec<(usize, Value)> {
    // The longest phrase first: “the current directory” before shorter ones.
    let mut phrases: Vec<(usize, &str)> = PATH_PHRASES
        .iter()
        .filter(|(phrase, _)| {
            words.len() >= phrase.len()
                && words.iter().zip(*phrase).all(|(word, said)| !word.quoted && word.fold == *said)
        })
        .map(|(phrase, path)| (phrase.len(), *path))
        .collect();
    phrases.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    let mut found: Vec<(usize, Value)> =
        phrases.into_iter().map(|(length, path)| (length, Value::String(path.to_owned()))).collect();
    let names = |word: &&Word| word.quoted || !is_function_word(word);
    // “the folder x” means x.
    if let [kind, named, ..] = words
        && !kind.quoted
        && there.kinds().iter().any(|kinds| kinds.contains(&kind.fold.as_str()))
        && names(&named)
    {
        found.push((2, Value::String(named.text.clone())));
    }
    if let Some(first) = words.first().filter(names) {
        found.push((1, Value::String(first.text.clone())));
    }
    found
}

fn numbers(words: &[Word]) -> Vec<(usize, Value)> {
    let mut found = Vec::new();
    let mut plain = words.iter().take_while(|word| !word.quoted);
    let Some(first) = plain.next() else { return found };
    if let Some(number) = plain.next().and_then(|second| number::of_two_words(&first.fold, &second.fold)) {
        found.push((2, Value::from(number)));
    }
    if let Some(number) = number::of_word(&first.fold) {
        found.push((1, Value::from(number)));
    }
    found
}

fn sizes(words: &[Word]) -> Vec<(usize, Value)> {
    let mut found = Vec::new();
    let Some(first) = words.first() else { return found };
    if let Some(bytes) = words.get(1).and_then(|unit| number::size(&first.fold, &unit.fold)) {
        found.push((2, Value::from(bytes)));
    }
    if let Some(bytes) = number::size_of_word(&first.fold) {
        found.push((1, Value::from(bytes)));
    }
    found
}

fn choice(goal: &Goal, at: usize, choices: &[Choice]) -> Vec<(usize, Value)> {
    let mut found = Vec::new();
    for choice in choices {
        for phrase in &choice.words {
            let width = phrase.split(' ').count();
            let words = goal.words().get(at..at + width).unwrap_or_default();
            let said = words.iter().map(|word| word.fold.as_str()).collect::<Vec<_>>().join(" ");
            if !words.is_empty() && said == *phrase {
                found.push((width, Value::String(choice.value.clone())));
            }
        }
    }
    found.sort_by_key(|(width, _)| std::cmp::Reverse(*width));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(kind: &ParamKind, goal: &str, expected: &Expect) {
        let goal = Goal::read(goal).unwrap();
        let found = kind.candidates(&goal, 0);
        let shown: Vec<String> = found.iter().map(|(width, value)| format!("{width} {value}")).collect();
        expected.assert_eq(&shown.join(", "));
    }

    #[test]
    fn a_path_is_a_word_a_quoted_text_or_a_phrase() {
        check(&ParamKind::Path(PathRequirement::Anything), "./crates", &expect![[r#"1 "./crates""#]]);
        check(
            &ParamKind::Path(PathRequirement::Anything),
            "'My Documents'",
            &expect![[r#"1 "My Documents""#]],
        );
        check(&ParamKind::Path(PathRequirement::Anything), "the current directory", &expect![[r#"3 ".""#]]);
        check(&ParamKind::Path(PathRequirement::Anything), "the attic", &expect![""]);
        check(&ParamKind::Path(PathRequirement::Anything), "'the' attic", &expect![[r#"1 "the""#]]);
        check(
            &ParamKind::Path(PathRequirement::Directory),
            "folder 'a b'",
            &expect![[r#"2 "a b", 1 "folder""#]],
        );
        check(&ParamKind::Path(PathRequirement::Directory), "folder by size", &expect![[r#"1 "folder""#]]);
        check(&ParamKind::Path(PathRequirement::File), "folder x", &expect![[r#"1 "folder""#]]);
        check(
            &ParamKind::Path(PathRequirement::FileOrDirectory),
            "file x.txt",
            &expect![[r#"2 "x.txt", 1 "file""#]],
        );
        check(
            &ParamKind::Path(PathRequirement::Anything),
            "my home directory",
            &expect![[r#"3 "~", 2 "~""#]],
        );
    }

    #[test]
    fn values_take_the_words_they_need() {
        let number = ParamKind::Number { min: 1, max: 100 };
        check(&number, "twenty five files", &expect!["2 25, 1 20"]);
        check(&number, "\"3\" files", &expect![""]);
        check(&ParamKind::Size, "10 MB files", &expect!["2 10000000, 1 10"]);
        check(&ParamKind::Text, "x y", &expect![[r#"1 "x""#]]);
        check(&ParamKind::Text, "'x y' z", &expect![[r#"1 "x y""#]]);
        check(&ParamKind::Text, "more than", &expect![[r#"1 "more""#]]);
        check(&ParamKind::Text, "the word", &expect![""]);
        let choice = ParamKind::Choice(vec![Choice {
            value: "sha256".into(),
            words: vec!["sha256".into(), "sha 256".into()],
        }]);
        check(&choice, "SHA 256 sums", &expect![[r#"2 "sha256""#]]);
    }

    #[test]
    fn bound_values_are_still_checked() {
        let number = ParamKind::Number { min: 1, max: 100 };
        assert_eq!(number.refusal(&Value::from(3)), None);
        assert!(number.refusal(&Value::from(101)).is_some());
        assert!(ParamKind::Pattern.refusal(&Value::from("(")).is_some());
        assert!(ParamKind::Pattern.refusal(&Value::from("a{1000}{1000}{1000}")).is_some());
        assert!(ParamKind::Path(PathRequirement::Anything).refusal(&Value::from("a\u{1b}b")).is_some());
        assert!(ParamKind::Path(PathRequirement::Anything).refusal(&Value::from("")).is_some());
        assert!(ParamKind::Text.refusal(&Value::from("")).is_some());
        assert_eq!(ParamKind::TextOrNothing.refusal(&Value::from("")), None);
        assert!(ParamKind::Text.refusal(&Value::from("x".repeat(VALUE_CHARS_MAX + 1))).is_some());
    }
}
