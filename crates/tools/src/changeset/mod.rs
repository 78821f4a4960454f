//! What a command changed in the sandbox, before it counts: looked at by the gate, shown to a person where the gate asks,
//! and put in place only then.
//!
//! The command saw its changes as if they were made. They are in a layer, a folder of their own outside of every folder
//! that the command saw, and nothing is lost or changed where they belong until [`ChangeSet::apply`].

mod apply;
mod preview;

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use setpoint_protocol::gate::Cause;
use setpoint_sandbox::changes::{self, Change, ChangeKind, Entry, Unkept};
use setpoint_sandbox::layer;

use crate::approval::ordinary::{self, PLAIN_BYTES_MAX};
use crate::approval::{Gate, Touch, watched};
use crate::caches;
use crate::error::ToolError;
use crate::files::hash::{self, Algorithm};
use crate::files::open;
use crate::halt::Halt;
use crate::process::Bounds;
use crate::show;

/// Folders of the system, to which a link may lead from anywhere: programs and libraries, as in virtual environments.
/// Nothing is written through such a link: the sandbox mounts these folders read-only, and a file tool follows the link
/// and asks about the place where it ends.
const PROGRAMS: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix"];

/// Where the changes of one command are kept: a folder for each folder that it may change.
#[derive(Debug)]
pub(crate) struct Room {
    place: layer::Room,
    folders: Vec<PathBuf>,
    bounds: Bounds,
    /// When the command was about to start, by the clock of the file system.
    started: (i64, i64),
}

impl Room {
    /// Makes the room, in the folder `layers`, for the changes in `folders`, which are real paths.
    ///
    /// # Errors
    /// If it cannot be made, or the disk is nearly full.
    pub(crate) fn new(layers: &Path, folders: Vec<PathBuf>, bounds: Bounds) -> io::Result<Self> {
        let place = layer::Room::new(layers)?;
        if let Some(excess) = bounds.disk(place.path())? {
            return Err(io::Error::new(io::ErrorKind::StorageFull, excess.to_string()));
        }
        for n in 0..folders.len() {
            fs::create_dir(place.path().join(n.to_string()))?;
        }
        let made = fs::symlink_metadata(place.path())?;
        Ok(Room { started: (made.ctime(), made.ctime_nsec()), place, folders, bounds })
    }

    /// Returns the folder that holds all changes.
    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    /// Returns no changes, whatever the command changed.
    pub(crate) fn discard(self) -> ChangeSet {
        ChangeSet { list: Vec::new(), special: Vec::new(), unkept: Vec::new(), room: self }
    }

    /// Returns each folder with its layer.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (&Path, PathBuf)> {
        let layer = |(n, folder)| (PathBuf::as_path(folder), self.place.path().join(usize::to_string(&n)));
        self.folders.iter().enumerate().map(layer)
    }

    /// Reads what the command changed.
    ///
    /// # Errors
    /// If it cannot be read, or is more than can be shown.
    pub(crate) fn read(self) -> Result<ChangeSet, ToolError> {
        let (mut list, mut unkept) = (Vec::new(), Vec::new());
        for (folder, layer) in self.layers() {
            let failed = |source| ToolError::file("read what the command changed in", folder, source);
            let found = changes::changes(&layer, folder).map_err(failed)?;
            if found.is_cut {
                let reason =
                    format!("the command changed more than {} files or folders", changes::CHANGES_MAX);
                return Err(ToolError::blocked_by_state("keep the changes in", folder, reason));
            }
            unkept
                .extend(found.unkept.into_iter().filter(|(path, _)| !path.ancestors().any(caches::is_named)));
            let at = changes::place(&layer);
            let counted = found.list.into_iter().filter(|change| !is_in_cache(change));
            list.extend(counted.map(|change| Kept {
                at: at.join(&change.path),
                folder: folder.to_path_buf(),
                change,
            }));
        }
        // A hole of a file takes no disk in the layer, and does where it is copied to.
        let bytes = list.iter().map(Kept::bytes).fold(0, u64::saturating_add);
        if bytes > self.bounds.changes_bytes_max {
            let reason = format!(
                "the files that the command wrote have {}, more than {}; nothing was kept",
                show::amount(bytes),
                show::amount(self.bounds.changes_bytes_max)
            );
            let folder = self.folders.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
            return Err(ToolError::blocked_by_state("keep the changes in", folder, reason));
        }
        // A socket or a pipe is nothing without the program that made it.
        let (special, list) = list.into_iter().partition(Kept::is_special);
        Ok(ChangeSet { list, special, unkept, room: self })
    }
}

