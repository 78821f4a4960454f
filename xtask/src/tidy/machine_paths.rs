//! No tracked file contains a path of a particular machine: it would be wrong on every other one.

use crate::finding::{Exception, Finding, excepted};
use crate::tree::Tree;

/// Folders in which people and build machines keep their checkouts.
const FOLDERS: &[&str] = &["/home/", "/root/", "/work/", "/Users/"];

/// Invented home directories, for tests that need one.
const INVENTED: &[&str] = &["/home/ada", "/home/user"];

/// Files that are about such paths.
pub(super) const EXCEPTIONS: &[Exception] =
    &[Exception { path: "xtask/src/tidy/machine_paths.rs", reason: "names the folders it looks for" }];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| !excepted(EXCEPTIONS, &file.path)) {
        for (number, line) in (1..).zip(file.text.as_deref().unwrap_or_default().lines()) {
            let named = FOLDERS.iter().filter(|folder| begins_a_path(line, folder));
            findings.extend(named.map(|folder| {
                Finding::at(&file.path, number, format!("`{folder}…` is a path of one machine only"))
            }));
        }
    }
    findings
}

/// Returns whether the folder starts a path; `src/work/` and `~/work/` are other folders.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(start, _)| {
        let before = line.get(..start).and_then(|before| before.chars().next_back());
        let invented = line.get(start..).is_some_and(|path| INVENTED.iter().any(|home| names(path, home)));
        !invented && !before.is_some_and(|c| c.is_alphanumeric() || "._-~*/}$".contains(c))
    })
}

fn names(path: &str, home: &str) -> bool {
    path.strip_prefix(home).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    #[test]
    fn absolute_paths_of_a_machine_are_found() {
        super::super::check(
            super::check,
            &[
                ("a.md", "see /home/me/x\nand src/work/y, ~/work/z, $HOME/root/z, https://x.org/home/"),
                ("b.toml", "path = \"/work/z\""),
                ("c.sh", "cd ${TMP}/work/x; PATH=/root/bin"),
                ("d.rs", "cd(\"/home/ada/x\")\ncd(\"/home/adam\")"),
            ],
            &expect![[r#"
                a.md:1: `/home/…` is a path of one machine only
                b.toml:1: `/work/…` is a path of one machine only
                c.sh:1: `/root/…` is a path of one machine only
                d.rs:2: `/home/…` is a path of one machine only
            "#]],
        );
    }
}
