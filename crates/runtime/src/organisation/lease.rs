//! Leases: which process drives a task, and whether that process is alive.

use std::sync::Arc;

use setpoint_history::HistoryError;
use setpoint_journal::{Journal, JournalError, Lease, LeaseTerms, Task};
use setpoint_protocol::TaskId;

use crate::error::RuntimeError;
use crate::services::Services;
use crate::toolbox::DeadProcess;

/// Returns a name of this process that no other process has, even a later one with the same number.
pub(super) fn this_process() -> String {
    let pid = std::process::id();
    format!("{}/{pid}/{}", host(), stat_of(pid).map(|stat| stat.start).unwrap_or_default())
}

/// Takes the lease of an open task, if necessary from a dead owner, which is then returned.
pub(super) fn take(
    journal: &Journal,
    task: &Task,
    terms: &LeaseTerms,
) -> Result<(Lease, Option<DeadProcess>), RuntimeError> {
    let id = &*task.id;
    let held_by = |owner: &str| match id.parse() {
        Ok(task) => RuntimeError::HeldElsewhere { task, owner: shown(owner) },
        Err(_) => unreadable(id),
    };
    let Some(held) = task.lease.as_ref().filter(|held| held.owner != terms.owner) else {
        return journal
            .acquire_lease(id, terms)
            .map(|lease| (lease, None))
            .map_err(|error| quicker(error, &held_by));
    };
    let dead = dead_process(&held.owner);
    let lease = if held.until_us <= terms.now_us {
        journal.acquire_lease(id, terms)
    } else if dead.is_some() {
        journal.take_over_lease(id, &held.owner, terms)
    } else {
        return Err(held_by(&held.owner));
    };
    Ok((lease.map_err(|error| quicker(error, &held_by))?, dead))
}

/// Converts the error if another process took the lease between the check and the taking.
fn quicker(error: JournalError, held_by: &dyn Fn(&str) -> RuntimeError) -> RuntimeError {
    match error {
        JournalError::LeaseHeld { owner, .. } => held_by(&owner),
        other => other.into(),
    }
}

/// Returns whether a process drives the task: the lease has not expired, and its process is not known to be dead.
pub(super) fn is_held(lease: &Lease, now_us: i64) -> bool {
    lease.until_us > now_us && dead_process(&lease.owner).is_none()
}

/// Returns the owner in a form that a person can look up.
pub(super) fn shown(owner: &str) -> String {
    match parts(owner) {
        Some((on, pid, _)) if on == host() => format!("process {pid}"),
        // The host name comes before the start time.
        Some((on, pid, _)) => {
            format!("process {pid} on {}", on.rsplit_once(':').map_or(on, |(name, _)| name))
        }
        None => owner.to_owned(),
    }
}

/// Gives the lease back, so that another process may resume the task at once.
pub(super) async fn release(services: &Arc<Services>, task: &TaskId) {
    let services = Arc::clone(services);
    let id = task.clone();
    let released = tokio::task::spawn_blocking(move || {
        if let Ok(task) = services.journal.task(id.as_str())
            && let Some(lease) = task.lease.filter(|lease| lease.owner == services.owner)
            && let Err(error) = services.journal.release_lease(&lease)
        {
            tracing::debug!(task = %id, %error, "the lease was not released");
        }
    });
    drop(released.await);
}

fn unreadable(id: &str) -> RuntimeError {
    HistoryError::Unreadable { task: id.to_owned(), seq: 0, what: "task id" }.into()
}

/// Returns the owner, if it was a process of this host that is gone. A process of another host is assumed to be alive.
fn dead_process(owner: &str) -> Option<DeadProcess> {
    let (on, pid, started) = parts(owner)?;
    if on != host() {
        return None;
    }
    let raw = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // Another user's process may not be asked, so it is assumed to exist.
    let is_there = raw.is_some_and(|pid| {
        matches!(rustix::process::test_kill_process(pid), Ok(()) | Err(rustix::io::Errno::PERM))
    });
    // A killed process that its parent has not collected still has its number, but drives nothing.
    let is_dead = !is_there || stat_of(pid).is_some_and(|stat| stat.start != started || stat.is_over);
    is_dead.then(|| DeadProcess { pid, started: started.to_owned() })
}

