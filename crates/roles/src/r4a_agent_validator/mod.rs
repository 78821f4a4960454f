//! R4a, sensor and controller of the fast loop: judges every criterion of one sub-task on its own.
//!
//! It gets the `SubTask` as its rubric, then an `ExecutionResult` for each attempt. Criteria with a check are judged
//! by code, on the probes that R3 made after its answer, on the output or on R3's calls; the others go to a model,
//! all in one call, each answered on its own and compared with the evidence ([`crate::judging`] says how). If all
//! pass, the sub-task matched. If any fails, R4a sends a `CorrectionSignal`, at most twice. An attempt that reports
//! its own failure ends the sub-task at once, without asking a model.
//!
//! It never takes an overall verdict from another party, never changes what it judges, and never lets R3 work around
//! a person's refusal: a sub-task with a refused call and an unmet criterion ends.
//!
//! It touches nothing itself: its evidence is in R3's records, and the measurements before the task's work are in the
//! baseline that comes with the `SubTask`. Probes after the answer have phase `after` and the answer's attempt. A
//! missing probe was not made, and its criterion fails environmentally.

mod correction;
mod decision;
mod fast_loop;
mod judgement;
mod machine;
mod prompt;
mod result;

pub use self::machine::AgentValidator;
