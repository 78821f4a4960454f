//! Prose uses plain words: not those of `plain_words.txt`, which names better ones.
//!
//! Prose is the comments of Rust files, the strings of the crates whose texts people read, and the Markdown that users
//! read. Decision records keep the words of their time.

use super::markdown;
use crate::finding::{Exception, Finding, excepted};
use crate::scan::{self, Source};
use crate::tree::Tree;

/// The words, one per line.
const WORDS: &str = include_str!("plain_words.txt");

/// Crates whose strings people read. Strings of other crates go to models too, and recordings depend on them.
const FOR_PEOPLE: &[&str] =
    &["app", "audit", "cli", "history", "journal", "memory", "model", "own_files", "runtime", "telemetry"];

/// Files whose prose is not checked, with the reason.
pub(super) const EXCEPTIONS: &[Exception] = &[
    Exception { path: "crates/extract/src/draft.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/memory.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/message/", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/models.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/record.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/record/survey.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/replay.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/role.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/settings.rs", reason: "its comments are schema text" },
    Exception { path: "crates/protocol/src/tool.rs", reason: "its comments are schema text" },
    Exception {
        path: "crates/tools/src/catalogue/edit_file.rs",
        reason: "its comments are a prompt to models",
    },
];

/// A word that prose does not use.
struct Word {
    phrase: &'static str,
    better: &'static str,
    /// Longer phrases in which it is proper.
    proper: Vec<&'static str>,
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let words = words();
    let mut findings = Vec::new();
    for (path, text) in tree.texts("rs").filter(|(path, _)| !excepted(EXCEPTIONS, path)) {
        let source = Source::new(text);
        for (number, line) in source.lines() {
            let comment = markdown::prose(&line.comment).map(|(_, prose)| prose).collect::<String>();
            findings.extend(found(&words, &comment).map(|word| word.at(path, number)));
        }
        if is_for_people(path) {
            let texts = source.shipped().map(|(number, line)| (number, &line.text));
            findings.extend(
                texts.flat_map(|(number, text)| found(&words, text).map(move |word| word.at(path, number))),
            );
        }
    }
    for (path, text) in tree.texts("md").filter(|(path, _)| is_read_by_users(path)) {
        for (number, line) in markdown::prose(text) {
            findings.extend(found(&words, &line).map(|word| word.at(path, number)));
        }
    }
    findings
}

impl Word {
    fn at(&self, path: &str, line: usize) -> Finding {
        Finding::at(path, line, format!("\"{}\" is not plain: write {}", self.phrase, self.better))
    }

    /// Returns whether `text`, in lower case, contains the phrase outside its proper uses.
    fn is_in(&self, text: &str) -> bool {
        text.match_indices(self.phrase).any(|(start, _)| {
            let end = start + self.phrase.len();
            let before = text.get(..start).and_then(|text| text.chars().next_back());
            let after = text.get(end..).and_then(|text| text.chars().next());
            let is_whole = !before.is_some_and(scan::is_word) && !after.is_some_and(scan::is_word);
            is_whole && !self.proper.iter().any(|proper| covers(text, proper, start, end))
        })
    }
}

/// Returns whether `phrase` occurs in `text` around the bytes from `start` to `end`.
fn covers(text: &str, phrase: &str, start: usize, end: usize) -> bool {
    text.match_indices(phrase).any(|(at, _)| at <= start && end <= at + phrase.len())
}

/// Parses the list.
fn words() -> Vec<Word> {
    let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
    let word = |line: &'static str| {
        let mut parts = line.split('|').map(str::trim);
        let (phrase, better) = (parts.next()?, parts.next()?);
        let proper = parts.next().into_iter().flat_map(|proper| proper.split(", ")).collect();
        Some(Word { phrase, better, proper })
    };
    lines.filter_map(word).collect()
}

/// Returns the words of the list that `text` uses.
fn found<'w>(words: &'w [Word], text: &str) -> impl Iterator<Item = &'w Word> + use<'w> {
    let text = text.to_lowercase();
    words.iter().filter(move |word| word.is_in(&text))
}

/// Returns whether people read the strings of a Rust file.
fn is_for_people(path: &str) -> bool {
    let rest = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
    rest.is_some_and(|(name, file)| {
        FOR_PEOPLE.contains(&name) && !file.ends_with("tests.rs") && !file.contains("tests/")
    })
}

/// Returns whether a Markdown file is for users: not a decision record, nor a note beside the code.
fn is_read_by_users(path: &str) -> bool {
    match path.strip_prefix("docs/") {
        Some(name) => !name.contains('/'),
        None => matches!(path, "README.md" | "CHANGELOG.md"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn words_are_found_in_comments_strings_and_documents() {
        super::super::check(
            check,
            &[
                ("a.rs", "//! Whoever asks.\nlet nobody = \"whoever\"; // `nobody`"),
                (
                    "crates/cli/src/a.rs",
                    "//! Nobody.\nlet nobody = \"a\\nwhoever\"; // `nobody`\n#[cfg(test)]\nmod tests {\n\"anew\"\n}",
                ),
                ("crates/cli/src/tests.rs", "\"nobody\""),
                ("crates/tools/src/a.rs", "\"nobody\""),
                ("crates/extract/src/draft.rs", "// nobody"),
                ("docs/a.md", "It is made\nof parts, made of wood.\n```\nanew\n```\n"),
                ("docs/decisions/a.md", "nobody"),
                ("README.md", "Held against `anew`."),
            ],
            &expect![[r#"
                a.rs:1: "whoever" is not plain: write the one who acts: the caller, the process that, a client that
                crates/cli/src/a.rs:1: "nobody" is not plain: write the one who does not act: no process, no task, no person
                crates/cli/src/a.rs:2: "whoever" is not plain: write the one who acts: the caller, the process that, a client that
                README.md:1: "held against" is not plain: write compared with, checked against, counted against
                docs/a.md:2: "made of" is not plain: write consists of, built from
            "#]],
        );
    }

    #[test]
    fn proper_uses_and_parts_of_words_are_left_alone() {
        let text = "There is no key, x stands for y, it falls behind, misstands, nobodys, it is not. A tap is normal.";
        super::super::check(check, &[("docs/a.md", text)], &expect![""]);
        super::super::check(
            check,
            &[("docs/a.md", "There is no key and it is no text.")],
            &expect![[r#"
                docs/a.md:1: "is no" is not plain: write is not a, is not
            "#]],
        );
    }

    #[test]
    fn every_line_of_the_list_has_a_better_word() {
        let lines = WORDS.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(words().len(), lines);
        for word in words() {
            assert!(!word.better.is_empty() && word.phrase == word.phrase.to_lowercase(), "{}", word.phrase);
            assert!(word.proper.iter().all(|proper| proper.contains(word.phrase)), "{}", word.phrase);
        }
    }
}
