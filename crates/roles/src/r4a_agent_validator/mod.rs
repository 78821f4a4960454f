//! R4a, sensor and controller of the fast loop: judges every criterion of one sub-task on its own.
//!
//! It gets the `SubTask` as its rubric, then an `ExecutionResult` for each attempt. Criteria with a check are
//! judged by code, on the probes that R3 made after its answer, on the output or on R3's calls; the others go to a
//! model, all in one call, each answered on its own and held against the evidence ([`crate::judging`] says how). All
//! pass: the sub-task matched. Any fails: a `CorrectionSignal`, twice at most. An attempt that failed by its own
//! word ends the sub-task at once and no model is asked.
//!
//! It never takes an overall verdict from anybody, never changes what it judges, and never sends R3 round a
//! person's refusal: a sub-task with a refused call and an unmet criterion ends.
//!
//! It touches nothing itself: what it judges by stands in R3's records, and what was green before the task's work in the
//! baseline that comes with the `SubTask`. What was found after the answer has phase `after` and the answer's attempt. A probe
//! that is not among them was not made, and its criterion fails environmentally.

mod correction;
mod decision;
mod fast_loop;
mod judgement;
mod machine;
mod prompt;
mod result;

pub use self::machine::AgentValidator;
