//! The vocabulary of Setpoint: roles, routes, messages, envelopes, ids, records and limits.
//!
//! This crate holds data and the single page that says who may say what to whom ([`topology`]). It never
//! decides and never does I/O. Of our crates it depends on `control` alone, whose states, classes and gains messages carry.
//!
//! Reading order: [`topology`] (the page), [`message`] (one file per message, in loop order), [`record`]
//! (what the journal keeps besides messages), [`envelope`] (how a record looks from outside), [`replay`] (what going
//! through a task again came to), then
//! [`predicate`] (what a check may say), [`id`] and [`limits`].

pub mod address;
pub mod any;
pub mod asyncapi;
pub mod body;
pub mod capability;
pub mod envelope;
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
