//! R4b, the sensor of the medium loop: fan-in, merge, and the verification of the whole.
//!
//! A `DispatchManifest` opens a round and drops the former. The probes of its checks that were not measured yet run
//! before any work, and R2, which waits for that, receives their results. One outcome counts for each of its
//! sub-tasks; whatever is carried over from an earlier round counts as reported. A group that matched completely is
//! reported to R2 if more groups wait. A group with a failure ends the round without a model call: the groups after
//! it are reported as skipped. When everything matched, the merged result is compared with the task's criteria, by
//! the rules of [`crate::judging`].
//!
//! A model is asked only for criteria that code cannot judge, and which of several outputs make up the result. It
//! never writes the result: code combines the outputs. A criterion of the task that is also one of its only sub-task
//! is not judged again: that verdict counts, unless it rests on a check of an earlier round.
//!
//! Every round that is not dropped ends in exactly one message to GGS; no handler can lose it. This role never gives
//! orders, and its recommendation is informational: `abandon` when a person refused something that a failed sub-task
//! wanted, or when the rounds are used up.

mod again;
mod at_fault;
mod baseline;
mod carry;
mod end;
mod gathering;
mod machine;
mod merged;
mod phase;
mod prompt;
mod round;
mod verification;

pub use self::machine::MetaValidator;
