//! No marker of unfinished work is left in the sources: it belongs in an issue.

use super::markdown;
use crate::finding::Finding;
use crate::scan::{self, Source};
use crate::tree::Tree;

/// Words that mark unfinished work, searched in comments and prose.
const WORDS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];
/// Macros for missing code, or for debugging.
const MACROS: &[&str] = &["todo!", "unimplemented!", "dbg!"];
/// Files whose comments start with `#`.
const HASH_COMMENTED: &[&str] = &["toml", "sh", "yml", "yaml"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("rs") {
        for (number, line) in Source::new(text).lines() {
            findings.extend(words(path, number, &line.comment));
            findings.extend(macros(path, number, &line.code));
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

fn macros<'a>(path: &'a str, number: usize, code: &'a str) -> impl Iterator<Item = Finding> + use<'a> {
    let called = |name: &&&str| {
        code.match_indices(**name).any(|(start, _)| {
            let before = code.get(..start).and_then(|before| before.chars().next_back());
            !before.is_some_and(scan::is_word)
        })
    };
    MACROS.iter().filter(called).map(move |name| Finding::at(path, number, format!("leftover {name}()")))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[test]
    fn markers_are_found_everywhere_except_in_strings() {
        super::super::check(
            super::check,
            &[
                (
                    "a.rs",
                    "// TODO: later\nlet a = \"TODO\"; todo!();\n/* FIXME */ my_todo!()\nlet b = dbg!(b);",
                ),
                ("b.toml", "a = 1 # HACK\nb = \"XXX\""),
                ("c.md", "Plain XXX here.\nThe `TODO` tool finds TODOs.\n```\nTODO\n```\n"),
                ("d.txt", "TODO"),
            ],
            &expect![[r#"
                a.rs:1: leftover TODO: finish it, or open an issue
                a.rs:2: leftover todo!()
                a.rs:3: leftover FIXME: finish it, or open an issue
                a.rs:4: leftover dbg!()
                b.toml:1: leftover HACK: finish it, or open an issue
                c.md:1: leftover XXX: finish it, or open an issue
            "#]],
        );
    }
}
