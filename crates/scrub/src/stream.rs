//! Text that arrives in pieces.

use std::ops::Range;

use crate::{SPAN_BYTES_MAX, Scrub};

/// An end of a piece that may be the beginning of a secret is held back from this many bytes on. Fewer would hold back
/// the ends of ordinary words; they are remembered, so that the rest of the secret is still found.
const HELD_BYTES_MIN: usize = 4;

/// Removes secrets from text that arrives in pieces, also those that are split over pieces.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    scrub: Scrub,
    /// The end of what was given out, then what is held back.
    pending: Vec<u8>,
    /// Bytes of `pending` that were given out.
    given: usize,
}

impl Stream {
    /// Creates a stream without these secrets.
    #[must_use]
    pub fn new(scrub: Scrub) -> Self {
        Stream { scrub, ..Stream::default() }
    }

    /// Takes the next piece and returns what can be given out. What may be the beginning of a secret is held back until
    /// the next piece, or [`Stream::release`].
    #[must_use]
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        if self.scrub.is_empty() {
            return piece.to_vec();
        }
        self.pending.extend_from_slice(piece);
        let length = self.pending.len();
        let found = self.scrub.find(&self.pending);
        let open = self.scrub.open_end(&self.pending, HELD_BYTES_MIN).unwrap_or(length);
        // Hold a found secret back as a whole: the rest of it may follow.
        let around = found.iter().find(|(range, _)| range.contains(&open));
        let end = around.map_or(open, |(range, _)| range.start);
        // Nothing longer than a secret is one.
        self.give(&found, end.max(length.saturating_sub(SPAN_BYTES_MAX)))
    }

    /// Returns what was held back, for an output that must not wait for the next piece, or at the end.
    #[must_use]
    pub fn release(&mut self) -> Vec<u8> {
        if self.given == self.pending.len() {
            return Vec::new();
        }
        let found = self.scrub.find(&self.pending);
        self.give(&found, self.pending.len())
    }

    fn give(&mut self, found: &[(Range<usize>, usize)], end: usize) -> Vec<u8> {
        let end = end.max(self.given);
        let given = self.scrub.replaced(&self.pending, found, self.given..end);
        let remembered = self.scrub.open_end(&self.pending, 1).unwrap_or(self.pending.len()).min(end);
        self.pending.drain(..remembered);
        self.given = end - remembered;
        given
    }
}
