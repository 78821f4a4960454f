//! R3, the plant: does one sub-task, for real, with evidence.
//!
//! It loops: the model says which calls it wants, the calls run one after the other, and their results go back, until the
//! model answers or a rule ends the attempt. All of it is one conversation, which grows at its end; a `CorrectionSignal`
//! goes on with it. Each attempt ends in exactly one `ExecutionResult`.
//!
//! After an answer, the probes of the sub-task's checks are made (phase `after`), and the result goes out when all of them
//! came back, or without the missing ones when the deadline passes first. The model never sees a probe, and probes are no
//! rounds. What they found before the work, R4b measured.
//!
//! It never judges its own work, never repeats a call or an attempt on its own, never writes memory, never runs
//! what the sub-task's limits forbid, and never does without consent what needs it.
//!
//! # When nothing comes of it
//!
//! A call counts as the same when its tools, its parameters in normal form and the *epoch* are the same. The epoch
//! rises with every call that may change something and was not made before in the attempt, so a cycle of editing
//! and testing is free as long as the edits differ. The same call with the same result for the third time ends
//! the attempt. A read that is repeated while no call ran that may change something is answered from its record;
//! not so a volatile tool, nor a read that failed for a reason that may pass. Each attempt counts anew.
//!
//! Calls that differ, but in their numbers alone (a counter, a time stamp), may go on like that for ever. So a *round*
//! is looked at as well: it brings something new when a call changed something, or gave a result that no call like it
//! gave before, or an error that did not come before. Rounds in a row without anything new end the attempt, sooner when
//! all their calls fail; halfway the model is told. However many calls a round has, it is one: whoever looks at a list
//! of things that turn out to be the same can do so in one reply.

mod after;
mod answer;
mod approval;
mod conversation;
mod correction;
mod gate;
mod machine;
mod news;
mod offer;
mod progress;
mod prompt;
mod reply;
mod step;
mod subtask;
mod tool_answer;
mod unmet;
mod work;

pub use self::machine::Executor;
