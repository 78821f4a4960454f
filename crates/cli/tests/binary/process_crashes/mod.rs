//! What a killed process leaves, and what `tasks resume` makes of it. The process is killed at every record
//! of a task's journal, before the commit that holds it, while writing it, after writing it and after syncing
//! it; repeatedly while it is resumed; and from outside while a command runs.
//!
//! Effects are counted outside the killed process: in the files that the task's commands append to.

mod assembly;
mod cancelled;
mod dreaming;
mod everywhere;
mod repeatedly;
mod running;
mod story;
