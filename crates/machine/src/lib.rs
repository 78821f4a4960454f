//! A role is a machine that receives one input and answers with effects as values.
//!
//! Nothing here knows a particular role, and nothing here touches the world: no clock, no randomness, no file, no
//! thread, no async. A [`cell::Cell`] holds the machines of one task and runs a step to its end in one thread; the
//! tokio driver and the simulation are two drivers of the same cell.
//!
//! Reading order: [`machine`] (the trait), [`input`], [`effects`], [`ctx`], [`brief`] (what a model is asked),
//! [`conversation`] (what follows the question), [`cell`], [`admission`] (what
//! another process may say to a task), [`gate`] (the rules by which a call needs consent).

#![warn(missing_docs)]

pub mod admission;
pub mod brief;
pub mod cell;
pub mod conversation;
pub mod ctx;
pub mod effects;
pub mod fit;
pub mod gate;
pub mod input;
pub mod ledger;
pub mod listing;
pub mod machine;
pub mod model_call;
pub mod prompt;
pub mod reading;
pub mod script;
pub mod tokens;

pub use brief::Brief;
pub use cell::{Cell, External, Factory, Record, Step, WorldEffect};
pub use conversation::Turn;
pub use ctx::Ctx;
pub use effects::Effects;
pub use input::{AnyInput, Input};
pub use ledger::Ledger;
pub use machine::{AnyMachine, Machine};
pub use model_call::ModelCall;
pub use prompt::{Fragment, Prompt};
pub use reading::CallReader;
