//! Runs the programs of calls: without input, in their own session, with bounded output that is cleaned of keys, and
//! without leaving processes.
//!
//! Each program runs under a [`keeper`], a small process that adopts all of its descendants. When the call ends (by
//! itself, by timeout, by cancel, because its future was dropped or because this process was killed), the keeper ends
//! every descendant and then itself. Not ended: what another service starts for a call (`systemd-run`, `at`, `docker
//! run`), what runs as another user, and what kills the keeper and this process in one stroke. Those need a sandbox.

mod bare;
pub(crate) mod capture;
pub(crate) mod env;
mod frame;
pub mod keeper;
mod kept;
mod lasting;
mod orphans;
mod run;
pub(crate) mod script;
mod server;
pub(crate) mod time_zone;
mod tree;
mod usage;

pub(crate) use capture::{Capture, CapturedOutput};
pub(crate) use lasting::LastingProgram;
pub use orphans::end_calls_of;
pub(crate) use run::{Ending, Job, ProgramEnd, run};
pub(crate) use server::{ServerProgram, serve};
pub use usage::Bounds;
pub(crate) use usage::{Excess, Watch, space};

/// The environment variable that identifies the process whose call this is, by pid and start time. It finds what is
/// left if both the keeper and that process were killed.
pub(crate) const MARK: &str = "SETPOINT_CALL";

/// Milliseconds between asking a program to exit and killing it.
pub(crate) const TERM_GRACE_MS: u64 = 300;

/// Milliseconds to wait for output after the program itself has ended: another process may hold the pipe.
pub(crate) const DRAIN_MS: u64 = 300;
