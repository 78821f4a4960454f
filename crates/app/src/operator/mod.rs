//! What a person can ask of a data directory: its tasks, its memory, its Auditor, and the program itself.
//!
//! Each is a trait beside its only implementation, so that the command line can be tested with scripted ones.

pub mod audit;
pub mod desk;
pub mod memory;
pub mod tasks;
