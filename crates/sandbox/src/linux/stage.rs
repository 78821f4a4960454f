//! The two processes between a caller and a sandboxed program. Both are this executable, started again.
//!
//! The outer stage makes the namespaces and waits outside of them, so that it can end as the program ended, by a signal
//! too. The inner stage is the first process in them: it builds the root folder, confines itself, starts the program
//! and reaps what the program leaves. When it ends, the kernel ends every process of the sandbox, and when its parent
//! dies, the kernel ends it: nothing outlives the caller.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, Signal, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};

use super::beside;
use super::confine::{Paths, confine};
use super::raw;
use super::root::{self, Failed};
use super::syscalls::Sockets;
use crate::policy::{Access, Folder, Policy};
use crate::tier::Tier;

/// The first argument of the outer stage; then follow the name of the tier, the caller's process id, the policy as JSON,
/// the program and its arguments.
const OUTER: &str = "--in-sandbox";
/// The first argument of the inner stage; then follow the number of the descriptor of its channel, the program and its
/// arguments. The policy comes through the channel: the program can read the arguments of the inner stage.
const INNER: &str = "--within-sandbox";
/// The process id of a caller that is not known.
const ANOTHER: u32 = 0;
/// The exit code if the sandbox could not be made. The first line of standard error then begins with [`NOT_MADE`].
pub const EXIT_NOT_MADE: u8 = 125;
/// The exit codes if the program does not exist in the sandbox, and if it exists and cannot be started, as in shells.
pub const EXIT_NOT_FOUND: u8 = 127;
/// See [`EXIT_NOT_FOUND`].
pub const EXIT_NOT_STARTED: u8 = 126;
/// The beginning of the line that says why the sandbox could not be made.
pub const NOT_MADE: &str = "setpoint: no sandbox: ";
/// The user and group that a program runs as if this process is root. It is root's on the outside, without its powers.
const ORDINARY: u32 = 1_000;
/// What the inner stage sends first.
const READY: &[u8] = b"r";
/// Maximum bytes of a policy as JSON.
const POLICY_BYTES_MAX: u64 = 1 << 20;
/// Process ids that the kernel gives out once, and the least limit that it takes. Root may have that many more.
const RESERVED_PIDS: u64 = 300;
/// Maximum bytes of a report.
const REPORT_BYTES_MAX: u64 = 4_096;

/// Does the work of a stage if this process was started as one; `main` must then return the exit code. Must be called
/// in `main` before any thread is started.
#[must_use]
pub fn serve() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let stage = args.next()?;
    let result = if stage == OUTER {
        outer(args)
    } else if stage == INNER {
        inner(args)
    } else {
        return None;
    };
    Some(result.unwrap_or_else(|(step, error)| {
        eprintln!("{NOT_MADE}cannot {step}: {error}");
        ExitCode::from(EXIT_NOT_MADE)
    }))
}

/// Returns the command that runs a program in a sandbox of this tier. `stage` is an executable whose `main` begins with
/// [`serve`]. The working directory is the policy's. This process must start the command itself, from a thread that
/// lives as long as the program shall: the kernel ends the sandbox with the thread that started it. Standard input may
/// not be a file or a folder. Of a file for its output a program can also change the mode and the times.
///
/// # Errors
/// If the policy cannot be written as JSON: a path is not valid Unicode.
pub fn command(stage: &Path, tier: Tier, policy: &Policy, program: &OsStr) -> io::Result<Command> {
    started_by(std::process::id(), stage, tier, policy, program)
}

/// Returns the same command for another process to start, which must end what it started when this process dies.
///
/// # Errors
/// As for [`command`].
pub fn command_for_another(
    stage: &Path,
    tier: Tier,
    policy: &Policy,
    program: &OsStr,
) -> io::Result<Command> {
    started_by(ANOTHER, stage, tier, policy, program)
}

fn started_by(
    caller: u32,
    stage: &Path,
    tier: Tier,
    policy: &Policy,
    program: &OsStr,
) -> io::Result<Command> {
    let mut command = Command::new(stage);
    command.arg(OUTER).arg(tier.name()).arg(caller.to_string());
    command.arg(serde_json::to_string(policy)?).arg(program);
    Ok(command)
}

fn invalid(step: &'static str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failed {
    (step, io::Error::new(io::ErrorKind::InvalidInput, why))
}

