//! The root folder of a sandbox: read-only programs and libraries of the system, the folders of the policy, and empty
//! ones for temporary files.
//!
//! Everything is opened as a detached copy first, then attached below a new root in memory, and last the old root is
//! given up. A program may have left links in a folder that it could change: places in the new root are opened from
//! its descriptor, so that no link leads to the old root while both are visible.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, MountPropagationFlags, UnmountFlags};

use super::mounts::{
    PLAIN, READ_ONLY, WAITING, attach, attach_to, copy, copy_of, file_system, memory, name_of, open_within,
    while_attached,
};
use super::raw;
use crate::changes::CHANGES;
use crate::policy::{Access, Folder, Policy};

/// The step that fails if another disk is mounted below a folder: its own file system would come in sight.
const WITH_MOUNTS: &str = "show it a folder of the policy, below which another disk may be mounted";

/// A step that failed.
pub(super) type Failed = (&'static str, io::Error);

/// What programs need of the system, all of it read-only. What does not exist is left out, links are kept as links.
pub(super) const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"];
/// What programs need of `/etc`: names of users and hosts, the linker, certificates, the time zone, alternatives and
/// settings of interpreters. No keys, no passwords.
pub(super) const OF_ETC: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "machine-id",
    "magic",
    "magic.mime",
    "mime.types",
    "nsswitch.conf",
    "openssl",
    "os-release",
    "passwd",
    "pki",
    "profile",
    "profile.d",
    "protocols",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "resolv.conf",
    "rpc",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "xdg",
];
/// The devices of a sandbox.
pub(super) const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Where the terminals of a sandbox are.
pub(super) const TERMINALS: &[&str] = &["/dev/pts", "/dev/ptmx"];
/// Empty, writable folders in memory.
pub(super) const SCRATCH: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev/shm"];
/// Makes the new root the root of this process, whose mount namespace must be its own, and enters the policy's working
/// directory.
///
/// # Errors
/// The step that failed.
pub(super) fn enter(policy: &Policy) -> Result<(), Failed> {
    use rustix::mount::mount_change;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| ("separate its mounts", error.into()))?;
    let proc = proc().map_err(|error| ("mount its own /proc", error))?;
    let tree = Tree::collect(policy)?;
    let root = memory(ROOT_BYTES, "755").map_err(|error| ("make its root folder", error))?;
    let at = Path::new(WAITING);
    attach(&root, at).map_err(|error| ("make its root folder", error))?;
    tree.build(root.as_fd(), policy)?;
    let place = at.join("proc");
    folder(&place).and_then(|()| attach(&proc, &place)).map_err(|error| ("mount its own /proc", error))?;
    devices_as_links(at).map_err(|error| ("make its devices", error))?;
    raw::set_attributes(root.as_fd(), MountAttrFlags::MOUNT_ATTR_RDONLY, false)
        .map_err(|error| ("make its root folder read-only", error))?;
    become_root(at).map_err(|error| ("change to its root folder", error))?;
    std::env::set_current_dir(&policy.cwd).map_err(|error| ("enter its working directory", error))
}

fn become_root(at: &Path) -> io::Result<()> {
    std::env::set_current_dir(at)?;
    // The old root lies over the new one at the same place, and is taken off.
    rustix::process::pivot_root(".", ".")?;
    rustix::mount::unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")
}

/// A detached mount or a link, and where it goes.
struct Part {
    path: PathBuf,
    what: What,
}

enum What {
    Folder(OwnedFd),
    File(OwnedFd),
    Link(PathBuf),
}

/// All that is attached below a new root, in order.
struct Tree {
    parts: Vec<Part>,
    /// An empty file for each hidden place, in case it is a file.
    covers: Vec<OwnedFd>,
}

impl Tree {
    fn collect(policy: &Policy) -> Result<Self, Failed> {
        let bytes = policy.limits.scratch_bytes;
        let mut parts = Vec::new();
        let etc = OF_ETC.iter().map(|name| Path::new("/etc").join(name));
        for path in SYSTEM.iter().map(PathBuf::from).chain(etc) {
            if let Some(part) = system(&path).map_err(|error| ("show it the system's programs", error))? {
                parts.push(part);
            }
        }
        let in_memory = SCRATCH.iter().map(PathBuf::from).chain([policy.home.clone()]);
        for (path, mount) in
            scratch(in_memory, bytes).map_err(|error| ("make its temporary folders", error))?
        {
            parts.push(Part { path, what: What::Folder(mount) });
        }
        let devices = |error| ("make its devices", error);
        for device in DEVICES.iter().map(PathBuf::from) {
            // A device in a read-only mount can be written to; its mode and owner cannot be changed, which root could
            // else do for the whole machine.
            let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
                | MountAttrFlags::MOUNT_ATTR_NOEXEC
                | MountAttrFlags::MOUNT_ATTR_RDONLY;
            let mount = copy(&device, attributes).map_err(devices)?;
            parts.push(Part { path: device, what: What::File(mount) });
        }
        let covers = covers(policy.hidden.len()).map_err(|error| ("hide a place", error))?;
        for one in &policy.folders {
            let mount = view(policy, one).map_err(|error| {
                let is_invalid = error.raw_os_error() == Some(Errno::INVAL.raw_os_error());
                (if is_invalid { WITH_MOUNTS } else { "show it a folder of the policy" }, error)
            })?;
            parts.push(Part { path: one.path.clone(), what: What::Folder(mount) });
        }
        Ok(Tree { parts, covers })
    }