/// One change with its place in the layer.
#[derive(Debug)]
struct Kept {
    /// Where the new state is.
    at: PathBuf,
    /// The folder whose layer it is in.
    folder: PathBuf,
    change: Change,
}

impl Kept {
    /// Returns where it belongs.
    fn path(&self) -> PathBuf {
        self.folder.join(&self.change.path)
    }

    /// Returns the bytes of the new state, if it is a file with another content.
    fn bytes(&self) -> u64 {
        match (self.change.kind, self.change.entry) {
            (ChangeKind::Created | ChangeKind::Changed, Entry::File(bytes)) => bytes,
            _ => 0,
        }
    }

    /// Returns whether it is a file whose new content starts nothing, for a name that is judged by it.
    fn is_plain(&self) -> bool {
        let is_file = self.change.kind != ChangeKind::Removed && matches!(self.change.entry, Entry::File(_));
        is_file && ordinary::is_judged(&self.at) && {
            let file = open::regular(&self.at, &Halt::default());
            let mut content = Vec::new();
            let read = file.and_then(|file| file.take(PLAIN_BYTES_MAX + 1).read_to_end(&mut content));
            read.is_ok() && ordinary::is_plain(&self.at, &content)
        }
    }

    fn is_special(&self) -> bool {
        self.change.entry == Entry::Other && self.change.kind != ChangeKind::Removed
    }
}

/// All that one command changed. Dropping it discards the changes.
#[derive(Debug)]
pub(crate) struct ChangeSet {
    list: Vec<Kept>,
    /// Sockets, pipes and devices, which are left out.
    special: Vec<Kept>,
    /// What else is left out, by the paths below their folders.
    unkept: Vec<(PathBuf, Unkept)>,
    room: Room,
}

impl ChangeSet {
    /// Whether nothing is to be put in place.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns what the gate has to look at.
    pub(crate) fn touches(&self) -> Vec<Touch> {
        let touch = |kept: &Kept| {
            let is_delete = kept.change.kind == ChangeKind::Removed;
            let is_folder = kept.change.entry == Entry::Folder;
            let is_recursive = is_delete && is_folder;
            Touch { path: kept.path(), is_delete, is_recursive, is_folder, is_plain: kept.is_plain() }
        };
        self.list.iter().map(touch).collect()
    }

    /// Returns why the changes need consent whatever they touch, or `None`.
    pub(crate) fn always(&self, gate: &Gate) -> Option<Cause> {
        self.list.iter().find_map(|kept| {
            let path = kept.path();
            if kept.change.kind == ChangeKind::Removed || gate.is_in_workspace(&path) {
                return None;
            }
            if kept.change.entry == Entry::Link {
                let target = fs::read_link(&kept.at).unwrap_or_default();
                let shown = (show::path_line(&path), show::path_line(&target));
                let Some(inner) = led_to(&kept.change.path, &target, &kept.folder) else {
                    return Some(Cause::Link(format!(
                        "{} would be a link that leads out of the folder, to {}",
                        shown.0, shown.1
                    )));
                };
                let why = inner.strip_prefix(&kept.folder).ok().and_then(watched::reason);
                return why
                    .map(|why| Cause::Link(format!("{} would be a link to {}: {why}", shown.0, shown.1)));
            }
            None
        })
    }

