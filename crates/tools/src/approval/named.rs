//! Files that a command runs or loads, as far as its words tell.
//!
//! Where such a command runs outside the sandbox by itself, a task that could change one of them would run what it likes.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::resolve::{Way, way};

/// Endings of files that an interpreter runs, and beside which it looks for modules.
const SCRIPTS: &[&str] = &[
    "bash", "cjs", "clj", "cts", "exs", "fsx", "groovy", "jl", "js", "jsx", "kts", "lua", "mjs", "mts",
    "php", "pl", "py", "pyz", "r", "rb", "sh", "tcl", "ts", "tsx",
];
/// What makes a folder that is given to an interpreter a program.
const MAIN_FILES: &[&str] = &["__main__.py", "package.json", "index.js"];

/// Files and folders, with the ways that lead to them. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Arc<[Way]>);

impl Places {
    pub(crate) fn new(places: impl IntoIterator<Item = PathBuf>) -> Self {
        Places(places.into_iter().map(|place| way(&place)).collect())
    }

    /// Returns whether changing a path without links would change what is at one of the places: it is there, or inside,
    /// or on the way.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let leads = |way: &Way| way.passed.iter().any(|passed| passed.starts_with(path));
        self.0.iter().any(|way| path.starts_with(&way.end) || leads(way))
    }
}

/// Returns the files and folders that the words of a command name below its working directory.
///
/// A word may name what is missing yet: it runs once it is there.
pub(crate) fn places<'a>(words: impl Iterator<Item = &'a str> + Clone, cwd: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(module) = module(words.clone()) {
        let here = [cwd.join(module), cwd.join(format!("{module}.py"))];
        let is_local = here.iter().any(|place| place.exists());
        places.extend(if is_local { vec![cwd.to_path_buf()] } else { here.into() });
    }
    let is_word_end = |c: char| c.is_whitespace() || matches!(c, '=' | '"' | '\'' | ';' | '&' | '|' | '\\');
    let parts = words.flat_map(|word| std::iter::once(word).chain(word.split(is_word_end)));
    for word in parts.filter(|word| !word.is_empty()) {
        let path = cwd.join(word);
        if path.is_file() {
            if is_program(&path) {
                places.extend(path.parent().map(Path::to_path_buf));
                places.extend(way(&path).end.parent().map(Path::to_path_buf));
            }
            places.push(path);
        } else if MAIN_FILES.iter().any(|main| path.join(main).is_file())
            || (!path.exists() && (word.contains('/') || is_script(&path)))
        {
            places.push(path);
        }
    }
    places
}

/// Returns the first part of the name of the Python module that a command runs (`python3 -m tools.server`), or `None`.
pub(crate) fn module<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = words.find_map(|word| word.strip_prefix("-m").filter(|name| !name.starts_with('-')))?;
    let name = if name.is_empty() { words.next()? } else { name };
    name.split('.').next().filter(|first| !first.is_empty() && !first.contains('/'))
}

/// Returns whether a file is run, and not only read.
fn is_program(path: &Path) -> bool {
    let is_executable = || path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    is_script(path) || is_executable()
}

fn is_script(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| SCRIPTS.contains(&&*ending))
}
