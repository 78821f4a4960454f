//! Asks R5, which lives outside the task: its reply arrives as a message.

use std::sync::Arc;
use std::time::Duration;

use setpoint_machine::External;
use setpoint_memory::{Access, Readers, unavailable};
use setpoint_protocol::CallId;
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{MemoryQuery, MemoryReply};
use setpoint_protocol::topology::Payload;

use super::{Driver, Inbound};
use crate::clock;

/// Longest wait of a plan for memory, which may have to apply a long journal first.
const WAIT_MAX: Duration = Duration::from_secs(10);

impl Driver {
    /// Returns why memory cannot be asked; `None` if it can.
    pub(super) fn lacks_memory(&self) -> Option<Arc<str>> {
        match &self.services.memory {
            Access::Open(_) => None,
            Access::Closed(reason) => Some(Arc::clone(reason)),
        }
    }

    /// Answers in place of R5, which is not running, in the same transaction.
    pub(super) fn memory_is_unavailable(&mut self, call: CallId, reason: &str) {
        self.backlog.push_front(inbound_of(unavailable(call, reason)));
    }

    /// Asks memory. The query's record is durable, so memory has seen every record before it.
    pub(super) fn ask_memory(&mut self, query: MemoryQuery) {
        let memory = match &self.services.memory {
            Access::Open(memory) => Arc::clone(memory),
            Access::Closed(reason) => {
                let reason = Arc::clone(reason);
                return self.memory_is_unavailable(query.call_id, &reason);
            }
        };
        let (call, sender, readers) =
            (query.call_id, self.sender.clone(), Readers::of(&self.services.models.cards()));
        self.services.tracker.spawn(async move {
            let answered = async {
                let _turn = memory.turn().await;
                let memory = Arc::clone(&memory);
                tokio::task::spawn_blocking(move || memory.answer(&query, &readers, clock::now)).await
            };
            let reply = match tokio::time::timeout(WAIT_MAX, answered).await {
                Ok(Ok(reply)) => reply,
                Ok(Err(error)) => {
                    tracing::error!(%error, "memory failed; the plan is made without it");
                    unavailable(call, "memory panicked")
                }
                Err(_) => {
                    let reason = format!("memory took longer than {} s", WAIT_MAX.as_secs());
                    tracing::warn!(reason, "the plan is made without it");
                    unavailable(call, &reason)
                }
            };
            // A task that has ended in the meantime no longer reads its queue.
            drop(sender.send(inbound_of(reply)).await);
        });
    }
}

fn inbound_of(reply: MemoryReply) -> Inbound {
    Inbound::External(External::Message { from: RoleId::Memory, payload: Payload::MemoryReply(reply) })
}
