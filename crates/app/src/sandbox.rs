//! The sandbox of this machine: what it holds, and trying a command in it.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use serde::Serialize;
use setpoint_sandbox::changes::changes;
use setpoint_sandbox::layer::Room;
use setpoint_sandbox::programs::{VARIABLES, program_folders};
use setpoint_sandbox::{Access, Folder, Policy, Probed, Tier, command, probe};
use setpoint_tools::{Bounds, Host, Sandbox};

use crate::desk::{Diagnosis, good, note};
use crate::error::{Error, ErrorKind};
use crate::program::Program;

pub use setpoint_sandbox::changes::{Change, ChangeKind, Changes, Entry};
pub use setpoint_tools::show;

/// The stage of a sandbox: this executable, even after an update has replaced it.
const STAGE: &str = "/proc/self/exe";

/// What the sandbox of this machine holds, and what it would show a command in the working directory.
#[derive(Clone, Debug, Serialize)]
pub struct SandboxReport {
    /// The strongest tier that holds: `full` or `partial`; `None` if none does.
    pub tier: Option<&'static str>,
    /// Why stronger tiers do not hold.
    pub missing: Vec<MissingTier>,
    /// What a command in the working directory may see and do.
    pub policy: Policy,
    /// Why this folder cannot be shown to a command, if it cannot.
    pub refused: Option<String>,
}

/// A tier that does not hold.
#[derive(Clone, Debug, Serialize)]
pub struct MissingTier {
    pub tier: &'static str,
    /// What failed.
    pub why: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// The end of a command that was tried.
#[derive(Debug)]
pub struct Tried {
    pub status: ExitStatus,
    /// What it changed in the working directory, before the changes were discarded.
    pub changes: Changes,
}

impl Program {
    /// Returns what the sandbox holds here, and the policy of a command in the working directory.
    ///
    /// # Errors
    /// If it cannot be tried out: the data directory cannot be written to.
    pub fn sandbox(&self) -> Result<SandboxReport, Error> {
        let (probed, _room) = self.probed()?;
        let policy = self.policy(Access::Discard);
        let tier = probed.tier.map(Tier::name);
        let missing = probed.missing.into_iter().map(|missing| {
            let hint = hint(missing.tier, &missing.why);
            MissingTier { tier: missing.tier.name(), why: missing.why, hint }
        });
        let refused = policy.clone().checked().err().map(|error| error.to_string());
        Ok(SandboxReport { tier, missing: missing.collect(), policy, refused })
    }

    /// Runs a command in the sandbox, on a view of the working directory, and discards what it changed there. Its
    /// output goes to this process's; with `is_output_aside` all of it to standard error.
    ///
    /// # Errors
    /// If the full tier does not hold here, or the command cannot be started.
    pub fn try_command(&self, words: &[OsString], is_output_aside: bool) -> Result<Tried, Error> {
        let (probed, room) = self.probed()?;
        if probed.tier != Some(Tier::Full) {
            let missing = probed.missing.into_iter().find(|missing| missing.tier == Tier::Full);
            let why = missing.map_or_else(String::new, |missing| missing.why);
            let hint = hint(Tier::Full, &why);
            return Err(failed(format!("there is no sandbox that keeps changes apart: {why}")).hint(hint));
        }
        let room =
            Room::new(room.path()).map_err(|error| failed(format!("failed to make a folder: {error}")))?;
        let layer = room.path().to_path_buf();
        let policy = self.policy(Access::Keep { layer: layer.clone() });
        let Some((program, arguments)) = words.split_first() else {
            return Err(Error::new(ErrorKind::Usage, "there is no command to run"));
        };
        let policy = policy.checked().map_err(|error| {
            Error::new(ErrorKind::Usage, format!("this folder cannot be shown in a sandbox: {error}"))
                .hint("run it in a folder of its own")
        })?;
        let mut command = command(Path::new(STAGE), Tier::Full, &policy, program)
            .map_err(|error| failed(format!("failed to describe the sandbox: {error}")))?;
        command.args(arguments).env_clear().envs(Host::this().environment());
        command.env("HOME", &policy.home).env("TMPDIR", "/tmp");
        let status = run(command, is_output_aside)
            .map_err(|error| failed(format!("failed to start the sandbox: {error}")))?;
        let changes = changes(&layer, &policy.cwd)
            .map_err(|error| failed(format!("failed to read what the command changed: {error}")))?;
        Ok(Tried { status, changes })
    }

    /// Checks the sandbox, for `doctor`.
    pub(crate) fn examine_sandbox(&self) -> Diagnosis {
        const SUBJECT: &str = "sandbox";
        let report = match self.sandbox() {
            Ok(report) => report,
            Err(error) => {
                let hint = "`setpoint sandbox --explain` shows more once the data directory can be used";
                return note(SUBJECT, error.message, hint);
            }
        };
        let Some(missing) = report.missing.into_iter().next() else {
            return good(
                SUBJECT,
                "full: commands can be tried on a view of a folder, with nothing else in sight",
            );
        };
        let tier = report.tier.unwrap_or("none");
        note(SUBJECT, format!("{tier}: {} does not hold here: {}", missing.tier, missing.why), missing.hint)
    }

