//! What a program changed in a folder whose changes are kept apart ([`crate::Access::Keep`]).
//!
//! The layer is in the format of Linux's overlay file system: a new or changed entry is there in full, a removed one is
//! a character device with number 0, and a folder with the mark `opaque` hides what was below it.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The sub-folder of a layer with the changes themselves.
pub(crate) const CHANGES: &str = "changes";
/// The mark of a folder that hides what was below it.
const OPAQUE: &str = "user.overlay.opaque";
/// Maximum changes that are listed.
pub const CHANGES_MAX: usize = 100_000;
/// Maximum levels of folders that are searched for changes.
const DEPTH_MAX: usize = 256;
/// Bytes that are compared at one time.
const CHUNK_BYTES: usize = 64 * 1024;

/// The changes in a folder, in order of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Each change; a new folder and what is in it are several.
    pub list: Vec<Change>,
    /// Changes that are not kept, at most [`CHANGES_MAX`].
    pub unkept: Vec<(PathBuf, Unkept)>,
    /// Whether there are more than [`CHANGES_MAX`], or some lie too deep.
    pub is_cut: bool,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Its path below the folder.
    pub path: PathBuf,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What it is, or was if it was removed.
    pub entry: Entry,
}

/// What happened to an entry. One that became something else was removed and created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is gone; a folder with all that was in it.
    Removed,
    /// It is new.
    Created,
    /// Its content is another; its permissions may be.
    Changed,
    /// Only its permissions are others.
    Permissions,
}

/// What of an entry is not kept: only its content and its permissions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unkept {
    /// That its time of change is another, with the same content.
    Time,
    /// That it is another name of a file: it is a file of its own.
    Name,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    /// A file with this many bytes.
    File(u64),
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A socket, a pipe or a device.
    Other,
}

impl Entry {
    fn of(found: &Metadata) -> Self {
        let kind = found.file_type();
        if kind.is_file() {
            Entry::File(found.len())
        } else if kind.is_dir() {
            Entry::Folder
        } else if kind.is_symlink() {
            Entry::Link
        } else {
            Entry::Other
        }
    }
}

/// Returns the folder of a layer in which the new states are, under the paths of their changes.
#[must_use]
pub fn place(layer: &Path) -> PathBuf {
    layer.join(CHANGES)
}

/// Reads what changed in the folder `below`, whose changes were kept in `layer`.
///
/// # Errors
/// If either cannot be read.
pub fn changes(layer: &Path, below: &Path) -> io::Result<Changes> {
    let mut reading =
        Reading { changes: Changes::default(), layer: place(layer), below: below.to_path_buf() };
    if reading.layer.exists() {
        reading.folder(Path::new(""), true, false, 0)?;
    }
    reading.changes.list.sort();
    Ok(reading.changes)
}

struct Reading {
    changes: Changes,
    layer: PathBuf,
    below: PathBuf,
}

