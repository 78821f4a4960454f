//! What a running command uses up of the machine, all of its processes together, and when that is too much.
//!
//! It only looks: who runs the command ends it. Between two looks a command can go beyond a limit. Linux limits the
//! data of one process and the size of one file (`setpoint_sandbox::Limits`), but only an administrator may limit the sum
//! of many.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::show::amount;

/// Milliseconds between two looks.
const LOOK_MS: u64 = 500;
/// The pause after a look is at least this many times as long as the look, so that looking takes little of the time.
const PAUSE_LOOKS: u32 = 10;
/// Levels of folders that are searched.
const DEPTH_MAX: usize = 256;
/// Maximum open files that one look examines.
#[cfg(target_os = "linux")]
const OPEN_MAX: usize = 16_384;
/// How the system names a file that is in memory alone. Its first part is not a folder.
#[cfg(target_os = "linux")]
const MEMORY_FILE: &str = "/memfd:";
/// Bytes of a block in what the system tells of a file.
const BLOCK_BYTES: u64 = 512;

/// What the processes of one command may use up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Disk that its changes take, and bytes of the files that are put in place.
    pub changes_bytes_max: u64,
    /// Files and folders that it makes or changes.
    pub changes_max: usize,
    /// Memory in bytes, without what only mirrors files.
    pub memory_bytes_max: u64,
    /// Bytes that stay free on the disk of its changes.
    pub disk_free_bytes_min: u64,
    /// Bytes of the machine's memory that stay available.
    pub memory_free_bytes_min: u64,
    /// On a small disk or machine, one part in this many is enough.
    pub free_parts: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            changes_bytes_max: 8 << 30,
            changes_max: setpoint_sandbox::changes::CHANGES_MAX,
            memory_bytes_max: 8 << 30,
            disk_free_bytes_min: 1 << 30,
            memory_free_bytes_min: 256 << 20,
            free_parts: 20,
        }
    }
}

/// Why a command was ended: it used up too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// Its changes are larger than this many bytes.
    Bytes(u64),
    /// It made or changed more than this many files and folders.
    Files(usize),
    /// Fewer than this many bytes are free on the disk of its changes.
    Disk(u64),
    /// Its processes hold more than this many bytes of memory.
    Memory(u64),
    /// Fewer than this many bytes of the machine's memory are available.
    Machine(u64),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Bytes(max) => write!(f, "what it wrote is more than {}", amount(*max)),
            Excess::Files(max) => write!(f, "it made or changed more than {max} files and folders"),
            Excess::Disk(min) => {
                write!(
                    f,
                    "the disk is nearly full: less than {} is free; free some space first",
                    amount(*min)
                )
            }
            Excess::Memory(max) => write!(f, "its processes took more than {} of memory", amount(*max)),
            Excess::Machine(min) => write!(
                f,
                "the memory of this machine is nearly used up: less than {} is available; end something else first",
                amount(*min)
            ),
        }
    }
}

/// What is looked at while a command runs.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// The folder of its changes, if they take disk.
    pub(crate) changes: Option<PathBuf>,
    pub(crate) bounds: Bounds,
}

impl Watch {
    /// Waits until the descendants of a process have used up too much, for ever if they do not.
    pub(crate) async fn excess(&self, pid: Option<u32>) -> Excess {
        let mut pause = Duration::from_millis(LOOK_MS);
        loop {
            tokio::time::sleep(pause).await;
            let watch = self.clone();
            let began = Instant::now();
            if let Ok(Some(excess)) = tokio::task::spawn_blocking(move || watch.look(pid)).await {
                return excess;
            }
            pause = Duration::from_millis(LOOK_MS).max(began.elapsed() * PAUSE_LOOKS);
        }
    }

    fn look(&self, pid: Option<u32>) -> Option<Excess> {
        let Bounds { changes_bytes_max, changes_max, memory_bytes_max, .. } = self.bounds;
        let nameless = pid.map(Nameless::of).unwrap_or_default();
        if let Some(place) = &self.changes {
            // A command that deletes while it is looked at makes errors of single entries, not of the disk.
            if let Ok(Some(excess)) = self.bounds.disk(place) {
                return Some(excess);
            }
            let used = Used::of(place, &self.bounds);
            if used.bytes.saturating_add(nameless.disk) > changes_bytes_max {
                return Some(Excess::Bytes(changes_bytes_max));
            }
            if used.entries > changes_max {
                return Some(Excess::Files(changes_max));
            }
        }
        if pid.is_some_and(|pid| memory(pid, nameless.memory, memory_bytes_max) > memory_bytes_max) {
            return Some(Excess::Memory(memory_bytes_max));
        }
        self.bounds.machine(&fs::read_to_string("/proc/meminfo").ok()?)
    }
}

