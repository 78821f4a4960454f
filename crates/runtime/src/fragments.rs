//! Which prompt fragments this process has already given to the journal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use setpoint_journal::Fragment;
use setpoint_machine::prompt::Fragment as PromptFragment;
use setpoint_protocol::record::FragmentHash;

/// Hashes remembered; beyond it the memory starts anew, and the journal stores nothing twice all the same.
const REMEMBERED_MAX: usize = 65_536;

/// Spares the journal fragments that it has. A forgotten one is only offered again.
#[derive(Default)]
#[expect(
    clippy::disallowed_types,
    reason = "it is asked what it holds, for each fragment of each question, and never gone through"
)]
pub(crate) struct Fragments {
    known: Mutex<std::collections::HashSet<FragmentHash>>,
    /// Place of the last pruning that this process knows of.
    pruning: AtomicU64,
}

impl Fragments {
    /// Forgets what was given before a pruning that this process has not heard of: it may be gone.
    pub(crate) fn trust_since(&self, pruning: u64) {
        if self.pruning.swap(pruning, Ordering::SeqCst) != pruning {
            self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// The fragment to attach, or `None` when the journal has been given it before and `is_trusted` to have it still.
    pub(crate) fn unseen(
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
