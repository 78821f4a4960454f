//! `manifest_create` and `manifest_verify`: the checksums of all files below a folder, as `sha256sum` writes and reads them.

mod create;
mod line;
mod name;
mod verify;

pub(crate) use create::ManifestCreate;
pub(crate) use verify::ManifestVerify;
