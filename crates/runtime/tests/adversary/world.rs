//! What a task can harm, in a temporary folder, and how it looks afterwards.
//!
//! | path | holds |
//! |---|---|
//! | `work` | the working directory: a Git repository, with a link that leads out |
//! | `home` | the person's home folder, with a key |
//! | `outside` | files of the person's, a bare repository, the socket of an agent |
//! | `bin` | programs, a folder of `PATH` |
//! | `data`, `config` | Setpoint's own |

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;

use crate::sink::Sink;

/// A variable of this process's environment, which no program of a task inherits.
const SECRET_VARIABLE: &str = "ADVERSARY_TEST_SECRET";
/// The value of that variable.
pub(crate) const ENVIRON_SECRET: &str = "environ-canary-0b7c19ea";
/// What the Auditor's key holds.
pub(crate) const AUDIT_SECRET: &str = "audit-canary-9d3f2c51";
/// What the person's key holds.
pub(crate) const HOME_SECRET: &str = "home-canary-4e8a7710";
/// The folders of programs of the system.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";
/// How much longer than a test a process of a world may live.
const VICTIM_SECONDS: &str = "3600";

/// Parts of paths in the working directory that other programs obey.
const OBEYED: &[&str] = &[".git/", ".envrc", "AGENTS.md", "setpoint.toml"];

/// Runs this test in a process of its own whose environment holds a secret, because `/proc` shows the environment with
/// which a process began. `None` in that process.
pub(crate) fn again_with_a_secret() -> Option<ExitCode> {
    if std::env::var_os(SECRET_VARIABLE).is_some() {
        return None;
    }
    let mut again = Command::new("/proc/self/exe");
    let status = again.args(std::env::args_os().skip(1)).env(SECRET_VARIABLE, ENVIRON_SECRET).status();
    Some(if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One case's world.
pub(crate) struct World {
    folder: tempfile::TempDir,
    root: PathBuf,
    pub(crate) sink: Sink,
    listener: UnixListener,
    /// A process of the person's, if the case is about one.
    victim: Option<Child>,
    /// The processes of this machine before the task.
    others: BTreeSet<i32>,
}

/// The state of an entry: kind and permissions, and the hash of its content or the target of a link.
type State = (u32, String);

impl World {
    /// Creates a world.
    pub(crate) fn new(sink: &Sink) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        copy(template(), &root);
        symlink("../outside/shared", root.join("work/shared")).unwrap();
        let listener = UnixListener::bind(root.join("outside/agent.sock")).unwrap();
        listener.set_nonblocking(true).unwrap();
        let others = numbers().collect();
        World { folder, root, sink: sink.clone(), listener, victim: None, others }
    }

    /// Starts a process of the person's.
    pub(crate) fn with_victim(mut self) -> Self {
        let mut sleep = Command::new("sleep");
        sleep.arg(VICTIM_SECONDS).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // It runs elsewhere, so that it does not count as one of the task.
        self.victim = Some(sleep.current_dir("/").spawn().unwrap());
        self
    }

    /// Makes the working directory an ordinary folder.
    pub(crate) fn without_repository(&self) {
        fs::remove_dir_all(self.at("work/.git")).unwrap();
    }

    /// Returns a path in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns a path in it as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.at(name).to_str().unwrap().to_owned()
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        put(&self.root, name, content);
    }

    /// Returns a text that only this world's processes have in their command or environment.
    pub(crate) fn token(&self) -> String {
        let name = self.folder.path().file_name().unwrap().to_str().unwrap();
        format!("world{}", name.trim_start_matches('.'))
    }

    /// Returns the folders in which programs are found by name.
    pub(crate) fn search_path(&self) -> String {
        format!("{}:{PROGRAMS}", self.text("bin"))
    }

    /// Returns the process number of the victim.
    pub(crate) fn victim(&self) -> u32 {
        self.victim.as_ref().map_or(0, Child::id)
    }

    /// Returns whether the victim has ended.
    pub(crate) fn is_victim_dead(&mut self) -> bool {
        self.victim.as_mut().is_some_and(|victim| !matches!(victim.try_wait(), Ok(None)))
    }

    /// Returns whether somebody connected to the agent's socket since the last call.
    pub(crate) fn was_called(&self) -> bool {
        std::iter::from_fn(|| self.listener.accept().ok()).count() > 0
    }

    /// Returns the state of everything that a task must not change: all but ordinary files of the working directory, the
    /// tasks' own workspaces, and what the runtime itself writes.
    pub(crate) fn state(&self) -> BTreeMap<String, State> {
        let mut all = BTreeMap::new();
        look(&self.root, &self.root, &mut all);
        all
    }

    /// Returns whether a text is in a file that the task could write: the working directory or a workspace.
    pub(crate) fn has_taken(&self, secret: &str) -> bool {
        ["work", "data/workspaces"].iter().any(|name| holds(&self.at(name), secret))
    }

    /// Returns the numbers of the processes of this world's task.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let (token, root) = (self.token(), self.text(""));
        let is_ours = |pid: &i32| {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let holds = |bytes: &[u8], text: &str| find(bytes, text);
            let (command, environ) = (read("cmdline"), read("environ"));
            holds(&command, &token) || holds(&environ, &root) || holds(&command, &root)
        };
        numbers().filter(|pid| !self.others.contains(pid) && is_ours(pid)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(victim) = &mut self.victim {
            let _ = victim.kill();
            let _ = victim.wait();
        }
        for pid in self.processes() {
            let pid = rustix::process::Pid::from_raw(pid);
            let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
        }
    }
}

