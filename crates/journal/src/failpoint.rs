//! Kills this process in the middle of a commit, for crash tests. Does nothing without the feature `failpoints`.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The failpoints of the journal's commits: before the commit, in the middle of the write, after the commit but before
/// the head file and the acknowledgement, and after the head file but before the acknowledgement.
pub(crate) static COMMIT: Failpoint =
    Failpoint::new("SETPOINT_FAILPOINT", &["before", "torn", "after_write", "after_sync"]);

/// Places at which an environment variable can kill the process: `PLACE:N` does it at the n-th thing that is counted.
#[derive(Debug)]
pub struct Failpoint {
    variable: &'static str,
    places: &'static [&'static str],
    count: AtomicU64,
    chosen: OnceLock<Option<(&'static str, u64)>>,
}

impl Failpoint {
    /// Declares the variable and its places.
    #[must_use]
    pub const fn new(variable: &'static str, places: &'static [&'static str]) -> Self {
        Failpoint { variable, places, count: AtomicU64::new(0), chosen: OnceLock::new() }
    }

    /// Counts this many more, and returns whether the chosen one is among them.
    pub fn count(&self, more: u64) -> bool {
        let Some((_, n)) = self.chosen() else { return false };
        let before = self.count.fetch_add(more, Ordering::SeqCst);
        before < n && n <= before + more
    }

    /// Kills the process if `place` is the chosen one and the chosen count is `due`.
    pub fn reach(&self, place: &str, due: bool) {
        if self.is_reached(place, due) {
            kill();
        }
    }

    fn is_reached(&self, place: &str, due: bool) -> bool {
        due && self.chosen().is_some_and(|(chosen, _)| chosen == place)
    }

    fn chosen(&self) -> Option<(&'static str, u64)> {
        if !cfg!(feature = "failpoints") {
            return None;
        }
        *self.chosen.get_or_init(|| {
            let text = std::env::var(self.variable).ok()?;
            let parsed = self.parse(&text);
            if parsed.is_none() {
                give_up(&format!("{}={text:?} names no failpoint", self.variable));
            }
            parsed
        })
    }

    fn parse(&self, text: &str) -> Option<(&'static str, u64)> {
        let (place, n) = text.split_once(':')?;
        let place = self.places.iter().find(|known| **known == place)?;
        Some((place, n.parse().ok().filter(|n| *n > 0)?))
    }
}

/// Kills the process in the middle of writing the transaction that was just committed, if that was chosen and is `due`.
pub(crate) fn reach_torn(due: bool, database: &Path) {
    if COMMIT.is_reached("torn", due) {
        if let Err(error) = tear(database) {
            give_up(&format!("cannot tear the write-ahead log: {error}"));
        }
        kill();
    }
}

/// Exits with an error: a crash test must not pass if the crash did not happen.
fn give_up(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(70);
}

fn kill() -> ! {
    #[cfg(feature = "failpoints")]
    let _failed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    give_up("cannot kill this process")
}

/// Cuts the write-ahead log in the middle of its last transaction, as if the process had died during the write.
/// Earlier transactions stay intact.
fn tear(database: &Path) -> io::Result<()> {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    let path = PathBuf::from(path);
    let log = std::fs::read(&path)?;
    let (start, end) = last_transaction(&log)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it holds no transaction"))?;
    let file = OpenOptions::new().write(true).open(&path)?;
    file.set_len((start + (end - start) / 2) as u64)
}

/// Returns the byte range of the last transaction: the frames with the log's salt, from the commit frame before
/// it to its own.
fn last_transaction(log: &[u8]) -> Option<(usize, usize)> {
    const HEADER: usize = 32;
    const FRAME_HEADER: usize = 24;
    let number = |at: usize| Some(u32::from_be_bytes(log.get(at..at + 4)?.try_into().ok()?));
    let frame = FRAME_HEADER + usize::try_from(number(8)?).ok()?;
    let salt = log.get(16..24)?;
    let (mut start, mut last) = (HEADER, None);
    let mut at = HEADER;
    while log.len() >= at + frame && log.get(at + 8..at + 16) == Some(salt) {
        at += frame;
        if number(at - frame + 4)? != 0 {
            last = Some((start, at));
            start = at;
        }
    }
    last
}
