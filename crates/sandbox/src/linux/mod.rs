//! The mechanism on Linux.

mod alone;
pub mod beside;
mod confine;
mod mounts;
mod probe;
mod raw;
mod root;
pub mod stage;
mod syscalls;

pub use alone::only_compute;
pub use probe::probe;
