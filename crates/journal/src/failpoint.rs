//! Where a crash test kills this process: at the n-th row that it commits. Does nothing without the feature
//! `failpoints`.

use std::path::Path;

/// A place in the life of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// Before the commit.
    Before,
    /// In the middle of the write.
    Torn,
    /// After the commit, before the head file and the acknowledgement.
    AfterWrite,
    /// After the head file, before the acknowledgement.
    AfterSync,
}

/// Counts the rows of the next commit, and returns whether the chosen row is among them.
pub(crate) fn count_rows(rows: u64) -> bool {
    armed::count_rows(rows)
}

/// Kills the process if `point` is the chosen one and the chosen row is in this commit (`due`).
pub(crate) fn reach(point: Point, due: bool, database: &Path) {
    if due {
        armed::reach(point, database);
    }
}

#[cfg(not(feature = "failpoints"))]
mod armed {
    use std::path::Path;

    use super::Point;

    pub(super) fn count_rows(_rows: u64) -> bool {
        false
    }

    pub(super) fn reach(_point: Point, _database: &Path) {}
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::fs::OpenOptions;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Point;

    /// Value: `before:7`, `torn:7`, `after_write:7` or `after_sync:7`.
    const VARIABLE: &str = "SETPOINT_FAILPOINT";

    static ROWS: AtomicU64 = AtomicU64::new(0);

    pub(super) fn count_rows(rows: u64) -> bool {
        let Some((_, n)) = chosen() else { return false };
        let before = ROWS.fetch_add(rows, Ordering::SeqCst);
        before < n && n <= before + rows
    }

    pub(super) fn reach(point: Point, database: &Path) {
        if chosen().is_some_and(|(chosen, _)| chosen == point) {
            if point == Point::Torn
                && let Err(error) = tear(database)
            {
                give_up(&format!("cannot tear the write-ahead log: {error}"));
            }
            kill();
        }
    }

    fn chosen() -> Option<(Point, u64)> {
        static CHOSEN: OnceLock<Option<(Point, u64)>> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let text = std::env::var(VARIABLE).ok()?;
            let parsed = parse(&text);
            if parsed.is_none() {
                give_up(&format!("{VARIABLE}={text:?} names no failpoint"));
            }
            parsed
        })
    }

    fn parse(text: &str) -> Option<(Point, u64)> {
        let (point, n) = text.split_once(':')?;
        let point = match point {
            "before" => Point::Before,
            "torn" => Point::Torn,
            "after_write" => Point::AfterWrite,
            "after_sync" => Point::AfterSync,
            _ => return None,
        };
        Some((point, n.parse().ok().filter(|n| *n > 0)?))
    }

    /// Exits with an error: a crash test must not pass if the crash did not happen.
    fn give_up(why: &str) -> ! {
        eprintln!("{why}");
        std::process::exit(70);
    }

    fn kill() -> ! {
        let me = rustix::process::getpid();
        if let Err(error) = rustix::process::kill_process(me, rustix::process::Signal::KILL) {
            give_up(&format!("cannot kill this process: {error}"));
        }
        loop {
            std::thread::park();
        }
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
}