    fn build(self, root: BorrowedFd<'_>, policy: &Policy) -> Result<(), Failed> {
        for part in self.parts {
            pin_parents(root, policy, &part.path)
                .and_then(|()| part.place(root))
                .map_err(|error| ("put its root folder together", error))?;
        }
        for (path, cover) in policy.hidden.iter().zip(self.covers) {
            // What lies in no folder of the policy is not there at all.
            if policy.folders.iter().any(|one| path.starts_with(&one.path)) {
                pin_parents(root, policy, path)
                    .and_then(|()| hide(root, path, cover))
                    .map_err(|error| ("hide a place", error))?;
            }
        }
        Ok(())
    }
}

/// Makes a mount point of each folder between a place and the policy's folder around it. A program could else give the
/// place's parent another name, and put a folder of its own where this program, or the next one, looks for the place.
/// The price is that a file cannot be renamed from one side of such a folder to the other, only copied.
fn pin_parents(root: BorrowedFd<'_>, policy: &Policy, path: &Path) -> io::Result<()> {
    let around = policy.folders.iter().rev().find(|one| one.path != path && path.starts_with(&one.path));
    let Some(around) = around else { return Ok(()) };
    let mut parents: Vec<_> = path.ancestors().skip(1).take_while(|parent| *parent != around.path).collect();
    parents.reverse();
    for parent in parents {
        match open_within(root, parent, OFlags::DIRECTORY, ResolveFlags::NO_SYMLINKS) {
            Ok(found) => {
                let same = copy_of(found.as_fd(), MountAttrFlags::empty())?;
                attach_to(&same, found.as_fd())?;
            }
            // Nothing to hide lies there; a link there leads to a place that is hidden itself.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Lays nothing over a place, if it exists. A link is followed as the program would follow it.
fn hide(root: BorrowedFd<'_>, path: &Path, file: OwnedFd) -> io::Result<()> {
    let found = match open_within(root, path, OFlags::empty(), ResolveFlags::IN_ROOT) {
        Ok(found) => found,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode);
    let cover = if kind.is_dir() {
        let mount = memory(0, "555")?;
        raw::set_attributes(mount.as_fd(), READ_ONLY, false)?;
        mount
    } else {
        file
    };
    attach_to(&cover, found.as_fd())
}

/// Returns empty files that cannot be written to.
fn covers(count: usize) -> io::Result<Vec<OwnedFd>> {
    while_attached(&memory(0, "555")?, |top| {
        let mode = Mode::RUSR | Mode::RGRP | Mode::ROTH;
        let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(top, "empty", flags, mode)?;
        (0..count).map(|_| copy_of(file.as_fd(), READ_ONLY)).collect()
    })
}

impl Part {
    fn place(&self, root: BorrowedFd<'_>) -> io::Result<()> {
        let name = self.path.file_name().ok_or(Errno::INVAL)?;
        let parent = make_folder(root, self.path.parent().unwrap_or(Path::new("/")))?;
        match &self.what {
            What::Folder(mount) => attach_to(mount, make_folder(root, &self.path)?.as_fd()),
            What::File(mount) => {
                let flags =
                    OFlags::CREATE | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let place = rustix::fs::openat(&parent, name, flags, Mode::RUSR | Mode::RGRP | Mode::ROTH)?;
                attach_to(mount, place.as_fd())
            }
            What::Link(target) => Ok(rustix::fs::symlinkat(target, &parent, name)?),
        }
    }
}

/// Opens a folder in the new root, and makes it and those above it where they are missing.
fn make_folder(root: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mut folder = open_within(root, Path::new("/"), OFlags::DIRECTORY, resolve)?;
    for part in path.strip_prefix("/").unwrap_or(path) {
        let part = Path::new(part);
        folder = match open_within(folder.as_fd(), part, OFlags::DIRECTORY, resolve) {
            Err(Errno::NOENT) => {
                rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o755))?;
                open_within(folder.as_fd(), part, OFlags::DIRECTORY, resolve)?
            }
            result => result?,
        };
    }
    Ok(folder)
}

/// Opens a folder of the policy. Below another one, where a program may have put links, none is followed.
fn open_folder(policy: &Policy, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let around = policy.folders.iter().find(|one| one.path != path && path.starts_with(&one.path));
    let Some(around) = around else { return Ok(rustix::fs::open(path, flags, Mode::empty())?) };
    let outer = rustix::fs::open(&around.path, flags, Mode::empty())?;
    let inner = path.strip_prefix(&around.path).unwrap_or(path);
    Ok(open_within(
        outer.as_fd(),
        inner,
        OFlags::DIRECTORY,
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    )?)
}

/// Returns what a program sees of a folder.
fn view(policy: &Policy, folder: &Folder) -> io::Result<OwnedFd> {
    let below = open_folder(policy, &folder.path)?;
    let bytes = policy.limits.scratch_bytes;
    match &folder.access {
        Access::Read => reading(below.as_fd()),
        Access::Write => copy_of(below.as_fd(), PLAIN),
        Access::Keep { layer } => {
            let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
            overlay(below.as_fd(), rustix::fs::open(layer, flags, Mode::empty())?.as_fd())
        }
        Access::Discard => while_attached(&memory(bytes, "700")?, |layer| overlay(below.as_fd(), layer)),
    }
}

/// Returns a folder for reading. Through a plain read-only mount a program could still connect to a socket in it that
/// a process outside listens at; the files of this file system are others, so that no process listens there.
fn reading(below: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // With one folder alone the file system wants a place for changes.
    while_attached(&memory(0, "555")?, |empty| {
        let folders = format!("{}:{}", name_of(below), name_of(empty));
        file_system("overlay", &[("lowerdir", OsStr::new(&folders))], &["userxattr"], READ_ONLY)
    })
}

/// Returns a view of a folder whose changes go to the folder `layer`.
fn overlay(below: BorrowedFd<'_>, layer: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let part = |name: &str| {
        match rustix::fs::mkdirat(layer, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        open_within(layer, Path::new(name), OFlags::DIRECTORY, ResolveFlags::NO_SYMLINKS)
    };
    let (changes, work) = (part(CHANGES)?, part(WORK)?);
    // A descriptor's name needs no escapes, and tells the program, which can read it, nothing about the machine.
    let names = [below, changes.as_fd(), work.as_fd()].map(name_of);
    let settings = [("lowerdir", &names[0]), ("upperdir", &names[1]), ("workdir", &names[2])];
    let settings = settings.map(|(key, value)| (key, OsStr::new(value)));
    let view = file_system("overlay", &settings, &["userxattr"], PLAIN)?;
    // The file system makes a folder of this name that its owner cannot read, and so cannot remove with the layer.
    let _ = rustix::fs::chmodat(&work, WORK, Mode::RWXU, rustix::fs::AtFlags::empty());
    Ok(view)
}

/// The sub-folder of a layer that the file system needs.
pub(super) const WORK: &str = "work";

/// Room for the new root's own folders, in bytes.
const ROOT_BYTES: u64 = 16 << 20;
/// Returns a part of the system, read-only; `None` if it does not exist.
fn system(path: &Path) -> io::Result<Option<Part>> {
    let Ok(found) = path.symlink_metadata() else { return Ok(None) };
    let what = if found.is_symlink() {
        What::Link(std::fs::read_link(path)?)
    } else if found.is_dir() {
        What::Folder(copy(path, READ_ONLY)?)
    } else {
        What::File(copy(path, READ_ONLY)?)
    };
    Ok(Some(Part { path: path.to_path_buf(), what }))
}

/// Returns an empty folder for each path. They share the room of one file system in memory.
fn scratch(paths: impl Iterator<Item = PathBuf>, bytes: u64) -> io::Result<Vec<(PathBuf, OwnedFd)>> {
    while_attached(&memory(bytes, "755")?, |top| {
        let one = |(n, path): (usize, PathBuf)| {
            let name = n.to_string();
            rustix::fs::mkdirat(top, &name, Mode::empty())?;
            let place = open_within(top, Path::new(&name), OFlags::DIRECTORY, ResolveFlags::NO_SYMLINKS)?;
            rustix::fs::chmodat(top, &name, Mode::from_raw_mode(0o1777), rustix::fs::AtFlags::empty())?;
            Ok((path, copy_of(place.as_fd(), PLAIN)?))
        };
        paths.enumerate().map(one).collect()
    })
}

fn proc() -> io::Result<OwnedFd> {
    file_system("proc", &[], &[], PLAIN | MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

fn folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Makes the names in `/dev` that are links, and terminals of its own if the kernel lets it.
fn devices_as_links(at: &Path) -> io::Result<()> {
    use std::os::unix::fs::symlink;
    let dev = at.join("dev");
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, dev.join(name))?;
    }
    let settings = [("mode", OsStr::new("620")), ("ptmxmode", OsStr::new("666"))];
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    if let Ok(terminals) = file_system("devpts", &settings, &["newinstance"], attributes) {
        let place = dev.join("pts");
        folder(&place)?;
        attach(&terminals, &place)?;
        symlink("pts/ptmx", dev.join("ptmx"))?;
    }
    Ok(())
}
