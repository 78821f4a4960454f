//! The composition root: puts roles, journal, models and tools together and keeps tasks alive.
//!
//! It decides nothing about a goal. Reading order: [`organisation`] (start, resume, say, watch), `driver` (one
//! task: step, commit, effect), [`memory`] (R5), [`audit`] (R6), [`factory`] (from an address to its machine), [`toolbox`] and [`clock`] (the edges),
//! [`init`] (a first configuration), [`time_travel`] (going through a task again).

pub mod approvals;
pub mod clock;
pub mod config;
pub mod desk;
mod driver;
pub mod error;
pub mod ggs;
pub mod init;
mod keys;
pub mod models;
pub mod organisation;
pub mod program;
pub mod surroundings;
pub mod tap;
pub mod telemetry;
pub mod toolbox;

/// The journal, for whoever hands it to something else of this crate.
pub mod journal {
    pub use setpoint_journal::{Journal, TaskFilter};
}

pub use error::RuntimeError;
pub use models::Models;
pub use organisation::{NewTask, Organisation, Parts, Resumed};
pub use tap::{Event as TapEvent, Tap, Tapped};
