//! Makes the changes of a patch, all of them or none.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Stat};

use crate::approval::{Gate, Plan};
use crate::error::ToolError;
use crate::files::draft::{Draft, unused_name};
use crate::files::folder::Folder;
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::undo::Becomes;

/// One change of one path.
pub(super) struct Change {
    pub(super) spot: Spot,
    /// What is there.
    pub(super) old: Option<Old>,
    /// What becomes of it; nothing if it is removed.
    pub(super) new: Option<New>,
}

/// A file before its change.
pub(super) struct Old {
    pub(super) stat: Stat,
    pub(super) text: String,
}

/// A file after its change.
pub(super) struct New {
    pub(super) text: String,
    /// The permissions of a new file, if they are not the usual ones.
    pub(super) mode: Option<u32>,
    pub(super) is_executable: bool,
}

/// What was made.
pub(super) struct Made {
    /// New folders, outermost first.
    pub(super) folders: Vec<PathBuf>,
    /// Whether all that was there before is kept for an undo, or was the task's own.
    pub(super) is_kept: bool,
}

/// Makes all changes.
///
/// # Errors
/// If one of them cannot be made. Those before it were taken back, unless the error says otherwise.
pub(super) fn apply(
    changes: &mut [Change],
    plan: &Plan,
    gate: &Gate,
    halt: &Halt,
) -> Result<Made, ToolError> {
    let mut folders = Vec::new();
    let result = prepare(changes, &mut folders, plan, gate, halt);
    if result.is_err() {
        for folder in folders.iter().rev() {
            remove_empty(folder);
        }
    }
    result.map(|is_kept| Made { folders, is_kept })
}

fn prepare(
    changes: &mut [Change],
    folders: &mut Vec<PathBuf>,
    plan: &Plan,
    gate: &Gate,
    halt: &Halt,
) -> Result<bool, ToolError> {
    let mut drafts = Vec::new();
    for change in &mut *changes {
        let path = change.spot.path();
        let draft = change.draft(folders).map_err(|source| ToolError::file("write", &path, source))?;
        drafts.push(draft);
    }
    let outside: Vec<bool> =
        changes.iter().map(|change| !gate.is_in_workspace(&change.spot.path())).collect();
    let is_kept = gate.keep(|keeping| {
        keeping.new_folders(folders)?;
        for ((change, draft), _) in
            changes.iter().zip(&mut drafts).zip(&outside).filter(|(_, is_out)| **is_out)
        {
            let becomes = match draft {
                Some(draft) => {
                    let made = draft.file().metadata()?.mode();
                    let mode = change.old.as_ref().map_or(made, |old| old.stat.st_mode);
                    draft.file().rewind()?;
                    Becomes::file(draft.file(), mode)?
                }
                None => Becomes::nothing(),
            };
            keeping.change(&change.spot, becomes, halt)?;
        }
        Ok(())
    });
    let first = changes.first().map(|change| change.spot.path()).unwrap_or_default();
    let is_kept = is_kept.map_err(|source| ToolError::file("keep the old state of", &first, source))?;
    for change in &*changes {
        let folder = change.spot.folder();
        if !folder.is_in_place() {
            let reason = "the folder was moved or replaced meanwhile; nothing was changed";
            return Err(ToolError::blocked_by_state("patch in", folder.path(), reason));
        }
    }
    gate.check(plan)?;
    let mut work: Vec<(&Change, Option<Draft>)> = changes.iter().zip(drafts).collect();
    // Removed files come last, because each of them has a hidden name until all is done.
    work.sort_by_key(|(_, draft)| draft.is_none());
    let mut done: Vec<(&Change, Done)> = Vec::new();
    for (change, draft) in work {
        match change.make(draft) {
            Ok(step) => done.push((change, step)),
            Err(source) => return Err(taken_back(&change.spot.path(), &source, &done)),
        }
    }
    for (change, step) in &done {
        if let Done::Parked(hidden) = step {
            // The file is gone from its name; a leftover under the hidden one does no harm.
            drop(change.spot.folder().remove(hidden));
        }
    }
    let is_lost = |change: &Change| change.old.is_some() && !gate.is_own(&change.spot.path());
    Ok(is_kept || !changes.iter().any(is_lost))
}

/// A change that was made.
enum Done {
    Created,
    Replaced,
    /// The removed file has this name until all is done.
    Parked(OsString),
}

