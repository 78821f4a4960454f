//! Opens regular files for reading.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::halt::Halt;
#[cfg(target_os = "linux")]
use crate::processes::{ProcPath, leads};

/// Opens a regular file. Never blocks on a pipe and never acquires a controlling terminal.
///
/// # Errors
/// The error of the system, and as [`admit`].
pub(crate) fn regular(path: &Path, halt: &Halt) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    admit(OpenOptions::new().read(true).custom_flags(flags).open(path)?, path, halt)
}

/// Returns the open file if a tool may read it.
///
/// # Errors
/// `InvalidInput` for anything but a regular file, and a refusal for the inside of a process and for a file of
/// Setpoint's own house, by any path.
pub(crate) fn admit(file: File, path: &Path, halt: &Halt) -> io::Result<File> {
    let kind = file.metadata()?;
    if shows_a_process(&file) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it shows the inside of a process, where keys are",
        ));
    }
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    halt.rooms().check_open(&file, path)?;
    Ok(file)
}

/// Returns whether an open file is the environment, the memory or the like of a process, by any path.
#[cfg(target_os = "linux")]
fn shows_a_process(file: &File) -> bool {
    use std::os::fd::AsRawFd;

    let is_proc = rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type == rustix::fs::PROC_SUPER_MAGIC);
    let real = || std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // If `/proc` is also mounted elsewhere, the path does not tell which file it is.
    is_proc
        && !real().is_ok_and(|path| {
            path.starts_with("/proc") && leads(&path.to_string_lossy(), '*') == ProcPath::Elsewhere
        })
}

#[cfg(not(target_os = "linux"))]
fn shows_a_process(_file: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> io::Result<File> {
        regular(path, &Halt::default())
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(open(&file).is_ok());
        assert_eq!(open(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(open(Path::new("/dev/null")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(open(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_inside_of_a_process_is_not_opened_by_any_path() {
        let folder = tempfile::tempdir().unwrap();
        let [link, through] = ["link", "through"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink("/proc/self/environ", &link).unwrap();
        std::os::unix::fs::symlink("/proc", &through).unwrap();
        let environ = Path::new("/proc/self/environ");
        for path in
            [environ, &link, &through.join("self/maps"), Path::new("/proc/self/root/proc/self/environ")]
        {
            assert_eq!(open(path).unwrap_err().kind(), io::ErrorKind::PermissionDenied, "{path:?}");
        }
        for path in ["/proc/self/status", "/proc/cpuinfo", "/proc/sys/kernel/ostype"] {
            assert!(open(Path::new(path)).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_pipe_without_a_writer_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(open(&pipe).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
