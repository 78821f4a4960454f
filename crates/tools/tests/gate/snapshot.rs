//! Records the state of a world in every respect that a command could change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Recently changed files up to this size are also compared by content: otherwise a second change within the same clock
/// tick would be missed.
const HASHED_BYTES_MAX: u64 = 16 * 1024;
/// How recent a change counts as recent, in seconds: far more than any clock tick.
const MOMENT_S: u64 = 2;
/// Differences that are listed.
const NAMED_MAX: usize = 8;

/// Everything below a directory.
#[derive(Clone, PartialEq)]
pub(crate) struct Snapshot {
    entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone)]
struct Entry {
    is_directory: bool,
    /// Device, inode, mode, owner, group.
    identity: [u64; 5],
    /// Links, size.
    counts: [u64; 2],
    /// Modification and change times.
    times: [i64; 4],
    content: Option<blake3::Hash>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        let is_same_content = self.content.zip(other.content).is_none_or(|(one, two)| one == two);
        is_same_content
            && (self.identity, self.counts, self.times) == (other.identity, other.counts, other.times)
    }
}

impl Snapshot {
    pub(crate) fn of(root: &Path) -> Self {
        let mut entries = BTreeMap::new();
        add(root, &mut entries);
        Snapshot { entries }
    }

    /// Describes the differences from a later snapshot, one sentence each.
    pub(crate) fn changes(&self, later: &Snapshot, root: &Path) -> Vec<String> {
        let sentence = |path: &PathBuf| {
            let name = path.strip_prefix(root).unwrap_or(path).display();
            match (self.entries.contains_key(path), later.entries.contains_key(path)) {
                (true, true) => format!("changed {name}"),
                (true, false) => format!("removed {name}"),
                _ => format!("created {name}"),
            }
        };
        self.differing(later).map(sentence).take(NAMED_MAX).collect()
    }

    /// Leaves out a folder with everything below it.
    pub(crate) fn without(mut self, folder: &Path) -> Self {
        self.entries.retain(|path, _| !path.starts_with(folder));
        self
    }

    /// Returns the paths that differ, directories before their entries.
    pub(crate) fn differing<'a>(&'a self, other: &'a Snapshot) -> impl Iterator<Item = &'a PathBuf> {
        let paths: BTreeSet<&PathBuf> = self.entries.keys().chain(other.entries.keys()).collect();
        paths.into_iter().filter(|path| self.entries.get(*path) != other.entries.get(*path))
    }

    /// Whether a directory differs only because an entry was added or removed.
    pub(crate) fn is_same_directory(&self, other: &Snapshot, path: &Path) -> bool {
        let [one, two] =
            [self, other].map(|snapshot| snapshot.entries.get(path).filter(|entry| entry.is_directory));
        one.zip(two).is_some_and(|(one, two)| one.identity == two.identity)
    }
}

fn add(path: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    let content = if meta.is_symlink() {
        fs::read_link(path).ok().map(|target| blake3::hash(target.as_os_str().as_bytes()))
    } else if meta.is_file() && meta.len() <= HASHED_BYTES_MAX && is_recent(&meta) {
        fs::read(path).ok().map(|bytes| blake3::hash(&bytes))
    } else {
        None
    };
    if meta.is_dir() {
        fs::read_dir(path).into_iter().flatten().flatten().for_each(|entry| add(&entry.path(), entries));
    }
    let identity =
        [meta.dev(), meta.ino(), u64::from(meta.mode()), u64::from(meta.uid()), u64::from(meta.gid())];
    let counts = [meta.nlink(), meta.size()];
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    let entry = Entry { is_directory: meta.is_dir(), identity, counts, times, content };
    entries.insert(path.to_path_buf(), entry);
}

#[expect(clippy::disallowed_methods, reason = "asks the file system's own clock how old a change is")]
fn is_recent(meta: &fs::Metadata) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    u64::try_from(meta.ctime()).unwrap_or_default() + MOMENT_S > now
}

#[test]
fn a_snapshot_sees_every_kind_of_change() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let file = root.join("f");
    fs::write(&file, "x").unwrap();
    let mut before = Snapshot::of(root);
    assert!(before == Snapshot::of(root));
    let mut differs = |what: &str| {
        let later = Snapshot::of(root);
        assert!(!before.changes(&later, root).is_empty(), "{what}");
        before = later;
    };
    fs::write(&file, "y").unwrap();
    differs("content");
    fs::hard_link(&file, root.join("g")).unwrap();
    differs("a second name");
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    differs("mode");
    fs::remove_file(root.join("g")).unwrap();
    differs("removal");
    std::os::unix::fs::symlink("a", root.join("l")).unwrap();
    differs("link");
    fs::File::open(&file).unwrap().set_modified(UNIX_EPOCH).unwrap();
    differs("time");
}
