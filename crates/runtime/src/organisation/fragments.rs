//! Which prompt fragments this process has already given to the journal.

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
}

impl Fragments {
    /// The fragment to attach, or `None` when the journal has been given it before.
    pub(crate) fn unseen(&self, fragment: &PromptFragment, hash: &FragmentHash) -> Option<Fragment> {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= REMEMBERED_MAX {
                known.clear();
            }
            if known.contains(hash) {
                return None;
            }
            known.insert(*hash);
        }
        Fragment::new(fragment.text().as_bytes().to_vec()).ok()
    }
}
