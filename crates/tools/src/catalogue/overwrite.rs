//! Replacing the content of a file, with the old one kept where that is possible.

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

/// A regular file that is there already.
pub(super) struct Old(Stat);

impl Old {
    /// What is at `spot`, `None` where there is nothing.
    ///
    /// # Errors
    /// When it is not a regular file, or cannot be looked at.
    pub(super) fn at(spot: &Spot) -> Result<Option<Old>, ToolError> {
        let path = &spot.path();
        let Some(found) = spot.look().map_err(|source| ToolError::file("write", path, source))? else {
            return Ok(None);
        };
        let kind = folder::kind(&found);
        if kind.is_symlink() {
            return Err(ToolError::in_the_way("write", path, "it became a link meanwhile"));
        }
        if kind.is_dir() {
            return Err(ToolError::in_the_way("write", path, "it is a folder"));
        }
        if !kind.is_file() {
            return Err(ToolError::in_the_way("write", path, "it is no regular file"));
        }
        Ok(Some(Old(found)))
    }

    pub(super) fn found(&self) -> &Stat {
        &self.0
    }
}

/// What became of the old content.
pub(super) struct Replaced {
    backup: Option<PathBuf>,
    /// Whether it was the task's own file: nothing is lost that was there before the task.
    is_own: bool,
}

impl Replaced {
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

/// Replaces the content of the file at `spot`, which the gate let through. The new content takes the file's name; the file
/// itself is never written to, so that other names of it keep the old content.
///
/// # Errors
/// When the file is no longer what was allowed, or the system refuses; then nothing is changed.
pub(super) fn replace(
    spot: &Spot,
    old: &Old,
    content: &[u8],
    plan: &Plan,
    gate: &Gate,
    halt: &Halt,
) -> Result<Replaced, ToolError> {
    let path = &spot.path();
    let failed = |source| ToolError::file("write", path, source);
    let backups = gate.workspace().join(BACKUP_FOLDER);
    let backup = draft::back_up(spot, gate.workspace(), halt)
        .map_err(|source| ToolError::file("write", &backups, source))?;
    let mut draft = Draft::beside(spot).map_err(failed)?;
    draft.file().write_all(content).map_err(failed)?;
    gate.check_at(plan, spot.folder())?;
    draft.commit_over(old.found()).map_err(failed)?;
    Ok(Replaced { backup, is_own: gate.is_own(path) })
}

/// Creates the file at `spot`, with the folders above it; which ones. The gate lets it through once more at the end.
///
/// # Errors
/// If something appeared there meanwhile, if it is not what was allowed any more, or if the system refuses.
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

/// Why a new file was not made.
pub(super) fn not_made(path: &Path, source: io::Error) -> ToolError {
    match source.kind() {
        io::ErrorKind::AlreadyExists => {
            ToolError::in_the_way("write", path, "something appeared there meanwhile")
        }
        _ => ToolError::file("write", path, source),
    }
}

/// Why a new file's content needs consent wherever it is: it stands for a repository elsewhere.
pub(super) fn is_git_file(content: &[u8]) -> Option<String> {
    let is_git_file = content.trim_ascii_start().starts_with(GIT_FILE.as_bytes());
    is_git_file
        .then(|| format!("its content begins with `{GIT_FILE}`, which leads Git to a repository elsewhere"))
}
