//! Renders what is printed of a task: its result, its values and its rows in lists. Pure.

pub(crate) mod gist;
pub(crate) mod record;
pub(crate) mod result;
pub(crate) mod task;
pub(crate) mod value;
