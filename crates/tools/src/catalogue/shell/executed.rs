//! The files of program text that a command runs: those that it names, and those that the shell scripts among them name.
//!
//! A best effort, for the record and for the judge. A script may build a name that is not in its text.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use setpoint_command_line::{self as command_line, Surroundings};
use setpoint_protocol::tool::ExecutedFile;

use crate::files::hash::{self, Algorithm};
use crate::files::open;
use crate::halt::Halt;
use crate::show;

/// At most this many files are recorded.
const FILES_MAX: usize = 32;
/// Of a script, this many bytes are searched for further ones.
const SCRIPT_BYTES_MAX: u64 = 64 * 1024;

/// Returns the files that a command in `cwd` executes, with hashes of their content; it names `named`.
pub(super) fn executed(named: &[PathBuf], cwd: &Path, halt: &Halt) -> Vec<ExecutedFile> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<PathBuf> = named.iter().rev().cloned().collect();
    while let Some(path) = waiting.pop() {
        if files.len() == FILES_MAX || !seen.insert(path.clone()) {
            continue;
        }
        let Ok(hashed) = hash::file(&path, Algorithm::Blake3, halt) else { continue };
        files.push(ExecutedFile { path: show::path(&path), hash: hashed.hex });
        waiting.extend(named_in(&path, cwd, halt).into_iter().rev());
    }
    files
}

/// Returns the files that a shell script names and runs, as seen from the directory of the command and from its own.
fn named_in(script: &Path, cwd: &Path, halt: &Halt) -> Vec<PathBuf> {
    let mut text = Vec::new();
    let is_read =
        open::regular(script, halt).and_then(|file| file.take(SCRIPT_BYTES_MAX).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    if is_read.is_err() || !is_of_a_shell(script, &text) {
        return Vec::new();
    }
    let beside = script.parent().unwrap_or(cwd);
    let from = [cwd, beside].into_iter().flat_map(|cwd| {
        let surroundings = Surroundings { cwd: cwd.to_path_buf(), home: PathBuf::from("/") };
        command_line::read(&text, &surroundings).executes
    });
    from.filter(|path| path != script).take(FILES_MAX).collect()
}

/// Returns whether a file is a shell script, by its first line or else by its name.
fn is_of_a_shell(path: &Path, text: &str) -> bool {
    match text.lines().next().and_then(|line| line.strip_prefix("#!")) {
        Some(program) => program.split([' ', '/']).any(|word| word.ends_with("sh")),
        None => path.extension().is_none_or(|extension| extension == "sh" || extension == "bash"),
    }
}
