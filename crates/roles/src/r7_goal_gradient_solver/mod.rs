//! R7, the Goal Gradient Solver: the controller of the medium loop, and the only role that ends a task.
//!
//! It measures each round that R4b reports, lets `setpoint_control` decide, tells memory what was learned, and then
//! either directs R2's next plan or ends the task with its one `FinalResult`. A fault or a cancel is kept until every
//! running ask has been answered; then it is decided on.
//!
//! It never asks a model, runs no tool, plans nothing, and judges nothing itself: its arithmetic is `control`'s, the
//! verdicts are R4a's and R4b's. It never calls a partial result complete: a result with unmet criteria names them.
//!
//! Reading order: `phase` (what R7 waits for, and what may follow an input), `machine` (dispatch), `stop`; `round`
//! (what R4b reported, in one form) and `course` (what the task's rounds leave); `measure` (messages to numbers),
//! `decide`; `directive` with `exempt` (over `attempts` and `naming`) and `give_back`; `memory` with `insight`;
//! `ending` with `summary`, `unproven` and `accountable`.

mod accountable;
mod attempts;
mod course;
mod decide;
mod directive;
mod ending;
mod exempt;
mod give_back;
mod insight;
mod machine;
mod measure;
mod memory;
mod naming;
mod phase;
mod round;
mod stop;
mod summary;
mod unproven;

pub use self::machine::GoalGradientSolver;
