//! Every source file starts with a comment that says what it is.

use crate::finding::Finding;
use crate::tree::{Tree, is_test_file};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.texts("rs").filter(|(path, _)| is_module(path) && !is_test_file(path));
    let headless = sources.filter(|(_, text)| !text.starts_with("//!"));
    headless.map(|(path, _)| Finding::at(path, 1, "the file does not begin with a `//!` comment")).collect()
}

/// Returns whether a file is a module of a crate or of this program; scripts of `tests`, `benches` and fixtures are
/// not.
fn is_module(path: &str) -> bool {
    let parts: Vec<_> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        ["crates", _, "src", ..] | ["xtask" | "benches" | "fuzz" | "trials", "src", ..]
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[test]
    fn a_module_needs_a_head_and_a_test_does_not() {
        super::super::check(
            super::check,
            &[
                ("crates/a/src/lib.rs", "//! A.\n"),
                ("crates/a/src/b.rs", "/// B.\nmod c;"),
                ("crates/a/src/c/mod.rs", ""),
                ("crates/a/src/c/tests.rs", "use x;"),
                ("crates/a/tests/d.rs", "use x;"),
                ("xtask/src/main.rs", "\n//! late"),
                ("trials/src/tasks/one.rs", "mod x;"),
            ],
            &expect![[r#"
                crates/a/src/b.rs:1: the file does not begin with a `//!` comment
                crates/a/src/c/mod.rs:1: the file does not begin with a `//!` comment
                trials/src/tasks/one.rs:1: the file does not begin with a `//!` comment
                xtask/src/main.rs:1: the file does not begin with a `//!` comment
            "#]],
        );
    }
}
