//! A file is short enough to be read in one sitting; a longer one is split by what it handles.

use crate::finding::{Exception, Finding, excepted};
use crate::scan::Source;
use crate::tree::{Tree, is_test_file};

/// Maximum lines of code, without blank lines, comments and tests.
const LINES_MAX: usize = 500;

/// Files that are better long, with the reason.
pub(super) const EXCEPTIONS: &[Exception] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("rs").filter(|(path, _)| !is_test_file(path)) {
        let lines = Source::new(text).shipped().filter(|(_, line)| line.is_code()).count();
        if lines > LINES_MAX && !excepted(EXCEPTIONS, path) {
            let reason = format!("{lines} lines of code, {LINES_MAX} are allowed: cut it by what it handles");
            findings.push(Finding::whole(path, reason));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::LINES_MAX;

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let code = "a();\n// c\n\n".repeat(LINES_MAX);
        let with_tests = format!("{code}#[cfg(test)]\nmod tests {{\n{code}}}\n");
        let long = format!("{code}\"\n\";");
        super::super::check(
            super::check,
            &[("a.rs", &code), ("b.rs", &with_tests), ("c.rs", &long), ("tests/d.rs", &long)],
            &expect![[r#"
                c.rs: 502 lines of code, 500 are allowed: cut it by what it handles
            "#]],
        );
    }
}
