//! Kills this process for crash tests, at the n-th transaction that it commits. Does nothing without the feature
//! `failpoints`.

/// A moment of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// Before the commit.
    Before,
    /// After the commit.
    After,
}

/// Counts the commit that is about to happen, and returns whether it is the chosen one.
pub(crate) fn count() -> bool {
    armed::count()
}

/// Ends the process if this is the chosen moment and `due` is set.
pub(crate) fn reach(point: Point, due: bool) {
    if due {
        armed::reach(point);
    }
}

#[cfg(not(feature = "failpoints"))]
mod armed {
    use super::Point;

    pub(super) fn count() -> bool {
        false
    }

    pub(super) fn reach(_point: Point) {}
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Point;

    /// Holds `before:7` or `after:7`.
    const VARIABLE: &str = "SETPOINT_MEMORY_FAILPOINT";

    static COMMITS: AtomicU64 = AtomicU64::new(0);

    pub(super) fn count() -> bool {
        let Some((_, n)) = chosen() else { return false };
        COMMITS.fetch_add(1, Ordering::SeqCst) + 1 == n
    }

    pub(super) fn reach(point: Point) {
        if chosen().is_some_and(|(chosen, _)| chosen == point) {
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
            "after" => Point::After,
            _ => return None,
        };
        Some((point, n.parse().ok().filter(|n| *n > 0)?))
    }

    /// Ends the process with an error: a crash test that does not crash must not pass.
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
}
