//! Renames many files atomically: all get their new names, or all keep their old ones.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::plan::Rename;
use crate::error::ToolError;
use crate::files::draft::unused_name;
use crate::files::folder::Folder;

/// Renames in two passes, because one file's new name may be another's old one: first all to unused names, then to
/// their new names. After a failure the completed steps are undone. Every folder is reached from `held` without
/// following a link, so that a folder which is exchanged meanwhile cannot redirect a rename.
pub(crate) fn apply(list: &[Rename], held: &Folder) -> Result<(), ToolError> {
    let mut done = Vec::new();
    let result = passes(list, held, &mut done);
    if result.is_err() {
        for step in done.iter().rev() {
            // A step that cannot be undone keeps its new name; the error reports the step that failed first.
            drop(step.folder.rename_new(&step.to, &step.from));
        }
    }
    result
}

/// A completed rename.
struct Step {
    folder: Folder,
    from: OsString,
    to: OsString,
}

fn passes(list: &[Rename], held: &Folder, done: &mut Vec<Step>) -> Result<(), ToolError> {
    let mut parked = Vec::new();
    let mut folder = held.clone();
    for rename in list {
        let failed = |source| ToolError::file("rename", &rename.from, source);
        let parent = rename.from.parent().unwrap_or(Path::new("/"));
        // The list is sorted by path, so most files are in the same folder as the one before.
        if folder.path() != parent {
            folder = held.below(parent).map_err(failed)?;
        }
        let place = OsString::from(unused_name());
        step(&folder, name(&rename.from), &place, done).map_err(failed)?;
        parked.push((folder.clone(), place));
    }
    for ((folder, place), rename) in parked.iter().zip(list) {
        step(folder, place, name(&rename.to), done)
            .map_err(|source| ToolError::file("rename to", &rename.to, source))?;
    }
    Ok(())
}

fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

fn step(folder: &Folder, from: &OsStr, to: &OsStr, done: &mut Vec<Step>) -> io::Result<()> {
    folder.rename_new(from, to)?;
    done.push(Step { folder: folder.clone(), from: from.to_owned(), to: to.to_owned() });
    Ok(())
}
