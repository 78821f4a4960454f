//! The parts that the drivers of a process share: journal, models, tools, memory and taps.

use std::sync::Arc;

use setpoint_journal::{Journal, LeaseTerms};
use setpoint_machine::Factory;
use setpoint_memory::Access;
use setpoint_scrub::Scrub;
use tokio_util::task::TaskTracker;

use crate::clock;
use crate::fragments::Fragments;
use crate::hints::Hints;
use crate::models::Models;
use crate::tap::Hub;
use crate::toolbox::Toolbox;

/// Milliseconds until a lease expires unless it is renewed.
pub(crate) const LEASE_TTL_MS: u64 = 600_000;

/// Everything that a driver works with, except the state of its task.
pub(crate) struct Services {
    pub(crate) journal: Journal,
    pub(crate) models: Models,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) memory: Access,
    pub(crate) factory: Arc<dyn Factory>,
    pub(crate) hub: Hub,
    pub(crate) fragments: Fragments,
    pub(crate) hints: Hints,
    /// See [`crate::organisation::Parts`].
    pub(crate) keys: Scrub,
    /// Name of this process in leases.
    pub(crate) owner: String,
    /// Tasks that shutdown waits for.
    pub(crate) tracker: TaskTracker,
}

impl Services {
    /// Returns the terms of a lease taken now.
    pub(crate) fn lease_terms(&self) -> LeaseTerms {
        LeaseTerms { owner: self.owner.clone(), now_us: clock::now().as_micros(), ttl_ms: LEASE_TTL_MS }
    }
}
