//! Setpoint's own house: the folders and files that no tool may read, list, change or enter, with any approval.
//!
//! A place is identified by the kernel: the path without links, the device and inode of a folder (another mount,
//! another spelling), and the inode of a file with several names. Nothing here asks a person.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::approval::resolve;
use crate::error::ToolError;
use crate::halt::Halt;
use crate::show;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum entries of the house that are searched for files with several names; beyond it, every such file counts as the
/// house's.
const ENTRIES_MAX: usize = 1_000_000;

/// Device and inode, which all names of a file share.
type Id = (u64, u64);

/// The closed places. The default closes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct House {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
    workspaces: Option<PathBuf>,
    /// Files that may be read and not changed.
    guarded: Vec<PathBuf>,
}

impl House {
    /// Closes these folders with everything below them, and these files. The folder `workspaces` stays open for reading
    /// even inside a closed folder: results that tasks left there are not the program's own.
    ///
    /// The paths need not exist yet.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>, files: Vec<PathBuf>, workspaces: PathBuf) -> Self {
        House { folders, files, workspaces: Some(workspaces), guarded: Vec::new() }
    }

    /// Closes these files to changes. They may be read.
    #[must_use]
    pub fn guarding(self, guarded: Vec<PathBuf>) -> Self {
        House { guarded, ..self }
    }

    /// Returns the real path if `path` leads into the house or to a file of it, otherwise `None`. `path` is absolute,
    /// with `..` and links resolved as the kernel does.
    #[must_use]
    pub fn refuses(&self, path: &Path) -> Option<PathBuf> {
        self.rooms().refuse(path)
    }

    /// Returns whether `folder` contains a part of the house or is one: a program that reads everything below `folder` would
    /// enter it.
    #[must_use]
    pub fn is_below(&self, folder: &Path) -> bool {
        self.rooms().is_below(folder)
    }

    /// Looks up the current state of the places.
    pub(crate) fn rooms(&self) -> Rooms {
        let room = |path: &PathBuf| {
            let path = resolve::fully(path);
            let id = std::fs::symlink_metadata(&path).ok().map(|meta| id(&meta));
            Room { path, id }
        };
        Rooms {
            guarded: self.guarded.iter().map(room).collect(),
            passed: self.guarded.iter().flat_map(|path| resolve::way(path).passed).collect(),
            folders: self.folders.iter().map(room).collect(),
            files: self.files.iter().map(room).collect(),
            // A link in its place would open its target, so only a real folder counts.
            open: self.workspaces.as_ref().and_then(|path| {
                let path = resolve::parent_only(path);
                match std::fs::symlink_metadata(&path) {
                    Ok(meta) => meta.is_dir().then(|| Room { id: Some(id(&meta)), path }),
                    // The first task creates it.
                    Err(_) => Some(Room { id: None, path }),
                }
            }),
            linked: OnceLock::new(),
        }
    }
}

/// A closed or open place: its real path and its identity.
#[derive(Debug)]
struct Room {
    path: PathBuf,
    id: Option<Id>,
}

impl Room {
    fn is(&self, path: &Path, found: Option<Id>) -> bool {
        self.path == path || (found.is_some() && self.id == found)
    }
}

/// The house as it was when looked up; one lookup serves one call.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    folders: Vec<Room>,
    files: Vec<Room>,
    open: Option<Room>,
    /// Files that may be read and not changed.
    guarded: Vec<Room>,
    /// Every place on the way to one of those, links among them.
    passed: BTreeSet<PathBuf>,
    /// The house's files with several names; `None` if there were too many files to search.
    linked: OnceLock<Option<BTreeSet<Id>>>,
}

impl Rooms {
    /// Returns the real path if `path` leads into the house.
    pub(crate) fn refuse(&self, path: &Path) -> Option<PathBuf> {
        if self.is_empty() {
            return None;
        }
        let real = resolve::fully(path);
        let meta = std::fs::symlink_metadata(&real).ok();
        (self.holds(&real) || meta.is_some_and(|meta| self.is_file(&meta))).then_some(real)
    }

