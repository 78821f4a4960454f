//! The Rust files that a commit range touches, the code apart from the tests.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::process;
use crate::scan::Source;
use crate::tree::is_test_file;

/// Touched files. A file with code and tests is in each list whose part was touched.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct TouchedFiles {
    code: Vec<String>,
    tests: Vec<String>,
}

/// Returns the files that the commits after `since` touch, up to HEAD, or those of a range `A..B`.
pub(super) fn touched(root: &Path, since: &str) -> Result<TouchedFiles, Error> {
    let (from, to) = since.split_once("..").unwrap_or((since, "HEAD"));
    let git = |arguments: &[&str]| {
        process::output(
            "git",
            &[&["-c", "safe.directory=*", "-c", "core.quotePath=false"], arguments].concat(),
            root,
        )
    };
    let form = [
        "--no-color",
        "--no-ext-diff",
        "--find-renames",
        "--unified=0",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ];
    let diff = git(&[&["diff"], &form[..], &[from, to, "--", "*.rs"]].concat())?;
    let mut touched = TouchedFiles::default();
    for (path, lines) in changes(&diff) {
        // `git show` fails for a removed file, which then counts as code.
        let tests_from = if is_test_file(path) {
            Some(0)
        } else {
            let text = git(&["show", &format!("{to}:{path}")]).unwrap_or_default();
            Source::new(&text).tests().next().map(|(line, _)| line)
        };
        touched.add(path, &lines, tests_from);
    }
    Ok(touched)
}

impl TouchedFiles {
    fn add(&mut self, path: &str, lines: &[usize], tests_from: Option<usize>) {
        let is_test = |line: &usize| tests_from.is_some_and(|from| *line >= from);
        if lines.iter().any(|line| !is_test(line)) {
            self.code.push(path.to_owned());
        }
        if lines.iter().any(is_test) {
            self.tests.push(path.to_owned());
        }
    }
}

/// Reads a diff without context: each file with the first and last line of every change, numbered as after it.
fn changes(diff: &str) -> Vec<(&str, Vec<usize>)> {
    let mut changes: Vec<(&str, Vec<usize>)> = Vec::new();
    for line in diff.lines() {
        if let Some((_, path)) = line.strip_prefix("diff --git a/").and_then(|rest| rest.split_once(" b/")) {
            changes.push((path, Vec::new()));
        } else if let Some(hunk) = line.strip_prefix("@@ ")
            && let Some((first, last)) = after(hunk)
            && let Some((_, lines)) = changes.last_mut()
        {
            lines.extend([first, last]);
        }
    }
    changes
}

/// Returns the first and last line of a hunk (`-1,2 +3,4 @@ …`) after the change. For a removal it is the line before.
fn after(hunk: &str) -> Option<(usize, usize)> {
    let place = hunk.split(' ').find_map(|part| part.strip_prefix('+'))?;
    let (first, count) = place.split_once(',').unwrap_or((place, "1"));
    let (first, count): (usize, usize) = (first.parse().ok()?, count.parse().ok()?);
    Some((first, first + count.saturating_sub(1)))
}

impl fmt::Display for TouchedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, paths) in [("code", &self.code), ("tests", &self.tests)] {
            writeln!(f, "{name}: {} files", paths.len())?;
            for path in paths {
                writeln!(f, "  {path}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::expect;

    use super::*;

    fn commit(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let full = root.join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, text).unwrap();
        }
        process::output("git", &["add", "--all"], root).unwrap();
        let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let commit = [&author[..], &["commit", "--quiet", "--message", "x"]].concat();
        process::output("git", &commit, root).unwrap();
    }

    #[test]
    fn files_are_listed_where_they_were_touched() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        process::output("git", &["init", "--quiet"], root).unwrap();
        let tests = "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        let both = |code: &str, test: &str| format!("{code}\n{tests}").replace("fn t", test);
        let moved = "fn a() {}\nfn b() {}\nfn c() {}\n";
        commit(
            root,
            &[
                ("src/both.rs", &both("a", "fn t")),
                ("src/code.rs", &both("a", "fn t")),
                ("src/in_tests.rs", &both("a", "fn t")),
                ("src/untouched.rs", "a"),
                ("src/removed.rs", "b"),
                ("src/old.rs", moved),
                ("notes.md", "a"),
            ],
        );
        fs::remove_file(root.join("src/removed.rs")).unwrap();
        fs::rename(root.join("src/old.rs"), root.join("src/new.rs")).unwrap();
        commit(
            root,
            &[
                ("src/both.rs", &both("b", "fn u")),
                ("src/code.rs", &both("b", "fn t")),
                ("src/in_tests.rs", &both("a", "fn u")),
                ("src/tests.rs", "a"),
                ("src/added.rs", &both("a", "fn t")),
                ("notes.md", "b"),
            ],
        );
        expect![[r#"
            code: 4 files
              src/added.rs
              src/both.rs
              src/code.rs
              src/removed.rs
            tests: 4 files
              src/added.rs
              src/both.rs
              src/in_tests.rs
              src/tests.rs
        "#]]
        .assert_eq(&touched(root, "HEAD~1").unwrap().to_string());
        assert_eq!(touched(root, "HEAD~1..HEAD~1").unwrap(), TouchedFiles::default());
    }
}
