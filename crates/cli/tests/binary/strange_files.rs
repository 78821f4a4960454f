//! Unusual files: links, FIFOs, devices, sockets, directories, other programs' files, damaged and endless
//! ones. With any of them in the data directory or as an input, every command ends by itself, names the file,
//! and changes nothing outside.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode};

use crate::support::held::{self, Held};
use crate::support::task::{GOAL, Trial};
use crate::support::tree::tree;
use crate::support::{Came, Home, shell};

/// Trials of a usual run; `SETPOINT_TEST_DAMAGE_FACTOR=15` makes 630 of them, and 200 makes all.
const TRIALS: usize = 42;
const FACTOR: &str = "SETPOINT_TEST_DAMAGE_FACTOR";
/// Far more than any command takes, so that a hanging one fails.
const WATCHDOG: Duration = Duration::from_secs(60);
/// Far more than can be read.
const HUGE_BYTES: u64 = 1 << 40;

/// Files of the data directory.
const OWN_FILES: [&str; 14] = [
    "journal/journal.db",
    "journal/journal.db-wal",
    "journal/journal.db-shm",
    "journal/journal.db-journal",
    "journal/head",
    "memory/memory.db",
    "memory/memory.db-wal",
    "memory/dreamer.lock",
    "audit/log",
    "audit/checkpoints",
    "audit/key",
    "audit/auditor.json",
    "audit/auditor.lock",
    "setpoint.log",
];
/// Its directories.
const OWN_FOLDERS: [&str; 4] = ["journal", "memory", "audit", "workspaces"];
/// Files that a person names, relative to the home.
const INPUTS: [&str; 9] = [
    "work/goal.txt",
    "work/approve",
    "work/tape",
    "work/records.jsonl",
    "work/task.jsonl",
    "exported",
    "config/setpoint/setpoint.toml",
    "config/setpoint/models.toml",
    "config/setpoint/playbooks/trial.toml",
];

const COMMANDS: [&[&str]; 12] = [
    &["run", GOAL],
    &["run", "--file", "goal.txt", "--approve", "approve"],
    &["run", "--replay", "tape", GOAL],
    &["tasks", "list"],
    &["tasks", "show", "hold"],
    &["tasks", "resume"],
    &["doctor"],
    &["memory", "stats"],
    &["memory", "import", "records.jsonl"],
    &["audit", "report"],
    &["audit", "verify", "--checkpoints", "../exported"],
    &["replay", "./task.jsonl"],
];

/// What replaces a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Pipe,
    LinkOut,
    LinkToFolder,
    LinkNowhere,
    LinkToItself,
    SecondName,
    Directory,
    Socket,
    Zero,
    Full,
    Device,
    Empty,
    Cut,
    Garbage,
    Longer,
    Huge,
    Unreadable,
}

use Damage as D;

const DAMAGES: [Damage; 17] = [
    D::Pipe,
    D::LinkOut,
    D::LinkToFolder,
    D::LinkNowhere,
    D::LinkToItself,
    D::SecondName,
    D::Directory,
    D::Socket,
    D::Zero,
    D::Full,
    D::Device,
    D::Empty,
    D::Cut,
    D::Garbage,
    D::Longer,
    D::Huge,
    D::Unreadable,
];

impl Damage {
    /// Returns whether the file stays a file, with other bytes or rights.
    fn is_of_content(self) -> bool {
        matches!(self, D::Empty | D::Cut | D::Garbage | D::Longer | D::Huge | D::Unreadable)
    }

