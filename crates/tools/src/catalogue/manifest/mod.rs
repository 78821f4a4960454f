//! `manifest_create` and `manifest_verify`: checksums of all files below a folder, in the format of `sha256sum`.

mod create;
mod line;
mod name;
mod verify;

pub(crate) use create::ManifestCreate;
pub(crate) use verify::ManifestVerify;
