//! Every exception has a reason, and its file exists.

use super::{file_length, machine_paths, plain_words, whitespace};
use crate::finding::{self, Exception, Finding};
use crate::tree::Tree;

/// The exceptions of all rules.
const LISTS: &[&[Exception]] =
    &[file_length::EXCEPTIONS, machine_paths::EXCEPTIONS, plain_words::EXCEPTIONS, whitespace::EXCEPTIONS];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    LISTS.iter().flat_map(|list| idle(list, tree)).collect()
}

fn idle(list: &[Exception], tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for exception in list {
        if exception.reason.is_empty() {
            findings.push(Finding::whole(exception.path, "an exception is made for it without a reason"));
        }
        let covers = |path: &str| finding::excepted(std::slice::from_ref(exception), path);
        if !tree.files().iter().any(|file| covers(&file.path)) {
            let reason = format!("an exception is made for it ({}), but it does not exist", exception.reason);
            findings.push(Finding::whole(exception.path, reason));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn an_exception_without_a_file_or_a_reason_is_found() {
        let list = [
            Exception { path: "a.rs", reason: "a" },
            Exception { path: "b/", reason: "" },
            Exception { path: "c/", reason: "c" },
            Exception { path: "d.rs", reason: "d" },
        ];
        let tree = Tree::of(&[("a.rs", ""), ("b/x.rs", ""), ("c.rs", ""), ("d.rs/x", "")]);
        expect![[r#"
            b/: an exception is made for it without a reason
            c/: an exception is made for it (c), but it does not exist
            d.rs: an exception is made for it (d), but it does not exist
        "#]]
        .assert_eq(&finding::text(&idle(&list, &tree)));
    }
}
