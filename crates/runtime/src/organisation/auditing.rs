//! When the Auditor reads: after the tasks, without slowing them down.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use setpoint_audit::{AuditFailure, AuditPlace, Keeper};
use setpoint_protocol::text::error_chain;
use tokio::time::Instant;

use super::Shared;
use crate::clock;

/// Time between looks for new rows and due work.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Rows that are read at a time.
const ROWS_AT_ONCE: u64 = 2_048;
/// Rest after each read, as a multiple of its duration. While tasks run at full speed the Auditor falls behind instead
/// of slowing them down, and catches up later.
const REST_FACTOR: u32 = 19;
/// Maximum rows read at shutdown; the next process reads the rest.
const ROWS_AT_THE_END: u64 = 20_000;
/// Wait before the next try if another process audits, or the log cannot be written.
const RETRY: Duration = Duration::from_secs(10);

/// Why the Auditor could not work.
#[derive(Clone, Debug)]
pub struct AuditTrouble {
    /// The evidence that an older journal was restored, if this process found any.
    pub put_back: Option<String>,
    /// Why the Auditor could not work at the end, if it could not.
    pub failure: Option<Arc<AuditFailure>>,
}

/// The same while the organisation runs.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    now: Mutex<Option<Arc<AuditFailure>>>,
    put_back: OnceLock<String>,
}

impl Trouble {
    /// Stores a failure, and logs it once.
    fn note(&self, failure: AuditFailure) {
        let error = error_chain(&failure);
        if self.now().replace(Arc::new(failure)).is_none() {
            tracing::warn!(error, "the Auditor cannot work; tasks run as before, and it catches up later");
        }
    }

    fn clear(&self) {
        *self.now() = None;
    }

    /// Returns what a person should know, if there is anything.
    pub(super) fn found(&self) -> Option<AuditTrouble> {
        let trouble = AuditTrouble { put_back: self.put_back.get().cloned(), failure: self.now().clone() };
        (trouble.put_back.is_some() || trouble.failure.is_some()).then_some(trouble)
    }

    fn now(&self) -> MutexGuard<'_, Option<Arc<AuditFailure>>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Audits until the organisation shuts down, whenever no other process does.
pub(super) async fn audit(shared: Arc<Shared>, place: AuditPlace) {
    loop {
        let (journal, place) = (shared.services.journal.clone(), place.clone());
        let opened = tokio::task::spawn_blocking(move || Keeper::open(&place, &journal, clock::now())).await;
        match opened {
            Ok(Ok(Some(mut keeper))) => {
                if let Some(why) = keeper.take_restart_reason() {
                    let told = format!(
                        "the journal is not the one that was audited before ({why}): rows that it lacks are lost, and \
                         unfinished tasks would repeat that work"
                    );
                    drop(shared.audit_trouble.put_back.set(told));
                }
                if follow(&shared, keeper).await.is_break() {
                    return;
                }
            }
            // Another process audits.
            Ok(Ok(None)) => shared.audit_trouble.clear(),
            Ok(Err(error)) => shared.audit_trouble.note(error),
            Err(_) => return tracing::error!("the Auditor panicked; the journal keeps what it has not read"),
        }
        tokio::select! {
            biased;
            () = shared.shutdown.cancelled() => return,
            () = tokio::time::sleep(RETRY) => {}
        }
    }
}

/// Follows the journal until the organisation shuts down, or the log has to be reopened.
async fn follow(shared: &Shared, mut keeper: Keeper) -> ControlFlow<()> {
    let mut rest = Duration::ZERO;
    loop {
        let is_last = tokio::select! {
            biased;
            () = shared.shutdown.cancelled() => true,
            () = tokio::time::sleep(rest) => false,
        };
        let looked = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            let rows = if is_last { ROWS_AT_THE_END } else { ROWS_AT_ONCE };
            let done = look(&mut keeper, rows);
            (keeper, done, began.elapsed())
        });
        let Ok((back, done, took)) = looked.await else {
            tracing::error!("the Auditor panicked; the journal keeps what it has not read");
            return ControlFlow::Break(());
        };
        keeper = back;
        rest = match done {
            Ok(is_behind) => {
                shared.audit_trouble.clear();
                let rest = took * REST_FACTOR;
                if is_behind { rest } else { rest.max(LOOK_EVERY) }
            }
            Err(error) => {
                let is_to_open_again = error.requires_reopen() && !is_last;
                shared.audit_trouble.note(error);
                if is_to_open_again {
                    return ControlFlow::Continue(());
                }
                RETRY
            }
        };
        if is_last {
            break;
        }
    }
    let stopped = tokio::task::spawn_blocking(move || keeper.stop(clock::now())).await;
    if let Ok(Err(error)) = stopped {
        shared.audit_trouble.note(error);
    }
    ControlFlow::Break(())
}

/// Reads further rows and does what is due; returns whether there is more to read.
fn look(keeper: &mut Keeper, rows: u64) -> Result<bool, AuditFailure> {
    let caught = keeper.catch_up(rows, clock::now())?;
    let (missed, _) = keeper.tick(clock::now())?;
    for finding in caught.findings.iter().chain(&missed) {
        let task = finding.task_id.as_ref().map(ToString::to_string);
        tracing::warn!(
            kind = finding.kind.name(),
            accountable = finding.accountable.label(),
            task,
            "the Auditor found something: {}",
            finding.text
        );
    }
    Ok(caught.is_behind)
}
