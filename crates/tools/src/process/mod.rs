//! Programs as calls run them: without input, in a group of their own, with what they print bounded while it is read, and
//! with nothing of them left afterwards.
//!
//! A call's processes carry a mark in their environment ([`MARK`]). When the call ends, by itself, by time, by cancel or
//! because its future was dropped, its process group is ended and every process with the mark is killed; a [`warden`]
//! does the same when this whole program dies. What escapes: a process that clears its environment *and* leaves the group
//! *and* whose parent is gone. Only a PID namespace holds that one.

pub(crate) mod capture;
pub(crate) mod env;
mod group;
mod orphans;
mod run;
mod survey;
pub(crate) mod warden;

pub(crate) use capture::Captured;
pub use orphans::end_calls_of;
pub(crate) use run::{Ended, Ending, Job, run};

/// The environment variable that a call's processes are found by: `<pid>-<start time>-<hash>-<n>`, of the process that makes
/// the call.
pub(crate) const MARK: &str = "SETPOINT_CALL";

/// Milliseconds between asking a group to end and killing it.
pub(crate) const TERM_GRACE_MS: u64 = 300;

/// Milliseconds that output is waited for after the program itself has ended: some other process may hold the pipe.
pub(crate) const DRAIN_MS: u64 = 300;
