//! R1, the Perceiver: turns what a person typed into a [`TaskSpec`](setpoint_protocol::message::TaskSpec).
//!
//! It asks a model only for what needs one (`need`): what a text refers to in earlier exchanges, or a title for a
//! long text. Any other goal is passed on as typed; the intent of a long one is its first sentence, and every role
//! reads the text itself.
//!
//! It never adds to the goal, narrows it or judges it, never resolves a word of time (its prompt holds no date),
//! never asks memory, and never lets a model's failure stop a task: without a usable answer the intent is the raw
//! input. `raw_input` is the person's text, set by code. Every input ends in exactly one `TaskSpec`, `DirectAnswer`
//! or, when nothing was typed, `TaskFault`.
//!
//! `phase` says what R1 waits for and what may follow an input. One file for each thing it handles: `need`,
//! `title`, `ask` (the question to the model), `reading` (how its answer is read), `clarify` (questions to the
//! person), `commit` (the `TaskSpec`), `deadline`, `small_talk` (what may be answered at once), `prompt`.

mod ask;
mod clarify;
mod commit;
mod deadline;
mod machine;
mod need;
mod phase;
mod prompt;
mod reading;
mod small_talk;
mod title;

pub use self::machine::Perceiver;
