//! When the Dreamer goes through memory: after tasks have ended and things have settled, and every now and then.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{Shared, error_chain};
use crate::clock;
use crate::memory::{Candidate, Dreamt, Memory, MemoryFailure};

/// How long after a task's end a pass begins: tasks that end one after another are looked at together.
const SETTLE: Duration = Duration::from_secs(2);
/// The longest time between two passes.
const EVERY: Duration = Duration::from_secs(300);

/// Dreams until the organisation shuts down. What tasks left that ended in earlier processes is looked at first.
pub(super) async fn dream(shared: Arc<Shared>, memory: Arc<Memory>) {
    let mut latest = Instant::now();
    if has_seen_all(&memory).await {
        latest += EVERY;
    }
    let mut due = latest;
    loop {
        tokio::select! {
            biased;
            () = shared.shutdown.cancelled() => return,
            () = shared.ended.notified() => {
                due = latest.min(Instant::now() + SETTLE);
                continue;
            }
            () = tokio::time::sleep_until(due) => {}
        }
        match pass(&shared, &memory).await {
            Ok(Some(dreamt)) if dreamt != Dreamt::default() => {
                let Dreamt { demoted, promoted, faded, outputs } = dreamt;
                tracing::info!(?demoted, ?promoted, faded, outputs, "the Dreamer went through memory");
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(
                    error = error_chain(&error),
                    "the Dreamer gives up; it tries again in {} s",
                    EVERY.as_secs()
                );
            }
        }
        latest = Instant::now() + EVERY;
        due = latest;
    }
}

/// Whether an earlier pass has seen everything that the journal holds, not long ago.
async fn has_seen_all(memory: &Arc<Memory>) -> bool {
    let seen = |memory: &Memory| {
        let Some(last) = memory.last_dream() else { return Ok(false) };
        let age_us = clock::now().as_micros().saturating_sub(last.at.as_micros());
        let is_recent = u128::try_from(age_us).is_ok_and(|age| age < EVERY.as_micros());
        Ok(is_recent && memory.has_nothing_after(last.cursor)?)
    };
    blocking(memory, seen).await.unwrap_or(false)
}

/// One pass, in steps that a shutdown can come between; `None` where another process dreams.
async fn pass(shared: &Arc<Shared>, memory: &Arc<Memory>) -> Result<Option<Dreamt>, MemoryFailure> {
    let now = clock::now();
    let Some(alone) = blocking(memory, Memory::alone).await? else { return Ok(None) };
    let alone = Arc::new(alone);
    let mut dreamt = Dreamt::default();
    let by = Arc::clone(&alone);
    dreamt.demoted = blocking(memory, move |memory| memory.demote(&by, now)).await?;
    let by = Arc::clone(&alone);
    let due: Vec<Candidate> = blocking(memory, move |memory| memory.due(&by, now)).await?;
    for candidate in due {
        if shared.shutdown.is_cancelled() {
            return Ok(Some(dreamt));
        }
        let by = Arc::clone(&alone);
        let made = blocking(memory, move |memory| memory.promote(&by, &candidate, None, now)).await?;
        dreamt.promoted.push(made);
    }
    let (by, shutdown) = (alone, shared.shutdown.clone());
    let forget = move |memory: &Memory| memory.forget(&by, now, &|| shutdown.is_cancelled());
    (dreamt.faded, dreamt.outputs) = blocking(memory, forget).await?;
    Ok(Some(dreamt))
}

/// Does it where waiting for the disk harms nobody.
async fn blocking<T: Send + 'static>(
    memory: &Arc<Memory>,
    work: impl FnOnce(&Memory) -> Result<T, MemoryFailure> + Send + 'static,
) -> Result<T, MemoryFailure> {
    let memory = Arc::clone(memory);
    match tokio::task::spawn_blocking(move || work(&memory)).await {
        Ok(done) => done,
        Err(_) => Err(MemoryFailure::Panicked),
    }
}
