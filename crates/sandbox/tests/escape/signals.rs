//! Signals: what reaches the program, how its end is reported, and that nothing is left.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use setpoint_sandbox::linux::stage;
use setpoint_sandbox::{Access, Tier};

use crate::corpus::{Stage, as_nobody, marked, missing, skip};
use crate::odd::Room;

/// The argument that makes this executable run [`STAY`] in a sandbox, as a caller that can be killed.
pub(crate) const CALLER: &str = "--caller";

/// Leaves processes that no signal but one ends, and stays.
const STAY: &str = "import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        os.fork()
        signal.pause()
print('ready', flush=True)
signal.pause()";

/// Says that it was asked to end, and ends with a code of its own. A signal that came between two of its steps waits.
const OBEY: &str = "import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.write(1, b'ready\\n')
signal.sigwait([signal.SIGTERM])
os.write(1, b'caught\\n')
os._exit(7)";

pub(crate) fn run() -> Vec<String> {
    let stage = Stage::new();
    let mut wrong = Vec::new();
    for tier in [Tier::Full, Tier::Partial] {
        if let Some(why) = missing(tier, &stage.path()) {
            skip(tier, &why);
            continue;
        }
        let mut check = |what: &str, is_right: bool| {
            if !is_right {
                wrong.push(format!("{}: {what}", tier.name()));
            }
        };
        check("a signal to the group reaches the program, and its code comes back", obeys(&stage, tier));
        check("a signal ends the program, and its number comes back", tells_signals(&stage, tier));
        if tier == Tier::Full {
            check("what holds the output's pipe ends with the program", frees_the_pipe(&stage));
            check("nothing survives a killed outer stage", dies_with_stage(&stage));
            check("nothing survives a killed caller", dies_with_caller(&stage));
        }
    }
    wrong
}

fn started(stage: &Path, tier: Tier, room: &Room, program: &[&str]) -> Command {
    let policy = room.policy(vec![("work", Access::Write)]);
    let (name, args) = program.split_first().unwrap();
    let mut command = stage::command(stage, tier, &policy, name.as_ref()).unwrap();
    command.args(args).process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).env("MARK", room.mark());
    if tier == Tier::Partial {
        as_nobody(&mut command);
    }
    command
}

/// Waits until a program says that it is ready.
fn ready(child: &mut Child) -> BufReader<ChildStdout> {
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    from
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed()).unwrap()
}

fn obeys(stage: &Stage, tier: Tier) -> bool {
    let room = Room::new();
    let mut child = started(&stage.path(), tier, &room, &["python3", "-c", OBEY]).spawn().unwrap();
    let mut from = ready(&mut child);
    kill_process_group(pid(&child), Signal::TERM).unwrap();
    let mut rest = String::new();
    from.read_to_string(&mut rest).unwrap();
    rest == "caught\n" && child.wait().unwrap().code() == Some(7)
}

fn tells_signals(stage: &Stage, tier: Tier) -> bool {
    [Signal::KILL, Signal::TERM, Signal::SEGV, Signal::ABORT, Signal::HUP].into_iter().all(|signal| {
        let room = Room::new();
        let script = format!("kill -{} $$", signal.as_raw());
        let status = started(&stage.path(), tier, &room, &["sh", "-c", &script]).status().unwrap();
        status.signal() == Some(signal.as_raw()) && !status.core_dumped()
    })
}

fn frees_the_pipe(stage: &Stage) -> bool {
    let room = Room::new();
    let script = "(trap '' TERM HUP; setsid sleep 600 & sleep 600) & echo done; exit 3";
    // Would wait for ever for a pipe that somebody holds.
    let output = started(&stage.path(), Tier::Full, &room, &["sh", "-c", script]).output().unwrap();
    output.stdout == b"done\n" && output.status.code() == Some(3)
}

fn dies_with_stage(stage: &Stage) -> bool {
    let room = Room::new();
    let mut child = started(&stage.path(), Tier::Full, &room, &["python3", "-c", STAY]).spawn().unwrap();
    let mut from = ready(&mut child);
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    is_all_gone(&mut from, &room)
}

fn dies_with_caller(stage: &Stage) -> bool {
    let room = Room::new();
    let mut command = Command::new(stage.path());
    command
        .arg(CALLER)
        .arg(room.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .env("MARK", room.mark());
    let mut child = command.spawn().unwrap();
    let mut from = ready(&mut child);
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    is_all_gone(&mut from, &room)
}

/// Every process of the program holds the pipe, which therefore ends with the last of them.
fn is_all_gone(from: &mut impl Read, room: &Room) -> bool {
    from.read_to_end(&mut Vec::new()).unwrap();
    marked(&room.mark(), &room.path("work")).is_empty()
}

/// Runs [`STAY`] in a sandbox until something ends this process.
pub(crate) fn call(folder: &Path) -> ExitCode {
    let stage = std::env::current_exe().unwrap();
    let policy = Room::policy_at(folder, vec![("work", Access::Write)]);
    let mut command = stage::command(&stage, Tier::Full, &policy, "python3".as_ref()).unwrap();
    command.args(["-c", STAY]).status().unwrap();
    ExitCode::FAILURE
}
