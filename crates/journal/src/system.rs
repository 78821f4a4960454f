//! The stream of records that belong to no task: a person's decisions about the journal itself.

use std::sync::Arc;

use crate::chain::TaskHead;
use crate::entry::{TaskOpening, TaskState};
use crate::error::Result;
use crate::row::NewRow;
use crate::store::Store;

/// Id of the stream of records that belong to no task.
pub const SYSTEM_STREAM: &str = "system";

/// A record for the stream.
pub(crate) struct Entry {
    pub(crate) now_us: i64,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
}

/// Appends a record to the stream, and returns its position.
pub(crate) fn append(store: &mut dyn Store, entry: Entry) -> Result<u64> {
    let found = store.find(SYSTEM_STREAM)?;
    let mut head = match &found {
        None => TaskHead::start(SYSTEM_STREAM)?,
        Some((_, state)) => TaskHead::at(SYSTEM_STREAM.into(), state.seq, state.chain),
    };
    let sealed = head.seal(NewRow {
        seq: head.seq() + 1,
        at_us: entry.now_us,
        clock_ms: 0,
        from: entry.from.into(),
        to: entry.to.into(),
        kind: entry.kind.into(),
        cause: None,
        format: 1,
        body: entry.body,
    })?;
    let at_head = |mut state: TaskState| {
        state.seq = head.seq();
        state.chain = *head.chain();
        state
    };
    let tid = match found {
        Some((tid, state)) => {
            store.save_progress(tid, &at_head(state))?;
            tid
        }
        None => {
            let opening = TaskOpening {
                opened_at_us: entry.now_us,
                logic_version: 0,
                title: "what belongs to no task".to_owned(),
                lease: None,
            };
            let state = at_head(crate::lease::opening_state(SYSTEM_STREAM, &opening)?);
            store.insert_task(SYSTEM_STREAM, &opening, &state)?
        }
    };
    store.insert_rows(tid, &[Arc::new(sealed)])
}
