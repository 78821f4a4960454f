//! Live events for watchers in this process.
//!
//! A tap receives and never sends. Nothing waits for it, so it may lag: the watcher learns how many events were lost
//! and can read them from the journal. (The Auditor reads the journal by cursor and loses nothing.)

use std::sync::Arc;

use setpoint_protocol::record::Record;
use setpoint_protocol::{CallId, TaskId};
use tokio::sync::broadcast;

/// Maximum events that a tap may lag before it loses the oldest.
pub const TAP_EVENTS_MAX: usize = 4_096;

/// A live event.
#[derive(Clone, Debug)]
pub enum Event {
    /// Records became durable.
    Records {
        task: TaskId,
        /// The records, in order.
        records: Arc<[Record]>,
        /// Whether these records end the task.
        closed: bool,
    },
    /// A model wrote more text. Not stored in the journal.
    Progress {
        task: TaskId,
        /// The ask of the model.
        call: CallId,
        text: Arc<str>,
    },
    /// This process no longer drives a task, which has not ended.
    Released { task: TaskId, reason: Arc<str> },
}

/// An item of a tap.
#[derive(Clone, Debug)]
#[must_use = "a lag means that the journal must be read for what was missed"]
pub enum TapItem {
    /// The next event.
    Event(Event),
    /// This many events were lost; read the journal.
    Lagged(u64),
    /// No more events will come.
    Closed,
}

/// The place where events are published. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hub {
    sender: broadcast::Sender<Event>,
}

impl Default for Hub {
    fn default() -> Self {
        let (sender, _) = broadcast::channel(TAP_EVENTS_MAX);
        Hub { sender }
    }
}

impl Hub {
    /// Publishes to every tap. Does nothing if there are none.
    pub fn publish(&self, event: Event) {
        // An error means that there are no receivers.
        drop(self.sender.send(event));
    }

    /// Returns whether there is a tap; without one a publisher need not build an event.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Creates a tap on events from now on.
    #[must_use]
    pub fn tap(&self) -> Tap {
        Tap { receiver: self.sender.subscribe() }
    }
}

/// The receiving end of a watcher, which cannot send.
#[derive(Debug)]
pub struct Tap {
    receiver: broadcast::Receiver<Event>,
}

impl Tap {
    /// Waits for the next event.
    pub async fn next(&mut self) -> TapItem {
        match self.receiver.recv().await {
            Ok(event) => TapItem::Event(event),
            Err(broadcast::error::RecvError::Lagged(lost)) => TapItem::Lagged(lost),
            Err(broadcast::error::RecvError::Closed) => TapItem::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn released(n: usize) -> Event {
        Event::Released { task: TaskId::mint("t", 1), reason: n.to_string().into() }
    }

    #[tokio::test]
    async fn a_slow_tap_learns_how_many_events_it_lost() {
        let hub = Hub::default();
        let mut tap = hub.tap();
        for n in 0..TAP_EVENTS_MAX + 10 {
            hub.publish(released(n));
        }
        assert!(matches!(tap.next().await, TapItem::Lagged(10)));
        match tap.next().await {
            TapItem::Event(Event::Released { reason, .. }) => assert_eq!(&*reason, "10"),
            other => panic!("{other:?}"),
        }
    }
}