impl Reading {
    /// Reads one folder of the layer. `was_there`: whether the folder existed before; `is_hidden`: whether what was in it is
    /// hidden by a folder around it.
    fn folder(&mut self, folder: &Path, was_there: bool, is_hidden: bool, depth: usize) -> io::Result<()> {
        if depth > DEPTH_MAX {
            self.changes.is_cut = true;
            return Ok(());
        }
        let place = self.layer.join(folder);
        let hides = was_there && (is_hidden || is_opaque(&place)?);
        let mut names = Vec::new();
        for entry in fs::read_dir(&place)? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            names.push(entry.file_name());
            let now = entry.path().symlink_metadata()?;
            let before = if was_there { look(&self.below.join(&path))? } else { None };
            self.entry(path, &now, before.as_ref(), hides, depth)?;
        }
        if hides {
            for entry in fs::read_dir(self.below.join(folder))? {
                let entry = entry?;
                if !names.contains(&entry.file_name()) {
                    let before = Entry::of(&entry.path().symlink_metadata()?);
                    self.add(folder.join(entry.file_name()), ChangeKind::Removed, before);
                }
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        path: PathBuf,
        now: &Metadata,
        before: Option<&Metadata>,
        is_hidden: bool,
        depth: usize,
    ) -> io::Result<()> {
        let is_removed = now.file_type().is_char_device() && now.rdev() == 0;
        let (new, old) = (Entry::of(now), before.map(Entry::of));
        if is_removed {
            if let Some(old) = old {
                self.add(path, ChangeKind::Removed, old);
            }
            return Ok(());
        }
        let is_same_kind =
            old.is_some_and(|old| std::mem::discriminant(&old) == std::mem::discriminant(&new));
        if let Some(old) = old
            && !is_same_kind
        {
            self.add(path.clone(), ChangeKind::Removed, old);
        }
        if before.is_none() && new != Entry::Folder && now.nlink() > 1 {
            self.leave_out(path.clone(), Unkept::Name);
        }
        match before.filter(|_| is_same_kind) {
            None => self.add(path.clone(), ChangeKind::Created, new),
            Some(before) => {
                if let Some(kind) = self.difference(&path, now, before)? {
                    self.add(path.clone(), kind, new);
                }
                let last = self.changes.list.last().filter(|last| last.path == path);
                let has_same_content =
                    now.is_file() && last.is_none_or(|last| last.kind == ChangeKind::Permissions);
                if has_same_content && now.mtime() != before.mtime() {
                    self.leave_out(path.clone(), Unkept::Time);
                }
            }
        }
        if new == Entry::Folder { self.folder(&path, is_same_kind, is_hidden, depth + 1) } else { Ok(()) }
    }

    /// Returns how an entry differs from the one of the same kind that it covers, if it does. A file that was only opened
    /// is in the layer too.
    fn difference(&self, path: &Path, now: &Metadata, before: &Metadata) -> io::Result<Option<ChangeKind>> {
        const MODE: u32 = 0o7777;
        let (new, old) = (self.layer.join(path), self.below.join(path));
        if now.file_type().is_symlink() {
            return Ok((fs::read_link(new)? != fs::read_link(old)?).then_some(ChangeKind::Changed));
        }
        if now.is_file() && (now.len() != before.len() || !is_same_content(&new, &old)?) {
            return Ok(Some(ChangeKind::Changed));
        }
        let has_other_mode = now.permissions().mode() & MODE != before.permissions().mode() & MODE;
        Ok(has_other_mode.then_some(ChangeKind::Permissions))
    }

    fn leave_out(&mut self, path: PathBuf, what: Unkept) {
        if self.changes.unkept.len() < CHANGES_MAX {
            self.changes.unkept.push((path, what));
        }
    }

    fn add(&mut self, path: PathBuf, kind: ChangeKind, entry: Entry) {
        if self.changes.list.len() < CHANGES_MAX {
            self.changes.list.push(Change { path, kind, entry });
        } else {
            self.changes.is_cut = true;
        }
    }
}

fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(target_os = "linux")]
fn is_opaque(folder: &Path) -> io::Result<bool> {
    use rustix::io::Errno;
    let mut value = [0; 4];
    match rustix::fs::lgetxattr(folder, OPAQUE, &mut value) {
        Ok(length) => Ok(value.get(..length) == Some(b"y")),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(false),
        // A longer value is another mark.
        Err(Errno::RANGE) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn is_opaque(_: &Path) -> io::Result<bool> {
    Ok(false)
}

fn is_same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (BufReader::new(File::open(one)?), File::open(other)?);
    let (mut a, mut b) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    loop {
        let read = one.read(&mut a)?;
        if read == 0 {
            return Ok(other.read(&mut b)? == 0);
        }
        let (Some(a), Some(b)) = (a.get(..read), b.get_mut(..read)) else { return Ok(false) };
        match other.read_exact(b) {
            Ok(()) if a == b => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// Makes files of lines `path = content`; a path that ends in `/` is a folder, `-> target` a link.
    fn make(at: &Path, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (path, content) = line.split_once(" = ").unwrap_or((line, ""));
            let place = at.join(path);
            fs::create_dir_all(if path.ends_with('/') { &place } else { place.parent().unwrap() }).unwrap();
            match content.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, place).unwrap(),
                None if path.ends_with('/') => {}
                None => fs::write(place, content).unwrap(),
            }
        }
    }

    fn told(below: &str, layer: &str, opaque: &[&str]) -> Vec<String> {
        let room = tempfile::tempdir().unwrap();
        let (folder, kept) = (room.path().join("folder"), room.path().join("layer"));
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(kept.join(CHANGES)).unwrap();
        make(&folder, below);
        make(&kept.join(CHANGES), layer);
        for path in opaque {
            let flags = rustix::fs::XattrFlags::empty();
            rustix::fs::lsetxattr(kept.join(CHANGES).join(path), OPAQUE, b"y", flags).unwrap();
        }
        let one = |change: &Change| format!("{:?} {} {:?}", change.kind, change.path.display(), change.entry);
        changes(&kept, &folder).unwrap().list.iter().map(one).collect()
    }

    #[test]
    fn new_and_changed_entries_are_told_apart() {
        let below = "a = one\nb = two\nd/c = three\nl = -> a\nm = -> a";
        let layer = "a = eno\nb = two\nd/new = four\ne/f = x\nl = -> b\nm = -> a";
        let found = told(below, layer, &[]);
        assert_eq!(
            found,
            [
                "Changed a File(3)",
                "Created d/new File(4)",
                "Created e Folder",
                "Created e/f File(1)",
                "Changed l Link"
            ]
        );
    }

    #[test]
    fn what_became_something_else_was_removed_first() {
        let found = told("a = file\nb/c = x", "a/x = y\nb = file", &[]);
        let expected = [
            "Removed a File(4)",
            "Created a Folder",
            "Created a/x File(1)",
            "Removed b Folder",
            "Created b File(4)",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_folder_made_anew_has_lost_what_was_in_it() {
        let found = told("d/old = 1\nd/same = 2\nd/e/f = 3", "d/same = 2\nd/new = 4", &["d"]);
        assert_eq!(found, ["Removed d/e Folder", "Created d/new File(1)", "Removed d/old File(1)"]);
    }

    #[test]
    fn a_folder_made_anew_hides_what_was_deep_in_it() {
        let found = told("e/f/g/y = 1\ne/f/z = 2\ne/h = 3", "e/f/new = 4", &["e"]);
        let expected = [
            "Removed e/f/g Folder",
            "Created e/f/new File(1)",
            "Removed e/f/z File(1)",
            "Removed e/h File(1)",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn other_permissions_are_a_change() {
        let room = tempfile::tempdir().unwrap();
        let (folder, kept) = (room.path().join("folder"), room.path().join("layer"));
        make(&folder, "a = x");
        make(&kept.join(CHANGES), "a = x");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(kept.join(CHANGES).join("a"), executable).unwrap();
        let kinds: Vec<_> = changes(&kept, &folder).unwrap().list.iter().map(|change| change.kind).collect();
        assert_eq!(kinds, [ChangeKind::Permissions]);
    }

    #[test]
    fn no_layer_is_no_change() {
        let room = tempfile::tempdir().unwrap();
        assert_eq!(changes(&room.path().join("none"), room.path()).unwrap(), Changes::default());
    }

    #[test]
    fn what_is_not_kept_is_told() {
        let room = tempfile::tempdir().unwrap();
        let (folder, kept) = (room.path().join("folder"), room.path().join("layer"));
        make(&folder, "a = one\nb = two\nc = three\nf = six");
        make(&kept.join(CHANGES), "a = one\nb = twO\nc = three\nd = four\nf = six");
        fs::hard_link(kept.join(CHANGES).join("d"), kept.join(CHANGES).join("e")).unwrap();
        let set = |path: PathBuf, seconds| {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        set(folder.join("c"), 1_000_000);
        // Other permissions are kept, and do not hide that the time is not.
        fs::set_permissions(kept.join(CHANGES).join("f"), fs::Permissions::from_mode(0o600)).unwrap();
        for name in ["a", "b", "c", "f"] {
            set(kept.join(CHANGES).join(name), 1_000_000);
        }
        let mut unkept = changes(&kept, &folder).unwrap().unkept;
        unkept.sort();
        let expected = [("a", Unkept::Time), ("d", Unkept::Name), ("e", Unkept::Name), ("f", Unkept::Time)];
        assert_eq!(unkept, expected.map(|(path, what)| (PathBuf::from(path), what)));
    }
}
