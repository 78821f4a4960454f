//! The inputs that can wake a machine.

use setpoint_protocol::CallId;
use setpoint_protocol::record::Answer;
use setpoint_protocol::topology::{Payload, Receives};

/// An input of the role `R`.
#[derive(Debug)]
pub enum Input<R: Receives> {
    /// A message out of its closed inbox.
    Message(R::Inbox),
    /// The world answered one of its asks.
    Answer {
        /// Id of the ask.
        call: CallId,
        /// Content of the answer.
        answer: Answer,
    },
    /// Every stopped ask has been answered. Only R7 receives this.
    Quiesced,
}

/// An input of any role, as a cell queues it.
#[derive(Clone, Debug)]
pub enum AnyInput {
    /// A message to the role.
    Message(Payload),
    /// The world answered.
    Answer {
        /// Id of the ask.
        call: CallId,
        /// Content of the answer.
        answer: Answer,
    },
    /// Every stopped ask has been answered.
    Quiesced,
}
