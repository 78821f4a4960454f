//! Text of an answer while it is still being written.
//!
//! A tap for whoever watches: never an input of a role, never journaled, and dropped where it is not taken in time. And
//! a meter for whoever pays: an attempt that comes to nothing has cost something all the same.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use setpoint_protocol::record::Usage;
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Pieces that wait to be taken; a further one is dropped.
pub const PROGRESS_PIECES_MAX: usize = 256;

/// Bytes of an answer that are about one token.
const TOKEN_BYTES: u64 = 4;

/// Where streamed text goes, and what is known of an answer before it is there. Never blocks, loses text rather than
/// time.
#[derive(Debug, Default)]
pub struct Progress {
    sink: Option<Sender<String>>,
    has_begun: AtomicBool,
    bytes: AtomicU64,
    tokens_in: AtomicU64,
    tokens_out: AtomicU64,
    tokens_cached: AtomicU64,
}

/// The other end of a [`Progress`].
#[derive(Debug)]
pub struct ProgressTap {
    source: Receiver<String>,
}

impl Progress {
    /// Nobody watches.
    #[must_use]
    pub fn none() -> Self {
        Progress::default()
    }

    /// A sink and the tap that hears it.
    #[must_use]
    pub fn tapped() -> (Self, ProgressTap) {
        let (sink, source) = mpsc::channel(PROGRESS_PIECES_MAX);
        (Progress { sink: Some(sink), ..Progress::default() }, ProgressTap { source })
    }

    /// Whether anybody watches, so that text need not be made for nobody.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.sink.as_ref().is_some_and(|sink| !sink.is_closed())
    }

    /// Shows a piece of text. It is lost when nobody watches or whoever watches is behind.
    pub fn text(&self, piece: &str) {
        if let Some(sink) = &self.sink
            && !piece.is_empty()
        {
            // A full or closed channel is the documented loss: what is shown here is in the answer anyway.
            drop(sink.try_send(piece.to_owned()));
        }
    }
}

/// What an attempt costs that gives no answer.
impl Progress {
    /// The provider answers: from now on the question is paid for.
    pub fn begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// So many bytes of text, thinking or calls have come.
    pub fn came(&self, bytes: usize) {
        self.bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// What the provider has counted so far; 0 where it has not.
    pub fn counted(&self, usage: Usage) {
        self.tokens_in.store(usage.tokens_in, Ordering::Relaxed);
        self.tokens_out.store(usage.tokens_out, Ordering::Relaxed);
        self.tokens_cached.store(usage.tokens_cached, Ordering::Relaxed);
    }

    /// Whether the provider has begun to answer.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// What has been used so far: as the provider counted it, else a question of `tokens_in` and the bytes that came.
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
    /// The next piece; `None` once every sink is gone.
    pub async fn next(&mut self) -> Option<String> {
        self.source.recv().await
    }

    /// A piece that waits already.
    pub fn try_next(&mut self) -> Option<String> {
        self.source.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tap_hears_pieces_in_order_until_it_is_full() {
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
    fn what_was_used_is_what_was_counted_or_else_what_came() {
        let progress = Progress::none();
        assert!(!progress.has_begun());
        progress.begun();
        progress.came(41);
        let used = progress.used(|| 100);
        assert_eq!((progress.has_begun(), used.tokens_in, used.tokens_out), (true, 100, 11));
        // Providers count what was asked first, and often what they say only at the end.
        progress.counted(Usage { tokens_in: 90, tokens_out: 1, tokens_cached: 50 });
        let used = progress.used(|| 100);
        assert_eq!((used.tokens_in, used.tokens_out, used.tokens_cached), (90, 11, 50));
        progress.counted(Usage { tokens_in: 90, tokens_out: 30, tokens_cached: 50 });
        assert_eq!(progress.used(|| 100).tokens_out, 30);
    }

    #[test]
    fn nobody_watching_costs_nothing_and_breaks_nothing() {
        Progress::none().text("lost");
        let (progress, tap) = Progress::tapped();
        drop(tap);
        assert!(!progress.is_watched());
        progress.text("lost");
    }
}
