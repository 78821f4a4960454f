//! A sandbox that joins the network of another one: it reaches what listens there, and nothing else.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use setpoint_sandbox::linux::stage;
use setpoint_sandbox::{Access, Outer, Policy, Tier, is_apart};

use crate::attempts;
use crate::corpus::{Stage, in_mode, missing, skip};
use crate::odd::Room;
use crate::world::Mode;

/// Listens, says where, and answers everybody. It also says by which names it could be found.
const SERVE: &str = "import os, socket, threading
s = socket.create_server(('127.0.0.1', 0))
os.mkfifo('/tmp/pipe')
open('own.txt', 'w').write('own')
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    c.sendall(b'hello from the neighbour')
    c.close()";

/// Asks the server, then looks for it everywhere else.
const ASK: &str = "import os, socket, sys
print(socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).recv(99).decode())
print('processes', [pid for pid in os.listdir('/proc') if pid.isdigit()])
print('files', os.path.exists('own.txt'), os.path.exists('/tmp/pipe'))
print('interfaces', [line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])
try: socket.create_connection(('192.0.2.1', 80), 1); print('OUT')
except OSError as error: print(error)";

/// A sandbox in which a server runs.
struct Neighbour {
    child: Child,
    port: String,
    outer: Outer,
    _room: Room,
}

impl Neighbour {
    fn new(stage: &Path) -> Self {
        let room = Room::new();
        let policy = policy(&room);
        let mut command = stage::command(stage, Tier::Full, &policy, "python3".as_ref()).unwrap();
        command.args(["-c", SERVE]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let outer = outer(child.id());
        Neighbour { child, port: port.trim().to_owned(), outer, _room: room }
    }

    /// Runs a program beside it, and returns what it printed.
    fn beside(&self, stage: &Path, other: Outer) -> String {
        let room = Room::new();
        let policy = Policy { beside: Some(other), ..policy(&room) };
        ask(stage, &policy, &self.port)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn policy(room: &Room) -> Policy {
    fs::create_dir_all(room.path("work")).unwrap();
    fs::create_dir_all(room.path("home")).unwrap();
    room.policy(vec![("work", Access::Discard)])
}

fn outer(pid: u32) -> Outer {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    Outer { pid, started: fields[19].parse().unwrap() }
}

fn ask(stage: &Path, policy: &Policy, port: &str) -> String {
    let mut command = stage::command(stage, Tier::Full, policy, "python3".as_ref()).unwrap();
    let output = command.args(["-c", ASK, port]).stdin(Stdio::null()).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

pub(crate) fn run() -> Vec<String> {
    let stage = Stage::new();
    if let Some(why) = missing(Tier::Full, &stage.path()) {
        skip(Tier::Full, &why);
        return Vec::new();
    }
    let mut wrong = Vec::new();
    let mut check = |what: &str, said: &str, is_right: bool| {
        if !is_right {
            wrong.push(format!("{what}: {said}"));
        }
    };
    let mut neighbour = Neighbour::new(&stage.path());
    let said = neighbour.beside(&stage.path(), neighbour.outer);
    check("it reaches the server", &said, said.starts_with("hello from the neighbour\n"));
    // The first process is the inner stage, the second the program.
    check("it sees no other process", &said, said.contains("processes ['1', '2']\n"));
    check("it has a view of its own", &said, said.contains("files False False\n"));
    check("there is a loopback interface alone", &said, said.contains("interfaces ['lo']\n"));
    check("it reaches nothing else", &said, said.contains("Network is unreachable"));
    let room = Room::new();
    let said = ask(&stage.path(), &policy(&room), &neighbour.port);
    check("without that it does not reach the server", &said, said.contains("Connection refused"));

    let later = Outer { started: neighbour.outer.started + 1, ..neighbour.outer };
    let said = neighbour.beside(&stage.path(), later);
    check("a number that was used again is refused", &said, is_refused(&said, "it has ended"));
    let said = neighbour.beside(&stage.path(), outer(std::process::id()));
    check("the network of the machine is refused", &said, is_refused(&said, "no namespaces of its own"));
    check("the stage is known to be apart", "", is_apart(&neighbour.outer).unwrap());
    check("this process is not", "", !is_apart(&outer(std::process::id())).unwrap());
    let said = in_network_alone(&stage.path(), &neighbour);
    check("a network of another user namespace is refused", &said, said.contains(stage::NOT_MADE));

    let mut escaped = Vec::new();
    in_mode(Mode::Beside(neighbour.outer), &attempts::all(), &stage, &mut escaped);
    let said = neighbour.beside(&stage.path(), neighbour.outer);
    check("the server still answers", &said, said.starts_with("hello from the neighbour\n"));
    neighbour.child.kill().unwrap();
    neighbour.child.wait().unwrap();
    let said = neighbour.beside(&stage.path(), neighbour.outer);
    check("one that has ended is refused", &said, said.contains(stage::NOT_MADE));
    check("and is known to have ended", "", is_apart(&neighbour.outer).is_err());
    wrong.extend(escaped);
    wrong
}

/// Asks to join a process that is in a user namespace of its own, and in the network of this machine.
fn in_network_alone(stage: &Path, neighbour: &Neighbour) -> String {
    let mut command = Command::new("unshare");
    command.args(["--user", "sh", "-c", "echo; exec cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It has its namespaces when it speaks.
    child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let said = neighbour.beside(stage, outer(child.id()));
    drop(child.stdin.take());
    child.wait().unwrap();
    said
}

fn is_refused(said: &str, why: &str) -> bool {
    said.starts_with(stage::NOT_MADE) && said.contains(why)
}
