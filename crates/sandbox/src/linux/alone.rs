//! The filter of a process that only computes: it reads and writes what it was given open, and reaches nothing else.
//!
//! It names what is allowed, unlike the filter for programs: a reader of files needs memory and little besides.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

/// Allowed whatever the arguments: use of open files, memory, this thread's signals and time, and the end.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_close,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Restricts this process permanently to computing with what it has open. Everything else fails with `EPERM`: it opens no
/// file, makes no socket, and starts no thread and no program.
///
/// # Errors
/// If the architecture is unknown or the system refuses. The caller must then not read what it does not trust.
pub fn only_compute() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    let mut rules: BTreeMap<libc::c_long, Vec<SeccompRule>> =
        ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    // With `abort` it ends itself, and it must end nothing else.
    let own = u64::from(std::process::id());
    let is_own = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, own);
    let is_own = is_own.and_then(|is_own| SeccompRule::new(vec![is_own])).map_err(io::Error::other)?;
    rules.insert(libc::SYS_tgkill, vec![is_own]);
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    // The numbers of the x32 ABI are in no rule, so its calls are refused too.
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, arch).map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::process::Command;
    use std::{io, thread};

    use super::*;

    /// Runs in a thread, because the filter holds for the thread that sets it.
    fn confined<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        thread::spawn(move || {
            only_compute().unwrap();
            work()
        })
        .join()
        .unwrap()
    }

    #[test]
    fn nothing_new_is_opened_or_started() {
        let is_refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        assert!(is_refused(confined(|| File::open("/etc/hostname").map(drop).unwrap_err())));
        assert!(is_refused(confined(|| std::fs::write("/tmp/never", "x").unwrap_err())));
        assert!(is_refused(confined(|| TcpListener::bind("127.0.0.1:0").map(drop).unwrap_err())));
        assert!(is_refused(confined(|| thread::Builder::new().spawn(|| ()).map(drop).unwrap_err())));
        assert!(confined(|| Command::new("/bin/true").spawn().is_err()));
        let own = std::process::id();
        let signal = move || {
            rustix::process::test_kill_process(rustix::process::Pid::from_raw(own.cast_signed()).unwrap())
        };
        assert!(signal().is_ok() && confined(signal).is_err());
    }

    #[test]
    fn what_is_open_is_read_and_written() {
        let (mut from, mut to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        from.write_all(&[b'x'; 3_000_000]).unwrap();
        io::Seek::rewind(&mut from).unwrap();
        let written = confined(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).unwrap();
            to.write_all(text.repeat(2).as_bytes()).unwrap();
            to
        });
        assert_eq!(written.metadata().unwrap().len(), 6_000_000);
    }
}