    /// Returns the folder for the changes of commands in tasks.
    fn layers(&self) -> PathBuf {
        self.changes_folder().join(format!("setpoint-changes-{}", rustix::process::geteuid().as_raw()))
    }

    /// Returns a folder outside of what a command sees: the data directory, or where temporary files go if the command
    /// works above it.
    fn changes_folder(&self) -> PathBuf {
        let data = real(&self.directories.data);
        let is_apart = !data.starts_with(real(Path::new(&self.surroundings().cwd)));
        // A check makes no data directory.
        if data.is_dir() && is_apart { data } else { real(&std::env::temp_dir()) }
    }

    /// Tries the sandbox out, and returns the folder in which it was, which is removed when it is dropped.
    fn probed(&self) -> Result<(Probed, Room), Error> {
        let folder = self.layers();
        let unusable = |error: std::io::Error| {
            failed(format!("failed to try the sandbox out in {}: {error}", folder.display()))
        };
        let room = Room::new(&folder).map_err(unusable)?;
        let probed = probe(Path::new(STAGE), room.path()).map_err(unusable)?;
        Ok((probed, room))
    }

    /// Returns the policy of a command that works in the working directory.
    fn policy(&self, access: Access) -> Policy {
        let cwd = real(Path::new(&self.surroundings().cwd));
        let folder = Folder { path: cwd.clone(), access };
        self.sandbox_of_programs().policy(folder, &cwd)
    }

    /// Returns whether commands of tasks run in the sandbox: this machine can run them on a view of a folder, and the
    /// configuration does not say otherwise.
    pub(crate) fn has_sandbox(&self) -> bool {
        let holds = || self.probed().is_ok_and(|(probed, _)| probed.tier == Some(Tier::Full));
        *self.has_sandbox.get_or_init(|| self.config.is_on("run.sandbox") && holds())
    }

    /// Returns what a program sees in the sandbox beside its folder.
    pub(crate) fn sandbox_of_programs(&self) -> Sandbox {
        let home = PathBuf::from(&self.surroundings().home);
        let named: Vec<PathBuf> =
            VARIABLES.iter().filter_map(|name| self.variable(name)).map(PathBuf::from).collect();
        let search_path: Vec<PathBuf> = std::env::split_paths(self.path()).collect();
        let programs = program_folders(&search_path, &named, &home);
        let readable = programs.readable.iter().map(|folder| real(folder)).collect();
        let directories = &self.directories;
        let own = [directories.config.clone(), directories.data.clone()];
        let own =
            own.into_iter().chain(directories.data_elsewhere.iter().cloned()).map(|folder| real(&folder));
        let files = self.own_files().into_iter().chain(self.guarded_files()).map(|file| real(&file));
        let hidden = own.chain(files).chain(programs.hidden).collect();
        let (stage, layers) = (PathBuf::from(STAGE), self.layers());
        Sandbox { stage, readable, hidden, home, layers, bounds: Bounds::default() }
    }
}

/// Runs a command whose output goes to where this process's goes; with `is_aside` all of it to standard error. To a file
/// it goes through a pipe: with the file itself the command could change more of it than its content.
fn run(mut command: std::process::Command, is_aside: bool) -> std::io::Result<ExitStatus> {
    let err = File::from(rustix::io::dup(std::io::stderr())?);
    let out = if is_aside { err.try_clone()? } else { File::from(rustix::io::dup(std::io::stdout())?) };
    let is_file = |stream: &File| stream.metadata().is_ok_and(|found| found.is_file());
    let target =
        |stream: &File| Ok(if is_file(stream) { Stdio::piped() } else { stream.try_clone()?.into() });
    let (for_out, for_err): (std::io::Result<Stdio>, std::io::Result<Stdio>) = (target(&out), target(&err));
    command.stdout(for_out?).stderr(for_err?);
    let mut child = command.spawn()?;
    drop(command);
    let (from_out, from_err) = (child.stdout.take(), child.stderr.take());
    // The sandbox ends with the thread that starts it, which is this one.
    std::thread::scope(|scope| {
        if let Some(mut from) = from_out {
            scope.spawn(move || std::io::copy(&mut from, &mut { out }));
        }
        if let Some(mut from) = from_err {
            scope.spawn(move || std::io::copy(&mut from, &mut { err }));
        }
        child.wait()
    })
}

/// Returns a path without links; as it is if it cannot be looked up.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn failed(message: String) -> Error {
    Error::new(ErrorKind::Tool, message)
}

/// Returns what lets a tier hold.
fn hint(tier: Tier, why: &str) -> &'static str {
    if why.contains("Landlock") {
        return "it takes Linux 6.2 or newer with Landlock on: `landlock` in the kernel's `lsm=` list";
    }
    match tier {
        Tier::Full if cfg!(target_os = "linux") => {
            "let ordinary users make user namespaces: on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, \
             elsewhere `sysctl user.max_user_namespaces`; in a container its seccomp and AppArmor profiles forbid them"
        }
        Tier::Full => "use Linux, or a virtual machine with it",
        Tier::Partial => "run it as an ordinary user",
    }
}
