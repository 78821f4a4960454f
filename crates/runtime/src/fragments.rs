//! The prompt fragments that this process has already given to the journal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use setpoint_journal::Fragment;
use setpoint_machine::prompt::Fragment as PromptFragment;
use setpoint_protocol::record::FragmentHash;

/// Maximum remembered hashes. With more the set is cleared, which costs time only: the journal stores no fragment
/// twice.
const REMEMBERED_MAX: usize = 65_536;

/// Remembers which fragments the journal has. One that is not remembered is offered again.
#[derive(Default)]
#[expect(
    clippy::disallowed_types,
    reason = "it is only looked up, once per fragment of each question, and never iterated"
)]
pub(crate) struct Fragments {
    known: Mutex<std::collections::HashSet<FragmentHash>>,
    /// Journal position of the last pruning that this process knows of.
    pruning: AtomicU64,
}

impl Fragments {
    /// Clears the set after a pruning that is new to this process: the fragments may be gone.
    pub(crate) fn trust_since(&self, pruning: u64) {
        if self.pruning.swap(pruning, Ordering::SeqCst) != pruning {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// Returns the fragment to attach; `None` if the journal received it before and `is_trusted` to hold it still.
    pub(crate) fn unstored(
        &self,
        fragment: &PromptFragment,
        hash: &FragmentHash,
        is_trusted: bool,
    ) -> Option<Fragment> {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= REMEMBERED_MAX {
                known.clear();
            }
            if !known.insert(*hash) && is_trusted {
                return None;
            }
        }
        Fragment::new(fragment.text().as_bytes().to_vec()).ok()
    }
}
