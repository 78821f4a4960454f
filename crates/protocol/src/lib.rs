//! The vocabulary of Setpoint: roles, routes, messages, envelopes, ids, records and limits.
//!
//! This crate holds data and the one table of who may send what to whom ([`topology`]). It never decides and never does
//! I/O. Of our crates it depends on `control` alone, whose states, classes and gains the messages carry.
//!
//! Reading order: [`topology`] (the table), [`message`] (one file per message, in loop order), [`record`] (what the
//! journal stores besides messages), [`envelope`] (the outer form of a record), [`replay`] (the result of a replay),
//! then [`predicate`] (the conditions of checks), [`id`] and [`limits`].

#![warn(missing_docs)]

pub mod address;
pub mod any;
pub mod asyncapi;
pub mod body;
pub mod capability;
pub mod envelope;
pub mod gate;
pub mod id;
pub mod limits;
pub mod memory;
pub mod message;
pub mod models;
pub mod money;
mod number;
pub mod predicate;
pub mod record;
pub mod replay;
pub mod role;
pub mod rows;
pub mod schema;
pub mod settings;
pub mod test_run;
pub mod text;
pub mod time;
pub mod tool;
pub mod topology;

pub use address::{Address, Instance};
pub use any::Any;
pub use id::{CallId, CriterionId, MegramId, SubTaskId, TaskId, ToolId};
pub use role::RoleId;
pub use time::Timestamp;
