//! The files of program text that a command carries out: those that it names, and those that the scripts, Makefiles and
//! programs among them name.
//!
//! A best effort, for the record and for the judge. A script may build a name that is not in its text.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use setpoint_command_line::{self as command_line, Surroundings};
use setpoint_protocol::tool::ExecutedFile;

use super::matching;
use crate::files::hash::{self, Algorithm};
use crate::files::open;
use crate::halt::Halt;
use crate::show;

/// At most this many files are recorded.
const FILES_MAX: usize = 128;
/// Of a script, this many bytes are searched for further ones.
const SCRIPT_BYTES_MAX: u64 = 64 * 1024;
/// At most this many words of a script are tried as names of files.
const WORDS_MAX: usize = 256;
/// Maximum bytes of a name.
const NAME_BYTES_MAX: usize = 200;
/// At most this many files that the texts name are recorded, of all texts together.
const NAMES_MAX: usize = 64;

/// Endings of program texts that are not of a shell.
const OTHERS: &[&str] = &["awk", "js", "jq", "lua", "php", "pl", "py", "rb", "sed", "sql", "tcl", "ts"];
/// What programs call to carry out the text of a file.
const LOADERS: &[&str] = &["dofile(", "eval(", "exec(", "execfile(", "run_module(", "run_path("];

/// Returns the files that a command in `cwd` executes, with hashes of their content; it names `named`.
pub(super) fn executed(named: &[PathBuf], cwd: &Path, halt: &Halt) -> Vec<ExecutedFile> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    let mut named_files = 0;
    let mut waiting: Vec<PathBuf> = named.iter().rev().cloned().collect();
    while let Some(path) = waiting.pop() {
        if files.len() == FILES_MAX || !seen.insert(path.clone()) {
            continue;
        }
        let Ok(hashed) = hash::file(&path, Algorithm::Blake3, halt) else {
            waiting.extend(matched(&path, halt));
            continue;
        };
        let text = text_of(&path, halt).unwrap_or_default();
        let names: Vec<String> = files_in(&path, &text, cwd).take(NAMES_MAX - named_files).collect();
        named_files += names.len();
        waiting.extend(named_in(&path, &text, cwd).into_iter().rev());
        files.push(ExecutedFile { path: show::path(&path), hash: hashed.hex, names });
    }
    files
}

/// Returns the files that a path with wildcards matches, the last first.
fn matched(path: &Path, halt: &Halt) -> Vec<PathBuf> {
    let pattern = path.to_string_lossy();
    if !pattern.contains(['*', '?', '[']) {
        return Vec::new();
    }
    let mut paths = matching::paths(&pattern, Path::new("/"), halt).unwrap_or_default();
    paths.retain(|path| path.is_file());
    paths.sort_unstable_by(|one, other| other.cmp(one));
    paths
}

/// Returns the text of a file up to the limit; `None` if it cannot be read.
fn text_of(file: &Path, halt: &Halt) -> Option<String> {
    let mut text = Vec::new();
    open::regular(file, halt).ok()?.take(SCRIPT_BYTES_MAX).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the files that words of a text name, as seen from the directory of the command and from its own. Only words that
/// look like a file's name are tried.
fn files_in(file: &Path, text: &str, cwd: &Path) -> impl Iterator<Item = String> {
    let is_between = |c: char| c.is_whitespace() || "\"'`;,:()[]{}<>|&=".contains(c);
    let words = text.split(is_between).map(|word| word.trim_end_matches('.'));
    let is_name =
        |word: &&str| word.contains('.') && word.len() <= NAME_BYTES_MAX && !word.contains(['*', '?', '$']);
    let words: BTreeSet<&str> = words.filter(is_name).take(WORDS_MAX).collect();
    let beside = file.parent().unwrap_or(cwd);
    let paths = words.into_iter().flat_map(|word| [cwd.join(word), beside.join(word)]);
    let files: BTreeSet<String> = paths
        .map(|path| path.components().collect::<PathBuf>())
        .filter(|path| path != file && path.is_file())
        .map(|path| show::path(&path))
        .collect();
    files.into_iter()
}

/// Returns the files that a script, a Makefile or a program names and carries out, as seen from the directory of the command
/// and from its own.
fn named_in(file: &Path, text: &str, cwd: &Path) -> Vec<PathBuf> {
    let beside = file.parent().unwrap_or(cwd);
    let from = [cwd, beside].into_iter().flat_map(|cwd| match Language::of(file, text) {
        Language::Shell => named_by(text, cwd),
        Language::Make => {
            let included = included(text).map(|name| cwd.join(name));
            included.chain(recipes(text).flat_map(|recipe| named_by(recipe, cwd))).collect()
        }
        Language::Other => loaded(text).map(|name| cwd.join(name)).collect(),
    });
    from.filter(|path| path != file).take(FILES_MAX).collect()
}

fn named_by(commands: &str, cwd: &Path) -> Vec<PathBuf> {
    let surroundings = Surroundings { cwd: cwd.to_path_buf(), home: PathBuf::from("/") };
    command_line::read(commands, &surroundings).executes
}

/// The language of a file that is carried out.
enum Language {
    Shell,
    Make,
    Other,
}

impl Language {
    /// Returns the language by the first line, or else by the name. What is carried out and has no name of a language is
    /// taken for a script.
    fn of(path: &Path, text: &str) -> Self {
        let is_make = |name: &str| name.ends_with(".mk") || name.to_lowercase().ends_with("makefile");
        if path.file_name().is_some_and(|name| is_make(&name.to_string_lossy())) {
            return Self::Make;
        }
        let is_shell = match text.lines().next().and_then(|line| line.strip_prefix("#!")) {
            Some(program) => program.split([' ', '/']).any(|word| word.ends_with("sh")),
            None => path.extension().is_none_or(|ending| !OTHERS.iter().any(|other| ending == *other)),
        };
        if is_shell { Self::Shell } else { Self::Other }
    }
}

/// Returns the files that a Makefile includes.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let names = text.lines().filter_map(|line| {
        let (word, names) = line.split_once(' ')?;
        matches!(word, "include" | "-include" | "sinclude").then_some(names)
    });
    names.flat_map(str::split_whitespace)
}

/// Returns the commands of a Makefile. Without those that look at what a program prints: the program is then what the
/// Makefile examines, and its exit code is not that of the command.
fn recipes(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix('\t'));
    let is_examined = |line: &str| {
        let plain = line.replace("||", "").replace(">&2", "").replace("2>&1", "").replace("/dev/null", "");
        plain.contains('|') || plain.split('>').skip(1).any(|target| !target.trim().is_empty())
    };
    lines.filter(move |line| !is_examined(line)).map(|line| line.trim_start_matches(['@', '-', '+']))
}

/// Returns the names in quotes in a program that carries out the text of files.
fn loaded(text: &str) -> impl Iterator<Item = &str> {
    // `literal_eval(` and a method `.exec(` carry out nothing.
    let is_call = |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '.')
    };
    let is_loader = LOADERS.iter().any(|mark| {
        let is_module = mark.starts_with("run_");
        text.match_indices(mark).any(|(at, _)| is_module || is_call(at))
    });
    let names = text.split(['"', '\'']).filter(|name| !name.is_empty() && !name.contains(['\n', '(', ')']));
    names.filter(move |_| is_loader).take(FILES_MAX)
}
