//! Renames many files: all get their new names, or all keep their old ones.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::plan::Rename;
use crate::error::ToolError;
use crate::files::draft::unused_name;
use crate::files::folder::Folder;

/// Gives each file its new name directly, after the file that has this name until then: a process that is killed leaves
/// each file with its old name or its new one. After a failure the completed steps are undone. Every folder is reached
/// from `held` without following a link, so that a folder which is exchanged meanwhile cannot redirect a rename.
pub(crate) fn apply(list: &[Rename], held: &Folder) -> Result<(), ToolError> {
    let mut done = Vec::new();
    let result = steps(list, held, &mut done);
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

fn steps(list: &[Rename], held: &Folder, done: &mut Vec<Step>) -> Result<(), ToolError> {
    let mut waiting: BTreeMap<&Path, &Rename> =
        list.iter().map(|rename| (rename.from.as_path(), rename)).collect();
    let mut folder = held.clone();
    for first in list {
        let parent = first.from.parent().unwrap_or(Path::new("/"));
        // The list is sorted by path, so most files are in the same folder as the one before.
        if folder.path() != parent {
            folder = held.below(parent).map_err(|source| ToolError::file("rename", &first.from, source))?;
        }
        // Each file of the chain gets the name that the next one has.
        let mut chain = Vec::new();
        let mut next = waiting.remove(first.from.as_path());
        while let Some(rename) = next {
            next = waiting.remove(rename.to.as_path());
            chain.push(rename);
        }
        let Some(last) = chain.last() else { continue };
        // Where the names go round in a circle, none of them is free until one file is hidden.
        let mut hidden = None;
        if last.to == first.from {
            hidden = Some(hide(&folder, first, done)?);
        }
        for rename in chain.iter().rev() {
            let from = match hidden.take_if(|_| rename.from == first.from) {
                Some(hidden) => hidden,
                // A file system may take both spellings for the same name.
                None if is_spelling(&rename.from, &rename.to) => hide(&folder, rename, done)?,
                None => name(&rename.from).to_owned(),
            };
            step(&folder, &from, name(&rename.to), done)
                .map_err(|source| ToolError::file("rename to", &rename.to, source))?;
        }
    }
    Ok(())
}

/// Gives a file a hidden name, and returns it.
fn hide(folder: &Folder, rename: &Rename, done: &mut Vec<Step>) -> Result<OsString, ToolError> {
    let hidden = OsString::from(unused_name());
    step(folder, name(&rename.from), &hidden, done)
        .map_err(|source| ToolError::file("rename", &rename.from, source))?;
    Ok(hidden)
}

/// Returns whether two names differ in case alone.
pub(super) fn is_spelling(one: &Path, other: &Path) -> bool {
    one.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase()
}

fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

fn step(folder: &Folder, from: &OsStr, to: &OsStr, done: &mut Vec<Step>) -> io::Result<()> {
    folder.rename_new(from, to)?;
    done.push(Step { folder: folder.clone(), from: from.to_owned(), to: to.to_owned() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_hidden_only_where_names_go_round() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let hidden_by = |pairs: &[(&str, &str)]| {
            let list: Vec<Rename> =
                pairs.iter().map(|(from, to)| Rename { from: root.join(from), to: root.join(to) }).collect();
            for (from, _) in pairs {
                std::fs::write(root.join(from), from).unwrap();
            }
            let mut done = Vec::new();
            steps(&list, &Folder::open(&root).unwrap(), &mut done).unwrap();
            for (from, to) in pairs {
                assert_eq!(std::fs::read_to_string(root.join(to)).unwrap(), *from, "{pairs:?}");
            }
            done.len() - pairs.len()
        };
        assert_eq!(hidden_by(&[("a", "b"), ("c", "d")]), 0);
        assert_eq!(hidden_by(&[("a", "aa"), ("aa", "aaaa"), ("aaaa", "x"), ("e", "a")]), 0);
        assert_eq!(hidden_by(&[("m", "n"), ("n", "m")]), 1);
        assert_eq!(hidden_by(&[("p", "q"), ("q", "r"), ("r", "p"), ("s", "t")]), 1);
        assert_eq!(hidden_by(&[("u", "U")]), 1);
    }
}
