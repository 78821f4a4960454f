//! What answers a role's questions: one trait, and the embedded brain that needs no network.
//!
//! A [`Model`] gets a question as data and as text and gives back what was said and what it cost. It never decides
//! what becomes of its answer (roles validate it), never keeps state between questions, and never reads the journal.
//!
//! Reading order: [`model`] (the trait), [`progress`] (text while it is being written), [`playbook`] (the embedded
//! brain and the data files it knows), [`wire`] and [`remote`] (language models), [`catalogue`] (what is known of
//! them), [`cassette`] (recording and playing back).

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
