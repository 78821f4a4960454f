//! No line ends in blanks: they are invisible in a review and add noise to the next diff.

use crate::finding::{Exception, Finding, excepted};
use crate::tree::Tree;

/// Files that a program wrote and that are compared byte by byte.
const RECORDED: &[&str] = &["snap", "stderr"];

pub(super) const EXCEPTIONS: &[Exception] =
    &[Exception { path: "fuzz/corpus/", reason: "inputs of the fuzzers, byte by byte" }];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let recorded = file.extension().is_some_and(|extension| RECORDED.contains(&extension));
        let Some(text) = file.text.as_deref().filter(|_| !recorded) else { continue };
        if excepted(EXCEPTIONS, &file.path) {
            continue;
        }
        let ends = (1..).zip(text.split('\n')).filter(|(_, line)| line.ends_with([' ', '\t', '\r']));
        findings.extend(ends.map(|(number, _)| Finding::at(&file.path, number, "the line ends in blanks")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[test]
    fn blanks_at_the_end_are_found_but_not_in_recorded_output() {
        super::super::check(
            super::check,
            &[("a.rs", "a\nb \n\t\nc"), ("b.md", "a\r\nb"), ("c.snap", "a "), ("d.stderr", "a ")],
            &expect![[r#"
                a.rs:2: the line ends in blanks
                a.rs:3: the line ends in blanks
                b.md:1: the line ends in blanks
            "#]],
        );
    }
}
