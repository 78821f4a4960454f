//! The hash that chains every row of a task to the row before it, and a task's head.

use std::fmt;
use std::sync::Arc;

use crate::error::{JournalError, Result};
use crate::limits::TASK_ID_BYTES_MAX;
use crate::row::{Columns, NewRow, Row, SealedRow, check_name};

/// The chain value of a row.
pub type Chain = [u8; 32];

/// A task's head: the number and the chain value of its last row.
///
/// A submitter needs nothing else to number and chain the next rows, without asking the journal.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskHead {
    task: Arc<str>,
    seq: u64,
    chain: Chain,
}

impl TaskHead {
    /// Returns the head of a task without rows. Fails with [`JournalError::BadName`] or [`JournalError::Limit`] if
    /// the id is empty, holds control characters or is longer than [`TASK_ID_BYTES_MAX`].
    pub fn start(task: &str) -> Result<Self> {
        check_name("task id", task, TASK_ID_BYTES_MAX)?;
        Ok(Self { task: task.into(), seq: 0, chain: start_of_chain(task) })
    }

    /// The id of the task.
    #[must_use]
    pub fn task(&self) -> &Arc<str> {
        &self.task
    }

    /// Number of the last row; 0 if there are no rows.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Chain value of the last row, or of the task's start.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    pub(crate) fn at(task: Arc<str>, seq: u64, chain: Chain) -> Self {
        Self { task, seq, chain }
    }

    /// Chains a row and moves the head to it. Fails with [`JournalError::SeqConflict`] if the row is not the next
    /// one.
    pub(crate) fn seal(&mut self, row: NewRow) -> Result<SealedRow> {
        let expected = self.seq + 1;
        if row.seq != expected {
            let task = self.task.to_string();
            return Err(JournalError::SeqConflict { task, expected, got: row.seq });
        }
        let chain = chain_of(&self.chain, &self.task, row.columns());
        self.seq = expected;
        self.chain = chain;
        Ok(SealedRow { row, chain, is_pruned: false })
    }

    /// Moves the head to a stored row if the row continues it by number and by chain. The chain of a pruned row
    /// cannot be recomputed, so it is accepted as stored: the next row is still chained to it.
    pub(crate) fn follow(&mut self, row: &Row) -> std::result::Result<(), Break> {
        if row.seq != self.seq + 1 {
            return Err(Break::Seq);
        }
        if !row.is_pruned && chain_of(&self.chain, &self.task, row.columns()) != row.chain {
            return Err(Break::Chain);
        }
        self.seq = row.seq;
        self.chain = row.chain;
        Ok(())
    }
}

/// Why a stored row does not follow the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    Seq,
    Chain,
}

/// The chain value of a row: blake3 of the previous value and of every column but the position.
#[must_use]
pub fn chain(previous: &Chain, task: &str, row: &NewRow) -> Chain {
    chain_of(previous, task, row.columns())
}

/// Returns the value that a task's first row is chained to. It is hashed in another domain than rows, so that no
/// row can imitate it.
#[must_use]
pub fn start_of_chain(task: &str) -> Chain {
    blake3::derive_key("setpoint journal 2026 start of a task's chain", task.as_bytes())
}

/// At most this many bytes of a row are not text; includes the lengths of the texts.
const FIXED_BYTES_MAX: usize = 128;

/// Hashes fixed-width numbers, and a length before each text, so that two different rows never hash the same bytes.
pub(crate) fn chain_of(previous: &Chain, task: &str, columns: Columns<'_>) -> Chain {
    let Columns { seq, at_us, clock_ms, from, to, kind, cause, format, body } = columns;
    let texts = [task.as_bytes(), from.as_bytes(), to.as_bytes(), kind.as_bytes(), body];
    // One buffer: the hasher is several times faster on it than on many small pieces.
    let mut bytes = Vec::with_capacity(FIXED_BYTES_MAX + texts.iter().map(|text| text.len()).sum::<usize>());
    bytes.extend_from_slice(previous);
    bytes.extend_from_slice(&seq.to_le_bytes());
    bytes.extend_from_slice(&at_us.to_le_bytes());
    bytes.extend_from_slice(&clock_ms.to_le_bytes());
    bytes.extend_from_slice(&format.to_le_bytes());
    bytes.push(u8::from(cause.is_some()));
    bytes.extend_from_slice(&cause.unwrap_or(0).to_le_bytes());
    for text in texts {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text);
    }
    *blake3::hash(&bytes).as_bytes()
}

