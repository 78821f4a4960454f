//! All tests run, and none waits for time to pass.

use crate::finding::Finding;
use crate::scan::{self, Line, Source};
use crate::tree::{Tree, is_test_file};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts("rs") {
        let source = Source::new(text);
        for (number, _) in source.lines().filter(|(_, line)| ignores(line)) {
            findings.push(Finding::at(path, number, "an ignored test proves nothing: repair or remove it"));
        }
        let test_lines: Vec<_> =
            if is_test_file(path) { source.lines().collect() } else { source.tests().collect() };
        for (number, _) in test_lines.into_iter().filter(|(_, line)| sleeps(line)) {
            findings.push(Finding::at(path, number, "a test must not sleep: wait for the event itself"));
        }
    }
    findings
}

fn ignores(line: &Line) -> bool {
    let code = line.code.trim_start();
    code.starts_with("#[ignore") || (code.starts_with("#[cfg_attr") && scan::has_word(code, "ignore"))
}

/// Returns whether a line calls or imports a `sleep`. Methods of that name (of a clock under test) do not count.
fn sleeps(line: &Line) -> bool {
    let code = line.code.as_str();
    let imported = code.trim_start().starts_with("use ") && scan::has_word(code, "sleep");
    let called = code.match_indices("sleep(").any(|(start, _)| {
        let before = code.get(..start).unwrap_or_default();
        !before.ends_with(scan::is_word) && !before.ends_with('.') && !before.ends_with("fn ")
    });
    imported || called
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[test]
    fn ignored_and_sleeping_tests_are_found() {
        super::super::check(
            super::check,
            &[
                (
                    "crates/a/src/lib.rs",
                    "fn f() { tokio::time::sleep(d).await }\n#[cfg(test)]\nmod tests {\n#[ignore = \"slow\"]\n\
                     std::thread::sleep(d);\nclock.sleep(d); \"sleep(1)\"; fn sleep(d: u8) {}\n}",
                ),
                ("crates/a/tests/b.rs", "use tokio::time::{self, sleep};\ntime::sleep(d).await;"),
                ("crates/a/tests/c.rs", "#[cfg_attr(unix, ignore)]\nfn t() {}"),
            ],
            &expect![[r#"
                crates/a/src/lib.rs:4: an ignored test proves nothing: repair or remove it
                crates/a/src/lib.rs:5: a test must not sleep: wait for the event itself
                crates/a/tests/b.rs:1: a test must not sleep: wait for the event itself
                crates/a/tests/b.rs:2: a test must not sleep: wait for the event itself
                crates/a/tests/c.rs:1: an ignored test proves nothing: repair or remove it
            "#]],
        );
    }
}
