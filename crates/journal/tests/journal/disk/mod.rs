//! The journal as files: what it refuses, survives and detects.

pub(crate) mod child;
mod damage;
mod full;
mod log;
mod loss;
mod open;
mod processes;
mod prune;
mod tamper;
