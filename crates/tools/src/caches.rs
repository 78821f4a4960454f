//! Folders whose content programs make again when it is missing.

use std::path::Path;

/// Cache folders of programs, by name.
const NAMES: &[&str] = &["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];
/// The name of the file that marks a folder as a cache: <https://bford.info/cachedir/>.
pub(crate) const TAG: &str = "CACHEDIR.TAG";

/// Returns whether a folder is a cache.
pub(crate) fn is_cache(folder: &Path) -> bool {
    is_named(folder) || is_tagged(folder)
}

/// Returns whether the folder's name says that it is a cache.
pub(crate) fn is_named(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| NAMES.contains(&name))
}

/// Returns whether the folder is marked as a cache.
pub(crate) fn is_tagged(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder.join(TAG)).is_ok_and(|meta| meta.is_file())
}
