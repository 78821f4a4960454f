//! Which file a path really is, links on the way followed as far as there is anything.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The place that is changed when `path` is written: links followed, the last one too. What does not exist yet is below the
/// real place of what does.
#[must_use]
pub(crate) fn fully(path: &Path) -> PathBuf {
    match std::fs::canonicalize(path) {
        Ok(real) => real,
        Err(_) => parent_only(path),
    }
}

/// The place that disappears when `path` is deleted: links followed but for the last one.
#[must_use]
pub(crate) fn parent_only(path: &Path) -> PathBuf {
    let mut rest: Vec<OsString> = Vec::new();
    let mut at = path;
    while let (Some(parent), Some(name)) = (at.parent(), at.file_name()) {
        rest.push(name.to_owned());
        if let Ok(real) = std::fs::canonicalize(parent) {
            return rest.into_iter().rev().fold(real, |path, name| path.join(name));
        }
        at = parent;
    }
    path.to_path_buf()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_as_far_as_there_is_anything() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::fs::write(root.join("real/file"), "").unwrap();
        symlink("real", root.join("alias")).unwrap();
        symlink("real/file", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        for (path, written, deleted) in [
            ("alias/file", "real/file", "real/file"),
            ("alias/new/deep", "real/new/deep", "real/new/deep"),
            ("link", "real/file", "link"),
            ("dangling", "dangling", "dangling"),
            ("new", "new", "new"),
        ] {
            assert_eq!(fully(&root.join(path)), root.join(written), "{path}");
            assert_eq!(parent_only(&root.join(path)), root.join(deleted), "{path}");
        }
        assert_eq!(fully(Path::new("/")), Path::new("/"));
    }
}