impl Bounds {
    /// Returns the excess if too little is free on the disk of a folder.
    ///
    /// # Errors
    /// If the system does not tell.
    pub(crate) fn disk(&self, place: &Path) -> io::Result<Option<Excess>> {
        let (free, total) = space(place)?;
        let min = self.disk_free_bytes_min.min(total / self.free_parts.max(1));
        Ok((free < min).then_some(Excess::Disk(min)))
    }

    /// Returns the excess if too little memory is available, by the text of `/proc/meminfo`.
    fn machine(&self, text: &str) -> Option<Excess> {
        let (available, total) = (kib(text, "MemAvailable:")?, kib(text, "MemTotal:")?);
        let min = self.memory_free_bytes_min.min(total / self.free_parts.max(1));
        (available < min).then_some(Excess::Machine(min))
    }
}

/// Returns the bytes that are free for an ordinary user on the disk of a folder, and those that it has.
///
/// # Errors
/// If the system does not tell.
pub(crate) fn space(place: &Path) -> io::Result<(u64, u64)> {
    let found = rustix::fs::statvfs(place)?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Ok((bytes(found.f_bavail), bytes(found.f_blocks)))
}

/// What a folder takes of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    bytes: u64,
    entries: usize,
}

impl Used {
    /// Looks until a limit is reached. What cannot be read counts as nothing.
    fn of(folder: &Path, bounds: &Bounds) -> Self {
        let mut used = Used::default();
        let mut pending = vec![(folder.to_path_buf(), 0)];
        while let Some((folder, depth)) = pending.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(found) = entry.path().symlink_metadata() else { continue };
                // A file with several names takes its space once.
                let names = if found.is_dir() { 1 } else { found.nlink().max(1) };
                used.bytes = used.bytes.saturating_add(found.blocks().saturating_mul(BLOCK_BYTES) / names);
                used.entries += 1;
                if used.bytes > bounds.changes_bytes_max || used.entries > bounds.changes_max {
                    return used;
                }
                if found.is_dir() && depth < DEPTH_MAX {
                    pending.push((entry.path(), depth + 1));
                }
            }
        }
        used
    }
}

/// What files take that have no name any more, or never had one: they are in no folder, and are gone only when the last
/// process closes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Nameless {
    disk: u64,
    memory: u64,
}

impl Nameless {
    /// Looks at the open files of a process's descendants. What cannot be seen counts as nothing.
    #[cfg(target_os = "linux")]
    fn of(pid: u32) -> Self {
        let mut all = Nameless::default();
        let mut seen = BTreeSet::new();
        let pids = i32::try_from(pid).map(super::tree::descendants).unwrap_or_default();
        let folders = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).ok());
        for entry in folders.flatten().flatten().take(OPEN_MAX) {
            let Ok(found) = fs::metadata(entry.path()) else { continue };
            if !found.is_file() || found.nlink() > 0 || !seen.insert((found.dev(), found.ino())) {
                continue;
            }
            let bytes = found.blocks().saturating_mul(BLOCK_BYTES);
            let is_in_memory = fs::read_link(entry.path())
                .is_ok_and(|name| name.as_os_str().as_encoded_bytes().starts_with(MEMORY_FILE.as_bytes()));
            let sum = if is_in_memory { &mut all.memory } else { &mut all.disk };
            *sum = sum.saturating_add(bytes);
        }
        all
    }

    /// Other systems do not tell.
    #[cfg(not(target_os = "linux"))]
    fn of(_: u32) -> Self {
        Nameless::default()
    }
}

