//! Shared by the tests of R7: messages in short form, a driver of one machine, and the display of effects.

pub(crate) mod conformance;
pub(crate) mod driver;
pub(crate) mod in_a_cell;
pub(crate) mod properties;
pub(crate) mod script;
pub(crate) mod short;
