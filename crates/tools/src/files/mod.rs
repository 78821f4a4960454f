//! Opening, reading, hashing and writing single files, whatever else they may turn out to be.

pub(crate) mod draft;
pub(crate) mod folder;
pub(crate) mod hash;
pub(crate) mod lines;
pub(crate) mod open;
pub(crate) mod spot;
pub(crate) mod text;
pub(crate) mod time;
