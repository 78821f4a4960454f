//! Keeps tasks alive: connects roles, journal, models, tools, memory and the Auditor, and drives the tasks.
//!
//! It decides nothing about a goal and reads no configuration: its parts are passed in as values. Reading order:
//! [`organisation`] (start, resume, say, watch), `driver` (one task: step, commit, effect) with its `services`, [`tap`]
//! (live events for watchers), [`toolbox`], [`models`] and [`clock`] (the edges).

pub mod clock;
mod driver;
pub mod error;
mod feed;
mod fragments;
pub mod hints;
pub mod models;
pub mod organisation;
mod services;
pub mod tap;
pub mod toolbox;

pub use error::RuntimeError;
pub use models::Models;
pub use organisation::{NewTask, Organisation, Parts, ResumeOutcome};
pub use tap::{Event as TapEvent, Tap, TapItem};
