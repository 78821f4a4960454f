//! Going through a task again: replay, the controller under other settings, a file that replays elsewhere, and forks.
//!
//! Nothing here asks a model or runs a tool. It reads a task's records, runs the same machines over the same inputs, and
//! says what came out. Only a fork writes: a new task, which is then driven like any other.
//!
//! Reading order: `replay`, `rerun` (R7 beside itself), `export` and [`import`], [`fork`] and its `workspace`.

mod export;
pub mod fork;
pub mod import;
mod replay;
mod rerun;
pub(crate) mod workspace;
