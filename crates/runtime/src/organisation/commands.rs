//! Messages that other processes leave for the tasks of this one.

use std::sync::Arc;
use std::time::Duration;

use setpoint_journal::Command;
use setpoint_protocol::{RoleId, TaskId};

use super::Shared;
use crate::driver::Inbound;
use crate::error::RuntimeError;

/// Time between polls of the command table for messages from other processes, in milliseconds.
const COMMANDS_POLL_MS: u64 = 200;
/// Maximum commands read per poll.
const COMMANDS_PAGE_MAX: usize = 256;

/// Polls the journal's command table for messages from other processes.
pub(super) async fn watch(shared: Arc<Shared>) {
    let mut seen = 0;
    loop {
        tokio::select! {
            () = shared.shutdown.cancelled() => return,
            () = tokio::time::sleep(Duration::from_millis(COMMANDS_POLL_MS)) => {}
        }
        if shared.drivers().is_empty() {
            continue;
        }
        let journal = shared.services.journal.clone();
        let page =
            tokio::task::spawn_blocking(move || journal.pending_commands(seen, COMMANDS_PAGE_MAX)).await;
        let Ok(Ok(commands)) = page else { continue };
        for command in commands {
            let Ok(task) = command.task.parse::<TaskId>() else { continue };
            let Some(sender) = shared.drivers().get(&task).cloned() else { continue };
            seen = seen.max(command.id);
            if let Some(said) = admit_command(&task, &command) {
                drop(sender.send(said).await);
            }
        }
    }
}

/// Returns the messages that other processes left for a task.
pub(super) async fn waiting(shared: &Shared, task: &TaskId) -> Result<Vec<Inbound>, RuntimeError> {
    let (journal, id) = (shared.services.journal.clone(), task.clone());
    let commands = tokio::task::spawn_blocking(move || journal.waiting_commands(id.as_str()))
        .await
        .map_err(|error| RuntimeError::Broken { task: task.clone(), reason: error.to_string() })??;
    Ok(commands.iter().filter_map(|command| admit_command(task, command)).collect())
}

/// Returns a message that another process left for a task, if a person may send it.
fn admit_command(task: &TaskId, command: &Command) -> Option<Inbound> {
    match setpoint_machine::admission::admit(RoleId::User, &command.kind, &command.body) {
        Ok(admitted) => {
            Some(Inbound::UserMessage { payload: admitted.payload, reply: None, command: Some(command.id) })
        }
        Err(violation) => {
            tracing::warn!(%task, %violation, "a message from another process was refused");
            None
        }
    }
}
