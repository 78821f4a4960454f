//! Which model each role asks.
//!
//! [`choose`] chooses (from flags, environment and files), [`provider`] gives address and key, [`error`] the reasons
//! for a failure. [`survey`] checks whether the models are there, [`trial`] what they can do.

pub mod choose;
pub mod error;
pub mod provider;
pub mod survey;
#[cfg(test)]
mod tests;
pub mod trial;
