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
/// Maximum places that one text, or the files of one folder, name.
pub(super) const PLACES_MAX: usize = 5_000;
/// Maximum entries of a folder that a pattern stands for.
const ENTRIES_MAX: usize = 200;

/// Endings of files that an interpreter runs, and beside which it looks for modules.
const SCRIPTS: &[&str] = &[
    "bash", "cjs", "clj", "cts", "exs", "fsx", "groovy", "jl", "js", "jsx", "kts", "lua", "mjs", "mts",
    "php", "pl", "py", "pyz", "r", "rb", "sh", "tcl", "ts", "tsx",
];
/// What makes a folder that is given to an interpreter a program, and a package that code loads.
const MAIN_FILES: &[&str] = &["__main__.py", "package.json", "index.js"];
const PACKAGE_FILES: &[&str] = &["__init__.py"];
/// Endings that an interpreter adds to a path.
const COMPLETED: &[&str] = &["cjs", "js", "mjs", "py", "sh", "ts"];
/// Words that run or load what the next word names, whatever its name is; a version may follow.
const RUNNERS: &[&str] = &[
    MODULE, "Rscript", "ash", "bash", "bun", "dash", "deno", "fish", "from", "import", "julia", "ksh", "lua",
    "node", "perl", "php", "pypy", "python", "ruby", "sh", "ts-node", "tsx", "zsh",
];
/// The option of Python that the name of a module follows.
const MODULE: &str = "-m";
/// Words that may be between a runner and what it runs.
const PASSED_OVER: &[&str] = &["args", "run"];
/// Words of a line that adds folders to `PATH`.
const SEARCH_PATH: &[&str] = &["PATH", "PATH_add", "fish_add_path", "path_add"];
/// Endings of files that hooks and settings mostly look at, and do not run.
const DOCUMENTS: &[&str] = &[
    "adoc", "cfg", "conf", "css", "csv", "gif", "htm", "html", "info", "ini", "ipynb", "jpeg", "jpg", "json",
    "json5", "jsonc", "jsonl", "less", "lock", "log", "md", "mdx", "mod", "out", "pdf", "png", "proto",
    "rst", "scss", "sql", "sum", "svg", "tex", "toml", "tsv", "txt", "xml", "yaml", "yml",
];

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
    /// Programs and scripts, and what is run or named by a path. Documents are mostly what those work on.
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
///
/// A binary names nothing: it holds the paths of its own sources.
pub(crate) fn in_file(file: &Path, top: &Path, home: &Path, meant: Meant) -> Vec<PathBuf> {
    let text = text(file).filter(|text| !text.contains('\0'));
    text.map(|text| in_text(&text, top, home, meant)).unwrap_or_default()
}

/// Returns the beginning of a regular file.
pub(super) fn text(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open::regular(file, &Halt::default()).ok()?.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the files, and the folders with programs, that the words of a script or of settings name, there or not. It runs
/// at `top`.
///
/// The language is not known, so a word too many counts; a variable at the beginning of a path may be `top` or the home
/// folder.
pub(super) fn in_text(text: &str, top: &Path, home: &Path, meant: Meant) -> Vec<PathBuf> {
    let is_word_end = |c: char| c.is_whitespace() || "'\"`=;&|\\(){}[],<>:".contains(c);
    let mut places = Vec::new();
    let mut words_left = WORDS_MAX;
    // The word before, if it runs the next one.
    let mut runner = None;
    for line in text.lines().filter(|line| !line.trim_start().starts_with("# ")) {
        let words = line.split(is_word_end).filter(|word| !word.is_empty());
        let is_search_path = words.clone().any(|word| adds_to_search_path(word, meant));
        for word in words {
            if runner.is_some() && word != MODULE && (word.starts_with('-') || PASSED_OVER.contains(&word)) {
                continue;
            }
            words_left -= 1;
            if words_left == 0 || places.len() >= PLACES_MAX {
                return places;
            }
            let used = Use { meant, is_search_path, runner };
            for path in meanings(word, top, home) {
                add(word, &path, used, &mut places);
            }
            if let Some(module) = dotted(word).filter(|first| runner.is_some() || top.join(first).is_dir()) {
                add(&word.replace('.', "/"), &top.join(word.replace('.', "/")), used, &mut places);
                // It is found before a folder without `__init__.py`.
                places.extend(runner.map(|_| top.join(format!("{module}.py"))));
            }
            runner = runs_next(word).then_some(word);
        }
    }
    places
}

/// How a word is used in a text.
#[derive(Clone, Copy)]
struct Use<'a> {
    meant: Meant,
    /// Its line adds folders to `PATH`.
    is_search_path: bool,
    /// The word that runs it.
    runner: Option<&'a str>,
}

