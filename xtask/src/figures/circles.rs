//! Files of one crate that depend on each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::lines::Sources;
use crate::scan::{self, Source};

/// Files that all reach each other.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Circle {
    /// The folder of the crate's root file.
    pub(super) folder: String,
    /// Paths in that folder.
    pub(super) files: Vec<String>,
}

/// A module by the names that lead to it from the root.
type Module = Vec<String>;

/// Returns the circles of every crate, the largest first.
pub(super) fn all(sources: &Sources<'_>) -> Vec<Circle> {
    let mut crates: BTreeMap<&str, BTreeMap<Module, (&str, &Source)>> = BTreeMap::new();
    for (path, source) in sources.code() {
        if let Some((folder, file)) = inside(path) {
            crates.entry(folder).or_default().insert(module(file), (file, source));
        }
    }
    let mut circles: Vec<_> = crates.iter().flat_map(|(folder, modules)| in_crate(folder, modules)).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.files.len()));
    circles
}

/// Splits a path into the folder of its crate's root file and the rest. A program in `src/bin` has a root of its own.
fn inside(path: &str) -> Option<(&str, &str)> {
    let start = path.find("/src/")? + "/src/".len();
    let file = path.get(start..)?;
    let program = file.strip_prefix("bin/").and_then(|file| file.split_once('/'));
    let file = program.map_or(file, |(_, file)| file);
    Some((path.strip_suffix(file)?, file))
}

fn module(file: &str) -> Module {
    let mut names: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = names.len() == 1 && matches!(file, "lib.rs" | "main.rs");
    if is_root || names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

fn in_crate(folder: &str, modules: &BTreeMap<Module, (&str, &Source)>) -> Vec<Circle> {
    let named: BTreeMap<&Module, BTreeSet<&Module>> =
        modules.iter().map(|(module, (_, source))| (module, named_by(module, source, modules))).collect();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        named.keys().map(|module| (*module, reached_from(module, &named))).collect();
    let reaches = |from: &Module, to: &Module| reached.get(from).is_some_and(|found| found.contains(to));
    let mut circles = Vec::new();
    for module in modules.keys().filter(|module| reaches(module, module)) {
        let circle: Vec<_> =
            modules.iter().filter(|(other, _)| reaches(module, other) && reaches(other, module)).collect();
        // Report each circle once, from its first module.
        if circle.first().is_some_and(|(first, _)| *first == module) {
            let files = circle.iter().map(|(_, (file, _))| (*file).to_owned()).collect();
            circles.push(Circle { folder: folder.to_owned(), files });
        }
    }
    circles
}

/// Returns the other modules that a file names. Leaves the root out: it re-exports, so a path through it may mean any file.
fn named_by<'a>(
    from: &Module,
    source: &Source,
    modules: &'a BTreeMap<Module, (&str, &Source)>,
) -> BTreeSet<&'a Module> {
    let paths = scan::paths(source.shipped()).into_iter().filter_map(|(_, path)| from_root(from, &path));
    let longest = paths.filter_map(|mut path| {
        while !path.is_empty() {
            if let Some((module, _)) = modules.get_key_value(&path) {
                return Some(module);
            }
            path.pop();
        }
        None
    });
    longest.filter(|module| *module != from).collect()
}

/// Resolves a path from the root; `None` if it is one word, as in `pub(super)`, or does not start with `crate`, `self` or `super`.
fn from_root(from: &Module, path: &[String]) -> Option<Module> {
    let (first, rest) = path.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let (base, rest) = match first.as_str() {
        "crate" => (&[][..], rest),
        "self" => (from.as_slice(), rest),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            (from.get(..from.len().checked_sub(up)?)?, path.get(up..)?)
        }
        _ => return None,
    };
    Some([base, rest].concat())
}

fn reached_from<'a>(
    from: &Module,
    named: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in named.get(module).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn check(texts: &[(&str, &str)], expected: &[(&str, &[&str])]) {
        let tree = Tree::of(texts);
        let circles = all(&Sources::of(&tree));
        let found: Vec<_> =
            circles.iter().map(|circle| (circle.folder.as_str(), circle.files.clone())).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(folder, files)| (*folder, files.iter().map(|file| (*file).to_owned()).collect()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn files_that_reach_each_other_are_a_circle() {
        check(
            &[
                ("crates/a/src/x.rs", "use crate::y::Y;"),
                ("crates/a/src/y/mod.rs", "pub use self::z::Z;"),
                ("crates/a/src/y/z.rs", "fn f() { super::super::x::f() }"),
                ("crates/a/src/end.rs", "use crate::{x, y};"),
                ("crates/b/src/x.rs", "use super::y;"),
                ("crates/b/src/y.rs", "use super::x::X;"),
            ],
            &[("crates/a/src/", &["x.rs", "y/mod.rs", "y/z.rs"]), ("crates/b/src/", &["x.rs", "y.rs"])],
        );
    }

    #[test]
    fn the_root_and_test_modules_close_no_circle() {
        check(
            &[
                ("crates/a/src/lib.rs", "pub use self::x::X;"),
                ("crates/a/src/x.rs", "pub(super) use crate::Error;\nuse crate::y;"),
                ("crates/a/src/y.rs", "#[cfg(test)]\nmod tests {\n    use crate::x;\n}"),
            ],
            &[],
        );
    }

    #[test]
    fn a_program_of_a_crate_is_a_crate_of_its_own() {
        check(
            &[
                ("crates/a/src/x.rs", ""),
                ("crates/a/src/bin/p/main.rs", "mod x;"),
                ("crates/a/src/bin/p/x.rs", "use crate::y::Y;"),
                ("crates/a/src/bin/p/y.rs", "use crate::x::X;"),
            ],
            &[("crates/a/src/bin/p/", &["x.rs", "y.rs"])],
        );
    }
}
