//! Where a trial runs: a temporary home with a workspace, a data directory, and the few programs that tasks may count on.
//!
//! Nothing of the tester's own surroundings comes in but the programs themselves, so that the model is told the same on
//! every machine and a recording can be played anywhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::TrialError;

/// Programs without which no trial runs.
const NEEDED: &[&str] = &["bash", "git", "python3"];
/// What else a task finds: coreutils and the usual tools for text.
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
/// Where programs are looked for first: what is there is no wrapper that needs its owner's home.
const SYSTEM: &[&str] = &["/usr/bin", "/bin", "/usr/local/bin"];

/// The configuration of every trial. Whoever answers by hand takes half a minute a time, and longer over a plan.
const CONFIGURATION: &str = "[controller]\ntime_budget_ms = \"12h\"\n\n[models]\nidle_ms = \"1h\"\n\n\
                             # What memory asks after a task has ended is no part of the task.\n[memory]\nreflect = false\n";
/// Who commits, when a task does.
const GIT_CONFIGURATION: &str =
    "[user]\n\tname = Ada Marlow\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n";

/// A temporary home. It is gone when it is dropped.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Result<Self, TrialError> {
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
        let files = [("config/setpoint/setpoint.toml", CONFIGURATION), (".gitconfig", GIT_CONFIGURATION)];
        for (name, text) in files {
            crate::ground::write(place.home(), name, text)?;
        }
        Ok(place)
    }

    /// The home directory; everything else is in it.
    pub(crate) fn home(&self) -> &Path {
        self.root.path()
    }

    /// The workspace that the goal is about.
    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    /// Setpoint's data.
    pub(crate) fn data(&self) -> PathBuf {
        self.home().join("data")
    }

    /// Where the plain loop may keep files of its own.
    pub(crate) fn space(&self) -> PathBuf {
        self.home().join("space")
    }

    fn programs(&self) -> PathBuf {
        self.home().join("bin")
    }

    /// The whole environment of what runs here.
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

    /// Leaves everything where it is, and says where.
    pub(crate) fn keep(self) -> PathBuf {
        self.root.keep()
    }

    /// Makes a program available, if the machine has it.
    fn link(&self, name: &str) -> Result<Option<()>, TrialError> {
        let Some(program) = program(name) else { return Ok(None) };
        let link = self.programs().join(name);
        symlink(program, &link).map_err(TrialError::file("link", &link))?;
        Ok(Some(()))
    }
}

/// A program of this machine.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = SYSTEM.iter().map(PathBuf::from).chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}
