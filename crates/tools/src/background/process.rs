//! One process in the background.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use setpoint_protocol::tool::ExecutedFile;
use setpoint_sandbox::{Outer, is_apart};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::kept::Folder;
use crate::changeset::Room;
use crate::process::{Capture, Ending, LastingProgram};

/// Milliseconds between two looks at what a process has done.
const LOOK_MS: u64 = 10;
/// Milliseconds in which its sandbox must be made.
const READY_MS_MAX: u64 = 10_000;
/// Milliseconds between two times that its last output is written down.
const SAVE_MS: u64 = 2_000;
/// Bytes of its output that are searched for a text.
const SEARCHED_BYTES_MAX: usize = 1 << 20;

/// What a call may wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Any output.
    Output,
    /// A text in its output.
    Text(String),
    /// A TCP port on which something listens, in its network.
    Port(u16),
}

/// A process that a task keeps running, or that has ended. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) cwd: PathBuf,
    pub(crate) executed: Vec<ExecutedFile>,
    /// When it started.
    pub(crate) started: Instant,
    /// The seconds after which it is ended.
    pub(crate) deadline_s: u64,
    pub(crate) output: Capture,
    /// The outer stage of its sandbox; `None` if it ended before it could be found.
    pub(crate) outer: Option<Outer>,
    ending: watch::Receiver<Option<Ending>>,
    stop: CancellationToken,
    /// What it changed; taken when that is put in place.
    room: Arc<Mutex<Option<Room>>>,
    /// Whether what it changed is in place.
    pub(crate) is_placed: AtomicBool,
    saved: Option<Arc<Saved>>,
}

/// What is known of a process before it starts.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) cwd: PathBuf,
    pub(crate) executed: Vec<ExecutedFile>,
    pub(crate) deadline_s: u64,
    pub(crate) room: Room,
}

impl Process {
    /// Returns the process when others can join its network, or when it has ended.
    pub(crate) async fn new(mut program: LastingProgram, start: Start, folder: Option<Folder>) -> Self {
        let started = Instant::now();
        let ready_by = started + Duration::from_millis(READY_MS_MAX);
        let mut early = None;
        let mut outer = None;
        while early.is_none() && outer.is_none() && Instant::now() < ready_by {
            outer = program.outer().filter(|outer| is_apart(outer).is_ok_and(|is_apart| is_apart));
            if outer.is_none() {
                tokio::select! {
                    ending = program.ended() => early = Some(ending),
                    () = tokio::time::sleep(Duration::from_millis(LOOK_MS)) => {}
                }
            }
        }
        let (tell, ending) = watch::channel(None);
        let stop = CancellationToken::new();
        let deadline = started + Duration::from_secs(start.deadline_s);
        let output = program.output.clone();
        let (name, command) = (start.name.clone(), start.command.clone());
        let written = tokio::sync::Mutex::new(Written::Nothing);
        let saved = folder.map(|folder| Arc::new(Saved { folder, name, command, written }));
        let Start { name, command, cwd, executed, deadline_s, room } = start;
        let room = Arc::new(Mutex::new(Some(room)));
        let minded = mind(program, early, deadline, stop.clone(), saved.clone());
        let changes = Arc::clone(&room);
        tokio::spawn(async move {
            let ending = minded.await;
            if let Ending::Excess(_) = ending {
                // The disk has it back at once, not when somebody stops the process.
                drop(tokio::task::spawn_blocking(move || drop(take(&changes))).await);
            }
            tell.send_replace(Some(ending));
        });
        Process {
            name,
            command,
            cwd,
            executed,
            started,
            deadline_s,
            output,
            outer,
            ending,
            stop,
            room,
            is_placed: AtomicBool::new(false),
            saved,
        }
    }

    /// Returns how it ended; `None` while it runs.
    pub(crate) fn ending(&self) -> Option<Ending> {
        *self.ending.borrow()
    }

    /// Has it ended, without waiting for its end.
    pub(super) fn ask_to_end(&self) {
        self.stop.cancel();
    }

