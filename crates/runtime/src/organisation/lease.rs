//! Who drives a task, and whether that process still lives.

use std::sync::Arc;

use setpoint_journal::{Journal, Lease, LeaseTerms, Task};
use setpoint_protocol::TaskId;

use super::Shared;
use crate::error::RuntimeError;

/// This process, told apart from every other, also from a later one with the same number.
pub(super) fn this_process() -> String {
    let pid = std::process::id();
    format!("{}/{pid}/{}", host(), start_of(pid).unwrap_or_default())
}

/// Takes the lease of an open task, from its dead owner where there is one.
pub(super) fn take(journal: &Journal, task: &Task, terms: &LeaseTerms) -> Result<Lease, RuntimeError> {
    let id = &*task.id;
    if let Some(held) = &task.lease
        && held.owner != terms.owner
        && held.until_us > terms.now_us
    {
        if !is_dead(&held.owner) {
            let task = id.parse().map_err(|_| unreadable(id))?;
            return Err(RuntimeError::HeldElsewhere { task, owner: held.owner.clone() });
        }
        return Ok(journal.take_over_lease(id, &held.owner, terms)?);
    }
    Ok(journal.acquire_lease(id, terms)?)
}

/// Gives the lease back, so that another process may resume the task at once.
pub(super) async fn release(shared: &Arc<Shared>, task: &TaskId) {
    let shared = Arc::clone(shared);
    let id = task.clone();
    let released = tokio::task::spawn_blocking(move || {
        if let Ok(task) = shared.journal.task(id.as_str())
            && let Some(lease) = task.lease.filter(|lease| lease.owner == shared.owner)
            && let Err(error) = shared.journal.release_lease(&lease)
        {
            tracing::debug!(task = %id, %error, "the lease was not released");
        }
    });
    drop(released.await);
}

fn unreadable(id: &str) -> RuntimeError {
    RuntimeError::Unreadable { task: id.to_owned(), seq: 0, what: "task id" }
}

/// Whether the owner was a process of this host that is gone. Of another host nothing is known, so it lives.
fn is_dead(owner: &str) -> bool {
    let mut parts = owner.rsplitn(3, '/');
    let (Some(start), Some(pid), Some(on)) = (parts.next(), parts.next(), parts.next()) else { return false };
    if on != host() {
        return false;
    }
    let Ok(pid) = pid.parse::<u32>() else { return false };
    let alive = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok());
    !alive || start_of(pid).is_some_and(|now| now != start)
}

fn host() -> String {
    let name = rustix::system::uname();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}:{}", name.nodename().to_string_lossy(), boot.trim())
}

/// When a process started, in the kernel's own count; `None` where that cannot be told.
fn start_of(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets and may hold spaces; the start time is the 20th after it.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_a_reused_number_does_not() {
        let me = this_process();
        assert!(!is_dead(&me));
        let earlier = format!("{}/{}/1", host(), std::process::id());
        if start_of(std::process::id()).is_some() {
            assert!(is_dead(&earlier), "{earlier}");
        }
        assert!(!is_dead("elsewhere:boot/1/1"));
        assert!(!is_dead("nonsense"));
    }
}