impl Change {
    /// Writes the new content beside its place.
    fn draft(&mut self, folders: &mut Vec<PathBuf>) -> io::Result<Option<Draft>> {
        let Some(new) = &self.new else { return Ok(None) };
        folders.extend(self.spot.make_folders()?);
        let mut draft = Draft::beside(&self.spot)?;
        draft.file().write_all(new.text.as_bytes())?;
        let made = draft.file().metadata()?.mode();
        let executable = if new.is_executable { made | (made & 0o444) >> 2 } else { made };
        let mode = new.mode.unwrap_or(executable) & 0o777;
        if mode != made & 0o777 {
            draft.file().set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        Ok(Some(draft))
    }

    fn make(&self, draft: Option<Draft>) -> io::Result<Done> {
        match (draft, &self.old) {
            (Some(draft), None) => draft.commit_new().map(|()| Done::Created),
            (Some(draft), Some(old)) => draft.commit_over(&old.stat).map(|()| Done::Replaced),
            (None, Some(old)) => {
                let hidden = OsString::from(unused_name());
                let folder = self.spot.folder();
                folder.rename_new(self.spot.name(), &hidden)?;
                // Now it is in hand, so that nothing can be written to it unseen.
                let is_same = |now: &Stat| {
                    (now.st_ino, now.st_size, now.st_mtime)
                        == (old.stat.st_ino, old.stat.st_size, old.stat.st_mtime)
                };
                if folder.look(&hidden)?.is_none_or(|now| !is_same(&now)) {
                    folder.rename_new(&hidden, self.spot.name())?;
                    return Err(io::Error::new(
                        io::ErrorKind::ResourceBusy,
                        "somebody else changed it just now; read it again",
                    ));
                }
                Ok(Done::Parked(hidden))
            }
            (None, None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Takes back a change that was made.
    fn take_back(&self, step: &Done) -> io::Result<()> {
        let (folder, name) = (self.spot.folder(), self.spot.name());
        match step {
            Done::Created => folder.remove(name),
            Done::Parked(hidden) => folder.rename_new(hidden, name),
            Done::Replaced => {
                let old = self.old.as_ref().ok_or(io::ErrorKind::NotFound)?;
                let now = folder.look(name)?.ok_or(io::ErrorKind::NotFound)?;
                let mut draft = Draft::beside(&self.spot)?;
                draft.file().write_all(old.text.as_bytes())?;
                draft.commit_over(&now)
            }
        }
    }
}

/// Takes the changes back that were made, and returns the error of the one that was not.
fn taken_back(path: &Path, source: &io::Error, done: &[(&Change, Done)]) -> ToolError {
    let mut left = Vec::new();
    for (change, step) in done.iter().rev() {
        if change.take_back(step).is_err() {
            left.push(crate::show::path_line(&change.spot.path()));
        }
    }
    let rest = if left.is_empty() {
        "nothing was changed".to_owned()
    } else {
        format!("the changes before it were made and could not be taken back: {}", left.join(", "))
    };
    ToolError::blocked_by_state("patch", path, format!("{source}; {rest}"))
}

/// Removes a folder that was made for a change, if nothing is in it.
fn remove_empty(path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    if let Ok(folder) = Folder::open(parent) {
        // What is in use by now stays.
        let _ = rustix::fs::unlinkat(folder.descriptor(), name, AtFlags::REMOVEDIR);
    }
}

/// Reads a file whole, at most this many bytes of it; `None` if it is longer.
pub(super) fn whole(file: File, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, bytes_max + 1), &mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::record::Surroundings;

    use super::*;
    use crate::tool::ToolCtx;

    #[test]
    fn a_change_that_fails_takes_the_others_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let surroundings =
            Surroundings { cwd: text(&root), workspace: text(&root), ..Surroundings::default() };
        let gate = Gate::new(&ToolCtx::new(surroundings));
        for (name, content) in [("changed", "was\n"), ("gone", "was\n"), ("late", "was\n")] {
            std::fs::write(root.join(name), content).unwrap();
        }
        let change = |name: &str, new: Option<&str>| {
            let spot = Spot::at("patch", &root.join(name), &Halt::default()).unwrap();
            let stat = spot.look().unwrap();
            let old = stat.map(|stat| Old { stat, text: "was\n".to_owned() });
            let new = new.map(|text| New { text: text.to_owned(), mode: None, is_executable: false });
            Change { spot, old, new }
        };
        let mut changes = vec![
            change("new/deep/file", Some("x\n")),
            change("changed", Some("is\n")),
            change("gone", None),
            change("late", None),
        ];
        // Somebody changes the last one after it was looked at.
        std::fs::write(root.join("late"), "somebody's").unwrap();
        let plan = gate.plan("apply_patch", "patch".to_owned(), []);
        let error = apply(&mut changes, &plan, &gate, &Halt::default()).err().unwrap().to_string();
        assert!(
            error.contains("late: somebody else changed it") && error.ends_with("; nothing was changed"),
            "{error}"
        );
        let mut names: Vec<_> = std::fs::read_dir(&root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["changed", "gone", "late"]);
        let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
        assert_eq!([read("changed"), read("gone"), read("late")], ["was\n", "was\n", "somebody's"]);
    }
}