/// Adds the places that a path stands for, which a word means.
fn add(word: &str, path: &Path, used: Use<'_>, places: &mut Vec<PathBuf>) {
    let is_run = used.runner.is_some();
    let is_all = used.meant == Meant::Files;
    let has_pattern = word.contains('*');
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    let has_ending = ending.is_some_and(|ending| ending.starts_with(|c: char| c.is_ascii_alphabetic()));
    // A folder is mostly worked on, and so is a document.
    let is_path = (word.contains('/') || has_ending) && !word.ends_with('/') && (is_all || !has_pattern);
    let counts = is_run || (is_path && !is_document(path));
    if path.is_file() {
        let is_started = is_program(path) && (is_run || is_path);
        if is_started {
            places.extend(path.parent().map(Path::to_path_buf));
        }
        places.extend((is_started || counts || is_all).then(|| path.to_path_buf()));
    } else if used.is_search_path {
        places.push(path.to_path_buf());
    } else if path.is_dir() {
        if is_all && has_pattern {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten().take(ENTRIES_MAX);
            places.extend(entries.map(|entry| entry.path()).filter(|entry| entry.is_file()));
            places.push(path.to_path_buf());
        } else if used.runner.is_some_and(|runner| !reads_file(runner)) && !reads_file(word) {
            let has_main = MAIN_FILES.iter().chain(PACKAGE_FILES).any(|main| path.join(main).is_file());
            places.extend(has_main.then(|| path.to_path_buf()));
            places.extend(MAIN_FILES.iter().map(|main| path.join(main)));
            completed(path, places);
        }
    } else if counts {
        if is_script(path) {
            places.extend(path.parent().map(Path::to_path_buf));
        }
        places.push(path.to_path_buf());
        if !has_ending {
            completed(path, places);
        }
    }
}

/// Adds the scripts that an interpreter finds by a path without its ending.
fn completed(path: &Path, places: &mut Vec<PathBuf>) {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return };
    let is_folder_there = path.parent().is_some_and(Path::is_dir);
    for ending in COMPLETED {
        let script = path.with_file_name(format!("{name}.{ending}"));
        places.extend(script.parent().filter(|_| is_folder_there && script.is_file()).map(Path::to_path_buf));
        places.push(script);
    }
}

/// Returns the first part of a dotted name of a module, or `None`.
fn dotted(word: &str) -> Option<&str> {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    word.split_once('.').map(|(first, _)| first).filter(|_| word.split('.').all(is_name))
}

/// Returns whether a word runs or loads what the next one names.
fn runs_next(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    reads_file(word) || RUNNERS.contains(&name)
}

/// Returns whether a word is a command of a shell that reads a file, and never a folder.
fn reads_file(word: &str) -> bool {
    word == "." || word.starts_with("source") || word.starts_with("dotenv")
}

fn adds_to_search_path(word: &str, meant: Meant) -> bool {
    SEARCH_PATH.contains(&word) || (meant == Meant::Files && matches!(word, "path" | "path+" | "_.path"))
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

/// Returns whether a file holds text or data for readers, by its name: an ending, or capitals alone (`LICENSE`).
fn is_document(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is_title = || name.chars().all(|c| c.is_ascii_uppercase() || "_-".contains(c));
    ending.map_or_else(is_title, |ending| DOCUMENTS.contains(&&*ending))
}
