//! Finds the descendants of a process in `/proc`. Without `/proc` nothing is found.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};

/// Maximum processes that are examined in one round.
const PROCESSES_MAX: usize = 200_000;

/// What the kernel reports about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) parent: i32,
    pub(super) session: i32,
    /// Ticks from boot to its start; with the pid it identifies a process uniquely.
    pub(super) started: u64,
    pub(super) is_zombie: bool,
}

/// Reads the process with this pid.
pub(super) fn process(pid: i32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&stat))
}

/// Returns the pids of all processes.
pub(super) fn all() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Returns the children of a process.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let listed = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).ok();
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists: Option<Vec<String>> = tasks.map(listed).collect();
    match lists {
        Some(lists) => {
            lists.iter().flat_map(|list| list.split(' ')).filter_map(|pid| pid.parse().ok()).collect()
        }
        // The kernel does not list children.
        None => all().filter(|child| process(*child).is_some_and(|child| child.parent == pid)).collect(),
    }
}

/// Returns the descendants of a process that can be found at this moment.
#[cfg(target_os = "linux")]
pub(super) fn descendants(pid: i32) -> Vec<i32> {
    let mut pending = children(pid);
    let mut found = BTreeSet::new();
    while let Some(pid) = pending.pop() {
        if found.len() < PROCESSES_MAX && found.insert(pid) {
            pending.extend(children(pid));
        }
    }
    found.into_iter().collect()
}

/// Kills these processes and their descendants, parents first: what a dead parent leaves is adopted and found in the
/// next round. Adds to `killed` and returns whether there was anything to kill.
pub(super) fn kill(roots: Vec<i32>, killed: &mut BTreeSet<i32>) -> bool {
    let mut pending = roots;
    let mut seen = BTreeSet::new();
    while let Some(pid) = pending.pop() {
        if seen.len() >= PROCESSES_MAX || !seen.insert(pid) {
            continue;
        }
        if process(pid).is_some_and(|process| !process.is_zombie) {
            send(pid, Signal::KILL);
            killed.insert(pid);
        }
        pending.extend(children(pid));
    }
    !seen.is_empty()
}

/// Sends a signal. The process may have ended by itself.
pub(super) fn send(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Parses `pid (name) state parent group session …`; the name may contain anything, including parentheses and line
/// ends.
fn parse_stat(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    // Fields 3 to 6 are read; the start time is field 22.
    let started = fields.nth(15)?.parse().ok()?;
    Some(Process { parent, session, started, is_zombie: state == "Z" || state == "X" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_process_name_is_parsed() {
        let stat = "12 (a) S 1 (b\n) Z) R 7 9 8 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5555 0 0";
        let read = parse_stat(stat).unwrap();
        assert_eq!(read, Process { parent: 7, session: 8, started: 5555, is_zombie: false });
        assert_eq!(parse_stat("12 (a) S 1"), None);
    }

    #[test]
    fn this_process_is_a_child_of_its_parent() {
        if !std::path::Path::new("/proc/self/stat").exists() {
            return;
        }
        let me = i32::try_from(std::process::id()).unwrap();
        let found = process(me).unwrap();
        assert!(!found.is_zombie && all().any(|pid| pid == me));
        // A parent outside this PID namespace has no number here.
        assert!(found.parent == 0 || children(found.parent).contains(&me));
    }
}
