//! What a program sees in the sandbox beside the folder in which it works, and how a probe runs there.

use std::path::{Path, PathBuf};

use setpoint_sandbox::{Access, Folder, Limits, NOT_MADE, Policy, Tier, command_for_another};

use crate::error::ToolError;
use crate::process::{Job, ProgramEnd};

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
}

impl Sandbox {
    /// Returns the policy of a program that starts in `cwd`, for which `folder`, at or above it, is in sight.
    #[must_use]
    pub fn policy(&self, folder: &Path, cwd: &Path, access: Access) -> Policy {
        let is_apart = |readable: &&PathBuf| {
            readable.is_dir() && !readable.starts_with(folder) && !folder.starts_with(readable)
        };
        let read = |path: &PathBuf| Folder { path: path.clone(), access: Access::Read };
        let mut folders: Vec<Folder> = self.readable.iter().filter(is_apart).map(read).collect();
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        folders.dedup_by(|a, b| a.path == b.path);
        folders.push(Folder { path: folder.to_path_buf(), access });
        let hidden = self.hidden.iter().filter(|path| path.exists() && *path != folder).cloned().collect();
        let (home, cwd) = (self.home.clone(), cwd.to_path_buf());
        Policy { folders, hidden, home, cwd, limits: Limits::default() }
    }

    /// Returns the job that runs on a view of `folder`, whose changes are discarded. Its own folder must be at or below
    /// that one.
    pub(crate) fn discarding(&self, job: Job, folder: &Path) -> Result<Job, ToolError> {
        let refused = |why: String| ToolError::blocked_by_state("show in a sandbox", folder, why);
        let policy = self.policy(folder, &job.cwd, Access::Discard);
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
    let said = ended.stderr.text(SAID_BYTES_MAX);
    said.lines().find_map(|line| line.strip_prefix(NOT_MADE)).map(str::to_owned)
}