    /// Puts the damage at `path`; the original becomes the target of a link. Returns whether it was possible.
    fn put(self, path: &Path, outside: &Path) -> bool {
        let is_folder = path.is_dir();
        let twin = outside.join("twin");
        let there = path.symlink_metadata().is_ok();
        if self.is_of_content() && (is_folder || !there) {
            return false;
        }
        if !self.is_of_content() && there {
            fs::rename(path, &twin).unwrap();
        }
        if !there {
            fs::write(&twin, "mine").unwrap();
        }
        let edit = || OpenOptions::new().write(true).open(path).unwrap();
        match self {
            D::Pipe => rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
            D::LinkOut => symlink(&twin, path).unwrap(),
            D::LinkToFolder => symlink(outside.join("folder"), path).unwrap(),
            D::LinkNowhere => symlink(outside.join("none"), path).unwrap(),
            D::LinkToItself => symlink(path, path).unwrap(),
            D::SecondName => return !is_folder && fs::hard_link(&twin, path).is_ok(),
            D::Directory if is_folder => fs::write(path, "mine").unwrap(),
            D::Directory => fs::create_dir(path).unwrap(),
            D::Socket => return UnixListener::bind(path).is_ok(),
            D::Zero => symlink("/dev/zero", path).unwrap(),
            D::Full => symlink("/dev/full", path).unwrap(),
            // Only root can create one; it is another `/dev/zero`.
            D::Device => {
                let zero = rustix::fs::makedev(1, 5);
                return rustix::fs::mknodat(CWD, path, FileType::CharacterDevice, Mode::RWXU, zero).is_ok();
            }
            D::Empty => edit().set_len(0).unwrap(),
            D::Cut => edit().set_len(path.metadata().unwrap().len() / 2).unwrap(),
            D::Garbage => {
                let length = path.metadata().unwrap().len().max(64);
                fs::write(path, (0..length).map(|n| (n * 151 % 251) as u8).collect::<Vec<_>>()).unwrap();
            }
            D::Longer => {
                File::options().append(true).open(path).unwrap().write_all(&[0xa5; 3_000]).unwrap();
            }
            D::Huge => return edit().set_len(HUGE_BYTES).is_ok(),
            D::Unreadable => fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap(),
        }
        true
    }
}

/// One damage, and one command.
#[derive(Clone, Copy, Debug)]
struct Case {
    place: &'static str,
    is_own: bool,
    damage: Damage,
    command: &'static [&'static str],
}

/// Returns every combination, shuffled with a fixed seed, so that the first ones cover all kinds.
fn cases() -> Vec<Case> {
    let own = OWN_FILES.iter().chain(&OWN_FOLDERS).map(|place| (*place, true));
    let mut cases = Vec::new();
    for (place, is_own) in own.chain(INPUTS.iter().map(|place| (*place, false))) {
        for damage in DAMAGES {
            for command in COMMANDS {
                cases.push(Case { place, is_own, damage, command });
            }
        }
    }
    // A Fisher-Yates shuffle with a fixed seed.
    let mut state = 18_u64;
    for n in (1..cases.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        cases.swap(n, (state >> 33) as usize % (n + 1));
    }
    cases
}

