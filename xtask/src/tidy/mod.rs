//! `cargo xtask tidy`: checks rules about the form of the tracked files, one file per rule.
//!
//! A rule reads the [`Tree`] and returns [`Finding`]s; it never reads the disk. Rules with exceptions keep them in
//! their own file, each with its reason.

mod architecture;
mod decisions;
mod exceptions;
mod file_length;
mod file_size;
mod invariants;
mod links;
mod machine_paths;
mod markdown;
mod markers;
mod module_heads;
mod plain_words;
mod test_habits;
mod whitespace;

use std::path::Path;

use crate::error::Error;
use crate::finding::Finding;
use crate::tree::Tree;

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    markers::check,
    module_heads::check,
    file_length::check,
    file_size::check,
    test_habits::check,
    whitespace::check,
    machine_paths::check,
    links::check,
    decisions::check,
    architecture::check,
    invariants::check,
    plain_words::check,
    exceptions::check,
];

/// Runs every rule on the repository at `root`; returns the findings sorted by place.
pub(crate) fn run(root: &Path) -> Result<Vec<Finding>, Error> {
    let tree = Tree::read(root)?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.sort();
    Ok(findings)
}

/// Runs a rule on a repository given as (path, text), and compares the findings as lines.
#[cfg(test)]
fn check(rule: Rule, texts: &[(&str, &str)], expected: &expect_test::Expect) {
    expected.assert_eq(&crate::finding::text(&rule(&Tree::of(texts))));
}
