//! Notifies readers in this process of new rows. A notification holds only the last position: readers fetch by
//! cursor, so a slow one loses nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::ack::guarded;

type Listener = Arc<dyn Fn(u64) + Send + Sync>;

/// Registration of a listener; dropping it ends the calls.
#[must_use = "dropping it ends the calls at once"]
pub struct CommitListener {
    watch: Arc<Watch>,
    id: u64,
}

#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    last_pos: u64,
    closed: bool,
    /// Readers that wait. Counted because notifying none still costs a system call.
    waiting: usize,
    next_id: u64,
    listeners: BTreeMap<u64, Listener>,
}

impl Watch {
    pub(crate) fn starting_at(last_pos: u64) -> Self {
        Self { state: Mutex::new(State { last_pos, ..State::default() }), changed: Condvar::new() }
    }

    /// Waits until there is a row after `pos`, the journal is closed or the time is up, and returns the journal's
    /// last position.
    pub(crate) fn wait_after(&self, pos: u64, timeout: Duration) -> u64 {
        let waiting = |state: &mut State| state.last_pos <= pos && !state.closed;
        let mut state = self.lock();
        state.waiting += 1;
        let (mut state, _) =
            self.changed.wait_timeout_while(state, timeout, waiting).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state.last_pos
    }

    pub(crate) fn listen(self: &Arc<Self>, listener: Listener) -> CommitListener {
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.listeners.insert(id, listener);
        CommitListener { watch: Arc::clone(self), id }
    }

    /// Notifies all readers and listeners; listeners run on this thread, outside the lock.
    pub(crate) fn advance(&self, last_pos: u64) {
        let (listeners, is_awaited): (Vec<Listener>, bool) = {
            let mut state = self.lock();
            if last_pos <= state.last_pos {
                return;
            }
            state.last_pos = last_pos;
            (state.listeners.values().cloned().collect(), state.waiting > 0)
        };
        if is_awaited {
            self.changed.notify_all();
        }
        for listener in listeners {
            guarded("a commit listener", || listener(last_pos));
        }
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CommitListener {
    fn drop(&mut self) {
        self.watch.lock().listeners.remove(&self.id);
    }
}
