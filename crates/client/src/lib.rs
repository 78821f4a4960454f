//! What a user of a running organisation needs: commands in, events out.
//!
//! The command line (and later the server) sees an organisation only through these traits, so that it works the
//! same against one in this process and, later, one elsewhere. This crate decides nothing and does no I/O.
//!
//! Reading order: [`organisation`] (tasks), [`cost`] (what one cost), [`comparison`] (two beside one another),
//! [`memory`], [`audit`], [`desk`] (everything that describes the program itself, with [`models`]), [`error`].

pub mod audit;
pub mod comparison;
pub mod cost;
pub mod desk;
pub mod error;
pub mod memory;
pub mod models;
pub mod organisation;

pub use audit::Audit;
pub use desk::Desk;
pub use error::{ClientError, ErrorKind};
pub use memory::Memory;
pub use organisation::{Event, Fork, ForkedTask, Goal, Organisation, Resumed, TaskLine};
