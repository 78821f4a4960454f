//! The four system calls without a safe wrapper.
#![expect(unsafe_code, reason = "no crate of ours wraps them; each is one call with checked arguments")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::mount::MountAttrFlags;
use rustix::thread::UnshareFlags;

/// Moves this process into new namespaces.
///
/// # Errors
/// If the system refuses.
pub(super) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    let allowed = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    // SAFETY: only sharing the table of open files is unsafe to give up, and `allowed` does not include that.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces & allowed) }?)
}

/// Adds attributes to a mount and to all mounts below it.
///
/// # Errors
/// If the system refuses, or is older than Linux 5.12.
pub(super) fn set_attributes(
    mount: BorrowedFd<'_>,
    attributes: MountAttrFlags,
    is_deep: bool,
) -> io::Result<()> {
    let attr = libc::mount_attr {
        attr_set: u64::from(attributes.bits()),
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = libc::AT_EMPTY_PATH | if is_deep { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string and `attr` lives for the call; its size is passed beside it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Closes every descriptor but the standard ones when a program is started.
///
/// # Errors
/// If the system refuses, or is older than Linux 5.11.
pub(super) fn close_all_on_exec() -> io::Result<()> {
    // SAFETY: no descriptor is closed now; a flag of each is set.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Turns the loopback interface of this network namespace on.
///
/// # Errors
/// If the system refuses. Programs then cannot use `localhost`.
pub(super) fn start_loopback() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(*b"lo") {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    let flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    let request =
        libc::ifreq { ifr_name: name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags } };
    // SAFETY: `SIOCSIFFLAGS` reads an `ifreq`, which lives for the call.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
