//! Which processes of a call are alive, from `/proc`. Where there is none, nothing is found and the group has to do.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;

use rustix::process::{Pid, Signal, kill_process};

use super::MARK;

/// One process, as `/proc` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Ticks since the machine started; with the pid, this names a process for good.
    pub(super) started: u64,
    is_zombie: bool,
}

impl Process {
    pub(super) fn is_same(&self, other: &Process) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }
}

/// Every process that is not a zombie.
pub(super) fn all() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| {
        let name = entry.ok()?.file_name();
        std::str::from_utf8(name.as_bytes()).ok()?.parse::<i32>().ok()
    });
    pids.filter_map(process).filter(|process| !process.is_zombie).collect()
}

/// The process with this pid.
pub(super) fn process(pid: i32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat))
}

/// What of a call is alive.
#[derive(Clone, Debug, Default)]
pub(super) struct Alive {
    pub(super) processes: Vec<Process>,
    /// A young process without an environment: it may be about to become something with the mark.
    pub(super) is_unsure: bool,
}

/// The processes that carry the mark `call`, are in the process group, or descend from `known` ones that are alive.
pub(super) fn alive(call: &str, group: i32, known: &[Process]) -> Alive {
    let wanted = format!("{MARK}={call}");
    let oldest = known.iter().map(|process| process.started).min().unwrap_or(u64::MAX);
    let everything = all();
    let mut found = Alive::default();
    let mut ours: BTreeSet<i32> = BTreeSet::new();
    for process in &everything {
        // A process cannot carry the mark of a call that began after it.
        if process.started < oldest {
            continue;
        }
        if process.group == group || known.iter().any(|one| one.is_same(process)) {
            ours.insert(process.pid);
            continue;
        }
        match std::fs::read(format!("/proc/{}/environ", process.pid)) {
            // Threads of the kernel, children of the second process, never have one.
            Ok(environ) if environ.is_empty() => found.is_unsure |= process.parent != 2,
            Ok(environ) => {
                if environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
                    ours.insert(process.pid);
                }
            }
            Err(_) => {}
        }
    }
    add_descendants(&everything, &mut ours);
    found.processes = everything.into_iter().filter(|process| ours.contains(&process.pid)).collect();
    found
}

/// The processes whose mark begins with `prefix`, those in their groups, and their descendants; never this one.
pub(super) fn marked(prefix: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={prefix}");
    let everything = all();
    let mut ours: BTreeSet<i32> = BTreeSet::new();
    let mut groups: BTreeSet<i32> = BTreeSet::new();
    let this = i32::try_from(std::process::id()).unwrap_or_default();
    for process in everything.iter().filter(|process| process.pid != this) {
        let environ = std::fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted.as_bytes())) {
            ours.insert(process.pid);
            groups.insert(process.group);
        }
    }
    ours.extend(
        everything.iter().filter(|process| groups.contains(&process.group)).map(|process| process.pid),
    );
    add_descendants(&everything, &mut ours);
    ours.remove(&this);
    everything.into_iter().filter(|process| ours.contains(&process.pid)).collect()
}

/// Sends a signal to a process, if it still is the same one.
pub(super) fn send(process: &Process, signal: Signal) {
    if self::process(process.pid).is_none_or(|now| !now.is_same(process)) {
        return;
    }
    if let Some(pid) = Pid::from_raw(process.pid) {
        // It may have ended by itself meanwhile.
        let _ = kill_process(pid, signal);
    }
}

fn add_descendants(everything: &[Process], ours: &mut BTreeSet<i32>) {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for process in everything {
        children.entry(process.parent).or_default().push(process.pid);
    }
    let mut pending: Vec<i32> = ours.iter().copied().collect();
    while let Some(pid) = pending.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if ours.insert(*child) {
                pending.push(*child);
            }
        }
    }
}

/// `pid (name) state parent group …`; the name may hold anything, parentheses and line ends too.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // Fields 3 to 5 are read; the start time is field 22.
    let started = fields.nth(16)?.parse().ok()?;
    Some(Process { pid, parent, group, started, is_zombie: state == "Z" || state == "X" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_does_not_confuse_the_reading() {
        let stat = "12 (a) S 1 (b\n) Z) R 7 9 9 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5555 0 0";
        let read = parse_stat(12, stat).unwrap();
        assert_eq!(read, Process { pid: 12, parent: 7, group: 9, started: 5555, is_zombie: false });
        assert_eq!(parse_stat(12, "12 (a) S 1"), None);
    }

    #[test]
    fn this_process_is_alive() {
        if !std::path::Path::new("/proc/self/stat").exists() {
            return;
        }
        let me = i32::try_from(std::process::id()).unwrap();
        let found = all().into_iter().find(|process| process.pid == me).unwrap();
        assert_eq!(process(me), Some(found));
    }
}
