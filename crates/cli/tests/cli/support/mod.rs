//! A scripted organisation, a scripted memory, a scripted person, and tapes of records.

pub(crate) mod audit;
pub(crate) mod chromium;
pub(crate) mod host;
pub(crate) mod markup;
pub(crate) mod memory;
pub(crate) mod organisation;
pub(crate) mod stories;
pub(crate) mod tape;
pub(crate) mod tapes;
pub(crate) mod world;
