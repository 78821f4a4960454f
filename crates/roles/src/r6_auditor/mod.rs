//! R6, the Auditor: reads every record of the journal, in order, and reports what is wrong.
//!
//! It is a machine over a cursor: a record in, findings out ([`Auditor::observe`]); a time in, omissions out
//! ([`Auditor::tick`]). Its whole state is plain data that can be stored and restored, and a report is made from it
//! without changing it ([`Auditor::report`]). It looks at columns, numbers, ids and verdicts alone, never at what a
//! model wrote, so no model can talk it out of a finding.
//!
//! It sends only to the operator, corrects nothing, calls no model and no tool, and reads no clock. It reports what
//! it cannot read, and never stops because of it.
//!
//! Reading order: [`Entry`] (its input), `machine` (dispatch over tasks), `follow` (which tasks are followed),
//! `task` (one task: dispatch over records, and a file for each kind of record), `count` (facts over all tasks),
//! `share` (when a share has changed), `health` (roles, models and tools), `cost`, `window` with `report` (what the
//! operator gets).

mod body;
mod cost;
mod count;
mod entry;
mod follow;
mod health;
mod machine;
mod report;
mod route;
mod share;
mod task;
mod window;

pub use self::entry::Entry;
pub use self::machine::{Auditor, OPEN_TASKS_MAX};
pub use self::share::{Share, Shift};
pub use self::task::STALLED_MS;
