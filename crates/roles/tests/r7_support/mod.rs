//! What the tests of R7 share: messages in short form, a driver of one machine, and how effects are shown.

pub(crate) mod conformance;
pub(crate) mod driver;
pub(crate) mod in_a_cell;
pub(crate) mod properties;
pub(crate) mod script;
pub(crate) mod short;
