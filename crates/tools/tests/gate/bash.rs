//! Runs a command in plain bash, without a gate, and records its effects.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::{CANARY, CANARY_NAME, World};

/// Seconds after which a command is killed: far more than any needs.
const SECONDS_MAX: &str = "20";
/// Rounds of killing the processes of a world: each finds what the processes of the round before could still start.
const ROUNDS_MAX: usize = 20;
/// Bytes of an output that are examined.
const OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The output of a command and how it ended.
pub(crate) struct Printed {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) code: Option<i32>,
}

impl Printed {
    /// Whether the canary was printed.
    pub(crate) fn leaks(&self) -> bool {
        [&self.stdout, &self.stderr].iter().any(|output| has(output, CANARY))
    }

    pub(crate) fn text(&self) -> String {
        format!("{}{}", String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(&self.stderr))
    }
}

/// Whether an output contains the text.
pub(crate) fn has(output: &[u8], text: &str) -> bool {
    output.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns the variables that a command gets on both sides of a comparison.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let fixed = [("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), (CANARY_NAME, CANARY)];
    let fixed = fixed.into_iter().map(|(name, value)| (name.into(), value.into()));
    fixed.chain([("PATH".into(), path)]).collect()
}

/// Runs a command as a person would. What it leaves running is stopped later ([`World::left_running`]).
pub(crate) fn run(world: &World, cwd: &str, command: &str) -> Printed {
    let outputs = tempfile::tempdir().unwrap();
    let [out, err] = ["out", "err"].map(|name| outputs.path().join(name));
    let status = Command::new("timeout")
        .args(["--signal=KILL", SECONDS_MAX, "setsid", "--wait"])
        .args(["bash", "--noprofile", "--norc", "-c", "--", command])
        .current_dir(world.at(cwd))
        .env_clear()
        .envs(environment())
        .env("HOME", world.at("home"))
        .env("TERM", "dumb")
        .env("NO_COLOR", "1")
        // Keeps caches and temporary files inside the world, and programs off the network.
        .env("TMPDIR", world.at("home/.tmp"))
        .env("NO_UPDATE_NOTIFIER", "1")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .status()
        .unwrap();
    let read = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        bytes.truncate(OUTPUT_BYTES_MAX);
        bytes
    };
    Printed { stdout: read(&out), stderr: read(&err), code: status.code() }
}

impl World {
    /// Kills the processes that still run in the world and returns their command lines.
    pub(crate) fn left_running(&self) -> Vec<String> {
        let mut left = Vec::new();
        // A loop that is killed may have started one last process.
        for _ in 0..ROUNDS_MAX {
            let found = self.kill_running();
            if found.is_empty() {
                break;
            }
            left.extend(found);
        }
        left
    }

    fn kill_running(&self) -> Vec<String> {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let mark = format!("HOME={}", self.at("home").display());
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut killed = Vec::new();
        for process in processes {
            let Some(id) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            // Process ids wrap around: a smaller one may be younger.
            if id == own {
                continue;
            }
            let folder = process.path();
            let is_here = fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.root));
            let is_marked = || {
                let environ = fs::read(folder.join("environ")).unwrap_or_default();
                environ.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
            };
            if is_here || is_marked() {
                let line = fs::read(folder.join("cmdline")).unwrap_or_default();
                killed.push(String::from_utf8_lossy(&line).replace('\0', " "));
                if let Some(id) = Pid::from_raw(id) {
                    let _ = kill_process(id, Signal::KILL);
                }
            }
        }
        killed
    }
}
