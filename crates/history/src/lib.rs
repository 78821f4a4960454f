//! Going through a task again: what its records say, outside the process that drove it.

pub mod cloud_events;
