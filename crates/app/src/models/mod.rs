//! Which model each role asks.
//!
//! [`choose`] says which (from flags, environment and files), [`provider`] where it is, [`error`] why not. [`survey`]
//! looks whether it is there, [`trial`] what it can do.

pub mod choose;
pub mod error;
pub mod provider;
pub mod survey;
#[cfg(test)]
mod tests;
pub mod trial;
