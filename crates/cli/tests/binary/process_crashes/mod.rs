//! What a killed process leaves, and what `tasks resume` makes of it: killed at every record of a task's journal, before
//! the commit that holds it, in the middle of writing it, after writing it and after syncing it; killed again and again
//! while it is resumed; killed from outside while a command runs.
//!
//! What is counted stands outside the killed process: in the files that the task's commands append to.

mod assembly;
mod cancelled;
mod dreaming;
mod everywhere;
mod repeatedly;
mod running;
mod story;
