//! What a machine may know besides its input.

use std::collections::BTreeSet;

use setpoint_protocol::record::Opened;
use setpoint_protocol::{TaskId, Timestamp};

use crate::ledger::Ledger;
use crate::reading::CallReader;

/// The context of one input. Machines read no other clock and know no other world.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// The task.
    pub task: &'a TaskId,
    /// The time of the input's record.
    pub now: Timestamp,
    /// The task's own clock in milliseconds: it stands still while only people are asked or no process runs.
    pub clock_ms: u64,
    /// How the task opened: settings, surroundings, tool catalogue.
    pub opened: &'a Opened,
    /// What the person asked, verbatim; empty before there is a `TaskSpec`.
    pub words: &'a str,
    /// The intent's slug; empty before there is a `TaskSpec`.
    pub slug: &'a str,
    /// The effective time budget in milliseconds: the setting, or the user's deadline when that is nearer.
    pub time_budget_ms: u64,
    /// Sums over the records so far.
    pub ledger: &'a Ledger,
    /// Digests that the person allowed for the whole task.
    pub grants: &'a BTreeSet<String>,
    /// Reads calls before they run.
    pub reader: &'a dyn CallReader,
}

impl Ctx<'_> {
    /// Milliseconds of the task's clock since the `TaskSpec`; 0 before there is one.
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
