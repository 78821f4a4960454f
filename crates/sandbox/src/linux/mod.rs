//! The mechanism on Linux.

pub mod beside;
mod confine;
mod mounts;
mod probe;
mod raw;
mod root;
pub mod stage;
mod syscalls;

pub use probe::probe;
