//! What R4b waits for, and what follows an input. Handlers return [`Next`]; the machine alone applies it.

use std::collections::BTreeMap;

use setpoint_machine::Effects;
use setpoint_protocol::message::Verdict;
use setpoint_protocol::topology::party;
use setpoint_protocol::{CallId, CriterionId};

use super::again::Outlived;
use super::end::End;
use super::round::Round;
use crate::evidence::Probes;
use crate::judging::Hearing;

/// The context of an input of R4b, and its effects.
pub(super) type Fx<'a> = Effects<'a, party::MetaValidator>;

/// What R4b waits for in a round.
#[derive(Debug)]
pub(super) enum Phase {
    /// The probes before the work.
    Baseline(Probes),
    /// Outcomes.
    Gathering,
    /// The probes of the task's checks.
    Probing(Box<Verification>),
    Merging(CallId, Box<Verification>),
}

/// What follows an input.
#[must_use = "a round that is dropped without its end leaves the task hanging"]
#[derive(Debug)]
pub(super) enum Next {
    /// Wait for what the phase names.
    Wait(Round, Phase),
    /// Process the groups as far as they are complete.
    Advance(Round),
    /// Verify the whole.
    Verify(Round),
    /// End the round with this message.
    End(End),
}

/// The verification of a round.
#[derive(Debug)]
pub(super) struct Verification {
    /// Verdicts taken over from a single sub-task.
    pub(super) carried: BTreeMap<CriterionId, Verdict>,
    pub(super) probes: Probes,
    /// What pieces showed and does not hold any more.
    pub(super) outlived: Vec<Outlived>,
    /// Criteria without a check.
    pub(super) hearing: Hearing,
    /// Indexes of the outputs that make up the result.
    pub(super) picks: Vec<usize>,
    /// Indexes of the outputs that the model calls wrong.
    pub(super) at_fault: Vec<usize>,
    pub(super) summary: Option<String>,
}
