//! The system calls that a program is refused, as a seccomp filter.
//!
//! Refused is what reaches around the namespaces or needs no place in a build, a test or a script. A refused call gets
//! the error that programs are prepared for; a call of another architecture ends the program.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

/// Refused with `EPERM` whatever the arguments.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_fanotify_init,
    // The kernel.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

/// Answered with `ENOSYS`, as by a kernel that does not have them: their arguments are in memory, where a filter cannot
/// look, and programs then use the older call.
const UNKNOWN: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// `open_tree_attr`, which the `libc` crate does not name.
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;
/// What processes of one machine share, and a file's rights do not cover. A namespace makes them a sandbox's own.
const SHARED: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];
/// `fchmodat2`, which the `libc` crate does not name everywhere.
const SYS_FCHMODAT2: libc::c_long = 452;
/// Calls that set a file's mode, with the place of the mode among their arguments.
const MODES: &[(libc::c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    (libc::SYS_openat, 3),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];
/// All flags of `clone` that make a namespace.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];
/// Requests that put text into a terminal's input, or drive a console.
const TERMINAL: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// Which sockets a program may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Those of the Internet and of this machine, in a network namespace of its own.
    Local,
    /// None but pairs of connected ones.
    Pairs,
}

/// Restricts this process and all that it starts. It must not be able to gain privileges.
///
/// # Errors
/// If the architecture is unknown or the system refuses.
pub(super) fn restrict(sockets: Sockets) -> io::Result<()> {
    for (rules, error) in [(refused(sockets)?, libc::EPERM), (unknown(), libc::ENOSYS)] {
        let program = program(rules, error)?;
        seccompiler::apply_filter(&program).map_err(io::Error::other)?;
    }
    Ok(())
}

fn program(rules: Rules, error: libc::c_int) -> io::Result<BpfProgram> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let action = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(io::Error::other)?;
    let mut program = without_x32();
    program.extend(BpfProgram::try_from(filter).map_err(io::Error::other)?);
    Ok(program)
}

/// Returns the instructions that end a program which makes a call of the x32 ABI: its numbers are those of other calls
/// with one bit set, so that rules by number would not see them.
fn without_x32() -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    const X32_BIT: u32 = 0x4000_0000;
    let code = |bits: u32| u16::try_from(bits).unwrap_or_default();
    vec![
        // The call's number is the first word of what a filter sees.
        sock_filter { code: code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS), jt: 0, jf: 0, k: 0 },
        sock_filter { code: code(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K), jt: 0, jf: 1, k: X32_BIT },
        sock_filter {
            code: code(libc::BPF_RET | libc::BPF_K),
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_KILL_PROCESS,
        },
    ]
}

fn refused(sockets: Sockets) -> io::Result<Rules> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    for (call, argument) in MODES {
        let sets = |bit| masked(*argument, bit, bit);
        rules.insert(*call, vec![sets(0o4000)?, sets(0o2000)?]);
    }
    let new_namespace = |flag: &libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        masked(0, flag, flag)
    };
    rules.insert(libc::SYS_clone, NAMESPACES.iter().map(new_namespace).collect::<io::Result<_>>()?);
    let request = |request: &u64| rule(&[(1, SeccompCmpOp::Eq, *request)]);
    rules.insert(libc::SYS_ioctl, TERMINAL.iter().map(request).collect::<io::Result<_>>()?);
    // Landlock lets it set limits of processes outside, and a limit can end a process.
    rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, SeccompCmpOp::Ne, 0)])?]);
    let family = |family: libc::c_int| u64::from(family.unsigned_abs());
    match sockets {
        Sockets::Local => {
            let others = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6]
                .map(|allowed| (0, SeccompCmpOp::Ne, family(allowed)));
            rules.insert(libc::SYS_socket, vec![rule(&others)?]);
            let other = rule(&[(0, SeccompCmpOp::Ne, family(libc::AF_UNIX))])?;
            rules.insert(libc::SYS_socketpair, vec![other]);
        }
        Sockets::Pairs => {
            for call in [libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen] {
                rules.insert(call, Vec::new());
            }
            rules.extend(SHARED.iter().map(|call| (*call, Vec::new())));
            let kind = u64::from((libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC).unsigned_abs());
            let is_stream = SeccompCmpOp::MaskedEq(u64::from(u32::MAX) & !kind);
            let other_family = rule(&[(0, SeccompCmpOp::Ne, family(libc::AF_UNIX))])?;
            let datagram = rule(&[(1, is_stream.clone(), family(libc::SOCK_DGRAM))])?;
            let sequence = rule(&[(1, is_stream.clone(), family(libc::SOCK_SEQPACKET))])?;
            let raw = rule(&[(1, is_stream, family(libc::SOCK_RAW))])?;
            rules.insert(libc::SYS_socketpair, vec![other_family, datagram, sequence, raw]);
        }
    }
    Ok(rules)
}

fn unknown() -> Rules {
    UNKNOWN.iter().map(|call| (*call, Vec::new())).collect()
}

/// Makes a rule that holds if an argument, under a mask, has a value.
fn masked(argument: u8, mask: u64, value: u64) -> io::Result<SeccompRule> {
    rule(&[(argument, SeccompCmpOp::MaskedEq(mask), value)])
}

/// Makes a rule that holds if all comparisons do. Arguments are compared in the 32 bits that the kernel reads.
fn rule(comparisons: &[(u8, SeccompCmpOp, u64)]) -> io::Result<SeccompRule> {
    let condition = |(argument, op, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, op.clone(), *value)
    };
    let conditions: Result<Vec<_>, _> = comparisons.iter().map(condition).collect();
    conditions.and_then(SeccompRule::new).map_err(io::Error::other)
}
