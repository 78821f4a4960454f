//! `cargo xtask gen`: writes the files that are generated from code, so that they cannot disagree with it.

use std::path::Path;
use std::{fs, io};

use setpoint_protocol::topology;

use crate::error::Error;
use crate::finding::Finding;

/// A generated file: its path, and the function that returns its text.
pub(crate) struct Generated {
    /// Path from the root, with `/`.
    pub(crate) path: &'static str,
    text: fn() -> String,
}

pub(crate) const GENERATED: &[Generated] =
    &[Generated { path: "docs/routes.md", text: topology::routes_markdown }];

/// Writes the files that are out of date and returns their paths.
pub(crate) fn write(root: &Path) -> Result<Vec<&'static str>, Error> {
    write_stale(root, GENERATED)
}

/// Returns a finding for each file that is out of date.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, Error> {
    let finding = |(file, _): (&Generated, String)| {
        Finding::whole(file.path, "out of date with the code it is made from: run `cargo xtask gen`")
    };
    Ok(stale(root, GENERATED)?.into_iter().map(finding).collect())
}

fn write_stale(root: &Path, files: &[Generated]) -> Result<Vec<&'static str>, Error> {
    let mut written = Vec::new();
    for (file, text) in stale(root, files)? {
        let path = root.join(file.path);
        let folder = path.parent().unwrap_or(root);
        let result = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        result.map_err(|source| Error::Write { path, source })?;
        written.push(file.path);
    }
    Ok(written)
}

fn stale<'a>(root: &Path, files: &'a [Generated]) -> Result<Vec<(&'a Generated, String)>, Error> {
    let mut stale = Vec::new();
    for file in files {
        let path = root.join(file.path);
        let there = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(Error::Read { path, source }),
        };
        let text = (file.text)();
        if there.as_deref() != Some(text.as_str()) {
            stale.push((file, text));
        }
    }
    Ok(stale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[Generated] = &[
        Generated { path: "docs/a.md", text: || "a\n".to_owned() },
        Generated { path: "b.md", text: || "b\n".to_owned() },
    ];

    fn stale_paths(root: &Path) -> Vec<&'static str> {
        stale(root, FILES).unwrap().into_iter().map(|(file, _)| file.path).collect()
    }

    #[test]
    fn only_missing_and_differing_files_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("b.md"), "old\n").unwrap();
        assert_eq!(write_stale(root, FILES).unwrap(), ["docs/a.md", "b.md"]);
        assert_eq!(fs::read_to_string(root.join("docs/a.md")).unwrap(), "a\n");
        assert_eq!(write_stale(root, FILES).unwrap(), Vec::<&str>::new());
    }

    #[test]
    fn a_file_edited_by_hand_is_stale() {
        let folder = tempfile::tempdir().unwrap();
        write_stale(folder.path(), FILES).unwrap();
        fs::write(folder.path().join("b.md"), "b \n").unwrap();
        assert_eq!(stale_paths(folder.path()), ["b.md"]);
    }
}
