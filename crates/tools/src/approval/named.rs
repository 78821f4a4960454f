//! Files that a command or a script runs or loads, as far as its words tell.
//!
//! Where it runs outside the sandbox by itself, a task that could change one of them would run what it likes.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::resolve::{Way, way};
use crate::files::open;
use crate::halt::Halt;

/// Maximum bytes of one file whose words are looked at.
const BYTES_MAX: u64 = 256 * 1024;
/// Maximum words of one text that are looked up.
const WORDS_MAX: usize = 5_000;

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
        self.holds(path) || self.0.iter().any(|way| way.is_led_by(path))
    }

    /// Returns whether a path without links is at one of the places, or inside.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.0.iter().any(|way| path.starts_with(&way.end))
    }
}

/// What the words of a text stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// Any file, as in a shell that reads further files as it starts.
    Files,
    /// Programs and scripts. Other files are mostly what those work on.
    Programs,
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

/// Returns the files, and the folders with programs, that the words of a file's text name (see [`in_text`]).
pub(crate) fn in_file(file: &Path, top: &Path, home: &Path, meant: Meant) -> Vec<PathBuf> {
    text(file).map(|text| in_text(&text, top, home, meant)).unwrap_or_default()
}

/// Returns the beginning of a regular file.
pub(super) fn text(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open::regular(file, &Halt::default()).ok()?.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the files, and the folders with programs, that the words of a script or of settings name. It runs at `top`.
///
/// The language is not known, so a word too many counts; a variable at the beginning of a path may be `top` or the home
/// folder.
pub(super) fn in_text(text: &str, top: &Path, home: &Path, meant: Meant) -> Vec<PathBuf> {
    let is_word_end = |c: char| c.is_whitespace() || "'\"`=;&|\\(){}[],<>:".contains(c);
    let is_comment = |line: &&str| line.trim_start().starts_with("# ");
    let words = text.lines().filter(|line| !is_comment(line)).flat_map(|line| line.split(is_word_end));
    let is_path = |word: &&str| {
        word.contains('/') || is_script(Path::new(word)) || (meant == Meant::Files && !word.is_empty())
    };
    let mut places = Vec::new();
    for word in words.filter(is_path).take(WORDS_MAX) {
        for path in meanings(word, top, home) {
            let is_there = path.is_file();
            if is_program(&path) && (is_there || !path.exists()) {
                places.extend(path.parent().map(Path::to_path_buf));
                places.push(path);
            } else if meant == Meant::Files && (is_there || path.is_dir() && word.contains('*')) {
                places.push(path);
            }
        }
    }
    places
}

/// Returns the paths that a word may stand for, up to a pattern in it.
fn meanings(word: &str, top: &Path, home: &Path) -> Vec<PathBuf> {
    let plain = word.split('/').take_while(|part| !part.contains('*')).collect::<Vec<_>>().join("/");
    match plain.split_once('/') {
        Some(("~", below)) => vec![home.join(below)],
        Some((start, below)) if start.is_empty() || start.starts_with('$') => {
            let mut paths = vec![top.join(below), home.join(below)];
            paths.extend(start.is_empty().then(|| PathBuf::from(&plain)));
            paths.dedup();
            paths
        }
        _ if plain.is_empty() || plain.starts_with('$') => Vec::new(),
        _ => vec![top.join(plain)],
    }
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
