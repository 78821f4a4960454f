//! What the calls of another process that died left running. Its warden ends them too, but asks them first and gives them
//! time; whoever takes the work up must not look at a world in which they still act.

use std::time::Duration;

use rustix::process::Signal;

use super::survey;

/// Looks before it is given up; there is a pause of [`ROUND_MS`] between two.
const ROUNDS_MAX: u32 = 200;
/// Milliseconds between two looks.
const ROUND_MS: u64 = 10;

/// Kills every process of the calls that the process with this pid and start time (in the kernel's own count) was running.
/// Returns when none is left, and how many there were. Where there is no `/proc`, nothing is found.
pub async fn end_calls_of(pid: u32, started: &str) -> usize {
    let mark = mark_of(pid, started);
    let mut ended = 0;
    for _ in 0..ROUNDS_MAX {
        let left = survey::marked(&mark);
        if left.is_empty() {
            break;
        }
        ended = ended.max(left.len());
        left.iter().for_each(|process| survey::send(process, Signal::KILL));
        tokio::time::sleep(Duration::from_millis(ROUND_MS)).await;
    }
    ended
}

/// What the marks of this process's calls begin with.
pub(super) fn own_mark() -> String {
    let pid = std::process::id();
    let this = i32::try_from(pid).ok().and_then(survey::process);
    mark_of(pid, &this.map(|this| this.started.to_string()).unwrap_or_default())
}

fn mark_of(pid: u32, started: &str) -> String {
    format!("{pid}-{started}-")
}
