//! Replaces the content of a file and keeps the old one, for an undo, if possible.

use std::io::{self, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;
use setpoint_protocol::gate::Cause;
use setpoint_protocol::tool::SideEffect;

use crate::approval::watched::GIT_FILE;
use crate::approval::{Gate, Plan};
use crate::error::ToolError;
use crate::files::draft::Draft;
use crate::files::folder;
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::show;
use crate::undo::Becomes;

/// An existing regular file.
pub(super) struct OldFile(Stat);

impl OldFile {
    /// Returns the file at `spot`, or `None` if nothing is there.
    ///
    /// # Errors
    /// If it is not a regular file, or cannot be examined.
    pub(super) fn at(spot: &Spot) -> Result<Option<OldFile>, ToolError> {
        let path = &spot.path();
        let Some(found) = spot.look().map_err(|source| ToolError::file("write", path, source))? else {
            return Ok(None);
        };
        let kind = folder::kind(&found);
        if kind.is_symlink() {
            return Err(ToolError::blocked_by_state("write", path, "it became a link meanwhile"));
        }
        if kind.is_dir() {
            return Err(ToolError::blocked_by_state("write", path, "it is a folder"));
        }
        if !kind.is_file() {
            return Err(ToolError::blocked_by_state("write", path, "it is no regular file"));
        }
        Ok(Some(OldFile(found)))
    }
}

/// A file that was written.
pub(super) struct WrittenFile {
    /// The file and its new folders, unless it replaced another.
    pub(super) created: Vec<String>,
    pub(super) side_effect: SideEffect,
    /// What became of the old content, to go on with a sentence.
    pub(super) note: &'static str,
}

/// Writes the file at `spot`, and its missing folders, as the gate let it through. What is there is never written to:
/// the new file takes over the name, so the old file's other names keep the old content.
///
/// # Errors
/// If a new file is there, if the file is not the approved one any more, or if the system refuses. The file is not
/// changed then.
pub(super) fn write(
    spot: &mut Spot,
    old: Option<&OldFile>,
    content: &[u8],
    plan: &Plan,
    gate: &Gate,
    halt: &Halt,
) -> Result<WrittenFile, ToolError> {
    let path = &spot.path();
    let folders = spot.make_folders().map_err(|source| not_made(path, source))?;
    let mut draft = Draft::beside(spot).map_err(|source| not_made(path, source))?;
    draft.file().write_all(content).map_err(|source| not_made(path, source))?;
    commit(draft, spot, &folders, old, plan, gate, halt)
}

/// Gives the draft its name after the gate checked once more. `folders` were created for it.
///
/// # Errors
/// As for [`write`].
pub(super) fn commit(
    mut draft: Draft,
    spot: &Spot,
    folders: &[PathBuf],
    old: Option<&OldFile>,
    plan: &Plan,
    gate: &Gate,
    halt: &Halt,
) -> Result<WrittenFile, ToolError> {
    let path = &spot.path();
    let keep = |draft: &mut Draft, mode| {
        if gate.is_in_workspace(path) {
            return Ok(false);
        }
        let kept = gate.keep(|keeping| {
            keeping.new_folders(folders)?;
            draft.file().rewind()?;
            keeping.change(spot, Becomes::file(draft.file(), mode)?, halt)
        });
        kept.map_err(|source| ToolError::file("keep the old state of", path, source))
    };
    let Some(old) = old else {
        let made = draft.file().metadata().map_err(|source| not_made(path, source))?;
        keep(&mut draft, made.mode())?;
        gate.check_at(plan, spot.folder())?;
        draft.commit_new().map_err(|source| not_made(path, source))?;
        let created = folders.iter().chain([path]).map(|path| show::path(path)).collect();
        let side_effect = SideEffect::Reversible;
        return Ok(WrittenFile { created, side_effect, note: "" });
    };
    let is_kept = keep(&mut draft, old.0.st_mode)?;
    gate.check_at(plan, spot.folder())?;
    draft.commit_over(&old.0).map_err(|source| ToolError::file("write", path, source))?;
    // Nothing from before the task is lost if the file was the task's own.
    let (side_effect, note) = match (is_kept, gate.is_own(path)) {
        (true, _) => (SideEffect::Reversible, "; the old content is kept for an undo"),
        (false, true) => (SideEffect::Reversible, ""),
        (false, false) => (SideEffect::Irreversible, "; the old content was not kept"),
    };
    Ok(WrittenFile { created: Vec::new(), side_effect, note })
}

/// Returns the error for a file that could not be created.
fn not_made(path: &Path, source: io::Error) -> ToolError {
    match source.kind() {
        io::ErrorKind::AlreadyExists => {
            ToolError::blocked_by_state("write", path, "something appeared there meanwhile")
        }
        _ => ToolError::file("write", path, source),
    }
}

/// Returns why a new file with this content needs consent anywhere, or `None`: it points to a repository elsewhere.
pub(super) fn is_git_file(content: &[u8]) -> Option<Cause> {
    let is_git_file = content.trim_ascii_start().starts_with(GIT_FILE.as_bytes());
    is_git_file
        .then(|| format!("its content begins with `{GIT_FILE}`, which leads Git to a repository elsewhere"))
        .map(Cause::Content)
}
