//! Commands that only remove or create what they name: shown exactly, and executed in the directory that was checked.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use setpoint_command_line::RemoveOrMake;
use setpoint_protocol::gate::{Cause, Stage};
use setpoint_protocol::tool::SideEffect;

use super::SettledCommand;
use crate::approval::{Gate, Plan, Touch, resolve};
use crate::error::ToolError;
use crate::files::folder::Folder;
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::process::env::Programs;
use crate::show;

/// What such a command creates, and its directory, held open until it has ended.
pub(super) struct Removal {
    made: Vec<PathBuf>,
    /// Keeps open the descriptor that names the command's directory.
    held: Option<Folder>,
}

impl Removal {
    /// Returns the path of the directory that is held open, as a person knows it.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.held.as_ref().map(Folder::path)
    }

    /// Returns which of the planned paths exist now.
    pub(super) fn created(self) -> Vec<String> {
        drop(self.held);
        self.made
            .iter()
            .filter(|path| std::fs::symlink_metadata(path).is_ok())
            .map(|path| show::path(path))
            .collect()
    }

    /// Has the gate check the paths that the command names, and decides how it runs. If all are in one directory, it
    /// runs with bare names in that directory, held open: then exchanging a link or directory cannot redirect it, and
    /// path rules of an approval file can cover it. Otherwise it runs as written, and only the command itself can be
    /// allowed.
    ///
    /// # Errors
    /// If it needs consent.
    pub(super) fn settle(
        found: &RemoveOrMake,
        command: String,
        cwd: &Path,
        stage: Stage,
        gate: &Gate,
    ) -> Result<SettledCommand, ToolError> {
        let held = HeldDirectory::of(found, cwd);
        let why = match &held {
            Some(_) if found.removes() => "it deletes".to_owned(),
            Some(_) => "it makes directories by a shell command".to_owned(),
            None => "its paths cannot be held while it runs, so no rule about paths covers it".to_owned(),
        };
        let touches = held.as_ref().map(|held| held.touches(found)).unwrap_or_default();
        let real = resolve::fully(cwd);
        let plan = Plan {
            cwd: real,
            touches,
            cause: Some(Cause::Command(why)),
            stage,
            ..gate.plan("shell", command, [])
        };
        match &held {
            Some(held) => gate.check_at(&plan, &held.folder)?,
            None => gate.check(&plan)?,
        }
        let removed = plan.touches.iter().filter(|touch| touch.is_delete && !gate.is_made_again(&touch.path));
        let is_kept = gate
            .keep(|keeping| {
                let mut spots =
                    removed.map(|touch| Spot::real(&touch.path, held.as_ref().map(|held| &held.folder)));
                spots.try_for_each(|spot| keeping.removal(&spot?, &Halt::default()))
            })
            .map_err(|source| ToolError::file("keep what it deletes in", cwd, source))?;
        let made =
            plan.touches.iter().filter(|touch| !touch.is_delete).map(|touch| touch.path.clone()).collect();
        let (script, cwd) = match &held {
            Some(held) => (found.rendered(held.names.iter().map(String::as_str)), held.folder.as_directory()),
            None => (plan.command, cwd.to_path_buf()),
        };
        Ok(SettledCommand {
            script,
            cwd,
            programs: Programs::TaskToo,
            side_effect: match found.removes() && !(is_kept && held.is_some()) {
                true => SideEffect::Irreversible,
                false => SideEffect::Reversible,
            },
            removal: Some(Removal { made, held: held.map(|held| held.folder) }),
            // The named paths may be outside the task's folders.
            acts_elsewhere: true,
            ..SettledCommand::default()
        })
    }
}

/// The one directory that contains all named paths, and the names in it.
struct HeldDirectory {
    folder: Folder,
    names: Vec<String>,
}

impl HeldDirectory {
    /// Returns `None` if the names are in several directories, or one cannot be resolved or opened.
    fn of(found: &RemoveOrMake, cwd: &Path) -> Option<Self> {
        if !Folder::CAN_BE_ENTERED {
            return None;
        }
        let mut parents = Vec::new();
        let mut names = Vec::new();
        for path in found.paths() {
            let (parent, name) = match path.rsplit_once('/') {
                Some((parent, name)) => (format!("{parent}/"), name),
                None => (String::new(), path.as_str()),
            };
            if name.is_empty() || name == "." || name == ".." {
                return None;
            }
            parents.push(std::fs::canonicalize(cwd.join(parent)).ok()?);
            names.push(name.to_owned());
        }
        let parent = parents.first().filter(|first| parents.iter().all(|parent| parent == *first))?;
        Some(HeldDirectory { folder: Folder::open(parent).ok()?, names })
    }

    fn touches(&self, found: &RemoveOrMake) -> Vec<Touch> {
        let touch = |name: &String| Touch {
            path: self.folder.path().join(OsStr::from_bytes(name.as_bytes())),
            is_delete: found.removes(),
            is_recursive: found.is_recursive(),
            is_folder: !found.removes(),
            is_plain: false,
        };
        self.names.iter().map(touch).collect()
    }
}
