//! The place of a trial: a temporary home with a workspace, a data directory, and the few programs that tasks may use.
//!
//! Of the tester's own environment only the programs themselves are used, so that the model sees the same on every
//! machine and a recording can be replayed anywhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::TrialError;

/// Programs that every trial requires.
const NEEDED: &[&str] = &["bash", "git", "python3"];
/// Other programs for tasks: coreutils and the usual text tools.
const USUAL: &[&str] = &[
    "awk",
    "base64",
    "basename",
    "cat",
    "chmod",
    "cmp",
    "comm",
    "cp",
    "cut",
    "date",
    "diff",
    "dirname",
    "du",
    "echo",
    "env",
    "expr",
    "false",
    "find",
    "grep",
    "head",
    "id",
    "join",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mktemp",
    "mv",
    "nl",
    "od",
    "paste",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "sh",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "stty",
    "tail",
    "tee",
    "test",
    "timeout",
    "touch",
    "tr",
    "true",
    "uname",
    "uniq",
    "wc",
    "which",
    "xargs",
];
/// Folders that are searched for programs first: their programs are not wrappers that need their owner's home.
const SYSTEM: &[&str] = &["/usr/bin", "/bin", "/usr/local/bin"];

/// The configuration of every trial. A person who answers by hand takes half a minute per answer, and longer for a
/// plan.
const CONFIGURATION: &str = "[controller]\ntime_budget_ms = \"12h\"\n\n[models]\nidle_ms = \"1h\"\n\n\
                             # What memory asks after a task has ended is no part of the task.\n[memory]\nreflect = false\n\n[run]\n";
/// The author of a task's commits.
const GIT_CONFIGURATION: &str =
    "[user]\n\tname = Ada Marlow\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n";

/// A temporary home, removed on drop.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    /// Recordings are made without the sandbox: not every machine holds it, and the prompts say whether there is one.
    pub(crate) fn new(has_sandbox: bool) -> Result<Self, TrialError> {
        let made = tempfile::Builder::new().prefix("trial-").tempdir();
        let place =
            Place { root: made.map_err(TrialError::file("make a folder for", Path::new("a trial")))? };
        for folder in [place.work(), place.programs(), place.space(), place.home().join("config/setpoint")] {
            fs::create_dir_all(&folder).map_err(TrialError::file("make", &folder))?;
        }
        for name in NEEDED {
            place.link(name)?.ok_or(TrialError::Missing { program: name })?;
        }
        for name in USUAL {
            place.link(name)?;
        }
        let configuration = format!("{CONFIGURATION}sandbox = {has_sandbox}\n");
        let files = [("config/setpoint/setpoint.toml", &*configuration), (".gitconfig", GIT_CONFIGURATION)];
        for (name, text) in files {
            crate::ground::write(place.home(), name, text)?;
        }
        Ok(place)
    }

    /// Returns the home directory, which contains everything else.
    pub(crate) fn home(&self) -> &Path {
        self.root.path()
    }

    /// Returns the workspace of the goal.
    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    /// Returns Setpoint's data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.home().join("data")
    }

    /// Returns the folder for the plain loop's own files.
    pub(crate) fn space(&self) -> PathBuf {
        self.home().join("space")
    }

    fn programs(&self) -> PathBuf {
        self.home().join("bin")
    }

    /// Returns the whole environment of programs in this place.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        vec![
            ("PATH", text(&self.programs())),
            ("HOME", text(self.home())),
            ("XDG_CONFIG_HOME", text(&self.home().join("config"))),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("TERM", "dumb".to_owned()),
        ]
    }

    /// Keeps the folder and returns its path.
    pub(crate) fn keep(self) -> PathBuf {
        self.root.keep()
    }

    /// Links a program into the place, if the machine has it.
    fn link(&self, name: &str) -> Result<Option<()>, TrialError> {
        let Some(program) = program(name) else { return Ok(None) };
        let link = self.programs().join(name);
        symlink(program, &link).map_err(TrialError::file("link", &link))?;
        Ok(Some(()))
    }
}

/// Returns the path of a program of this machine.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = SYSTEM.iter().map(PathBuf::from).chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}