/// A home with a task that ended, one that did not, memory, an audit log, and one of each input; and a copy
/// of it all.
struct World {
    held: Held,
    copy: tempfile::TempDir,
    outside: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let held = Held::new(held::COMMAND);
        let home = &held.home;
        Trial::new().reads("there.txt", "1").write(home);
        fs::write(root(home).join("config/setpoint/models.toml"), "").unwrap();
        let configuration = format!("[audit]\ncheckpoints = \"{}\"\n", root(home).join("exported").display());
        fs::write(home.config().join("setpoint.toml"), configuration).unwrap();
        home.file("goal.txt", GOAL);
        let done = |line: &[&str]| {
            let came = home.run(line);
            assert_eq!(came.code, 0, "{line:?}: {came:#?}");
            came
        };
        done(&["run", "--record", "tape", GOAL]);
        done(&["run", GOAL]);
        done(&["memory", "remember", "the answer is forty-two"]);
        home.file("records.jsonl", done(&["memory", "export"]).out);
        let tasks = done(&["tasks", "list", "--json"]).json();
        done(&["tasks", "export", tasks[0]["task_id"].as_str().unwrap(), "--output", "task.jsonl"]);
        let mut killed = home.command(&["run", held::GOAL, "--approve", "approve"]).spawn().unwrap();
        drop(held.running());
        killed.kill().unwrap();
        killed.wait().unwrap();
        fs::write(home.data().join("setpoint.log"), "").unwrap();
        let copy = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        shell(&root(home), &format!("cp -a . {}", copy.path().display()));
        World { held, copy, outside }
    }

    fn home(&self) -> &Home {
        &self.held.home
    }

    /// Restores everything as it was before the first trial.
    fn restore(&self) {
        let (root, copy) = (root(self.home()), self.copy.path().display().to_string());
        shell(&root, &format!("chmod -R u+rwX . 2>/dev/null; rm -rf ./* && cp -a {copy}/. ."));
        shell(
            self.outside.path(),
            "rm -rf ./* && mkdir folder && echo mine > folder/file && chmod 700 folder",
        );
    }

    /// Returns what was wrong, in words; `None` if the damage could not be made.
    fn try_out(&self, case: &Case) -> Option<Vec<&'static str>> {
        self.restore();
        let base = if case.is_own { self.home().data() } else { root(self.home()) };
        let path = base.join(case.place);
        if !case.damage.put(&path, self.outside.path()) {
            return None;
        }
        let before = (outside(self.outside.path()), kind(&path));
        let Some(came) = watched(self.home().command(case.command)) else {
            return Some(vec!["it does not end"]);
        };
        let is_strange = case.is_own && !case.damage.is_of_content();
        let is_named = [&came.out, &came.err].iter().any(|told| told.contains(path.to_str().unwrap()));
        // Nothing opens a file that only a pass of the Dreamer uses.
        let is_unused = case.place == "memory/dreamer.lock";
        let wrong = [
            (came.signal.is_some(), "a signal ended it"),
            (!(0..=5).contains(&came.code), "it ends with another code"),
            (came.err.contains("panicked"), "it panicked"),
            // The export goes to the target of the person's own link.
            (
                case.place != "exported" && outside(self.outside.path()) != before.0,
                "it changed what is outside",
            ),
            (is_strange && kind(&path) != before.1, "it put something in its place"),
            (is_strange && !is_named && matches!(came.code, 1 | 2), "it does not name the file"),
            (
                is_strange && !is_unused && case.command == ["doctor"] && !(came.code == 1 && is_named),
                "the doctor does not name the file",
            ),
            (came.code == 2 && !came.err.contains("hint: "), "it does not say what to do"),
        ];
        let wrong: Vec<&str> = wrong.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what).collect();
        if !wrong.is_empty() {
            eprintln!("{case:?}: {wrong:?}: {came:#?}");
        }
        Some(wrong)
    }
}

fn root(home: &Home) -> PathBuf {
    home.work().parent().unwrap().to_owned()
}

/// Returns kind and mode of the entry with this name.
fn kind(path: &Path) -> String {
    let Ok(found) = path.symlink_metadata() else { return "nothing".to_owned() };
    let kind = found.file_type();
    format!("{:?} {} {}", found.permissions(), kind.is_fifo(), kind.is_symlink())
}

/// Returns everything outside, with its bytes and rights.
fn outside(root: &Path) -> String {
    let found = tree(root);
    let one = |(path, bytes): (&PathBuf, &Option<Vec<u8>>)| {
        let mode = path.symlink_metadata().map(|found| found.permissions().mode());
        format!("{path:?} {mode:?} {bytes:?}\n")
    };
    found.iter().map(one).collect()
}

/// Runs a command to its end; `None` for one that does not end, which is killed.
fn watched(mut command: Command) -> Option<Came> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let came = ended.recv_timeout(WATCHDOG).ok().map(|output| Came::from(output.unwrap()));
    if came.is_none() {
        let _killed = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    came
}

#[test]
fn process_strange_files_hang_nothing_and_change_nothing() {
    let factor = std::env::var(FACTOR).map_or(1, |factor| factor.parse().unwrap());
    let world = World::new();
    let (mut tried, mut wrong) = (0, Vec::new());
    for case in cases() {
        if tried == TRIALS * factor {
            break;
        }
        if let Some(found) = world.try_out(&case) {
            tried += 1;
            wrong.extend((!found.is_empty()).then(|| format!("{case:?}: {found:?}")));
        }
    }
    // Restores the last damage, because the home checks its tasks when it is dropped.
    world.restore();
    assert!(wrong.is_empty(), "{} of {tried} trials:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried >= TRIALS);
}
