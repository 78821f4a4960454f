//! What stays when a task is over, or is looked back at: results, values, tasks. Pure.

pub(crate) mod gist;
pub(crate) mod record;
pub(crate) mod result;
pub(crate) mod task;
pub(crate) mod value;
