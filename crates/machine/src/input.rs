//! Everything that can wake a machine.

use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{Payload, Receives};

/// One input of the role `R`.
#[derive(Debug)]
pub enum Input<R: Receives> {
    /// A message out of its closed inbox.
    Message(R::Inbox),
    /// The world answered one of its asks.
    Answer {
        /// Which ask.
        call: CallId,
        /// What came back.
        answer: Answer,
    },
    /// Everything that was stopped has come back. Only R7 hears this.
    Quiesced,
}

/// One input of any role, as a cell queues it.
#[derive(Clone, Debug)]
pub enum AnyInput {
    /// A message.
    Message(Payload),
    /// The world answered.
    Answer {
        /// Which ask.
        call: CallId,
        /// What came back.
        answer: Answer,
    },
    /// Everything that was stopped has come back.
    Quiesced,
}
