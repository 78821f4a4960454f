//! The program: its output, and that it serves.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use setpoint_model_server::{Fault, Wire};

use crate::requests;

/// A running program, killed on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // A program that has exited cannot be killed, and need not be.
        let _killed = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_setpoint-model-server"));
    command.stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = program().args(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn process_the_program_prints_its_bases_and_serves() {
    let mut command = program();
    command.stdout(Stdio::piped());
    let mut running = Running(command.spawn().unwrap());
    let lines = BufReader::new(running.0.stdout.take().unwrap()).lines().take(Wire::ALL.len());
    let bases: Vec<String> = lines.map(Result::unwrap).collect();
    let (name, base) = bases[4].split_once(' ').unwrap();
    assert_eq!(name, "ollama");
    let mut stream = TcpStream::connect(base.strip_prefix("http://").unwrap()).unwrap();
    let mut request = requests::ask(Wire::Ollama, false, false, "forbidden");
    request.headers.push(("connection", "close".to_owned()));
    stream.write_all(&request.bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{text}");
}

#[test]
fn the_program_lists_faults_by_number_and_name() {
    let (code, text, _) = run(&["--faults"]);
    assert_eq!((code, text.lines().count()), (Some(0), Fault::all().len()));
    assert!(text.starts_with(" 1 refuse_connect\n") && text.ends_with("59 secret_in_text\n"), "{text}");
}
