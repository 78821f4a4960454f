//! Opens, reads, hashes and writes single files of any kind.

pub(crate) mod draft;
pub(crate) mod folder;
pub(crate) mod hash;
pub(crate) mod lines;
pub(crate) mod open;
pub(crate) mod spot;
pub(crate) mod text;
pub(crate) mod time;
