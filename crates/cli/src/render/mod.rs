//! What stays when a task is over, or is looked back at: results, values, tasks. Pure.

pub(crate) mod audit;
pub(crate) mod comparison;
pub(crate) mod gist;
pub(crate) mod html;
pub(crate) mod memory;
mod plot;
pub(crate) mod replay;
pub(crate) mod result;
pub(crate) mod task;
pub(crate) mod value;
