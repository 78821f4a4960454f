//! Mounts and places by descriptor: detached copies, file systems of their own, and where they are attached.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags};

use super::raw;

/// Where the new root is attached until it is the root. It exists everywhere, and is not `/proc`, which is needed to
/// name descriptors.
pub(super) const WAITING: &str = "/dev";

/// What a file takes at least, in bytes.
pub(super) const PAGE: u64 = 4_096;
pub(super) const PLAIN: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);
pub(super) const READ_ONLY: MountAttrFlags = PLAIN.union(MountAttrFlags::MOUNT_ATTR_RDONLY);

/// Returns a detached copy of what is mounted at a path and below, with more attributes.
pub(super) fn copy(path: &Path, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let file = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    copy_of(file.as_fd(), attributes)
}

pub(super) fn copy_of(file: BorrowedFd<'_>, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let mount = rustix::mount::open_tree(file, "", flags)?;
    raw::set_attributes(mount.as_fd(), attributes, true)?;
    Ok(mount)
}

/// Returns a new file system with these settings.
pub(super) fn file_system(
    kind: &str,
    settings: &[(&str, &OsStr)],
    flags: &[&str],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    use rustix::mount::{fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen};
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in settings {
        fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    for key in flags {
        fsconfig_set_flag(context.as_fd(), *key)?;
    }
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

pub(super) fn memory(bytes: u64, mode: &str) -> io::Result<OwnedFd> {
    // 0 would be no limit. Empty files take memory too, which `size` does not count.
    let size = bytes.max(PAGE).to_string();
    let files = (bytes / PAGE).max(8).to_string();
    let settings = [("size", &size), ("nr_inodes", &files)].map(|(key, value)| (key, OsStr::new(value)));
    file_system("tmpfs", &[&settings[..], &[("mode", OsStr::new(mode))]].concat(), &[], PLAIN)
}

/// Uses the top folder of a new file system, which older kernels only look up where it is attached.
pub(super) fn while_attached<T>(
    mount: &OwnedFd,
    using: impl FnOnce(BorrowedFd<'_>) -> io::Result<T>,
) -> io::Result<T> {
    attach(mount, Path::new(WAITING))?;
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let result = rustix::fs::open(WAITING, flags, Mode::empty()).map_err(io::Error::from);
    let result = result.and_then(|top| using(top.as_fd()));
    // The mounts that come from it hold it.
    rustix::mount::unmount(WAITING, UnmountFlags::DETACH)?;
    result
}

pub(super) fn attach(mount: &OwnedFd, at: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(rustix::mount::move_mount(mount.as_fd(), "", CWD, at, flags)?)
}

pub(super) fn attach_to(mount: &OwnedFd, place: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(rustix::mount::move_mount(mount.as_fd(), "", place, "", flags)?)
}

/// Opens a place in the new root.
pub(super) fn open_within(
    root: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let path = path.strip_prefix("/").unwrap_or(path);
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
    let resolve = resolve | ResolveFlags::NO_MAGICLINKS;
    // A folder whose name another process changes meanwhile makes the kernel give up once, not always.
    loop {
        match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            result => return result,
        }
    }
}

pub(super) fn name_of(file: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
