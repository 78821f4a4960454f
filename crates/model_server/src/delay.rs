//! How long something takes: a time, until a test opens a gate, or for ever. Only tokio's clock is used, so that a
//! paused one works.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// What the server waits for before it continues. Every wait also ends when the peer closes its side of the connection,
/// and when the server is dropped.
#[derive(Clone, Debug)]
pub enum Delay {
    /// This duration by tokio's clock.
    For(Duration),
    /// Until the gate is opened.
    Until(Gate),
    /// For ever.
    Ever,
}

impl Delay {
    pub(crate) async fn pass(&self) {
        match self {
            Delay::For(duration) => tokio::time::sleep(*duration).await,
            Delay::Until(gate) => gate.pass().await,
            Delay::Ever => std::future::pending().await,
        }
    }
}

/// A gate in an answer: the test learns that the server has reached it, does its work (kills a process, cancels a
/// task), and opens the gate or does not. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Sides>);

#[derive(Debug, Default)]
struct Sides {
    arrivals: watch::Sender<usize>,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// Creates a closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate for current and later arrivals.
    pub fn open(&self) {
        self.0.is_open.send_replace(true);
    }

    /// Waits until this many answers have reached the gate.
    pub async fn arrivals(&self, count: usize) {
        let mut arrivals = self.0.arrivals.subscribe();
        // The sender is owned by this gate, so it cannot be dropped.
        let _arrived = arrivals.wait_for(|arrived| *arrived >= count).await;
    }

    async fn pass(&self) {
        self.0.arrivals.send_modify(|arrived| *arrived += 1);
        let mut is_open = self.0.is_open.subscribe();
        let _opened = is_open.wait_for(|is_open| *is_open).await;
    }
}