    /// Rejects a path that leads into the house.
    pub(crate) fn check(&self, path: &Path) -> Result<(), ToolError> {
        match self.refuse(path) {
            Some(real) => Err(ToolError::House { path: show::path(&real) }),
            None => Ok(()),
        }
    }

    /// Rejects a change of the house: of anything in it, of what may only be read, of the folder of workspaces itself, and of
    /// every folder above and every link that leads there.
    pub(crate) fn check_change(&self, path: &Path) -> Result<(), ToolError> {
        self.check(path)?;
        let found = std::fs::symlink_metadata(path).ok();
        let is_folder = found.as_ref().is_some_and(Metadata::is_dir);
        let is_workspaces = self.open.as_ref().is_some_and(|open| open.path == path);
        if is_workspaces || (is_folder && self.is_below(path)) {
            return Err(ToolError::House { path: show::path(path) });
        }
        let real = resolve::fully(path);
        let target = std::fs::symlink_metadata(&real).ok().map(|meta| id(&meta));
        let is_guarded = self.guarded.iter().any(|room| room.is(&real, target));
        // What does not exist leads nowhere yet: a folder on the way may be made.
        let is_on_the_way = found.is_some() && self.passed.iter().any(|passed| passed.starts_with(path));
        if is_guarded || is_on_the_way {
            return Err(ToolError::Guarded { path: show::path(path) });
        }
        Ok(())
    }

    /// Rejects an open file of the house, by any path.
    pub(crate) fn check_open(&self, file: &File, path: &Path) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let real = real_path(file).unwrap_or_else(|| resolve::fully(path));
        if self.holds(&real) || self.is_file(&file.metadata()?) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, Refusal(real)));
        }
        Ok(())
    }

    /// Returns the closed folders, without links.
    pub(crate) fn folders(&self) -> Vec<&Path> {
        self.folders.iter().map(|room| room.path.as_path()).collect()
    }

    /// Returns whether an entry of a walk is a closed folder or file.
    pub(crate) fn is_closed(&self, meta: &Metadata) -> bool {
        if meta.is_dir() {
            self.folders.iter().any(|room| room.id == Some(id(meta)))
        } else {
            self.is_file(meta)
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.files.is_empty()
    }

    /// Returns whether a folder contains a part of the house or is one.
    pub(crate) fn is_below(&self, folder: &Path) -> bool {
        let real = resolve::fully(folder);
        let found = std::fs::symlink_metadata(&real).ok().map(|meta| id(&meta));
        let is_above = |room: &Room| {
            room.id.is_some()
                && room.path.ancestors().any(|above| {
                    let id = std::fs::symlink_metadata(above).ok().map(|meta| id(&meta));
                    above == real || (id.is_some() && id == found)
                })
        };
        self.folders.iter().chain(&self.files).any(is_above)
    }

    /// Returns whether a path without links is a closed folder, is below one, or is a closed file.
    fn holds(&self, real: &Path) -> bool {
        for above in real.ancestors() {
            let found = std::fs::symlink_metadata(above).ok().map(|meta| id(&meta));
            if self.open.as_ref().is_some_and(|open| open.is(above, found)) {
                return false;
            }
            if self.folders.iter().any(|room| room.is(above, found)) {
                return true;
            }
        }
        self.files.iter().any(|room| room.path == real)
    }

    /// Returns whether this is a closed file, or another name of a file of the house.
    fn is_file(&self, meta: &Metadata) -> bool {
        let found = id(meta);
        if self.files.iter().any(|room| room.id == Some(found)) {
            return true;
        }
        if meta.is_dir() || meta.nlink() < 2 || self.is_empty() {
            return false;
        }
        let linked = self.linked.get_or_init(|| self.find_linked());
        linked.as_ref().is_none_or(|linked| linked.contains(&found))
    }

    fn find_linked(&self) -> Option<BTreeSet<Id>> {
        let bounds = Bounds { entries_max: ENTRIES_MAX, ..Bounds::new(&Halt::default()) };
        let open = self.open.as_ref().and_then(|open| open.id);
        let mut linked = BTreeSet::new();
        for room in self.folders.iter().filter(|room| room.id.is_some()) {
            let tally = walk(&room.path, bounds, &Halt::default(), |entry| {
                if entry.meta.is_dir() && Some(id(entry.meta)) == open {
                    return Step::Over;
                }
                if entry.meta.nlink() > 1 && !entry.meta.is_dir() {
                    linked.insert(id(entry.meta));
                }
                Step::On
            });
            if !tally.is_ok_and(|tally| tally.complete) {
                return None;
            }
        }
        Some(linked)
    }
}