impl fmt::Debug for TaskHead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.chain;
        write!(out, "TaskHead({}, seq {}, chain {a:02x}{b:02x}{c:02x}{d:02x}…)", self.task, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row() -> impl Strategy<Value = (String, NewRow)> {
        let text = "[ab]{0,3}";
        let body = proptest::collection::vec(0u8..3, 0..4);
        let numbers = (0u64..3, -1i64..2, 0u64..3, proptest::option::of(0u64..2), 0u16..3);
        (text, (text, text, text), body, numbers).prop_map(|(task, (from, to, kind), body, n)| {
            let (seq, at_us, clock_ms, cause, format) = n;
            let (from, to, kind) = (from.into(), to.into(), kind.into());
            (task, NewRow { seq, at_us, clock_ms, from, to, kind, cause, format, body })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Draws from few values, so that rows with the same encoding would be found.
        #[test]
        fn only_equal_rows_have_equal_chains(a in row(), b in row()) {
            let start = start_of_chain("t");
            prop_assert_eq!(a == b, chain(&start, &a.0, &a.1) == chain(&start, &b.0, &b.1));
        }

        /// Moving bytes from one column to the next must change the encoding.
        #[test]
        fn moving_bytes_between_columns_changes_the_chain(text in "[ -~]{1,12}", cut in 0usize..12) {
            let cut = cut.min(text.len());
            let (left, right) = text.split_at(cut);
            let row = |from: &str, to: &str, kind: &str, body: &str| NewRow {
                seq: 1, at_us: 0, clock_ms: 0, from: from.to_owned().into(), to: to.to_owned().into(), kind: kind.to_owned().into(),
                cause: None, format: 1, body: body.as_bytes().to_vec(),
            };
            let start = start_of_chain("t");
            let splits = [
                chain(&start, left, &row(right, "", "", "")),
                chain(&start, "", &row(left, right, "", "")),
                chain(&start, "", &row("", left, right, "")),
                chain(&start, "", &row("", "", left, right)),
            ];
            for (n, one) in splits.iter().enumerate() {
                for other in splits.iter().skip(n + 1) {
                    prop_assert_ne!(one, other);
                }
            }
        }
    }

    #[test]
    fn chain_covers_every_column_and_the_previous_row() {
        let base = NewRow {
            seq: 1,
            at_us: 2,
            clock_ms: 3,
            from: "f".into(),
            to: "t".into(),
            kind: "k".into(),
            cause: None,
            format: 1,
            body: b"b".to_vec(),
        };
        let start = start_of_chain("task");
        let changes: [fn(&mut NewRow); 10] = [
            |row| row.seq = 9,
            |row| row.at_us = 9,
            |row| row.clock_ms = 9,
            |row| row.from = "x".into(),
            |row| row.to = "x".into(),
            |row| row.kind = "x".into(),
            |row| row.cause = Some(0),
            |row| row.format = 9,
            |row| row.body = b"x".to_vec(),
            |row| row.body.clear(),
        ];
        let mut seen = vec![
            chain(&start, "task", &base),
            chain(&start, "other", &base),
            chain(&start_of_chain("other"), "task", &base),
        ];
        for change in changes {
            let mut row = base.clone();
            change(&mut row);
            seen.push(chain(&start, "task", &row));
        }
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }

    /// Stored chains outlive the program, so a changed encoding must fail this test.
    #[test]
    fn chain_encoding_is_pinned() {
        let row = NewRow {
            seq: 1,
            at_us: 1_700_000_000_000_000,
            clock_ms: 5,
            from: "user".into(),
            to: "perceiver:0".into(),
            kind: "user_input".into(),
            cause: Some(7),
            format: 1,
            body: r#"{"text":"grüße"}"#.as_bytes().to_vec(),
        };
        let value = blake3::Hash::from_bytes(chain(&start_of_chain("t-1"), "t-1", &row)).to_hex();
        expect_test::expect!["dd66d7374b4de5c2d5dc91d3e83b19026640950d6c013b271754e0b4b2d3fd18"]
            .assert_eq(&value);
    }
}