    /// Returns one hash over the new states: what a person is shown is what is put in place.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(crate) fn digest(&self) -> Result<String, ToolError> {
        // The layers are in the data directory, which is closed to calls.
        let own = Halt::default();
        let mut parts = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            parts.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
            parts.update(bytes);
        };
        for kept in &self.list {
            add(format!("{:?}", kept.change.kind).as_bytes());
            add(kept.path().as_os_str().as_encoded_bytes());
            if kept.change.kind == ChangeKind::Removed {
                continue;
            }
            let failed = |source| ToolError::file("read the new state of", &kept.path(), source);
            match kept.change.entry {
                Entry::Link => add(fs::read_link(&kept.at).map_err(failed)?.as_os_str().as_encoded_bytes()),
                Entry::File(_) => {
                    add(&kept.at.symlink_metadata().map_err(failed)?.mode().to_le_bytes());
                    add(hash::file(&kept.at, Algorithm::Blake3, &own).map_err(failed)?.hex.as_bytes());
                }
                Entry::Folder => add(&kept.at.symlink_metadata().map_err(failed)?.mode().to_le_bytes()),
                Entry::Other => {}
            }
        }
        Ok(parts.finalize().to_hex().to_string())
    }

    /// Returns each changed path with the word for its change, in order.
    pub(crate) fn paths(&self) -> Vec<(ChangeKind, PathBuf)> {
        self.list.iter().map(|kept| (kept.change.kind, kept.path())).collect()
    }

    /// Returns the paths of sockets, pipes and devices that the command made, which are left out.
    pub(crate) fn special(&self) -> Vec<PathBuf> {
        self.special.iter().map(Kept::path).collect()
    }

    /// Returns the paths of which a change is left out.
    pub(crate) fn unkept(&self, what: Unkept) -> Vec<&Path> {
        self.unkept.iter().filter(|(_, one)| *one == what).map(|(path, _)| path.as_path()).collect()
    }

    /// Whether it deletes or changes something.
    pub(crate) fn overwrites(&self) -> bool {
        self.list.iter().any(|kept| kept.change.kind != ChangeKind::Created)
    }
}

/// Returns whether a change is new content of an interpreter's cache. Such content is left out: it is made again when it is
/// missing, and the interpreter would run it in place of the source that a person reads.
fn is_in_cache(change: &Change) -> bool {
    change.kind != ChangeKind::Removed && change.path.ancestors().any(caches::is_named)
}

/// Returns where a link at `at`, below `folder`, leads, as far as its text tells; `None` if that is out of the folder and
/// no program of the system.
fn led_to(at: &Path, target: &Path, folder: &Path) -> Option<PathBuf> {
    let is_up = |part: &Component<'_>| *part == Component::ParentDir;
    if target.is_absolute() {
        let is_known = target.starts_with(folder) || PROGRAMS.iter().any(|place| target.starts_with(place));
        return (is_known && !target.components().any(|part| is_up(&part))).then(|| target.to_path_buf());
    }
    let up = target.components().take_while(is_up).count();
    let rest: PathBuf = target.components().skip(up).collect();
    let from = at.ancestors().nth(up + 1)?;
    (!rest.components().any(|part| is_up(&part))).then(|| folder.join(from).join(rest))
}

/// Returns whether somebody changed a file since a command was started.
fn is_changed_since(found: &rustix::fs::Stat, started: (i64, i64)) -> bool {
    let changed = (found.st_ctime, i64::try_from(found.st_ctime_nsec).unwrap_or(i64::MAX));
    changed > started
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_out_is_seen() {
        for (at, target, leads) in [
            ("a", "b", false),
            ("d/a", "../b", false),
            ("d/a", "../../b", true),
            ("a", "../b", true),
            ("a", "d/../b", true),
            ("a", "/project/b", false),
            ("a", "/project/../b", true),
            ("a", "/etc/passwd", true),
            ("a", "/projects/b", true),
            ("v/bin/python", "/usr/bin/python3", false),
        ] {
            let led = led_to(Path::new(at), Path::new(target), Path::new("/project"));
            assert_eq!(led.is_none(), leads, "{at} -> {target}");
        }
    }
}
