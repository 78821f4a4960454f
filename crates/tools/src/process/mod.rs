//! Programs as calls run them: without input, in a session of their own, with what they print bounded and cleaned of
//! keys, and with nothing of them left afterwards.
//!
//! Each program runs under a [`keeper`], a small process that adopts all of its descendants. When the call ends, by
//! itself, by time, by cancel, because its future was dropped or because this process was killed, the keeper ends every
//! descendant and then itself. Not ended: what another service starts for a call (`systemd-run`, `at`, `docker run`), what
//! runs as another user, and what first kills the keeper and this process in one stroke. Those need a sandbox.

mod bare;
pub(crate) mod capture;
pub(crate) mod env;
mod frame;
pub mod keeper;
mod kept;
mod orphans;
mod run;
pub(crate) mod time_zone;
mod tree;

pub(crate) use capture::Captured;
pub use orphans::end_calls_of;
pub(crate) use run::{Ended, Ending, Job, run};

/// The environment variable that names the process whose call this is: its pid and start time. What a killed keeper of a
/// killed process left is found by it.
pub(crate) const MARK: &str = "SETPOINT_CALL";

/// Milliseconds between asking a program to end and killing it.
pub(crate) const TERM_GRACE_MS: u64 = 300;

/// Milliseconds that output is waited for after the program itself has ended: some other process may hold the pipe.
pub(crate) const DRAIN_MS: u64 = 300;