/// Returns the bytes of memory that the descendants of a process hold. What several share counts once, if it matters
/// for `bytes_max`. `files` are bytes of open files in memory, which count as shared memory whether they are mapped or not.
#[cfg(target_os = "linux")]
fn memory(pid: u32, files: u64, bytes_max: u64) -> u64 {
    let pids = i32::try_from(pid).map(super::tree::descendants).unwrap_or_default();
    let sum = |file: &str, keys: &[&str]| {
        let of_one = |pid: &i32| {
            let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
            Some(keys.iter().filter_map(|key| kib(&text, key)).sum::<u64>())
        };
        pids.iter().map(|pid| of_one(pid).unwrap_or(0)).fold(0, u64::saturating_add)
    };
    let all = |file, own: &[&str], shared| sum(file, own).saturating_add(sum(file, &[shared]).max(files));
    let roughly = all("status", &["RssAnon:", "VmSwap:"], "RssShmem:");
    if roughly <= bytes_max {
        return roughly;
    }
    // Slower, but what a process shares with its children is divided among them.
    all("smaps_rollup", &["Pss_Anon:", "SwapPss:"], "Pss_Shmem:")
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
fn memory(_: u32, _: u64, _: u64) -> u64 {
    0
}

/// Returns an amount in bytes from lines like `MemTotal:  24682316 kB`.
fn kib(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(number.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn the_space_of_a_folder_is_what_its_disk_gave() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("c"), vec![1; 300_000]).unwrap();
        fs::hard_link(inner.join("c"), folder.path().join("d")).unwrap();
        // A hole takes nothing.
        let hole = File::create(folder.path().join("hole")).unwrap();
        hole.write_all_at(b"x", 1 << 32).unwrap();
        let used = Used::of(folder.path(), &Bounds::default());
        assert_eq!(used.entries, 5);
        assert!((300_000..600_000).contains(&used.bytes), "{used:?}");
        let few = Used::of(folder.path(), &Bounds { changes_max: 2, ..Bounds::default() });
        assert_eq!(few.entries, 3, "it went on after the limit");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn process_memory_that_several_share_counts_once() {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};
        // Five children see the same 64 MiB of their parent, which counts for one part in six for itself.
        let code = "import os, signal\nx = b'x' * (64 << 20)\nfor _ in range(5):\n  if os.fork() == 0: signal.pause()\n\
                    print('ready', flush=True)\nsignal.pause()\n";
        let mut parent = Command::new("python3").args(["-c", code]).stdout(Stdio::piped()).spawn().unwrap();
        let ready = BufReader::new(parent.stdout.take().unwrap()).lines().next();
        assert_eq!(ready.unwrap().unwrap(), "ready");
        let pids = super::super::tree::descendants(i32::try_from(parent.id()).unwrap());
        let (roughly, exactly) = (memory(parent.id(), 0, u64::MAX), memory(parent.id(), 0, 0));
        pids.iter().for_each(|pid| super::super::tree::send(*pid, rustix::process::Signal::KILL));
        parent.kill().unwrap();
        parent.wait().unwrap();
        assert_eq!(pids.len(), 5);
        assert!(roughly > 5 * (64 << 20), "{roughly}");
        assert!((50 << 20..110 << 20).contains(&exactly), "{exactly}");
    }

    #[test]
    fn a_small_disk_and_a_small_machine_keep_a_part_free() {
        let place = tempfile::tempdir().unwrap();
        let (free, total) = space(place.path()).unwrap();
        let all = Bounds { disk_free_bytes_min: u64::MAX, free_parts: 1, ..Bounds::default() };
        let is_empty = free == total;
        assert_eq!(all.disk(place.path()).unwrap(), (!is_empty).then_some(Excess::Disk(total)));
        assert_eq!(Bounds { disk_free_bytes_min: 0, ..all }.disk(place.path()).unwrap(), None);
        assert!(all.disk(&place.path().join("not there")).is_err());
        let meminfo = |available: u64| {
            format!("MemTotal:        2000000 kB\nMemFree:  1 kB\nMemAvailable: {available} kB\n")
        };
        let bounds = Bounds::default();
        assert_eq!(bounds.machine(&meminfo(99_999)), Some(Excess::Machine(100_000 * 1024)));
        assert_eq!(bounds.machine(&meminfo(100_000)), None);
        let small = Bounds { memory_free_bytes_min: 1024, ..bounds };
        assert_eq!(small.machine(&meminfo(1)), None);
        assert_eq!(small.machine(&meminfo(0)), Some(Excess::Machine(1024)));
        assert_eq!(small.machine("MemTotal: many kB"), None);
    }
}
