//! Text of an answer while it is still being written.
//!
//! A tap for whoever watches: never an input of a role, never journaled, and dropped where it is not taken in time.

use tokio::sync::mpsc::{self, Receiver, Sender};

/// Pieces that wait to be taken; a further one is dropped.
pub const PROGRESS_PIECES_MAX: usize = 256;

/// Where streamed text goes. Cheap to clone, never blocks, loses text rather than time.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    sink: Option<Sender<String>>,
}

/// The other end of a [`Progress`].
#[derive(Debug)]
pub struct ProgressTap {
    source: Receiver<String>,
}

impl Progress {
    /// Nobody watches.
    #[must_use]
    pub const fn none() -> Self {
        Progress { sink: None }
    }

    /// A sink and the tap that hears it.
    #[must_use]
    pub fn tapped() -> (Self, ProgressTap) {
        let (sink, source) = mpsc::channel(PROGRESS_PIECES_MAX);
        (Progress { sink: Some(sink) }, ProgressTap { source })
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
    fn nobody_watching_costs_nothing_and_breaks_nothing() {
        Progress::none().text("lost");
        let (progress, tap) = Progress::tapped();
        drop(tap);
        assert!(!progress.is_watched());
        progress.text("lost");
    }
}
