//! Replaces the content of a file and keeps the old one if possible.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::Stat;
use setpoint_protocol::tool::SideEffect;

use crate::approval::watched::GIT_FILE;
use crate::approval::{Gate, Plan};
use crate::error::ToolError;
use crate::files::draft::{self, BACKUP_FOLDER, Draft};
use crate::files::folder;
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::show;

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

    pub(super) fn found(&self) -> &Stat {
        &self.0
    }
}

/// The result of a replacement.
pub(super) struct ReplaceResult {
    backup: Option<PathBuf>,
    /// Whether the file was the task's own, so that nothing from before the task is lost.
    is_own: bool,
}

impl ReplaceResult {
    pub(super) fn side_effect(&self) -> SideEffect {
        if self.backup.is_some() || self.is_own { SideEffect::Reversible } else { SideEffect::Irreversible }
    }

    pub(super) fn backup_text(&self) -> Option<String> {
        self.backup.as_deref().map(show::path)
    }

    pub(super) fn note(&self) -> String {
        match &self.backup {
            Some(backup) => {
                let name = backup.file_name().map(Path::new).unwrap_or(backup);
                format!(
                    "; the old content is kept as .setpoint-backup/{} in the workspace",
                    show::path_line(name)
                )
            }
            None => "; the old content was too large to be kept".to_owned(),
        }
    }
}

/// Replaces the content of the file at `spot`, which the gate let through. A new file takes over the name; the old file
/// is never written to, so its other names keep the old content.
///
/// # Errors
/// If the file is no longer the approved one, or the system refuses; then nothing is changed.
pub(super) fn replace(
    spot: &Spot,
    old: &OldFile,
    content: &[u8],
    plan: &Plan,
    gate: &Gate,
    halt: &Halt,
) -> Result<ReplaceResult, ToolError> {
    let path = &spot.path();
    let failed = |source| ToolError::file("write", path, source);
    let backups = gate.workspace().join(BACKUP_FOLDER);
    let backup = draft::back_up(spot, gate.workspace(), halt)
        .map_err(|source| ToolError::file("write", &backups, source))?;
    let mut draft = Draft::beside(spot).map_err(failed)?;
    draft.file().write_all(content).map_err(failed)?;
    gate.check_at(plan, spot.folder())?;
    draft.commit_over(old.found()).map_err(failed)?;
    Ok(ReplaceResult { backup, is_own: gate.is_own(path) })
}

/// Creates the file at `spot` and its missing folders, and returns those folders. The gate checks it once more before
/// the file gets its name.
///
/// # Errors
/// If something appeared there meanwhile, if it is no longer what was approved, or if the system refuses.
pub(super) fn create(
    spot: &mut Spot,
    content: &[u8],
    plan: &Plan,
    gate: &Gate,
) -> Result<Vec<PathBuf>, ToolError> {
    let path = &spot.path();
    let folders = spot.make_folders().map_err(|source| not_made(path, source))?;
    let mut draft = Draft::beside(spot).map_err(|source| not_made(path, source))?;
    draft.file().write_all(content).map_err(|source| not_made(path, source))?;
    gate.check_at(plan, spot.folder())?;
    draft.commit_new().map_err(|source| not_made(path, source))?;
    Ok(folders)
}

/// Returns the error for a file that could not be created.
pub(super) fn not_made(path: &Path, source: io::Error) -> ToolError {
    match source.kind() {
        io::ErrorKind::AlreadyExists => {
            ToolError::blocked_by_state("write", path, "something appeared there meanwhile")
        }
        _ => ToolError::file("write", path, source),
    }
}

/// Returns why a new file with this content needs consent anywhere, or `None`: it points to a repository elsewhere.
pub(super) fn is_git_file(content: &[u8]) -> Option<String> {
    let is_git_file = content.trim_ascii_start().starts_with(GIT_FILE.as_bytes());
    is_git_file
        .then(|| format!("its content begins with `{GIT_FILE}`, which leads Git to a repository elsewhere"))
}
