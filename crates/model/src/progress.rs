//! The text of an answer while it is being written.
//!
//! It is shown to watchers: it is never an input of a role and never journaled, and is dropped if it is not read in
//! time. It also counts usage, because an attempt without an answer costs money too.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use setpoint_protocol::record::Usage;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Maximum pieces that wait to be read; further ones are dropped.
pub const PROGRESS_PIECES_MAX: usize = 256;

/// Bytes of an answer per token, approximately.
const TOKEN_BYTES: u64 = 4;

/// The receiver of streamed text, and a count of what an answer has used so far. Never blocks; loses text instead.
#[derive(Debug, Default)]
pub struct Progress {
    sink: Option<Sender<String>>,
    has_begun: AtomicBool,
    bytes: AtomicU64,
    tokens_in: AtomicU64,
    tokens_out: AtomicU64,
    tokens_cached: AtomicU64,
}

/// The reading end of a [`Progress`].
#[derive(Debug)]
pub struct ProgressTap {
    source: Receiver<String>,
}

impl Progress {
    /// Creates a progress without a watcher.
    #[must_use]
    pub fn none() -> Self {
        Progress::default()
    }

    /// Creates a progress and its tap.
    #[must_use]
    pub fn tapped() -> (Self, ProgressTap) {
        let (sink, source) = mpsc::channel(PROGRESS_PIECES_MAX);
        (Progress { sink: Some(sink), ..Progress::default() }, ProgressTap { source })
    }

    /// Returns whether there is a watcher; without one no text need be built.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.sink.as_ref().is_some_and(|sink| !sink.is_closed())
    }

    /// Shows a piece of text. It is lost if there is no watcher or the watcher is too slow.
    pub fn text(&self, piece: &str) {
        if let Some(sink) = &self.sink
            && !piece.is_empty()
        {
            // A full or closed channel is the documented loss: the answer contains the text anyway.
            drop(sink.try_send(piece.to_owned()));
        }
    }
}

/// The cost of an attempt without an answer.
impl Progress {
    /// Notes that the provider answers: from now on the question costs money.
    pub fn begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Counts bytes of text, thinking or calls.
    pub fn count_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Notes what the provider has counted so far; 0 where it has not.
    pub fn counted(&self, usage: Usage) {
        self.tokens_in.store(usage.tokens_in, Ordering::Relaxed);
        self.tokens_out.store(usage.tokens_out, Ordering::Relaxed);
        self.tokens_cached.store(usage.tokens_cached, Ordering::Relaxed);
    }

    /// Returns whether the provider has begun to answer.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Returns the usage so far: as counted by the provider, otherwise `tokens_in` and an estimate from the received
    /// bytes.
    #[must_use]
    pub fn used(&self, tokens_in: impl FnOnce() -> u64) -> Usage {
        let counted_in = self.tokens_in.load(Ordering::Relaxed);
        let came = self.bytes.load(Ordering::Relaxed).div_ceil(TOKEN_BYTES);
        Usage {
            tokens_in: if counted_in > 0 { counted_in } else { tokens_in() },
            tokens_out: self.tokens_out.load(Ordering::Relaxed).max(came),
            tokens_cached: self.tokens_cached.load(Ordering::Relaxed),
        }
    }
}

impl ProgressTap {
    /// Returns the next piece; `None` once every sink is gone.
    pub async fn next(&mut self) -> Option<String> {
        self.source.recv().await
    }

    /// Returns a piece that is waiting, if any.
    pub fn try_next(&mut self) -> Option<String> {
        self.source.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tap_receives_pieces_in_order_until_it_is_full() {
        let (progress, mut tap) = Progress::tapped();
        assert!(progress.is_watched());
        for n in 0..PROGRESS_PIECES_MAX + 10 {
            progress.text(&n.to_string());
        }
        let heard: Vec<String> = std::iter::from_fn(|| tap.try_next()).collect();
        assert_eq!(heard.len(), PROGRESS_PIECES_MAX);
        assert_eq!(heard.first().map(String::as_str), Some("0"));
        assert_eq!(heard.last(), Some(&(PROGRESS_PIECES_MAX - 1).to_string()));
    }

    #[test]
    fn usage_is_counted_by_the_provider_or_estimated() {
        let progress = Progress::none();
        assert!(!progress.has_begun());
        progress.begun();
        progress.count_bytes(41);
        let used = progress.used(|| 100);
        assert_eq!((progress.has_begun(), used.tokens_in, used.tokens_out), (true, 100, 11));
        // Providers count the question first, and often the answer only at the end.
        progress.counted(Usage { tokens_in: 90, tokens_out: 1, tokens_cached: 50 });
        let used = progress.used(|| 100);
        assert_eq!((used.tokens_in, used.tokens_out, used.tokens_cached), (90, 11, 50));
        progress.counted(Usage { tokens_in: 90, tokens_out: 30, tokens_cached: 50 });
        assert_eq!(progress.used(|| 100).tokens_out, 30);
    }

    #[test]
    fn progress_without_a_watcher_has_no_effect() {
        Progress::none().text("lost");
        let (progress, tap) = Progress::tapped();
        drop(tap);
        assert!(!progress.is_watched());
        progress.text("lost");
    }
}
