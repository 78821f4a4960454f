//! Runs blocking file work in a thread, with a time limit and cancellation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::ToolError;
use crate::house::{House, Rooms};
use crate::tool::{Limits, ToolCtx};

/// Milliseconds that work has to notice a halt; after that it is abandoned and its result lost.
pub(crate) const HALT_GRACE_MS: u64 = 1_000;

/// The conditions that stop work in another thread: time, cancellation, and the places of Setpoint's own house.
#[derive(Clone, Debug, Default)]
pub(crate) struct Halt {
    is_reached: Arc<AtomicBool>,
    /// The limits of the call.
    pub(crate) limits: Limits,
    house: Arc<House>,
    /// Looked up once per call.
    rooms: Arc<OnceLock<Rooms>>,
}

impl Halt {
    /// Whether to stop now with what the work has. Checked once per entry and once per block.
    pub(crate) fn reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }

    /// Returns the places that the work must not enter.
    pub(crate) fn rooms(&self) -> &Rooms {
        self.rooms.get_or_init(|| self.house.rooms())
    }

    fn set(&self) {
        self.is_reached.store(true, Ordering::Relaxed);
    }
}

impl ToolCtx {
    /// Runs `work` in a blocking thread, for at most the time of a native tool. Work that stops when halted returns
    /// what it has; work that does not is abandoned.
    ///
    /// Work that changes something checks the halt only before it starts to: changes are always reported.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Halt) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let (house, limits) = (Arc::clone(&self.house), self.limits.clone());
        let halt = Halt { house, limits, ..Halt::default() };
        blocking(self.limits.native_ms_max, &self.cancel, halt, work).await
    }
}

async fn blocking<T: Send + 'static>(
    ms_max: u64,
    cancel: &CancellationToken,
    halt: Halt,
    work: impl FnOnce(&Halt) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let halt = HaltOnDrop(halt);
    let seen = halt.0.clone();
    let mut task = tokio::task::spawn_blocking(move || work(&seen));
    let stopped = tokio::select! {
        done = &mut task => return done.unwrap_or(Err(ToolError::Broken)),
        () = tokio::time::sleep(Duration::from_millis(ms_max)) => ToolError::TimedOut { ms: ms_max },
        () = cancel.cancelled() => ToolError::Cancelled,
    };
    halt.0.set();
    match tokio::time::timeout(Duration::from_millis(HALT_GRACE_MS), task).await {
        Ok(done) => done.unwrap_or(Err(ToolError::Broken)),
        Err(_) => Err(stopped),
    }
}

/// Halts the work when the call's future is dropped.
struct HaltOnDrop(Halt);

impl Drop for HaltOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn timeout_and_cancel_return_partial_results() {
        let run_until_halted = |halt: &Halt| {
            while !halt.reached() {
                std::thread::yield_now();
            }
            Ok("what it has")
        };
        let token = CancellationToken::new();
        assert_eq!(blocking(1, &token, Halt::default(), run_until_halted).await.unwrap(), "what it has");
        token.cancel();
        assert!(blocking(u64::MAX, &token, Halt::default(), run_until_halted).await.is_ok());
    }

    #[tokio::test]
    async fn dropping_the_call_halts_the_work() {
        let (sender, receiver) = mpsc::channel();
        let token = CancellationToken::new();
        let work = blocking(u64::MAX, &token, Halt::default(), move |halt| {
            while !halt.reached() {
                std::thread::yield_now();
            }
            sender.send("halted").unwrap();
            Ok(())
        });
        tokio::select! {
            biased;
            _ = work => panic!("it ended by itself"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(receiver.recv().unwrap(), "halted");
    }

    #[tokio::test]
    async fn panicking_work_is_an_error() {
        let token = CancellationToken::new();
        let broken = blocking::<()>(60_000, &token, Halt::default(), |_| panic!("broken on purpose")).await;
        assert!(matches!(broken, Err(ToolError::Broken)));
    }
}
