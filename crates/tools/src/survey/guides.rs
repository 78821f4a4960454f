//! Reads what a project says to those who work in it: `AGENTS.md`, or another program's file where there is none. The text
//! is foreign material with a limit; following it is up to the planner.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use setpoint_protocol::record::Guide;

use crate::files::open;
use crate::halt::Halt;
use crate::show;

/// Names of such files. Of each folder the first one that is there is read.
pub(super) const NAMES: &[&str] =
    &["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md"];
/// Maximum files that are read: one of the working directory, and those nearest to what the person names.
const GUIDES_MAX: usize = 3;
/// Maximum characters that are passed on of one file.
const GUIDE_CHARS_MAX: usize = 4_000;
/// Maximum bytes that are read of one file.
const GUIDE_BYTES_MAX: u64 = 32 * 1024;

/// Returns the texts of the working directory and of the folders nearest to these paths.
pub(super) fn texts(root: &Path, named: &[PathBuf], halt: &Halt) -> Vec<Guide> {
    let mut found: Vec<PathBuf> = Vec::new();
    let folders = std::iter::once(root).chain(named.iter().map(PathBuf::as_path));
    for path in folders.filter_map(|path| nearest(root, path, halt)) {
        if found.len() < GUIDES_MAX && !found.contains(&path) {
            found.push(path);
        }
    }
    found.iter().filter_map(|path| text(root, path, halt)).collect()
}

/// Returns the file of the folder that this path is or lies in, or of the next folder above, up to the working directory.
fn nearest(root: &Path, path: &Path, halt: &Halt) -> Option<PathBuf> {
    path.ancestors().take_while(|folder| folder.starts_with(root)).find_map(|folder| {
        NAMES.iter().map(|name| folder.join(name)).find(|file| is_own_file(root, file, halt))
    })
}

/// Returns whether this is a regular file below the folder, with no link on the way: a link may lead to anyone's files.
pub(super) fn is_own_file(root: &Path, file: &Path, halt: &Halt) -> bool {
    let Ok(below) = file.strip_prefix(root) else { return false };
    let mut at = root.to_path_buf();
    let mut is_file = false;
    for component in below.components() {
        let Component::Normal(name) = component else { return false };
        at.push(name);
        let Ok(meta) = std::fs::symlink_metadata(&at) else { return false };
        if meta.is_symlink() || halt.rooms().is_closed(&meta) {
            return false;
        }
        is_file = meta.is_file();
    }
    is_file
}

fn text(root: &Path, path: &Path, halt: &Halt) -> Option<Guide> {
    let (whole, bytes) = read(path, GUIDE_BYTES_MAX, halt)?;
    let shown = show::lines(whole.trim());
    let text: String = shown.chars().take(GUIDE_CHARS_MAX).collect();
    let is_cut = text.len() < shown.len() || bytes > GUIDE_BYTES_MAX;
    let path = show::line(&show::path(path.strip_prefix(root).ok()?));
    (!text.is_empty()).then_some(Guide { path, text, bytes, is_cut })
}

/// Returns the beginning of a file as text, and how long the file is.
pub(super) fn read(path: &Path, bytes_max: u64, halt: &Halt) -> Option<(String, u64)> {
    let file = open::regular(path, halt).ok()?;
    let length = file.metadata().ok()?.len();
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), length.max(bytes.len() as u64)))
}
