//! Memory on disk (SPEC 7): records of experience, their running sums, the rules that were made of them, and what was
//! forgotten.
//!
//! The store is a projection of the journal. Everything that changes it is an [`Event`] with a place in the journal, and
//! [`Store::apply`] takes events in together with that place, in one transaction: what was published before a crash is in
//! memory after it, exactly once, and a store that is lost or damaged is made anew by taking the journal in from its
//! beginning ([`Store::replace`], [`Store::start_over`]). Two things are done without an event, since they follow from the rest: what has faded is deleted
//! ([`Store::forget_faded`]), and when a rule was last recalled is noted.
//!
//! It never decides what becomes a rule and never formats text for a prompt; the arithmetic is `setpoint-mkct`'s.
//!
//! Reading order: [`event`] (what comes in), `database` (opening, taking in), `record` and `sums` (how it lies in the
//! database), `batch` and `apply` (what an event changes), `query` (what a task asks), `browse` (what an operator asks), `words` (what is found by words), `dream` (what the Dreamer needs),
//! `check`.

mod apply;
mod batch;
mod browse;
mod check;
mod database;
mod dream;
pub mod error;
pub mod event;
mod failpoint;
pub mod limits;
mod query;
mod record;
mod sqlite;
mod sums;
mod tags;
mod words;

pub use browse::{Filter, ID_CHARS_MIN};
pub use check::{Checked, ERROR_MAX};
pub use database::{Durability, OpenReport, Options, Store};
pub use dream::{Candidate, Forgotten};
pub use error::MemoryError;
pub use event::{Applied, Event, Happening, Taken};
pub use query::{Avoided, PairSums, Stats, ToolSums};
pub use record::Remembered;
pub use words::Found;
