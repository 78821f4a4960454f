//! R3, the plant: does one sub-task, for real, with evidence.
//!
//! It loops: the model requests calls, the calls run one after the other, and their results go back, until the model
//! answers or a rule ends the attempt. All of it is one conversation, which grows at its end; a `CorrectionSignal`
//! continues it. Each attempt ends in exactly one `ExecutionResult`.
//!
//! After an answer, the probes of the sub-task's checks are made (phase `after`), and the result is sent when all of
//! them have answered, or without the missing ones if the deadline passes first. The model never sees a probe, and
//! probes do not count as rounds. R4b makes the probes before the work.
//!
//! It never judges its own work, never repeats a call or an attempt on its own, never writes memory, never runs what
//! the sub-task's limits forbid, and never does without consent what needs it.
//!
//! # Attempts without progress
//!
//! Two calls count as the same if their tools, their parameters in normal form and the *epoch* are the same. The
//! epoch rises with every call that may change something and was not made before in the attempt, so a cycle of
//! editing and testing is free as long as the edits differ. The third identical result of the same call ends the
//! attempt. A read that is repeated while no call ran that may change something is answered from its record, except
//! for a volatile tool and for a read that failed for a transient reason. The counts restart with each attempt.
//!
//! Calls that differ only in their numbers (a counter, a time stamp) could continue like that for ever. So *rounds*
//! are counted as well: a round brings something new if a call changed something, gave a result that no similar call
//! gave before, or an error that did not occur before. Consecutive rounds without anything new end the attempt,
//! sooner if all their calls fail; the model is warned halfway. A round counts once, however many calls it has: a
//! model that looks at a list of things that turn out to be the same can do so in one reply.

mod after;
mod answer;
mod approval;
mod conversation;
mod correction;
mod deadline;
mod gate;
mod machine;
mod news;
mod offer;
mod progress;
mod prompt;
mod reply;
mod step;
mod think;
mod tool_answer;
mod unmet;
mod work;

pub use self::machine::Executor;
