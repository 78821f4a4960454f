//! When the Dreamer runs: some time after tasks have ended, and at regular intervals.

use std::sync::Arc;
use std::time::Duration;

use setpoint_memory::{DreamResult, Dreamer, Memory};
use setpoint_protocol::RoleId;
use setpoint_protocol::text::error_chain;
use tokio::time::Instant;

use super::Shared;
use crate::clock;

/// Delay of a pass after a task's end, so that tasks ending one after another share a pass.
const SETTLE: Duration = Duration::from_secs(2);
/// Wait before the next try if another process is dreaming.
const ELSEWHERE: Duration = Duration::from_secs(30);
/// Longest time between two passes.
const EVERY: Duration = Duration::from_secs(300);

/// Dreams until the organisation shuts down. Starts with tasks that ended in earlier processes.
pub(super) async fn dream(shared: Arc<Shared>, memory: Arc<Memory>) {
    let model = shared.has_reflection.then(|| Arc::clone(shared.services.models.of(RoleId::Memory)));
    let dreamer = Dreamer::new(memory, model).stopped_by(shared.shutdown.clone());
    let mut latest = Instant::now();
    if dreamer.has_seen_all(clock::now(), EVERY).await {
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
        match dreamer.pass(clock::now()).await {
            Ok(Some(dreamt)) if dreamt != DreamResult::default() => {
                let DreamResult { demoted, reflected, promoted, proposed, hypotheses, faded, outputs } =
                    dreamt;
                tracing::info!(
                    ?demoted,
                    ?reflected,
                    ?promoted,
                    ?proposed,
                    ?hypotheses,
                    faded,
                    outputs,
                    "the Dreamer went through memory"
                );
            }
            Ok(Some(_)) => {}
            Ok(None) => {
                // Another process is dreaming. It may not have seen tasks that ended in the meantime.
                due = Instant::now() + ELSEWHERE;
                continue;
            }
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
