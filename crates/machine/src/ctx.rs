//! The context of an input.

use std::collections::BTreeSet;

use setpoint_protocol::record::Opened;
use setpoint_protocol::{TaskId, Timestamp};

use crate::ledger::Ledger;
use crate::reading::CallReader;

/// The context of one input. Machines read no other clock and no other state of the world.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// Id of the task.
    pub task: &'a TaskId,
    /// Time of the input's record.
    pub now: Timestamp,
    /// The task's own clock in milliseconds: it pauses while only people are asked or no process runs.
    pub clock_ms: u64,
    /// Opening of the task: settings, surroundings, tool catalogue.
    pub opened: &'a Opened,
    /// The person's request, verbatim; empty before there is a `TaskSpec`.
    pub words: &'a str,
    /// Slug of the intent; empty before there is a `TaskSpec`.
    pub slug: &'a str,
    /// Effective time budget in milliseconds: the setting, or the user's deadline if that is nearer.
    pub time_budget_ms: u64,
    /// Sums over the records so far.
    pub ledger: &'a Ledger,
    /// Digests that the person allowed for the whole task.
    pub grants: &'a BTreeSet<String>,
    /// Reader that classifies calls before they run.
    pub reader: &'a dyn CallReader,
}

impl Ctx<'_> {
    /// Returns the milliseconds of the task's clock since the `TaskSpec`; 0 before there is one.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        self.ledger.spec_clock_ms.map_or(0, |start| self.clock_ms.saturating_sub(start))
    }
}

impl std::fmt::Debug for Ctx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx")
            .field("task", self.task)
            .field("now", &self.now)
            .field("clock_ms", &self.clock_ms)
            .finish()
    }
}
