//! Replacing the content of a file, with the old one kept where that is possible.

use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use setpoint_protocol::tool::SideEffect;

use crate::approval::{Gate, Plan};
use crate::error::ToolError;
use crate::files::draft::{self, BACKUP_FOLDER, Draft};
use crate::halt::Halt;
use crate::show;

/// A regular file that is there already.
pub(super) struct Old(Metadata);

impl Old {
    /// What is at `path`, `None` where there is nothing.
    ///
    /// # Errors
    /// When it is not a regular file, or cannot be looked at.
    pub(super) fn at(path: &Path) -> Result<Option<Old>, ToolError> {
        let meta = match std::fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ToolError::file("write", path, source)),
        };
        if meta.is_symlink() {
            return Err(ToolError::in_the_way("write", path, "it is a link that leads nowhere"));
        }
        if meta.is_dir() {
            return Err(ToolError::in_the_way("write", path, "it is a folder"));
        }
        if !meta.is_file() {
            return Err(ToolError::in_the_way("write", path, "it is no regular file"));
        }
        Ok(Some(Old(meta)))
    }

    pub(super) fn meta(&self) -> &Metadata {
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
            Some(backup) => format!("; the old content is kept as {}", show::path_line(backup)),
            None => "; the old content was too large to be kept".to_owned(),
        }
    }
}

/// Replaces the content of the file at `path`, which the gate let through.
///
/// # Errors
/// When the file is no longer what was allowed, or the system refuses; then nothing is changed.
pub(super) fn replace(
    path: &Path,
    old: &Old,
    content: &[u8],
    plan: &Plan,
    gate: &Gate,
    halt: &Halt,
) -> Result<Replaced, ToolError> {
    let failed = |source| ToolError::file("write", path, source);
    let backups = gate.workspace().join(BACKUP_FOLDER);
    let backup = draft::back_up(path, gate.workspace(), halt)
        .map_err(|source| ToolError::file("write", &backups, source))?;
    let mut draft = Draft::beside(path).map_err(failed)?;
    draft.file().write_all(content).map_err(failed)?;
    gate.check(plan)?;
    draft.commit_over(old.meta()).map_err(failed)?;
    Ok(Replaced { backup, is_own: gate.is_own(path) })
}