    /// Ends it, if it runs, with all that it started. Returns how it ended.
    pub(crate) async fn end(&self) -> Ending {
        self.stop.cancel();
        let mut ending = self.ending.clone();
        let ended = ending.wait_for(Option::is_some).await.ok().and_then(|ended| *ended);
        ended.unwrap_or(Ending::Cancelled)
    }

    /// Writes its output down, so that a restart knows at least what a call has told.
    pub(crate) async fn save(&self) {
        if let Some(saved) = &self.saved {
            saved.write(&self.output, None).await;
        }
    }

    /// Takes what it changed; `None` if that was taken before.
    pub(crate) fn take_room(&self) -> Option<Room> {
        take(&self.room)
    }

    /// Waits for something, for its end, or for some milliseconds. Returns whether what was wanted has come.
    pub(crate) async fn wait(&self, wanted: &Wanted, ms_max: u64, cancel: &CancellationToken) -> bool {
        let until = Instant::now() + Duration::from_millis(ms_max);
        let mut seen = None;
        loop {
            // Looked at before the output, so that nothing is missed that it printed last.
            let is_over = self.ending().is_some() || cancel.is_cancelled() || Instant::now() >= until;
            let total = self.output.total();
            let is_there = match wanted {
                Wanted::Output => total > 0,
                Wanted::Text(text) => {
                    seen.replace(total) != Some(total)
                        && self.output.so_far().text(SEARCHED_BYTES_MAX).contains(text)
                }
                Wanted::Port(port) => self.outer.is_some_and(|outer| is_listening(outer.pid, *port)),
            };
            if is_there || is_over {
                return is_there;
            }
            tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
        }
    }
}

fn take(room: &Mutex<Option<Room>>) -> Option<Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Where the last output of a process is written down.
#[derive(Debug)]
struct Saved {
    folder: Folder,
    name: String,
    command: String,
    written: tokio::sync::Mutex<Written>,
}

/// What was written down last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Nothing,
    /// The output of a process that runs, as many bytes as it had printed.
    Output(u64),
    /// All of it, with its ending.
    Ending,
}

impl Saved {
    async fn write(&self, output: &Capture, ending: Option<Ending>) {
        let mut written = self.written.lock().await;
        let now = if ending.is_some() { Written::Ending } else { Written::Output(output.total()) };
        if *written == Written::Ending || *written == now {
            return;
        }
        let (folder, name, command) = (self.folder.clone(), self.name.clone(), self.command.clone());
        let output = output.so_far();
        let write = move || folder.write(&name, &command, &output, ending);
        // Without the file, a restart knows less of the process, which changes nothing else.
        drop(tokio::task::spawn_blocking(write).await);
        *written = now;
    }
}

/// Waits for the end of a program, ends what is left of it, and writes its last output down meanwhile.
async fn mind(
    mut program: LastingProgram,
    early: Option<Ending>,
    deadline: Instant,
    stop: CancellationToken,
    saved: Option<Arc<Saved>>,
) -> Ending {
    let output = program.output.clone();
    let mut excess = Box::pin(program.excess());
    let ending = loop {
        if let Some(saved) = &saved {
            saved.write(&output, None).await;
        }
        if let Some(early) = early {
            break early;
        }
        tokio::select! {
            biased;
            ending = program.ended() => break ending,
            () = stop.cancelled() => break Ending::Cancelled,
            () = tokio::time::sleep_until(deadline) => break Ending::TimedOut,
            excess = &mut excess => break Ending::Excess(excess),
            () = tokio::time::sleep(Duration::from_millis(SAVE_MS)) => {}
        }
    };
    program.finish().await;
    if let Some(saved) = &saved {
        saved.write(&output, Some(ending)).await;
    }
    ending
}

/// Returns whether something listens on a TCP port in the network of a process.
fn is_listening(pid: u32, port: u16) -> bool {
    /// The number of the state of a socket that listens.
    const LISTENS: &str = "0A";
    let ends = format!(":{port:04X}");
    ["tcp", "tcp6"].iter().any(|table| {
        let table = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        table.lines().any(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            let is_port = fields.next().is_some_and(|local| local.ends_with(&ends));
            is_port && fields.nth(1) == Some(LISTENS)
        })
    })
}
