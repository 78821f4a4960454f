//! Ends what the calls of another, dead process left running. Their keepers end it too, but with a grace period; the
//! process that resumes the work must not observe a world in which it still acts.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

use super::keeper::ARGUMENT;
use super::{MARK, tree};

/// Maximum rounds before giving up, with a pause of [`ROUND`] between two.
const ROUNDS_MAX: u32 = 200;
/// The pause between two rounds.
const ROUND: Duration = Duration::from_millis(10);

/// Kills every process of the calls of the process with this pid and start time (in the kernel's ticks), and waits for
/// their keepers to end the rest. Returns how many were killed, when none is left. Without `/proc` nothing is found.
pub async fn end_calls_of(pid: u32, started: &str) -> usize {
    let mark = mark_of(pid, started);
    let mut killed = BTreeSet::new();
    for _ in 0..ROUNDS_MAX {
        let (keepers, others): (Vec<_>, Vec<_>) = marked(&mark).partition(|(_, is_keeper)| *is_keeper);
        if keepers.is_empty() && others.is_empty() {
            break;
        }
        tree::kill(others.into_iter().map(|(pid, _)| pid).collect(), &mut killed);
        tokio::time::sleep(ROUND).await;
    }
    killed.len()
}

/// The mark of this process's calls.
pub(super) fn own_mark() -> &'static str {
    static OWN: LazyLock<String> = LazyLock::new(|| {
        let pid = std::process::id();
        let this = i32::try_from(pid).ok().and_then(tree::process);
        mark_of(pid, &this.map(|this| this.started.to_string()).unwrap_or_default())
    });
    &OWN
}

fn mark_of(pid: u32, started: &str) -> String {
    format!("{pid}-{started}")
}

/// Returns the processes with this mark, and whether each is a keeper. A keeper has the mark as its second argument,
/// because its environment cannot be read.
fn marked(mark: &str) -> impl Iterator<Item = (i32, bool)> {
    let variable = format!("{MARK}={mark}");
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    tree::all().filter(move |pid| *pid != own).filter_map(move |pid| {
        let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let command = read("cmdline");
        let mut arguments = command.split(|byte| *byte == 0).skip(1);
        if arguments.next() == Some(ARGUMENT.as_bytes()) && arguments.next() == Some(mark.as_bytes()) {
            return Some((pid, true));
        }
        let environment = read("environ");
        environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes()).then_some((pid, false))
    })
}
