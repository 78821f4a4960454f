//! Writes the files and the Git history of a trial's workspace, and takes snapshots of it to compare with later.
//!
//! Everything is written by code from a seed; commits have fixed authors and times, so that their hashes are the same
//! on every machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::TrialError;

/// Folders that running Python leaves behind; checkers ignore them.
const LITTER: &[&str] = &["__pycache__", ".pytest_cache"];
/// The time of the first commit.
const FIRST_COMMIT_S: u64 = 1_704_103_200;
/// Seconds between two commits.
const COMMIT_STEP_S: u64 = 3_600;
/// The time of every generated file, so that listings are reproducible.
const FILE_TIME: &str = "2024-01-02 03:04:05 UTC";

/// A workspace that is being written.
pub(crate) struct Ground<'a> {
    root: &'a Path,
    commits: u64,
}

impl<'a> Ground<'a> {
    pub(crate) const fn new(root: &'a Path) -> Self {
        Ground { root, commits: 0 }
    }

    /// Writes a file and the folders above it.
    pub(crate) fn file(&self, name: &str, content: &str) -> Result<(), TrialError> {
        write(self.root, name, content)
    }

    /// Creates a Git repository with the branch `main` and no commit.
    pub(crate) fn repository(&self) -> Result<(), TrialError> {
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main"])
    }

    /// Commits all files.
    pub(crate) fn commit(&mut self, subject: &str) -> Result<(), TrialError> {
        self.git(&["add", "--all"])?;
        let arguments = ["commit", "--quiet", "--allow-empty", "--message", subject];
        self.git(&arguments)?;
        self.commits += 1;
        Ok(())
    }

    /// Runs Git in the workspace, with the author and the time of the next commit.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<(), TrialError> {
        let time = format!("{} +0000", FIRST_COMMIT_S + self.commits * COMMIT_STEP_S);
        let mut command = git(self.root, arguments);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ada Marlow").env(format!("GIT_{who}_DATE"), &time);
            command.env(format!("GIT_{who}_EMAIL"), "ada@example.org");
        }
        output(command).map(drop)
    }

    /// Gives every file its fixed time; must be the last change of a workspace.
    pub(crate) fn settle(&self) -> Result<(), TrialError> {
        let mut command = Command::new("find");
        command.args([".", "-exec", "touch", "--date", FILE_TIME, "{}", "+"]).current_dir(self.root);
        output(command)?;
        if self.root.join(".git").exists() {
            // The index still contains the earlier times of the files.
            self.git(&["update-index", "--refresh"])?;
        }
        Ok(())
    }
}

/// Writes a file below a folder.
pub(crate) fn write(root: &Path, name: &str, content: &str) -> Result<(), TrialError> {
    let path = root.join(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(TrialError::file("make", folder))?;
    }
    fs::write(&path, content).map_err(TrialError::file("write", &path))
}

/// Returns a Git command for this folder that ignores all user configuration.
fn git(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["-c", "safe.directory=*", "-c", "commit.gpgsign=false"]).args(arguments).current_dir(root);
    command.env_remove("GIT_DIR").env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

/// Returns a program's stdout; a failure is an error that quotes its stderr.
pub(crate) fn output(mut command: Command) -> Result<String, TrialError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let result = command.stdin(Stdio::null()).output();
    let output = result.map_err(|source| TrialError::Start { program: program.clone(), source })?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(TrialError::Ended { program, status: output.status.to_string(), stderr });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A snapshot of a workspace: its files with their bytes, and Git's branches and tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    files: BTreeMap<String, Vec<u8>>,
    refs: Option<String>,
}

impl Picture {
    /// Takes a snapshot of the workspace.
    pub(crate) fn of(root: &Path) -> Result<Self, TrialError> {
        let mut files = BTreeMap::new();
        collect(root, "", &mut files)?;
        let refs = if root.join(".git").exists() {
            let refs = output(git(root, &["for-each-ref", "--format=%(refname) %(objectname)"]))?;
            let head = output(git(root, &["symbolic-ref", "--quiet", "HEAD"])).unwrap_or_default();
            Some(format!("{refs}HEAD {head}"))
        } else {
            None
        };
        Ok(Picture { files, refs })
    }

    /// Returns the text of a file; `None` if it is missing or not text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns branches and tags with their commits, and the branch that is checked out.
    pub(crate) fn refs(&self) -> Option<&str> {
        self.refs.as_deref()
    }

    /// Returns the sorted names of files that were added, changed or removed since `before`.
    pub(crate) fn changed_since<'p>(&'p self, before: &'p Picture) -> Vec<&'p str> {
        let mut names: Vec<&str> = self
            .files
            .iter()
            .filter(|(name, bytes)| before.files.get(*name) != Some(*bytes))
            .map(|(name, _)| name.as_str())
            .collect();
        let is_gone = |name: &&String| !self.files.contains_key(*name);
        names.extend(before.files.keys().filter(is_gone).map(String::as_str));
        names.sort_unstable();
        names
    }
}

fn collect(root: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), TrialError> {
    let folder = root.join(below);
    let entries = fs::read_dir(&folder).map_err(TrialError::file("read", &folder))?;
    for entry in entries {
        let entry = entry.map_err(TrialError::file("read", &folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type().map_err(TrialError::file("read", &entry.path()))?;
        if kind.is_dir() {
            let is_git = below.is_empty() && name == ".git";
            if !is_git && !LITTER.contains(&name.as_str()) {
                // Empty folders count too: an invented `tests` may be one.
                files.insert(format!("{path}/"), Vec::new());
                collect(root, &path, files)?;
            }
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).map_err(TrialError::file("read", &entry.path()))?;
            files.insert(path, bytes);
        } else {
            files.insert(path, b"no file and no folder".to_vec());
        }
    }
    Ok(())
}

/// Returns the hash of the only commit with this subject, on any branch.
pub(crate) fn commit_with_subject(root: &Path, subject: &str) -> Result<Option<String>, TrialError> {
    let log = output(git(root, &["log", "--all", "--format=%H %s"]))?;
    let hash = log.lines().filter_map(|line| line.split_once(' ')).find(|(_, said)| *said == subject);
    Ok(hash.map(|(hash, _)| hash.to_owned()))
}
