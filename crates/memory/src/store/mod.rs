//! Memory on disk (SPEC 7): records of experience, their running sums, the rules made from them, and the ids of forgotten
//! records.
//!
//! The store is a projection of the journal. Everything that changes it is an [`Event`] with a journal position, and
//! [`Store::apply`] applies events together with that position in one transaction. So what was published before a crash
//! is in memory after it, exactly once, and a lost or damaged store is rebuilt by applying the journal from its
//! beginning ([`Store::replace`], [`Store::start_over`]). Two changes need no event, since they follow from the rest:
//! faded records are deleted ([`Store::forget_faded`]), and the last recall of a rule is noted.
//!
//! It never decides what becomes a rule and never formats text for a prompt; the arithmetic is in `setpoint-mkct`.
//!
//! Reading order: [`event`] (the input), `database` (opening, applying), `record` and `sums` (the layout in the
//! database), `batch` and `apply` (what an event changes), `query` (what a task asks), `browse` (what an operator
//! asks), `words` (search by words), `dream` (what the Dreamer needs), `check`.

mod apply;
mod batch;
mod browse;
mod check;
mod database;
mod dream;
pub mod error;
pub mod event;
pub mod limits;
mod query;
mod record;
mod sqlite;
mod sums;
mod tags;
mod words;

pub use browse::{Filter, ID_CHARS_MIN};
pub use check::{CheckExtent, ERROR_MAX};
pub use database::{Durability, OpenReport, Options, Store};
pub use dream::{Candidate, ForgetResult};
pub use error::MemoryError;
pub use event::{BatchOutcome, BatchResult, Event, EventKind};
pub use query::{AvoidedPair, PairSums, Stats, ToolSums};
pub use record::StoredRecord;
pub use words::WordMatch;
