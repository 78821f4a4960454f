//! What the drivers of a process share: the journal, the models, the tools, memory, and what they publish to.

use std::sync::Arc;

use setpoint_journal::{Journal, LeaseTerms};
use setpoint_machine::Factory;
use setpoint_memory::Access;
use tokio_util::task::TaskTracker;

use crate::clock;
use crate::fragments::Fragments;
use crate::hints::Hints;
use crate::models::Models;
use crate::tap::Hub;
use crate::toolbox::Toolbox;

/// Milliseconds that a lease lasts without renewal.
pub(crate) const LEASE_TTL_MS: u64 = 600_000;

/// Everything that a driver works with. It holds nothing of a task.
pub(crate) struct Services {
    pub(crate) journal: Journal,
    pub(crate) models: Models,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) memory: Access,
    pub(crate) factory: Arc<dyn Factory>,
    pub(crate) hub: Hub,
    pub(crate) fragments: Fragments,
    pub(crate) hints: Hints,
    /// This process, as leases name it.
    pub(crate) owner: String,
    /// What the organisation waits for when it shuts down.
    pub(crate) tracker: TaskTracker,
}

impl Services {
    /// What this process leases tasks by, from now on.
    pub(crate) fn lease_terms(&self) -> LeaseTerms {
        LeaseTerms { owner: self.owner.clone(), now_us: clock::now().as_micros(), ttl_ms: LEASE_TTL_MS }
    }
}
