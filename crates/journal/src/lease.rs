//! Who may append to a task. The epoch is the fence; time only decides when another owner may ask for the
//! next epoch.

use crate::entry::{Lease, LeaseTerms, TaskOpening, TaskState, Tid};
use crate::error::{JournalError, Result};
use crate::limits::COUNT_MAX;
use crate::store::Store;

/// Which owner a new lease may displace.
#[derive(Debug, Clone)]
pub(crate) enum Displace {
    /// An owner whose lease has expired.
    Expired,
    /// This owner, even before its lease expires: the caller knows that it is dead.
    Owner(String),
}

/// Returns the state of a task before its first row, under the lease that its opening asks for.
pub(crate) fn opening_state(task: &str, opening: &TaskOpening) -> Result<TaskState> {
    let mut state = TaskState {
        seq: 0,
        chain: crate::chain::start_of_chain(task),
        closed_at_us: None,
        owner: None,
        epoch: 0,
        until_us: 0,
    };
    if let Some(terms) = &opening.lease {
        terms.check_limits()?;
        give(&mut state, terms);
    }
    Ok(state)
}

/// Checks that a leased task gets rows only from its holder, and a task without a lease only from submitters
/// without one.
pub(crate) fn check_epoch(task: &str, state: &TaskState, held: Option<u64>) -> Result<()> {
    let fits = match held {
        Some(epoch) => state.owner.is_some() && state.epoch == epoch,
        None => state.owner.is_none(),
    };
    if fits { Ok(()) } else { Err(lost(task, state, held)) }
}

pub(crate) fn acquire(
    store: &mut dyn Store,
    task: &str,
    terms: &LeaseTerms,
    displace: &Displace,
) -> Result<Lease> {
    let (tid, mut state) = open_task(store, task)?;
    if let Some(owner) = &state.owner {
        let free = match displace {
            Displace::Expired => **owner == *terms.owner || state.until_us <= terms.now_us,
            Displace::Owner(dead) => **owner == **dead,
        };
        if !free {
            return Err(JournalError::LeaseHeld {
                task: task.to_owned(),
                owner: owner.to_string(),
                epoch: state.epoch,
                until_us: state.until_us,
            });
        }
    }
    if state.epoch >= COUNT_MAX {
        return Err(JournalError::Limit { what: "lease epoch", max: COUNT_MAX, got: state.epoch });
    }
    give(&mut state, terms);
    store.save_state(tid, &state)?;
    held(task, &state)
}

pub(crate) fn renew(store: &mut dyn Store, lease: &Lease, now_us: i64, ttl_ms: u64) -> Result<Lease> {
    let terms = LeaseTerms { owner: lease.owner.clone(), now_us, ttl_ms };
    terms.check_limits()?;
    let (tid, mut state) = open_task(store, &lease.task)?;
    check_epoch(&lease.task, &state, Some(lease.epoch))?;
    state.until_us = terms.expires_us();
    store.save_state(tid, &state)?;
    held(&lease.task, &state)
}

/// Releases a lease that no other owner has taken since; doing so twice, or after the task was closed, succeeds.
pub(crate) fn release(store: &mut dyn Store, lease: &Lease) -> Result<()> {
    let Some((tid, mut state)) = store.find(&lease.task)? else {
        return Err(JournalError::UnknownTask { task: lease.task.to_string() });
    };
    if state.epoch != lease.epoch {
        return Err(lost(&lease.task, &state, Some(lease.epoch)));
    }
    if state.owner.take().is_some() {
        store.save_state(tid, &state)?;
    }
    Ok(())
}

fn give(state: &mut TaskState, terms: &LeaseTerms) {
    state.owner = Some(terms.owner.as_str().into());
    state.epoch += 1;
    state.until_us = terms.expires_us();
}

fn held(task: &str, state: &TaskState) -> Result<Lease> {
    Lease::of(&task.into(), state).ok_or_else(|| lost(task, state, None))
}

fn open_task(store: &mut dyn Store, task: &str) -> Result<(Tid, TaskState)> {
    match store.find(task)? {
        None => Err(JournalError::UnknownTask { task: task.to_owned() }),
        Some((_, state)) if state.closed_at_us.is_some() => {
            Err(JournalError::TaskClosed { task: task.to_owned() })
        }
        Some(found) => Ok(found),
    }
}

fn lost(task: &str, state: &TaskState, held: Option<u64>) -> JournalError {
    JournalError::LeaseLost {
        task: task.to_owned(),
        held,
        current: state.epoch,
        owner: state.owner.as_deref().map(str::to_owned),
    }
}
