//! Reads a patch: which files it changes, and how.

use diffy::patch_set::{FileMode, FileOperation, ParseOptions, PatchKind, PatchSet};
use diffy::{Hunk, Line};

use crate::error::ToolError;
use crate::show;

/// Maximum files that a patch changes.
pub const PATCH_FILES_MAX: usize = 100;

/// What a patch does with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Create {
        is_executable: bool,
    },
    Change,
    Delete,
    /// The file gets another name.
    Rename {
        to: String,
    },
    /// Another file gets its content.
    Copy {
        to: String,
    },
}

/// The part of a patch about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The path as the patch names it.
    pub(super) path: String,
    pub(super) act: Act,
    pub(super) edits: Vec<Edit>,
}

/// A hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// The line where it begins, from 1, as it states.
    pub(super) line: usize,
    /// The lines that must stand there, each with its end.
    pub(super) old: Vec<String>,
    /// The lines that stand there afterwards.
    pub(super) new: Vec<String>,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// Reads a patch.
///
/// # Errors
/// Why it cannot be read, with the number of the file in it.
pub(super) fn parts(patch: &str) -> Result<Vec<Part>, ToolError> {
    let is_git = patch.lines().any(|line| line.starts_with("diff --git "));
    let options = if is_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut parts: Vec<Part> = Vec::new();
    for file in PatchSet::parse(patch, options) {
        let n = parts.len() + 1;
        let refused = |why: &str| ToolError::parameter("patch", format!("file {n} of it: {why}"));
        if n > PATCH_FILES_MAX {
            let why = format!("it changes more than {PATCH_FILES_MAX} files; split it");
            return Err(ToolError::parameter("patch", why));
        }
        let file = file.map_err(|error| {
            let why = format!(
                "it cannot be read ({}); it must be a unified diff, and the numbers of each `@@ -line,count +line,count @@` \
                 must fit its lines",
                show::line(&error.to_string())
            );
            refused(&why)
        })?;
        let modes = [file.old_mode(), file.new_mode()];
        if modes.iter().flatten().any(|mode| matches!(mode, FileMode::Symlink | FileMode::Gitlink)) {
            return Err(refused("it is a link or a submodule; only regular files are patched"));
        }
        let is_executable = file.new_mode() == Some(&FileMode::Executable);
        let (path, act) = match file.operation() {
            FileOperation::Create(path) => (without(path, "b/"), Act::Create { is_executable }),
            FileOperation::Delete(path) => (without(path, "a/"), Act::Delete),
            FileOperation::Modify { original, modified } => {
                let (from, to) = match (original.strip_prefix("a/"), modified.strip_prefix("b/")) {
                    (Some(from), Some(to)) => (from, to),
                    _ => (&**original, &**modified),
                };
                if from != to {
                    return Err(refused(
                        "it names two files; a rename needs the lines `rename from` and `rename to`",
                    ));
                }
                (from.to_owned(), Act::Change)
            }
            FileOperation::Rename { from, to } => (from.to_string(), Act::Rename { to: to.to_string() }),
            FileOperation::Copy { from, to } => (from.to_string(), Act::Copy { to: to.to_string() }),
        };
        let is_new = matches!(act, Act::Create { .. });
        if !is_new
            && file.old_mode().is_some()
            && file.new_mode().is_some()
            && file.old_mode() != file.new_mode()
        {
            return Err(refused("it changes permissions; leave that out, and use chmod"));
        }
        let edits = match file.patch() {
            PatchKind::Text(text) => text.hunks().iter().map(edit).collect(),
            PatchKind::Binary(_) => return Err(refused("it is binary; only text is patched")),
        };
        parts.push(Part { path, act, edits });
    }
    if has_unread_lines(patch, &parts) {
        let why = "it has lines that no hunk counts, or files in two forms; the numbers of each `@@` must fit its lines, and \
                   either all files have the head that Git writes, or none";
        return Err(ToolError::parameter("patch", why.to_owned()));
    }
    Ok(parts)
}

/// Returns whether the patch has more lines that add or remove than its parts: some of it would be left out silently.
fn has_unread_lines(patch: &str, parts: &[Part]) -> bool {
    let begins = |line: &&str| !line.starts_with("diff --git ") && !line.starts_with("--- ");
    // The line that ends a mail.
    let lines = || patch.lines().skip_while(begins).filter(|line| *line != "-- ");
    let count = |sign: char| lines().filter(|line| line.starts_with(sign)).count() as u64;
    let with_names = parts.iter().filter(|part| !part.edits.is_empty()).count() as u64;
    let edits = || parts.iter().flat_map(|part| &part.edits);
    let added: u64 = edits().map(|edit| edit.added).sum();
    let removed: u64 = edits().map(|edit| edit.removed).sum();
    count('+') > added + with_names || count('-') > removed + with_names
}

/// Returns a path without the prefix that Git writes.
fn without(path: &str, prefix: &str) -> String {
    path.strip_prefix(prefix).unwrap_or(path).to_owned()
}

fn edit(hunk: &Hunk<'_, str>) -> Edit {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let (mut added, mut removed) = (0, 0);
    for line in hunk.lines() {
        match line {
            Line::Context(line) => {
                old.push((*line).to_owned());
                new.push((*line).to_owned());
            }
            Line::Delete(line) => {
                old.push((*line).to_owned());
                removed += 1;
            }
            Line::Insert(line) => {
                new.push((*line).to_owned());
                added += 1;
            }
        }
    }
    Edit { line: hunk.old_range().start(), old, new, added, removed }
}
