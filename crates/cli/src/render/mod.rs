//! What is printed of a task when it has ended or is looked at later: results, values, tasks. Pure.

pub(crate) mod gist;
pub(crate) mod record;
pub(crate) mod result;
pub(crate) mod task;
pub(crate) mod value;
