//! Calls of one program take turns: a command that runs outside the sandbox, and calls that change files.
//!
//! A consent covers the content of the files that the command executes, and a command that only reads was looked at for where
//! its paths lead. A call of a parallel sub-task could change that between the look and the run: a link that is exchanged
//! meanwhile would lead `cat` to any file of the machine.

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::error::ToolError;
use crate::tool::ToolCtx;

/// Who may change files, or run such a command, now. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Arc<RwLock<()>>);

impl Turns {
    /// Waits until no such command runs. While the value lives, none starts.
    ///
    /// # Errors
    /// If the call was cancelled.
    pub(crate) async fn to_change(&self, ctx: &ToolCtx) -> Result<OwnedRwLockReadGuard<()>, ToolError> {
        tokio::select! {
            turn = Arc::clone(&self.0).read_owned() => Ok(turn),
            () = ctx.cancel.cancelled() => Err(ToolError::Cancelled),
        }
    }

    /// Waits until no call changes files and no such command runs. While the value lives, none begins.
    ///
    /// # Errors
    /// If the call was cancelled.
    pub(crate) async fn to_run(&self, ctx: &ToolCtx) -> Result<OwnedRwLockWriteGuard<()>, ToolError> {
        tokio::select! {
            turn = Arc::clone(&self.0).write_owned() => Ok(turn),
            () = ctx.cancel.cancelled() => Err(ToolError::Cancelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use setpoint_protocol::record::Surroundings;

    #[tokio::test]
    async fn changes_wait_for_a_command_and_a_cancelled_call_does_not() {
        let ctx = ToolCtx::new(Surroundings::default());
        let turns = Turns::default();
        let (one, other) = (turns.to_change(&ctx).await.unwrap(), turns.to_change(&ctx).await.unwrap());
        drop((one, other));
        let running = turns.to_run(&ctx).await.unwrap();
        let waiting = tokio::spawn({
            let (turns, ctx) = (turns.clone(), ctx.clone());
            async move { turns.to_change(&ctx).await.map(drop) }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(running);
        waiting.await.unwrap().unwrap();
        let _running = turns.to_run(&ctx).await.unwrap();
        ctx.cancel.cancel();
        assert!(matches!(turns.to_change(&ctx).await, Err(ToolError::Cancelled)));
    }
}