fn outer(mut args: impl Iterator<Item = OsString>) -> Result<ExitCode, Failed> {
    let tier = args.next().and_then(|name| Tier::named(name.to_str()?));
    let tier = tier.ok_or_else(|| invalid("read its tier", "there is none of this name"))?;
    let caller = args.next().and_then(|caller| caller.to_str()?.parse().ok());
    let policy = args.next().ok_or_else(|| invalid("read its policy", "there is none"))?;
    die_with_parent()?;
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
    // The kernel does not notice a caller that ended before.
    if caller != Some(ANOTHER) && (caller.is_none() || caller != parent) {
        return Err(invalid("bind its life to its caller's", "the caller has ended"));
    }
    check_streams()?;
    match tier {
        Tier::Full => full(&policy, args),
        Tier::Partial => partial(&policy, args),
    }
}

/// The major and minor number of `/dev/null`.
const NULL_DEVICE: (u32, u32) = (1, 3);

/// Refuses streams through which a program could reach what the policy does not name: with a folder it has a way to its
/// neighbours, and of a file that it only reads it could change the mode and the times.
fn check_streams() -> Result<(), Failed> {
    use rustix::fs::FileType;
    let failed = |error: rustix::io::Errno| ("look at its standard streams", error.into());
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
    for (number, stream) in streams.iter().enumerate() {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(stream).map_err(failed)?.st_mode);
        if kind.is_dir() || (number == 0 && kind.is_file()) {
            return Err(invalid(
                "use its standard streams",
                "they may be pipes, devices, sockets and files for output",
            ));
        }
    }
    Ok(())
}

/// Confines this process, which then becomes the program.
fn partial(policy: &OsStr, mut args: impl Iterator<Item = OsString>) -> Result<ExitCode, Failed> {
    let policy = read_policy(policy.to_str().unwrap_or_default())?;
    let program = args.next().ok_or_else(|| invalid("start a program", "none is named"))?;
    if rustix::process::getuid().is_root() {
        return Err(invalid(
            "confine root",
            "without namespaces it would keep root's rights; use an ordinary user",
        ));
    }
    let is_kept_apart = |one: &Folder| matches!(one.access, Access::Keep { .. } | Access::Discard);
    if policy.folders.iter().any(is_kept_apart) {
        return Err(invalid("keep changes apart", "that needs namespaces"));
    }
    let is_seen = |hidden: &PathBuf| policy.folders.iter().any(|one| hidden.starts_with(&one.path));
    if policy.hidden.iter().any(is_seen) {
        return Err(invalid("hide a place in a folder", "that needs namespaces"));
    }
    // Landlock adds rights up: what may be changed around a folder may be changed in it.
    let is_around =
        |outer: &Folder, one: &Folder| outer.access == Access::Write && one.path.starts_with(&outer.path);
    let is_read = |one: &&Folder| one.access == Access::Read;
    if policy
        .folders
        .iter()
        .filter(is_read)
        .any(|one| policy.folders.iter().any(|outer| is_around(outer, one)))
    {
        return Err(invalid("protect a folder in one that may be changed", "that needs namespaces"));
    }
    raw::close_all_on_exec().map_err(|error| ("close what it inherited", error))?;
    std::env::set_current_dir(&policy.cwd).map_err(|error| ("enter its working directory", error))?;
    confine(&Paths::of_host(&policy), &policy.limits, Sockets::Pairs)?;
    let error = Command::new(&program).args(args).env("PWD", &policy.cwd).exec();
    Ok(ExitCode::from(not_started(&program, &error)))
}

/// Says why the program does not run, which is not a fault of the sandbox; returns the exit code.
fn not_started(program: &OsStr, error: &io::Error) -> u8 {
    eprintln!("setpoint: cannot start {}: {error}", program.display());
    if error.kind() == io::ErrorKind::NotFound { EXIT_NOT_FOUND } else { EXIT_NOT_STARTED }
}

fn read_policy(text: &str) -> Result<Policy, Failed> {
    let policy: Policy = serde_json::from_str(text).map_err(|error| invalid("read its policy", error))?;
    policy.checked().map_err(|error| invalid("use its policy", error))
}

/// The namespaces that no sandbox shares with another.
const OF_ITS_OWN: UnshareFlags = UnshareFlags::NEWNS
    .union(UnshareFlags::NEWPID)
    .union(UnshareFlags::NEWIPC)
    .union(UnshareFlags::NEWUTS)
    .union(UnshareFlags::NEWCGROUP);

