//! Joins the network of another sandbox, and the user namespace that owns it. Everything else stays apart: the joining
//! process has mounts, processes and a view of its own.
//!
//! A process number may be used again, and a process of the same user may be in a network of its own that leads anywhere.
//! So the other stage is known by its start too, and both namespaces are opened through its folder in `/proc`, which
//! stays that process's for ever.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::policy::Outer;

/// Maximum bytes of a process's line in `/proc`.
const STAT_BYTES_MAX: u64 = 4_096;
/// The place of the start among the fields after the process's name.
const STARTED: usize = 19;

/// Moves this process into the user and network namespaces of a running sandbox.
///
/// # Errors
/// If that is not the process that it was, or has no such namespaces of its own, or the system refuses.
pub(super) fn join(other: &Outer) -> io::Result<()> {
    let [user, network] = namespaces(other)?;
    for (space, kind) in [(&user, LinkNameSpaceType::User), (&network, LinkNameSpaceType::Network)] {
        move_into_link_name_space(space.as_fd(), Some(kind))?;
    }
    Ok(())
}

/// Returns whether a stage has made its namespaces by now, so that it can be joined.
///
/// # Errors
/// If that is not the process that it was.
pub fn is_apart(other: &Outer) -> io::Result<bool> {
    match namespaces(other) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens the user and network namespaces of a stage, which must not be this process's.
fn namespaces(other: &Outer) -> io::Result<[OwnedFd; 2]> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let process = openat(CWD, format!("/proc/{}", other.pid), folder, Mode::empty())?;
    let open = |name: &str| openat(&process, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let mut stat = String::new();
    File::from(open("stat")?).take(STAT_BYTES_MAX).read_to_string(&mut stat)?;
    if started(&stat) != Some(other.started) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it has ended"));
    }
    let apart = |name: &str| -> io::Result<OwnedFd> {
        let space = open(name)?;
        let own = openat(CWD, format!("/proc/self/{name}"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let (theirs, ours) = (fstat(&space)?, fstat(&own)?);
        if (theirs.st_dev, theirs.st_ino) == (ours.st_dev, ours.st_ino) {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "it has no namespaces of its own"));
        }
        Ok(space)
    };
    Ok([apart("ns/user")?, apart("ns/net")?])
}

/// Returns when a process started, from its line in `/proc`. Its name may contain anything.
fn started(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(STARTED)?.parse().ok()
}
