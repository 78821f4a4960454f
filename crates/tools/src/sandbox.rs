//! What a program sees in the sandbox beside the folder in which it works, and how a command or a probe runs there.

use std::path::{Path, PathBuf};

use setpoint_sandbox::{Access, Folder, Limits, NOT_MADE, Outer, Policy, Tier, command_for_another};

use crate::changeset::Room;
use crate::error::ToolError;
use crate::process::{Bounds, CapturedOutput, Job, ProgramEnd, Watch};

/// At most this many bytes of what a program printed are searched for the stage's own line, which comes first.
const SAID_BYTES_MAX: usize = 4_096;

/// The sandbox of this machine.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The executable whose `main` begins with [`setpoint_sandbox::serve`].
    pub stage: PathBuf,
    /// Folders that a program may read, with links resolved.
    pub readable: Vec<PathBuf>,
    /// Files and folders that it must not see, with links resolved.
    pub hidden: Vec<PathBuf>,
    /// The home folder, of which it sees only what is readable.
    pub home: PathBuf,
    /// The folder for the changes of commands until they count; no program sees it.
    pub layers: PathBuf,
    /// What the processes of a command may use up together.
    pub bounds: Bounds,
}

impl Sandbox {
    /// Returns the policy of a program that starts in `cwd` and works in `folder`, at or above it.
    #[must_use]
    pub fn policy(&self, folder: Folder, cwd: &Path) -> Policy {
        self.policy_with(folder, None, cwd)
    }

    /// As [`Sandbox::policy`], for a program that may work in the task's workspace too, unless that lies in a hidden
    /// place that would come in sight.
    fn policy_with(&self, folder: Folder, workspace: Option<Folder>, cwd: &Path) -> Policy {
        let overlaps = |one: &Path, other: &Path| one.starts_with(other) || other.starts_with(one);
        let is_around = |hidden: &Path, one: &Folder| one.path.starts_with(hidden);
        let is_seen = |hidden: &Path| hidden.starts_with(&folder.path);
        let workspace = workspace
            .filter(|one| !overlaps(&one.path, &folder.path))
            .filter(|one| !self.hidden.iter().any(|hidden| is_around(hidden, one) && is_seen(hidden)));
        let worked_in: Vec<&Folder> = [Some(&folder), workspace.as_ref()].into_iter().flatten().collect();
        let is_apart = |readable: &&PathBuf| {
            readable.is_dir() && !worked_in.iter().any(|one| overlaps(readable, &one.path))
        };
        let read = |path: &PathBuf| Folder { path: path.clone(), access: Access::Read };
        let mut folders: Vec<Folder> = self.readable.iter().filter(is_apart).map(read).collect();
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        folders.dedup_by(|a, b| a.path == b.path);
        // The data directory around the workspace is in no folder of the policy, so it is not there at all.
        let is_hidden = |path: &&PathBuf| {
            path.exists()
                && **path != folder.path
                && !workspace.as_ref().is_some_and(|one| is_around(path, one))
        };
        let hidden = self.hidden.iter().filter(is_hidden).cloned().collect();
        folders.push(folder);
        folders.extend(workspace);
        let (home, cwd) = (self.home.clone(), cwd.to_path_buf());
        Policy { folders, hidden, home, cwd, limits: Limits::default(), beside: None }
    }

    /// Returns the job that runs on a view of `folder`, whose changes are discarded. Its own folder must be at or below
    /// that one.
    pub(crate) fn discarding(&self, job: Job, folder: &Path) -> Result<Job, ToolError> {
        let shown = Folder { path: folder.to_path_buf(), access: Access::Discard };
        let policy = self.policy(shown, &job.cwd);
        // The changes of a view that is discarded are in memory, and limited there.
        let watch = Some(Watch { changes: None, bounds: self.bounds });
        self.staged(Job { watch, ..job }, policy, folder)
    }

    /// Returns the job that runs on views of the room's folders, the first of which must be at or above its own; their
    /// changes are kept in the room. It shares the network of the sandbox `beside`.
    pub(crate) fn keeping(&self, job: Job, room: &Room, beside: Option<Outer>) -> Result<Job, ToolError> {
        let keep = |(folder, layer): (&Path, PathBuf)| Folder {
            path: folder.to_path_buf(),
            access: Access::Keep { layer },
        };
        let mut folders = room.layers().map(keep);
        let shown = job.cwd.clone();
        let Some(folder) = folders.next() else {
            return Err(ToolError::blocked_by_state(
                "show in a sandbox",
                &shown,
                "there is no folder to work in",
            ));
        };
        let policy = Policy { beside, ..self.policy_with(folder, folders.next(), &job.cwd) };
        let watch = Some(Watch { changes: Some(room.path().to_path_buf()), bounds: self.bounds });
        self.staged(Job { watch, ..job }, policy, &shown)
    }

    /// Returns the job of a server that sees these folders, some of which it may change, and starts in the first. They
    /// must be absolute, with links resolved.
    pub(crate) fn serving(&self, job: Job, folders: &[Folder]) -> Result<Job, ToolError> {
        let shown = job.cwd.clone();
        let is_covered = |path: &Path| folders.iter().any(|one| one.path == path);
        let Some(first) = folders.first() else {
            return Err(ToolError::blocked_by_state(
                "show in a sandbox",
                &shown,
                "there is no folder to work in",
            ));
        };
        let mut policy = self.policy(first.clone(), &shown);
        policy.folders.retain(|one| !is_covered(&one.path));
        policy.folders.extend_from_slice(folders);
        self.staged(job, policy, &shown)
    }

    fn staged(&self, job: Job, policy: Policy, shown: &Path) -> Result<Job, ToolError> {
        let refused = |why: String| ToolError::blocked_by_state("show in a sandbox", shown, why);
        let policy = policy.checked().map_err(|error| refused(error.to_string()))?;
        // A keeper starts it. Without one the call's process group ends it.
        let command = command_for_another(&self.stage, Tier::Full, &policy, job.program.as_os_str());
        let command = command.map_err(|error| refused(error.to_string()))?;
        let staged = command.get_args().map(std::ffi::OsStr::to_owned);
        let args = staged.chain(job.args).collect();
        let mut env = job.env;
        env.insert("TMPDIR".into(), "/tmp".into());
        // The sandbox has limits of its own.
        Ok(Job { program: self.stage.clone(), args, env, is_bounded: false, ..job })
    }
}

/// Returns why a sandbox could not be made, if that is how a job ended.
pub(crate) fn not_made(ended: &ProgramEnd) -> Option<String> {
    why_not_made(&ended.stderr)
}

/// Returns why a sandbox could not be made, if a stage said so here.
pub(crate) fn why_not_made(printed: &CapturedOutput) -> Option<String> {
    let said = printed.text(SAID_BYTES_MAX);
    said.lines().find_map(|line| line.strip_prefix(NOT_MADE)).map(str::to_owned)
}