fn full(policy: &OsStr, args: impl Iterator<Item = OsString>) -> Result<ExitCode, Failed> {
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let failed = |error| ("make namespaces", error);
    if let Some(other) = read_policy(policy.to_str().unwrap_or_default())?.beside {
        // The user namespace of the other sandbox owns its network, and gives this user the same id.
        beside::join(&other).map_err(|error| ("join the network of the other sandbox", error))?;
        raw::unshare(OF_ITS_OWN).map_err(failed)?;
    } else {
        raw::unshare(OF_ITS_OWN | UnshareFlags::NEWUSER | UnshareFlags::NEWNET).map_err(failed)?;
        map("setgroups", "deny").or_else(|error| if user == 0 { Ok(()) } else { Err(error) })?;
        map("uid_map", &one_to_one(user))?;
        map("gid_map", &one_to_one(group))?;
    }
    keep_capabilities().map_err(|error| ("keep capabilities until the sandbox is made", error))?;
    let (ours, theirs) = channel().map_err(|error| ("open a channel", error))?;
    let mut inner = Command::new("/proc/self/exe")
        .arg(INNER)
        .arg(theirs.as_raw_fd().to_string())
        .args(args)
        .spawn()
        .map_err(|error| ("start its first process", error))?;
    drop(theirs);
    leave_group();
    let mut ours = ours;
    // It is ready when its life is bound to this process's: a policy that it got before could outlive this process.
    // If the inner stage has ended already, its status says more.
    let _ = ours.read_exact(&mut [0; READY.len()]);
    let _ = ours.write_all(policy.as_encoded_bytes()).and_then(|()| ours.shutdown(Shutdown::Write));
    let status = inner.wait().map_err(|error| ("wait for its first process", error))?;
    let mut told = Vec::new();
    let _ = ours.take(REPORT_BYTES_MAX).read_to_end(&mut told);
    match Report::of_bytes(&told) {
        Some(Report::Ended(status)) => Ok(end_as(ExitStatus::from_raw(status))),
        Some(Report::Failed(text)) => {
            eprintln!("{NOT_MADE}{text}");
            Ok(ExitCode::from(EXIT_NOT_MADE))
        }
        // Something ended the first process, and all others with it.
        None => Ok(end_as(status)),
    }
}

fn inner(mut args: impl Iterator<Item = OsString>) -> Result<ExitCode, Failed> {
    let number = args.next().and_then(|number| number.to_str()?.parse().ok());
    let mut channel = inherited(number.ok_or_else(|| invalid("report", "the descriptor is not a number"))?)?;
    let report = match run(args, &mut channel) {
        Ok(status) => Report::Ended(status.into_raw()),
        Err((step, error)) => Report::Failed(format!("cannot {step}: {error}")),
    };
    channel.write_all(&report.to_bytes()).map_err(|error| ("report", error))?;
    Ok(ExitCode::SUCCESS)
}

fn run(mut args: impl Iterator<Item = OsString>, channel: &mut UnixStream) -> Result<ExitStatus, Failed> {
    die_with_parent()?;
    channel.write_all(READY).map_err(|error| ("report", error))?;
    raw::close_all_on_exec().map_err(|error| ("close what it inherited", error))?;
    // The program cannot look into this process, nor take a descriptor from it.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| ("hide its first process", error.into()))?;
    let mut policy = String::new();
    channel.take(POLICY_BYTES_MAX).read_to_string(&mut policy).map_err(|error| ("read its policy", error))?;
    let policy = read_policy(&policy)?;
    let program = args.next().ok_or_else(|| invalid("start a program", "none is named"))?;
    limit_processes(policy.limits.processes);
    root::enter(&policy)?;
    own_null_devices().map_err(|error| ("open its own /dev/null", error))?;
    // Optional: programs then cannot use `localhost`, and say so.
    let _ = raw::start_loopback();
    confine(&Paths::within(&policy), &policy.limits, Sockets::Local)?;
    let mut command = Command::new(&program);
    command.args(args).env("PWD", &policy.cwd);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(ExitStatus::from_raw(i32::from(not_started(&program, &error)) << 8)),
    };
    drop(command);
    wait_for(child.id()).map_err(|error| ("wait for the program", error))
}

/// Takes the sandbox's own `/dev/null` for each standard stream that is the machine's: through that one a program of root
/// could change the mode and the times of a device that all programs use.
fn own_null_devices() -> io::Result<()> {
    use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
    let is_null = |stat: rustix::fs::Stat| {
        let number = (major(stat.st_rdev), minor(stat.st_rdev));
        FileType::from_raw_mode(stat.st_mode).is_char_device() && number == NULL_DEVICE
    };
    let own = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    if is_null(fstat(rustix::stdio::stdin())?) {
        rustix::stdio::dup2_stdin(&own)?;
    }
    if is_null(fstat(rustix::stdio::stdout())?) {
        rustix::stdio::dup2_stdout(&own)?;
    }
    if is_null(fstat(rustix::stdio::stderr())?) {
        rustix::stdio::dup2_stderr(&own)?;
    }
    Ok(())
}

