//! Lines of code and of tests, by file and by crate.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::scan::Source;
use crate::tree::{Tree, is_test_file};

/// Every Rust file of the repository, taken apart once.
pub(super) struct Sources<'a> {
    files: Vec<(&'a str, Source)>,
    /// Files that another declares as `#[cfg(test)] mod name;`.
    test_modules: BTreeSet<String>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Count {
    pub(super) name: String,
    pub(super) code: usize,
    pub(super) tests: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct FileLines {
    pub(super) path: String,
    pub(super) lines: usize,
}

impl<'a> Sources<'a> {
    pub(super) fn of(tree: &'a Tree) -> Self {
        let files: Vec<_> = tree.texts("rs").map(|(path, text)| (path, Source::new(text))).collect();
        let declared = files.iter().flat_map(|(path, source)| {
            let folder = folder_of_modules(path);
            source
                .test_modules()
                .into_iter()
                .flat_map(move |name| [format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")])
        });
        let test_modules = declared.collect();
        Self { files, test_modules }
    }

    /// Returns the files that hold code, with their paths.
    pub(super) fn code(&self) -> impl Iterator<Item = (&'a str, &Source)> {
        self.files.iter().filter(|(path, _)| !self.is_test(path)).map(|(path, source)| (*path, source))
    }

    fn is_test(&self, path: &str) -> bool {
        is_test_file(path) || self.test_modules.contains(path)
    }
}

impl Count {
    pub(super) fn sum<'a>(name: &str, counts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self { name: name.to_owned(), ..Self::default() };
        for count in counts {
            sum.code += count.code;
            sum.tests += count.tests;
        }
        sum
    }
}

/// Counts the lines of each crate, in the order of their names.
pub(super) fn by_crate(sources: &Sources<'_>) -> Vec<Count> {
    let mut crates: BTreeMap<&str, Count> = BTreeMap::new();
    for (path, source) in &sources.files {
        let name = crate_of(path);
        let count = crates.entry(name).or_insert_with(|| Count { name: name.to_owned(), ..Count::default() });
        let code = if sources.is_test(path) { 0 } else { code_lines(source) };
        count.code += code;
        count.tests += source.lines().filter(|(_, line)| line.is_code()).count() - code;
    }
    crates.into_values().collect()
}

/// Counts the lines of each file that holds code.
pub(super) fn files(sources: &Sources<'_>) -> Vec<FileLines> {
    let file =
        |(path, source): (&str, &Source)| FileLines { path: path.to_owned(), lines: code_lines(source) };
    sources.code().map(file).collect()
}

fn code_lines(source: &Source) -> usize {
    source.shipped().filter(|(_, line)| line.is_code()).count()
}

fn crate_of(path: &str) -> &str {
    let inside = path.strip_prefix("crates/").unwrap_or(path);
    inside.split('/').next().unwrap_or(inside)
}

/// Returns the folder of the modules that a file declares, with a trailing slash.
fn folder_of_modules(path: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let is_root = |name: &str| matches!(name, "mod" | "lib" | "main");
    match stem.rsplit_once('/') {
        Some((folder, name)) if is_root(name) => format!("{folder}/"),
        _ => format!("{stem}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(texts: &[(&str, &str)]) -> Vec<(String, usize, usize)> {
        let tree = Tree::of(texts);
        let counts = by_crate(&Sources::of(&tree));
        counts.into_iter().map(|count| (count.name, count.code, count.tests)).collect()
    }

    #[test]
    fn blank_lines_and_comments_do_not_count() {
        let text = "//! head\n\nlet a = \"\n\n\"; // why\n/* x\ny */\n";
        assert_eq!(counts(&[("xtask/src/main.rs", text)]), [("xtask".to_owned(), 2, 0)]);
    }

    #[test]
    fn test_files_and_test_modules_are_tests() {
        let texts = [
            ("crates/a/src/lib.rs", "code\n#[cfg(test)]\nmod disk;\ncode\n#[cfg(test)]\nmod tests {\n}\n"),
            ("crates/a/src/disk.rs", "test\n"),
            ("crates/a/src/b.rs", "code\n#[cfg(test)]\npub(crate) mod made;\n"),
            ("crates/a/src/b/made/mod.rs", "test\n"),
            ("crates/a/src/made.rs", "code\n"),
            ("crates/a/src/b/tests.rs", "test\n"),
            ("crates/a/tests/it/main.rs", "test\n"),
        ];
        assert_eq!(counts(&texts), [("a".to_owned(), 8, 7)]);
    }
}
