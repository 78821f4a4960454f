//! The program as it is installed and configured on a machine: the composition root above the runtime.
//!
//! It reads configuration, environment and files, and says in the command line's words what can be done about an error;
//! no crate below it does. Reading order: [`program`] (what an organisation is made of), [`config`] (values and where they
//! come from), [`models`] (which model answers whom), [`init`] (a first configuration), [`desk`] (how everything stands, and
//! what errors are to a person), [`approvals`], [`ggs`].

pub mod approvals;
pub mod config;
pub mod desk;
pub mod error;
pub mod ggs;
pub mod init;
mod keys;
pub mod models;
pub mod operator;
pub mod program;
pub mod surroundings;
pub mod telemetry;

pub use error::{Error, ErrorKind};
pub use operator::audit::Audit;
pub use operator::desk::Desk;
pub use operator::memory::Memory;
pub use operator::tasks::{Event, Fork, Goal, Organisation};
pub use program::Program;
