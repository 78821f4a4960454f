//! The program as installed and configured on a machine: the composition root above the runtime.
//!
//! It reads configuration, environment and files, and words hints with the commands of the command line; no crate below
//! it does. Reading order: [`program`] (the parts of an organisation), [`config`] (values and their origin), [`models`]
//! (which model each role asks), [`init`] (a first configuration), [`desk`] (checks), [`error`] (errors for a person),
//! [`approvals`], [`sandbox`], [`servers`], [`ggs`].

pub mod approvals;
pub mod config;
pub mod desk;
pub mod error;
pub mod ggs;
pub mod import;
pub mod init;
mod keys;
pub mod models;
pub mod operator;
pub mod program;
pub mod sandbox;
mod search;
mod secrets;
pub mod servers;
pub mod surroundings;
pub mod telemetry;
#[cfg(test)]
mod testing;

pub use error::{Error, ErrorKind};
pub use operator::audit::Audit;
pub use operator::desk::Desk;
pub use operator::memory::Memory;
pub use operator::tasks::{Event, Fork, Goal, Organisation};
pub use program::Program;
