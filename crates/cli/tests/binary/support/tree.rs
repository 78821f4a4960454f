//! The content of a directory, for assertions that nothing changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns every file below a directory with its content, and directories with `None`. Empty if there is no
/// such directory.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                open.push(path.clone());
                found.insert(path, None);
            } else {
                found.insert(path.clone(), fs::read(&path).ok());
            }
        }
    }
    found
}