/// Why a file of the house was not opened. Wrapped in an `io::Error`, so that it passes through code that only opens
/// files.
#[derive(Debug, thiserror::Error)]
#[error("{} belongs to Setpoint itself", show::path(.0))]
pub(crate) struct Refusal(pub(crate) PathBuf);

impl Refusal {
    /// Returns the refusal that an error wraps.
    pub(crate) fn of(error: &io::Error) -> Option<&Refusal> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }
}

fn id(meta: &Metadata) -> Id {
    (meta.dev(), meta.ino())
}

/// Returns the current path of an open file, from the kernel.
#[cfg(target_os = "linux")]
fn real_path(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(target_os = "macos")]
fn real_path(file: &File) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let path = rustix::fs::getpath(file).ok()?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn real_path(_file: &File) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        house: House,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = std::fs::canonicalize(folder.path()).unwrap();
            for name in ["data/journal", "data/workspaces/t1", "config", "elsewhere", "project"] {
                std::fs::create_dir_all(root.join(name)).unwrap();
            }
            for name in ["data/journal/head", "data/workspaces/t1/result", "elsewhere/key", "project/a"] {
                std::fs::write(root.join(name), "x").unwrap();
            }
            let house = House::new(
                vec![root.join("data"), root.join("config")],
                vec![root.join("elsewhere/key")],
                root.join("data/workspaces"),
            );
            Place { folder, house }
        }

        fn at(&self, name: &str) -> PathBuf {
            std::fs::canonicalize(self.folder.path()).unwrap().join(name)
        }

        fn refuses(&self, name: &str) -> bool {
            self.house.refuses(&self.at(name)).is_some()
        }
    }

    #[test]
    fn every_way_into_the_house_is_refused() {
        let place = Place::new();
        symlink("../data/journal", place.at("project/link")).unwrap();
        symlink(place.at("data"), place.at("project/whole")).unwrap();
        symlink("../../../data/journal/head", place.at("data/workspaces/t1/out")).unwrap();
        std::fs::hard_link(place.at("data/journal/head"), place.at("project/hard")).unwrap();
        std::fs::hard_link(place.at("elsewhere/key"), place.at("project/hard key")).unwrap();
        for name in [
            "data",
            "data/journal",
            "data/journal/head",
            "data/new/file",
            "data/workspaces/../journal/head",
            "data/workspaces/t1/out",
            "config",
            "config/setpoint.toml",
            "elsewhere/key",
            "project/link",
            "project/link/head",
            "project/link/..",
            "project/link/../memory",
            "project/whole",
            "project/whole/new",
            "project/hard",
            "project/hard key",
            "project/../data/./journal/",
        ] {
            assert!(place.refuses(name), "{name}");
        }
        for name in [
            "",
            "project",
            "project/a",
            "project/new/file",
            "elsewhere",
            "elsewhere/other",
            "data/workspaces",
            "data/workspaces/t1/result",
            "data/workspaces/t2/new",
            "project/whole/workspaces/t1",
            "data2",
        ] {
            assert!(!place.refuses(name), "{name}");
        }
    }

    #[test]
    fn a_link_in_place_of_the_workspaces_opens_nothing() {
        let place = Place::new();
        std::fs::remove_dir_all(place.at("data/workspaces")).unwrap();
        symlink("journal", place.at("data/workspaces")).unwrap();
        assert!(place.refuses("data/workspaces") && place.refuses("data/workspaces/head"));
        assert!(place.refuses("data/journal"));
    }

    #[test]
    fn missing_workspaces_are_open() {
        let place = Place::new();
        std::fs::remove_dir_all(place.at("data/workspaces")).unwrap();
        assert!(!place.refuses("data/workspaces/t1/new"));
        assert!(place.refuses("data/journal/head") && place.refuses("data"));
    }

    #[test]
    fn a_missing_house_is_closed() {
        let place = Place::new();
        std::fs::remove_dir_all(place.at("config")).unwrap();
        assert!(place.refuses("config") && place.refuses("config/setpoint.toml"));
    }

    #[test]
    fn folders_above_the_house_are_recognised() {
        let place = Place::new();
        symlink(".", place.at("here")).unwrap();
        for name in ["", "here", "data", "elsewhere"] {
            assert!(place.house.is_below(&place.at(name)), "{name}");
        }
        for name in ["project", "data/workspaces", "data/journal", "none"] {
            assert!(!place.house.is_below(&place.at(name)), "{name}");
        }
    }

    #[test]
    fn an_open_file_is_recognised_without_its_path() {
        let place = Place::new();
        let rooms = place.house.rooms();
        let open = |name: &str| File::open(place.at(name)).unwrap();
        let elsewhere = place.at("project/a");
        assert!(rooms.check_open(&open("data/journal/head"), &elsewhere).is_err());
        assert!(rooms.check_open(&open("elsewhere/key"), &elsewhere).is_err());
        assert!(rooms.check_open(&open("data/workspaces/t1/result"), &elsewhere).is_ok());
        assert!(rooms.check_open(&open("project/a"), &elsewhere).is_ok());
    }

    #[test]
    fn what_leads_to_a_guarded_file_can_be_read_and_not_changed() {
        let place = Place::new();
        std::fs::create_dir_all(place.at("project/ci/real")).unwrap();
        std::fs::write(place.at("project/ci/real/approve"), "path a\n").unwrap();
        symlink("ci", place.at("project/link")).unwrap();
        symlink("real/approve", place.at("project/ci/approve")).unwrap();
        std::fs::hard_link(place.at("project/ci/real/approve"), place.at("project/other name")).unwrap();
        let house = place.house.clone().guarding(vec![place.at("project/link/approve")]);
        let rooms = house.rooms();
        for name in [
            "project/ci/real/approve",
            "project/ci/approve",
            "project/link/approve",
            "project/other name",
            "project/ci/real",
            "project/ci",
            "project/link",
            "project",
        ] {
            assert!(rooms.check_change(&place.at(name)).is_err(), "{name}");
            assert!(rooms.check(&place.at(name)).is_ok(), "{name}");
        }
        for name in ["project/a", "project/ci/new", "project/ci/real/new", "project/link/new"] {
            assert!(rooms.check_change(&place.at(name)).is_ok(), "{name}");
        }
    }

    #[test]
    fn folders_on_the_way_to_the_house_cannot_change() {
        let place = Place::new();
        let rooms = place.house.rooms();
        for name in ["", "data", "data/workspaces", "config/x", "elsewhere", "elsewhere/key"] {
            assert!(rooms.check_change(&place.at(name)).is_err(), "{name}");
        }
        for name in
            ["project", "project/a", "elsewhere/other", "data/workspaces/t1", "data/workspaces/t1/result"]
        {
            assert!(rooms.check_change(&place.at(name)).is_ok(), "{name}");
        }
    }
}
