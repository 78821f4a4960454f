//! What happens, for whoever watches in this process.
//!
//! A tap sees and never says. It may lag: nothing waits for it, but losing is a typed outcome that the
//! watcher sees, and the journal has what was missed. (The Auditor reads the journal by cursor and loses nothing.)

use std::sync::Arc;

use setpoint_protocol::record::Record;
use setpoint_protocol::{CallId, TaskId};
use tokio::sync::broadcast;

/// Events that a tap may be behind before it loses the oldest.
pub const TAP_EVENTS_MAX: usize = 4_096;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// Records became durable.
    Records {
        /// The task.
        task: TaskId,
        /// The records, in order.
        records: Arc<[Record]>,
        /// Whether the task ended with them.
        closed: bool,
    },
    /// A model wrote more text. Never journaled.
    Progress {
        /// The task.
        task: TaskId,
        /// The ask.
        call: CallId,
        /// The text.
        text: Arc<str>,
    },
    /// A task is no longer driven by this process, without having ended.
    Released {
        /// The task.
        task: TaskId,
        /// Why.
        reason: Arc<str>,
    },
}

/// What a tap yields.
#[derive(Clone, Debug)]
#[must_use = "a lag means that the journal must be read for what was missed"]
pub enum Tapped {
    /// The next event.
    Event(Event),
    /// This many events were lost; read the journal.
    Lagged(u64),
    /// Nothing will ever happen again.
    Closed,
}

/// Where events are published. Cheap to clone.
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
    /// Publishes to every tap. Without any, nothing happens and nothing is built up.
    pub fn publish(&self, event: Event) {
        // An error only says that nobody listens.
        drop(self.sender.send(event));
    }

    /// Whether anybody listens; a publisher may save itself the work.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// A new tap; it sees what is published from now on.
    #[must_use]
    pub fn tap(&self) -> Tap {
        Tap { receiver: self.sender.subscribe() }
    }
}

/// A watcher's end: a type without any way to send.
#[derive(Debug)]
pub struct Tap {
    receiver: broadcast::Receiver<Event>,
}

impl Tap {
    /// Waits for the next event.
    pub async fn next(&mut self) -> Tapped {
        match self.receiver.recv().await {
            Ok(event) => Tapped::Event(event),
            Err(broadcast::error::RecvError::Lagged(lost)) => Tapped::Lagged(lost),
            Err(broadcast::error::RecvError::Closed) => Tapped::Closed,
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
    async fn a_slow_tap_is_told_how_much_it_missed() {
        let hub = Hub::default();
        let mut tap = hub.tap();
        for n in 0..TAP_EVENTS_MAX + 10 {
            hub.publish(released(n));
        }
        assert!(matches!(tap.next().await, Tapped::Lagged(10)));
        match tap.next().await {
            Tapped::Event(Event::Released { reason, .. }) => assert_eq!(&*reason, "10"),
            other => panic!("{other:?}"),
        }
    }
}