/// Splits an owner as written by [`this_process`] into host, pid and start time.
fn parts(owner: &str) -> Option<(&str, u32, &str)> {
    let mut parts = owner.rsplitn(3, '/');
    let (started, pid, on) = (parts.next()?, parts.next()?, parts.next()?);
    Some((on, pid.parse().ok()?, started))
}

fn host() -> String {
    let name = rustix::system::uname();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}:{}", name.nodename().to_string_lossy(), boot.trim())
}

/// The kernel's data about a process.
struct Stat {
    /// Start time, in the kernel's own unit.
    start: String,
    /// Whether it has ended and waits to be collected.
    is_over: bool,
}

/// Reads the data of a process; `None` if it cannot be read.
fn stat_of(pid: u32) -> Option<Stat> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets and may contain spaces; the start time is the 20th field after
    // it.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X");
    Some(Stat { start: fields.nth(18)?.to_owned(), is_over })
}

#[cfg(test)]
mod tests {
    use setpoint_journal::{NewRow, Submission, TaskHead, TaskOpening};

    use super::*;

    #[test]
    fn this_process_is_alive_and_a_reused_number_is_not() {
        let me = this_process();
        assert_eq!(dead_process(&me), None);
        let earlier = format!("{}/{}/1", host(), std::process::id());
        if stat_of(std::process::id()).is_some() {
            let dead = DeadProcess { pid: std::process::id(), started: "1".to_owned() };
            assert_eq!(dead_process(&earlier), Some(dead), "{earlier}");
        }
        assert_eq!(dead_process("elsewhere:boot/1/1"), None);
        assert_eq!(dead_process("nonsense"), None);
    }

    #[test]
    fn an_owner_is_shown_as_a_process() {
        assert_eq!(shown(&this_process()), format!("process {}", std::process::id()));
        assert_eq!(shown("elsewhere:boot/1/1"), "process 1 on elsewhere");
        assert_eq!(shown("nonsense"), "nonsense");
    }

    /// Two processes check a free task, and one of them is faster.
    #[test]
    fn the_loser_of_a_race_learns_who_holds_the_task() {
        let journal = Journal::in_memory();
        let mut opening = Submission::new(&TaskHead::start("count-0000000000000001").unwrap());
        let opened = TaskOpening { opened_at_us: 1, logic_version: 1, title: String::new(), lease: None };
        opening.open(opened).unwrap();
        let row = NewRow {
            seq: 1,
            at_us: 1,
            clock_ms: 0,
            from: "user".into(),
            to: "all".into(),
            kind: "k".into(),
            cause: None,
            format: 1,
            body: vec![],
        };
        opening.push(row).unwrap();
        journal.append(opening).unwrap();
        let looked_at = journal.task("count-0000000000000001").unwrap();
        let terms = |owner: &str| LeaseTerms { owner: owner.to_owned(), now_us: 5, ttl_ms: 1_000 };
        take(&journal, &looked_at, &terms("elsewhere:boot/7/1")).unwrap();
        let error = take(&journal, &looked_at, &terms("here:boot/8/1")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "resume count-0000000000000001: it is being run by process 7 on elsewhere"
        );
        assert!(matches!(error, RuntimeError::HeldElsewhere { .. }));
    }

    /// A process that was killed and that its parent has not collected.
    #[test]
    fn a_killed_process_is_dead_before_it_is_collected() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let owner = |stat: Stat| format!("{}/{}/{}", host(), child.id(), stat.start);
        let owner = stat_of(child.id()).map(owner);
        assert_eq!(owner.as_deref().and_then(dead_process), None);
        child.kill().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        let kept = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(pid), kept).unwrap();
        let is_dead = |owner: &String| dead_process(owner).is_some();
        assert!(owner.iter().all(is_dead), "{owner:?}");
        child.wait().unwrap();
        assert!(owner.iter().all(is_dead), "{owner:?}");
    }
}
