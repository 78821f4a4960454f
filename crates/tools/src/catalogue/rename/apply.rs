//! Renaming many files as one: all get their names, or all keep their old ones.

use std::path::PathBuf;

use super::plan::Rename;
use crate::error::ToolError;
use crate::files::draft::{rename_new, unused_name};

/// Renames in two passes, because one file's new name may be another's old one: first all to names that nothing has, then
/// from there to their own. What fails on the way is undone.
pub(super) fn apply(list: &[Rename]) -> Result<(), ToolError> {
    let mut done: Vec<(PathBuf, PathBuf)> = Vec::new();
    let result = passes(list, &mut done);
    if result.is_err() {
        for (from, to) in done.iter().rev() {
            // What cannot be undone either stays under its new name; the error tells which step failed first.
            drop(rename_new(to, from));
        }
    }
    result
}

fn passes(list: &[Rename], done: &mut Vec<(PathBuf, PathBuf)>) -> Result<(), ToolError> {
    let mut parked = Vec::new();
    for rename in list {
        let place = rename.from.with_file_name(unused_name());
        step(&rename.from, &place, done)?;
        parked.push(place);
    }
    for (place, rename) in parked.iter().zip(list) {
        step(place, &rename.to, done)?;
    }
    Ok(())
}

fn step(
    from: &std::path::Path,
    to: &std::path::Path,
    done: &mut Vec<(PathBuf, PathBuf)>,
) -> Result<(), ToolError> {
    rename_new(from, to).map_err(|source| ToolError::file("rename to", to, source))?;
    done.push((from.to_path_buf(), to.to_path_buf()));
    Ok(())
}
