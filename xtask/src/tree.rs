//! The repository's files, read once and passed to the checks as data.
//!
//! The checks never read the disk themselves, so that their tests are lists of (path, text).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::Error;
use crate::process;

/// Files of more bytes are listed, but their text is not read.
pub(crate) const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Folders without sources, used only if git cannot tell what is tracked.
const UNTRACKED: &[&str] = &[".git", "target", "node_modules"];

/// One file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Path relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    /// Text; `None` if it is not UTF-8, or longer than [`FILE_BYTES_MAX`].
    pub(crate) text: Option<String>,
}

/// All files that are tracked, or new and not ignored, sorted by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    files: Vec<File>,
    folders: BTreeSet<String>,
}

/// Returns the root of the workspace that this program was built from.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

impl Tree {
    /// Reads the repository at `root`.
    pub(crate) fn read(root: &Path) -> Result<Self, Error> {
        let mut files = Vec::new();
        for path in paths(root)? {
            if let Some(file) = read_file(root, path)? {
                files.push(file);
            }
        }
        Ok(Self::new(files))
    }

    /// Creates a repository of these files.
    pub(crate) fn new(mut files: Vec<File>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut folders = BTreeSet::new();
        for file in &files {
            let mut path = file.path.as_str();
            while let Some((folder, _)) = path.rsplit_once('/') {
                folders.insert(folder.to_owned());
                path = folder;
            }
        }
        Self { files, folders }
    }

    /// Creates a repository of texts, for tests.
    #[cfg(test)]
    pub(crate) fn of(texts: &[(&str, &str)]) -> Self {
        Self::new(texts.iter().map(|(path, text)| File::of(path, text)).collect())
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    /// Returns the text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        let index = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(index)?.text.as_deref()
    }

    /// Returns whether a file or a folder of this path exists; the root is `""`.
    pub(crate) fn has(&self, path: &str) -> bool {
        let is_file = || self.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        path.is_empty() || self.folders.contains(path) || is_file()
    }

    /// Returns the files whose name ends in `.extension`, with their texts.
    pub(crate) fn texts<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |file| file.extension() == Some(extension))
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// Returns the names of the folders directly under `folder`.
    pub(crate) fn folders_in(&self, folder: &str) -> Vec<&str> {
        let children = self.folders.iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        children.filter(|rest| !rest.contains('/')).collect()
    }
}

impl File {
    #[cfg(test)]
    pub(crate) fn of(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), bytes: text.len() as u64, text: Some(text.to_owned()) }
    }

    /// Returns the part of the file's name after the last dot.
    pub(crate) fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }
}

/// Returns whether a Rust file contains only tests, by its folder (`tests`) or its name.
pub(crate) fn is_test_file(path: &str) -> bool {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    path.split('/').any(|part| part == "tests") || stem == "tests" || stem.ends_with("_tests")
}

/// Returns what git tracks or would track; every file if there is no git repository (an unpacked archive).
fn paths(root: &Path) -> Result<BTreeSet<String>, Error> {
    // A checkout may belong to another user than the one who runs the checks; reading it is harmless.
    let arguments =
        ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    if root.join(".git").exists() {
        let listed = process::output("git", &arguments, root)?;
        return Ok(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect());
    }
    let mut found = BTreeSet::new();
    walk(root, "", &mut found).map_err(|source| Error::Read { path: root.to_owned(), source })?;
    Ok(found)
}

fn walk(root: &Path, folder: &str, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if !entry.file_type()?.is_dir() {
            found.insert(path);
        } else if !UNTRACKED.contains(&name.as_str()) {
            walk(root, &path, found)?;
        }
    }
    Ok(())
}

/// Reads a file; `None` if it no longer exists (deleted but still in the index) or is not a file (a link to a folder).
fn read_file(root: &Path, path: String) -> Result<Option<File>, Error> {
    let full: PathBuf = root.join(&path);
    let metadata = match fs::metadata(&full) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Read { path: full, source }),
    };
    if !metadata.is_file() {
        return Ok(None);
    }
    let bytes = metadata.len();
    let text = if bytes > FILE_BYTES_MAX {
        None
    } else {
        let content = fs::read(&full).map_err(|source| Error::Read { path: full, source })?;
        String::from_utf8(content).ok()
    };
    Ok(Some(File { path, bytes, text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(tree: &Tree) -> Vec<&str> {
        tree.files().iter().map(|file| file.path.as_str()).collect()
    }

    fn fill(root: &Path) {
        for (path, text) in [("a.md", "a"), ("src/b.rs", "b"), ("target/out", "o"), ("src/new.rs", "n")] {
            let full = root.join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, text).unwrap();
        }
    }

    #[test]
    fn without_git_every_file_outside_build_folders_is_read() {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path());
        let tree = Tree::read(folder.path()).unwrap();
        assert_eq!(list(&tree), ["a.md", "src/b.rs", "src/new.rs"]);
        assert_eq!(tree.text("src/b.rs"), Some("b"));
    }

    #[test]
    fn with_git_ignored_and_deleted_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fill(root);
        fs::write(root.join(".gitignore"), "/target\n").unwrap();
        process::output("git", &["init", "--quiet"], root).unwrap();
        process::output("git", &["add", "a.md", "src/b.rs"], root).unwrap();
        fs::remove_file(root.join("a.md")).unwrap();
        assert_eq!(list(&Tree::read(root).unwrap()), [".gitignore", "src/b.rs", "src/new.rs"]);
    }

    #[test]
    fn long_and_binary_files_are_listed_without_text() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
        fs::write(folder.path().join("long"), vec![b'a'; FILE_BYTES_MAX as usize + 1]).unwrap();
        let tree = Tree::read(folder.path()).unwrap();
        assert_eq!(list(&tree), ["binary", "long"]);
        assert!(tree.files().iter().all(|file| file.text.is_none()));
    }

    #[test]
    fn folders_are_known_by_the_files_in_them() {
        let tree =
            Tree::of(&[("crates/a/src/lib.rs", ""), ("crates/b/Cargo.toml", ""), ("crates/README.md", "")]);
        assert_eq!(tree.folders_in("crates"), ["a", "b"]);
        assert!(tree.has("crates/a/src") && tree.has("crates/README.md") && tree.has(""));
        assert!(!tree.has("crates/a/sr"));
    }

    #[test]
    fn test_files_are_recognised_by_folder_or_name() {
        assert!(is_test_file("crates/a/tests/ui/x.rs"));
        assert!(is_test_file("crates/a/src/b/tests.rs"));
        assert!(is_test_file("crates/a/src/b_tests.rs"));
        assert!(!is_test_file("crates/a/src/contests.rs"));
    }
}
