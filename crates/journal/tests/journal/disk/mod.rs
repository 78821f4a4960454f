//! The journal as files: what it refuses, what it survives, what it notices.

pub(crate) mod child;
mod damage;
mod full;
mod log;
mod loss;
mod open;
mod processes;
mod prune;
mod tamper;
