//! Models: the trait that answers a role's questions, and the embedded brain, which needs no network.
//!
//! A [`Model`] receives a question as data and as text and returns the answer with its cost. It never decides what
//! becomes of its answer (roles validate it), never keeps state between questions, and never reads the journal.
//!
//! Reading order: [`model`] (the trait), [`progress`] (text while it is being written), [`playbook`] (the embedded
//! brain and its data files), [`wire`] and [`remote`] (language models), [`catalogue`] (data about them), [`cassette`]
//! (recording and playing back).

pub mod cassette;
pub mod catalogue;
pub mod model;
pub mod playbook;
pub mod progress;
#[cfg(feature = "remote")]
pub mod remote;
pub mod wire;

pub use model::{Model, ModelError};
pub use progress::Progress;
