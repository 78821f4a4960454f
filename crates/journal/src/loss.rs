//! Lost rows that a person has accepted: the loss is recorded as a row at the place in the journal where rows
//! are missing.

use crate::error::Result;
use crate::row::Row;
use crate::store::Store;
use crate::system::{self, SYSTEM_STREAM};

/// Kind of the row that records an accepted loss. Its body is the JSON object `{"last_pos":…,"head_pos":…}`.
pub const LOSS_KIND: &str = "journal_loss";

/// Rows that were acknowledged and are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The last row present. The lost rows came after it; their positions are never used again.
    pub last_pos: u64,
    /// The last row that was acknowledged. Not above `last_pos` if that row was not missing but another
    /// one.
    pub head_pos: u64,
}

impl Loss {
    /// Returns the loss that a row records; `None` for any other row.
    #[must_use]
    pub fn recorded_by(row: &Row) -> Option<Self> {
        if &*row.task != SYSTEM_STREAM || row.kind != LOSS_KIND {
            return None;
        }
        Self::decode(&row.body)
    }

    /// Returns whether this loss explains that a reader at `pos` finds the next row at `next_pos`.
    pub(crate) fn explains(self, pos: u64, next_pos: u64) -> bool {
        self.last_pos <= pos && pos <= self.head_pos && self.next_pos() == next_pos
    }

    fn next_pos(self) -> u64 {
        self.head_pos.max(self.last_pos).saturating_add(1)
    }

    fn encode(self) -> Vec<u8> {
        format!("{{\"last_pos\":{},\"head_pos\":{}}}", self.last_pos, self.head_pos).into_bytes()
    }

    fn decode(body: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        let (last_pos, head_pos) =
            text.strip_prefix("{\"last_pos\":")?.strip_suffix('}')?.split_once(",\"head_pos\":")?;
        Some(Self { last_pos: last_pos.parse().ok()?, head_pos: head_pos.parse().ok()? })
    }
}

/// Appends the record of a loss after every position that was ever given out.
pub(crate) fn record(store: &mut dyn Store, loss: Loss, now_us: i64) -> Result<u64> {
    store.skip_to(loss.next_pos().saturating_sub(1))?;
    let entry =
        system::Entry { now_us, from: "journal", to: "operator", kind: LOSS_KIND, body: loss.encode() };
    system::append(store, entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_loss_reads_back() {
        let loss = Loss { last_pos: 90, head_pos: 100 };
        assert_eq!(Loss::decode(&loss.encode()), Some(loss));
        for body in ["", "{}", r#"{"last_pos":1}"#, r#"{"last_pos":-1,"head_pos":2}"#, "\u{fffd}"] {
            assert_eq!(Loss::decode(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn loss_explains_only_its_own_positions() {
        let loss = Loss { last_pos: 90, head_pos: 100 };
        assert!(loss.explains(90, 101) && loss.explains(100, 101));
        assert!(!loss.explains(89, 101) && !loss.explains(90, 102) && !loss.explains(101, 101));
    }
}
