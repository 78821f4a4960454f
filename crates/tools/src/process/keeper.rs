//! The keeper: a small process between this program and a call's program, which ends everything that the program
//! started.
//!
//! It is the same executable, started again with `ARGUMENT`. It makes itself the reaper of its descendants, so that
//! each stays below it after any change of session, group, environment and parent, and it exits only when the kernel
//! reports that none is left. Its standard input is a socket that only the runtime holds: the end of that stream means
//! that the call is over or the runtime is dead. It accepts no other input, and no descendant can inspect it or take a
//! descriptor from it.
//!
//! A descendant may kill its keeper. Then the runtime adopts what is left and ends it (see `kept`).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

use super::frame::Frame;
use super::{TERM_GRACE_MS, tree};

/// The first argument of a keeper. The second is the mark of its runtime, the third the limit of data per process in
/// bytes (0: none) or [`SERVER`], followed by the program and its arguments.
pub(super) const ARGUMENT: &str = "--keep-call";
/// The limit of a server, whose standard input is a copy of its standard output: that is a socket to the runtime.
pub(super) const SERVER: &str = "server";
/// The process name of keepers.
pub(super) const NAME: &str = "setpoint-keeper";
/// The byte that tells a keeper to end the call without a grace period.
pub(super) const AT_ONCE: u8 = b'!';
/// Maximum rounds of looking for descendants before giving up, with a pause of [`ROUND`] after each.
pub(super) const ROUNDS_MAX: u32 = 500;
/// The pause between rounds. The end of the last descendant cuts it short.
pub(super) const ROUND: Duration = Duration::from_millis(2);

/// Set if this executable's `main` calls [`serve`].
static THIS_EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();

/// Does a keeper's work if this process was started as one; `main` must then return the exit code. Otherwise lets calls
/// of this process use this executable as their keeper. Must be the first call in `main`: a keeper is started for every
/// program that a call runs.
#[must_use]
pub fn serve() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == ARGUMENT) {
        let kept = Keeper::begin(args.skip(1)).map(Keeper::keep);
        return Some(if kept.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    // The running file itself, even after an update has replaced it.
    let file = PathBuf::from("/proc/self/exe");
    if let Some(file) = if file.exists() { Some(file) } else { std::env::current_exe().ok() } {
        let _ = THIS_EXECUTABLE.set(file);
    }
    None
}

/// Returns this executable, if it can be started as a keeper.
pub(crate) fn this_executable() -> Option<PathBuf> {
    THIS_EXECUTABLE.get().cloned()
}

/// Prevents core files of this process and everything it starts. A core file would be an effect that was not allowed:
/// it replaces a file `core` in the folder of a program that runs out of memory.
fn dump_no_core() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?)
}

/// Limits the data of a program that has just started, and of everything it starts, to this many bytes per process.
///
/// # Errors
/// If the system refuses. The program then ends with this process.
#[cfg(target_os = "linux")]
fn hold_to(bytes: u64, program: Pid) -> io::Result<()> {
    let mut held = BTreeSet::new();
    let mut found = vec![program.as_raw_nonzero().get()];
    // Processes inherit the limit, so only those that were started before it was set must be found.
    while !found.is_empty() {
        for pid in &found {
            hold_one_to(bytes, *pid)?;
        }
        held.extend(found);
        found = tree::descendants(own_pid());
        found.retain(|pid| !held.contains(pid));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn hold_one_to(bytes: u64, pid: i32) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    match Pid::from_raw(pid).map(|pid| prlimit(Some(pid), Resource::Data, limit)) {
        // It has ended.
        None | Some(Ok(_) | Err(rustix::io::Errno::SRCH)) => Ok(()),
        Some(Err(error)) => Err(error.into()),
    }
}

/// Other systems cannot set the limit of another process.
#[cfg(not(target_os = "linux"))]
fn hold_to(_bytes: u64, _program: Pid) -> io::Result<()> {
    Ok(())
}

fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(0)
}

enum Event {
    /// The program ended.
    Ended(ExitStatus),
    /// The last descendant ended.
    Alone,
    /// The runtime ended the call or is dead.
    Over { has_grace: bool },
}

struct Keeper {
    channel: File,
    events: Receiver<Event>,
    /// The program's process group.
    group: Option<Pid>,
    has_ended: bool,
    is_alone: bool,
    over: Option<bool>,
}

impl Keeper {
    /// Starts the program and reports a failure to do so.
    fn begin(args: impl Iterator<Item = OsString>) -> io::Result<Self> {
        let mut channel = File::from(rustix::stdio::stdin().try_clone_to_owned()?);
        Keeper::start(&channel, args).inspect_err(|error| {
            let code = error.raw_os_error().unwrap_or(0);
            let _ = channel.write_all(&Frame::NotStarted(code).to_bytes());
        })
    }

