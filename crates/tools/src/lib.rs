//! What R3 can do in the world: one trait, one file per tool, the registry, and the reading of calls before they run.
//!
//! This crate never decides what to do and never asks a person; it reports what would need consent, and does nothing
//! until the call carries the grant. It trusts nothing in a call, and everything it returns is bounded.
//!
//! Reading order: [`Tool`], [`Registry`], `typed` (what the tools of the catalogue share), `approval` (the gate),
//! [`House`] (what stays closed with any approval), [`approval_file`] (consent given in advance), `process`, and the
//! catalogue. Which shell commands only read is decided in the crate `command_line`.

mod answer;
mod approval;
pub mod approval_file;
mod background;
mod caches;
mod catalogue;
mod changeset;
mod error;
mod facts;
mod files;
mod halt;
mod host;
mod house;
mod keys;
pub mod paths;
mod place;
mod process;
mod processes;
mod registry;
mod sandbox;
pub mod secrets;
pub mod servers;
pub mod show;
mod survey;
mod target;
mod tool;
mod turns;
mod typed;
pub mod undo;
mod walk;

pub use background::{BACKGROUND_MAX, BACKGROUND_STARTS_MAX};
pub use catalogue::*;
pub use error::ToolError;
pub use host::Host;
pub use house::House;
pub use process::time_zone::{is_time_zone, is_zone_folder};
pub use process::{Bounds, end_calls_of, keeper};
pub use registry::{CallPlace, Registry};
pub use sandbox::Sandbox;
pub use setpoint_protocol::gate::RunLevel;
pub use tool::{Limits, Tool, ToolCtx};