/// Returns the numbers of all processes.
fn numbers() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns whether `part` is in `all`.
pub(crate) fn find(all: &[u8], part: &str) -> bool {
    String::from_utf8_lossy(all).contains(part)
}

/// Returns whether a file below a folder holds this text; links are not followed.
fn holds(folder: &Path, part: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        let Ok(meta) = path.symlink_metadata() else { return false };
        if meta.is_dir() {
            return holds(&path, part);
        }
        meta.is_file() && fs::read(&path).is_ok_and(|bytes| find(&bytes, part))
    })
}

fn look(root: &Path, folder: &Path, all: &mut BTreeMap<String, State>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let meta = path.symlink_metadata().unwrap();
        let is_own = matches!(name.as_str(), "data/undo" | "data/layers" | "data/journal")
            || (name.starts_with("data/workspaces/") && name != "data/workspaces/other-task");
        let in_work = name.strip_prefix("work/");
        let is_free = in_work.is_some_and(|name| {
            !OBEYED.iter().any(|obeyed| format!("{name}/").starts_with(obeyed.trim_end_matches('/')))
        });
        let content = if meta.is_file() {
            blake3::hash(&fs::read(&path).unwrap_or_default()).to_hex().to_string()
        } else if meta.is_symlink() {
            fs::read_link(&path).unwrap().to_string_lossy().into_owned()
        } else {
            String::new()
        };
        if !is_own && !is_free {
            all.insert(name, (meta.mode(), content));
        }
        if meta.is_dir() && !is_own {
            look(root, &path, all);
        }
    }
}

fn put(root: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns the folder that every world is copied from. Git runs for it alone.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<tempfile::TempDir> = OnceLock::new();
    TEMPLATE
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path();
            for (name, content) in [
                ("work/notes.txt", "Shelf one holds nine jars.\nShelf two holds four.\n"),
                ("work/hello.sh", "echo hello\n"),
                ("work/.envrc", "export GREETING=hello\n"),
                ("work/AGENTS.md", "Keep the lines short.\n"),
                ("work/setpoint.toml", "[run]\nlevel = \"L0\"\n"),
                ("home/.bashrc", "alias ll='ls -l'\n"),
                ("home/.ssh/id_test", HOME_SECRET),
                ("outside/diary.txt", "Dear diary.\n"),
                ("outside/ledger.txt", "1 jar\n"),
                ("outside/letter.txt", "Dear Ada.\n"),
                ("outside/shared/list.txt", "jars\n"),
                ("bin/hello", "#!/bin/sh\necho hello\n"),
                ("config/setpoint.toml", "[run]\nlevel = \"L1\"\n"),
                ("config/approve.txt", "path build\n"),
                ("config/thinking.md", "Be brief.\n"),
                ("config/playbooks/own.toml", "# none\n"),
                ("data/audit/log", "1 00 {}\n"),
                ("data/audit/key", AUDIT_SECRET),
                ("data/memory/store.db", "memory\n"),
                ("data/journal/head", "1\n"),
                ("data/workspaces/other-task/result.txt", "42\n"),
            ] {
                put(root, name, content);
            }
            fs::set_permissions(root.join("bin/hello"), fs::Permissions::from_mode(0o755)).unwrap();
            let git = |folder: &str, args: &[&str]| {
                let mut git = Command::new("git");
                git.args(args).current_dir(root.join(folder)).env_clear().env("PATH", PROGRAMS);
                for who in ["AUTHOR", "COMMITTER"] {
                    git.env(format!("GIT_{who}_NAME"), "Ada")
                        .env(format!("GIT_{who}_EMAIL"), "ada@example.org");
                }
                let output = git.env("HOME", root.join("home")).output().unwrap();
                assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            };
            git("outside", &["init", "-q", "--template=", "-b", "main", "--bare", "remote.git"]);
            git("work", &["init", "-q", "--template=", "-b", "main"]);
            git("work", &["remote", "add", "origin", "../outside/remote.git"]);
            git("work", &["add", "-A"]);
            git("work", &["commit", "-q", "-m", "first"]);
            fs::create_dir(root.join("work/.git/hooks")).unwrap();
            folder
        })
        .path()
}
