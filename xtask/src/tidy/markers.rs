//! No marker of unfinished work is left in the sources: it belongs in an issue.
//!
//! Clippy denies the macros of that kind (`todo!`, `dbg!`).

use super::markdown;
use crate::finding::Finding;
use crate::scan::{self, Source};
use crate::tree::Tree;

/// Words that mark unfinished work, searched in comments and prose.
const WORDS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];
/// Files whose comments start with `#`.
const HASH_COMMENTED: &[&str] = &["toml", "sh", "yml", "yaml"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("rs") {
        for (number, line) in Source::new(text).lines() {
            findings.extend(words(path, number, &line.comment));
        }
    }
    for extension in HASH_COMMENTED {
        for (path, text) in tree.texts(extension) {
            for (number, line) in (1..).zip(text.lines()) {
                let comment = line.split_once('#').map(|(_, comment)| comment);
                findings.extend(words(path, number, comment.unwrap_or_default()));
            }
        }
    }
    for (path, text) in tree.texts("md") {
        for (number, line) in markdown::prose(text) {
            findings.extend(words(path, number, &line));
        }
    }
    findings
}

fn words<'a>(path: &'a str, number: usize, text: &'a str) -> impl Iterator<Item = Finding> + use<'a> {
    let found = WORDS.iter().filter(|word| scan::has_word(text, word));
    found.map(move |word| Finding::at(path, number, format!("leftover {word}: finish it, or open an issue")))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[test]
    fn markers_are_found_everywhere_except_in_strings() {
        super::super::check(
            super::check,
            &[
                ("a.rs", "// TODO: later\nlet a = \"TODO\"; b();\n/* FIXME */ c()"),
                ("b.toml", "a = 1 # HACK\nb = \"XXX\""),
                ("c.md", "Plain XXX here.\nThe `TODO` tool finds TODOs.\n```\nTODO\n```\n"),
                ("d.txt", "TODO"),
            ],
            &expect![[r#"
                a.rs:1: leftover TODO: finish it, or open an issue
                a.rs:3: leftover FIXME: finish it, or open an issue
                b.toml:1: leftover HACK: finish it, or open an issue
                c.md:1: leftover XXX: finish it, or open an issue
            "#]],
        );
    }
}