    fn start(channel: &File, mut args: impl Iterator<Item = OsString>) -> io::Result<Self> {
        adopt_descendants(Some(Signal::CONT))?;
        rustix::process::setsid()?;
        dump_no_core()?;
        let (sender, events) = mpsc::channel();
        let (listening, ears) = (sender.clone(), channel.try_clone()?);
        thread::Builder::new().spawn(move || listen(ears, &listening))?;
        let nowhere = File::options().read(true).write(true).open("/dev/null")?;
        let limit = args.next().ok_or(io::ErrorKind::InvalidInput)?;
        let is_server = limit == SERVER;
        let limit = limit.to_str().and_then(|limit| limit.parse().ok()).filter(|bytes| *bytes > 0);
        let program = args.next().ok_or(io::ErrorKind::InvalidInput)?;
        let stdin = if is_server { rustix::io::dup(rustix::stdio::stdout())?.into() } else { Stdio::null() };
        let child = Command::new(program).args(args).stdin(stdin).process_group(0).spawn()?;
        let pid = i32::try_from(child.id()).unwrap_or(0);
        if let Some((bytes, pid)) = limit.zip(Pid::from_raw(pid)) {
            hold_to(bytes, pid)?;
        }
        // Closes this process's copy of the output, so that it ends with the call's own processes.
        rustix::stdio::dup2_stdout(nowhere.as_fd())?;
        rustix::stdio::dup2_stderr(nowhere.as_fd())?;
        thread::Builder::new().spawn(move || reap(pid, &sender))?;
        let channel = channel.try_clone()?;
        let group = Pid::from_raw(pid);
        Ok(Keeper { channel, events, group, has_ended: false, is_alone: false, over: None })
    }

    /// Waits for the end of the call, then ends everything it left.
    fn keep(mut self) {
        while self.over.is_none() && self.take(None) {}
        if !self.has_ended && self.over == Some(true) {
            // A stopped program handles the signal only after it continues.
            self.signal(Signal::TERM);
            self.signal(Signal::CONT);
            // The only possible event is the program's end.
            self.take(Some(Duration::from_millis(TERM_GRACE_MS)));
        }
        if !cfg!(target_os = "linux") {
            self.signal(Signal::KILL);
        }
        let own = own_pid();
        let mut killed = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            if self.is_alone {
                break;
            }
            tree::kill(tree::children(own), &mut killed);
            self.take(Some(ROUND));
        }
        self.report(Frame::Over(i32::try_from(killed.len()).unwrap_or(i32::MAX)));
    }

    /// Handles the next event; returns `false` on timeout.
    fn take(&mut self, limit: Option<Duration>) -> bool {
        let event = match limit {
            Some(limit) => self.events.recv_timeout(limit).ok(),
            None => self.events.recv().ok(),
        };
        match event {
            Some(Event::Ended(status)) => {
                self.has_ended = true;
                self.report(Frame::of(status));
            }
            Some(Event::Alone) => self.is_alone = true,
            Some(Event::Over { has_grace }) => self.over = Some(has_grace),
            None => return false,
        }
        true
    }

    fn report(&mut self, frame: Frame) {
        // If the runtime is dead, the report fails; its processes are ended anyway.
        let _ = self.channel.write_all(&frame.to_bytes());
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The group may be empty by now.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Waits for the runtime's message or its death.
fn listen(mut channel: File, events: &Sender<Event>) {
    let mut word = [0];
    let has_grace = loop {
        match channel.read(&mut word) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            got => break !(matches!(got, Ok(1)) && word == [AT_ONCE]),
        }
    };
    let _ = events.send(Event::Over { has_grace });
}

/// Reaps every descendant that ends, until none is left.
fn reap(program: i32, events: &Sender<Event>) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == program => {
                let _ = events.send(Event::Ended(ExitStatus::from_raw(status.as_raw())));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    let _ = events.send(Event::Alone);
}

/// Makes this process the parent of each descendant whose parent ends, and hides it from other processes of the same
/// user. A keeper that a descendant has stopped continues (`CONT`) when the runtime dies.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn adopt_descendants(at_parents_death: Option<Signal>) -> io::Result<()> {
    use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
    set_child_subreaper(Some(getpid()))?;
    if at_parents_death.is_some() {
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        rustix::process::set_parent_process_death_signal(at_parents_death)?;
    }
    Ok(())
}

/// Other systems have no subreapers: there, a process that leaves its group outlives its call.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn adopt_descendants(_: Option<Signal>) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    #[test]
    fn a_late_limit_applies_to_existing_descendants() {
        let mut shell = Command::new("sh")
            .args(["-c", "sh -c 'echo $$; exec tail -f /dev/null' & echo $$; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(shell.stdout.take().unwrap()).lines().take(2);
        let pids: Vec<i32> = lines.map(|line| line.unwrap().parse().unwrap()).collect();
        hold_to(12_345_678, Pid::from_child(&shell)).unwrap();
        for pid in &pids {
            let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
            let data = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
            assert_eq!(data.split_whitespace().filter(|word| *word == "12345678").count(), 2, "{data}");
        }
        pids.into_iter().for_each(|pid| tree::send(pid, Signal::KILL));
        shell.wait().unwrap();
    }
}
