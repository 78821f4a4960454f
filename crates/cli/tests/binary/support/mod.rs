//! A user's home on a real file system, and the binary run in it.

pub(crate) mod held;
pub(crate) mod task;
pub(crate) mod thinker;
pub(crate) mod tree;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Logic version of the tasks in `tests/net`, which are compared by kind and addressee only.
const LOGIC_OF_THE_NET: u32 = 15;

/// A home directory with a configuration, a data directory and a working directory, removed when dropped.
pub(crate) struct Home {
    root: TempDir,
    /// A copy of the binary that runs as a user without rights, if root runs the tests.
    humble: Option<PathBuf>,
}

/// The user `nobody`, to whom modes of files apply.
const NOBODY: u32 = 65_534;

/// Prints a line that is shown even if the test passes: only output of the print macros is captured.
pub(crate) fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").unwrap();
}

/// Every task that a test leaves must replay exactly, record by record and ask by ask. A journal that the
/// test has damaged is reported as such, and skipped.
impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking() || !self.data().join("journal/journal.db").exists() {
            return;
        }
        let listed = self.run(&["tasks", "list", "--json", "--limit", "10000"]);
        let Ok(Value::Array(tasks)) = serde_json::from_str(&listed.out) else { return };
        for task in tasks.iter().filter(|task| task["pruned_at"].is_null()) {
            let id = task["task_id"].as_str().unwrap();
            // No record has such a number, so that only the summary is written.
            let came = self.run(&["replay", id, "--json", "--from", "1000000000"]);
            if came.err.contains("is damaged") {
                continue;
            }
            let summary = &came.json()["summary"];
            assert_eq!((came.code, &summary["divergence"]), (0, &Value::Null), "{came:#?}");
            assert_eq!(summary["is_exact"], summary["logic_version"] != LOGIC_OF_THE_NET, "{came:#?}");
            assert_eq!(summary["replayed"], summary["records"], "{came:#?}");
        }
    }
}

/// The output and the end of a run.
#[derive(Debug)]
pub(crate) struct Came {
    /// The exit code; -1 if it was killed.
    pub(crate) code: i32,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Came {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        Came::from(command.output().unwrap())
    }

    pub(crate) fn from(output: Output) -> Self {
        Came {
            code: output.status.code().unwrap_or(-1),
            signal: output.status.signal(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Parses the one JSON value on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Home::below(tempfile::tempdir().unwrap())
    }

    /// Returns a home in memory if the system supports that, for tests that start hundreds of processes. A
    /// killed process loses nothing that it wrote, on a disk or in memory.
    #[cfg(feature = "failpoints")]
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        Home::below(root.unwrap())
    }

    fn below(root: TempDir) -> Self {
        let home = Home { root, humble: None };
        fs::create_dir_all(home.work()).unwrap();
        fs::create_dir_all(home.playbooks()).unwrap();
        home
    }

    /// Gives all files to a user to whom modes apply, and runs the binary as this user: modes do not apply to
    /// root.
    pub(crate) fn without_rights(mut self) -> Self {
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            let copy = self.root.path().join("setpoint");
            fs::copy(env!("CARGO_BIN_EXE_setpoint"), &copy).unwrap();
            shell(self.root.path(), &format!("chown -hR {NOBODY}:{NOBODY} ."));
            self.humble = Some(copy);
        }
        self
    }

    /// Returns the directory that goals are about; the binary runs in it.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Returns the data directory: journal, workspaces, logs.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Returns the configuration directory.
    pub(crate) fn config(&self) -> PathBuf {
        self.root.path().join("config/setpoint")
    }

    /// Returns the folder of the user's own playbooks.
    pub(crate) fn playbooks(&self) -> PathBuf {
        self.config().join("playbooks")
    }

    /// Writes a file below the working directory and returns its path.
    pub(crate) fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes one of the user's own playbooks.
    pub(crate) fn playbook(&self, name: &str, content: &str) {
        fs::write(self.playbooks().join(format!("{name}.toml")), content).unwrap();
    }

    /// Returns the binary's command with an environment of only the search path.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = match &self.humble {
            None => self.other(env!("CARGO_BIN_EXE_setpoint")),
            Some(copy) => {
                let mut command = self.other(copy.to_str().unwrap());
                command.uid(NOBODY).gid(NOBODY);
                command
            }
        };
        command.args(arguments);
        command
    }

    /// Returns another program's command in the same environment.
    pub(crate) fn other(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path())
            .env("XDG_CONFIG_HOME", self.root.path().join("config"))
            .env("SETPOINT_DATA_DIR", self.data())
            .env("LANG", "C.UTF-8")
            // Not every machine has it: what tests of it need is in `sandbox.rs`.
            .env("SETPOINT_SANDBOX", "false")
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Came {
        Came::of(&mut self.command(arguments))
    }

    /// Pursues a goal without a person and returns its `FinalResult`.
    pub(crate) fn pursue(&self, goal: &str) -> (Came, Value) {
        let came = self.run(&["run", "--json", goal]);
        let result = came.json();
        (came, result)
    }

    /// Returns the records of a task from `tasks export`, without lines that are not records.
    pub(crate) fn records(&self, task: &str) -> Vec<Value> {
        let came = self.run(&["tasks", "export", task]);
        assert_eq!(came.code, 0, "{came:#?}");
        let lines = came.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["seq"].is_u64()).collect()
    }
}

/// Returns the trimmed output of a system command: the independent computation with which a result is
/// compared.
pub(crate) fn shell(directory: &Path, script: &str) -> String {
    let output =
        Command::new("bash").args(["-c", script]).current_dir(directory).env("LC_ALL", "C").output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}