/// Limits the processes of this namespace as a whole: the kernel lets root have more than the limit for a user, and the
/// program's user is root's on the outside. Optional: kernels before Linux 6.14 have one number for the whole machine,
/// which this process may not change.
fn limit_processes(processes: u64) {
    let _ = std::fs::write("/proc/sys/kernel/pid_max", processes.saturating_add(RESERVED_PIDS).to_string());
}

/// Reaps every process of the sandbox that ends, until the program does.
fn wait_for(program: u32) -> io::Result<ExitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == program => {
                return Ok(ExitStatus::from_raw(status.as_raw()));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn die_with_parent() -> Result<(), Failed> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| ("bind its life to its parent's", error.into()))
}

/// Leaves the program's process group, so that a signal to the group reaches only the sandbox. Its first process has
/// the kernel's protection from signals that it does not handle.
fn leave_group() {
    if let Some(parent) = rustix::process::getppid()
        && let Ok(group) = rustix::process::getpgid(Some(parent))
    {
        // A parent in another session has no group to join.
        let _ = rustix::process::setpgid(None, Some(group));
    }
}

/// Returns the line that gives an id of the outside to the sandbox. Root becomes an ordinary user.
fn one_to_one(id: u32) -> String {
    format!("{} {id} 1", if id == 0 { ORDINARY } else { id })
}

fn map(file: &str, line: &str) -> Result<(), Failed> {
    std::fs::write(format!("/proc/self/{file}"), line).map_err(|error| ("map its user", error))
}

/// The capabilities that building a sandbox takes, within its own namespaces.
const NEEDED: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::DAC_OVERRIDE);

/// Lets the inner stage begin with [`NEEDED`]: an ordinary user's programs otherwise lose them.
fn keep_capabilities() -> io::Result<()> {
    let now = rustix::thread::capabilities(None)?;
    rustix::thread::set_capabilities(None, CapabilitySets { inheritable: NEEDED, ..now })?;
    for capability in NEEDED.iter() {
        rustix::thread::configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Returns the two ends of a channel; the second is left open in the inner stage.
fn channel() -> io::Result<(UnixStream, OwnedFd)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    close_on_exec(&ours)?;
    Ok((ours.into(), theirs))
}

fn close_on_exec(file: impl std::os::fd::AsFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC)?)
}

/// Takes the descriptor that the outer stage left open.
#[expect(
    unsafe_code,
    reason = "the number names a descriptor that was inherited for this and that nothing else owns"
)]
fn inherited(number: RawFd) -> Result<UnixStream, Failed> {
    if number <= 2 {
        return Err(invalid("report", "the descriptor is one of the standard ones"));
    }
    // SAFETY: the outer stage opened it, passed its number and closed its own copy; a wrong number makes the first use
    // fail, before anything else is open.
    Ok(unsafe { OwnedFd::from_raw_fd(number) }.into())
}

/// Ends this process as another one ended.
fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(code) = status.code() {
        return ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX));
    }
    let signal = status.signal().unwrap_or_default();
    if let (Some(own), Some(signal)) =
        (Pid::from_raw(std::process::id().cast_signed()), Signal::from_named_raw(signal))
    {
        // This process has nothing to tell in an image of its memory.
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = rustix::process::setrlimit(Resource::Core, none);
        // The standard library handles a bad access to memory once, and then leaves it to the kernel.
        for _ in 0..2 {
            let _ = rustix::process::kill_process(own, signal);
        }
    }
    // The signal is one that this process ignores.
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

/// What the inner stage tells the outer one, last.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    /// The program ended with this status.
    Ended(i32),
    /// The sandbox could not be made.
    Failed(String),
}

impl Report {
    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Report::Ended(status) => [b"e", &status.to_le_bytes()[..]].concat(),
            Report::Failed(text) => [b"f", text.as_bytes()].concat(),
        }
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (b'e', status) => Some(Report::Ended(i32::from_le_bytes(status.try_into().ok()?))),
            (b'f', text) => Some(Report::Failed(String::from_utf8_lossy(text).into_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_round_trip() {
        for report in [Report::Ended(0x0900), Report::Ended(-1), Report::Failed("ä".into())] {
            assert_eq!(Report::of_bytes(&report.to_bytes()), Some(report));
        }
        for bytes in [&b""[..], b"e", b"e12345", b"x"] {
            assert_eq!(Report::of_bytes(bytes), None);
        }
    }
}
