//! When the Dreamer goes through memory: after tasks have ended and things have settled, and every now and then.

use std::sync::Arc;
use std::time::Duration;

use setpoint_memory::{Dreamer, Dreamt, Memory};
use setpoint_protocol::RoleId;
use setpoint_protocol::text::error_chain;
use tokio::time::Instant;

use super::Shared;
use crate::clock;

/// How long after a task's end a pass begins: tasks that end one after another are looked at together.
const SETTLE: Duration = Duration::from_secs(2);
/// How long it waits for another process that dreams.
const ELSEWHERE: Duration = Duration::from_secs(30);
/// The longest time between two passes.
const EVERY: Duration = Duration::from_secs(300);

/// Dreams until the organisation shuts down. What tasks left that ended in earlier processes is looked at first.
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
            Ok(Some(dreamt)) if dreamt != Dreamt::default() => {
                let Dreamt { demoted, reflected, promoted, proposed, hypotheses, faded, outputs } = dreamt;
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
                // Another process dreams. What ended meanwhile it may not have seen.
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
