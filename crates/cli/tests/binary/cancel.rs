//! A task that is stopped while a tool runs: by a signal, by another process, and by the watchdog.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::support::task::{Ended, GOAL, Trial};
use crate::support::{Came, Home, shell};

/// `O_NONBLOCK`, for which the standard library has no name.
const O_NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };

/// A task whose tool certainly runs: it reads from a pipe that only the test writes to.
struct Reading {
    pid: u32,
    came: JoinHandle<Came>,
    pipe: File,
}

impl Reading {
    fn begin(home: &Home, options: &[&str]) -> Self {
        let path = home.work().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Trial::new().runs("cat", "cat pipe | cat", "1").write(home);
        let mut command = home.command(&[&["run", "--json"], options, &[GOAL]].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let came = std::thread::spawn({
            let path = path.clone();
            move || end_of(child, path)
        });
        // Opening returns when the tool reads.
        let pipe = OpenOptions::new().write(true).open(&path).unwrap();
        Reading { pid, came, pipe }
    }

    fn end(self) -> (Came, File) {
        (self.came.join().unwrap(), self.pipe)
    }
}

/// Waits for the end; a task that ends before its tool runs must not leave the test waiting for the tool.
fn end_of(child: Child, path: PathBuf) -> Came {
    let came = Came::from(child.wait_with_output().unwrap());
    drop(OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path));
    came
}

/// Asserts that no process has the pipe open for reading, so everything that the tool started has ended.
fn assert_unread(mut pipe: File) {
    let error = pipe.write_all(b"x").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

fn signal(home: &Home, name: &str, pid: u32) {
    shell(&home.work(), &format!("kill {name} {pid}"));
}

fn assert_cancelled(home: &Home, came: Came) -> Ended {
    let ended = Ended::of(home, came);
    assert_eq!((ended.course().as_str(), &ended.result["ended_by"]), ("init→abandon", &"cancelled".into()));
    assert_eq!(ended.accountable(), "user");
    assert!(ended.summary().contains("It was cancelled."), "{}", ended.summary());
    ended
}

#[test]
fn process_an_interrupted_task_stops_its_tools_and_can_resume() {
    for name in ["-INT", "-TERM"] {
        let home = Home::new();
        let reading = Reading::begin(&home, &[]);
        signal(&home, name, reading.pid);
        let (came, pipe) = reading.end();
        assert_unread(pipe);
        assert_eq!((came.code, &came.json()["error"]["kind"]), (130, &"interrupted".into()), "{came:#?}");
        let task = came.json()["task_id"].as_str().unwrap().to_owned();
        assert!(came.err.contains(&format!("`setpoint tasks resume {task}` continues it")), "{came:#?}");
        let open = home.run(&["tasks", "list", "--open", "--json"]).json();
        assert_eq!(
            (&open[0]["task_id"], &open[0]["driven_by"]),
            (&task.as_str().into(), &Value::Null),
            "{open:#}"
        );
        // A plain file in place of the pipe, so that the same call can end.
        std::fs::remove_file(home.work().join("pipe")).unwrap();
        std::fs::write(home.work().join("pipe"), "x").unwrap();
        let ended = Ended::of(&home, home.run(&["tasks", "resume", "--json", &task]));
        assert_eq!(ended.course(), "init→accept");
    }
}

#[test]
fn process_another_process_can_watch_and_cancel_but_not_resume() {
    let home = Home::new();
    let reading = Reading::begin(&home, &[]);
    let listed = home.run(&["tasks", "list", "--open", "--json"]).json();
    let task = listed[0]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(listed[0]["driven_by"], format!("process {}", reading.pid), "{listed:#}");
    let resumed = home.run(&["tasks", "resume", &task]);
    assert_eq!((resumed.code, resumed.out.as_str()), (2, ""), "{resumed:#?}");
    assert!(resumed.err.contains("it is being run by") && resumed.err.contains("hint: "), "{resumed:#?}");
    // This process finds no task to resume.
    let all = home.run(&["tasks", "resume"]);
    assert_eq!((all.code, all.err.as_str()), (0, "there is no task to resume\n"));
    let cancelled = home.run(&["tasks", "cancel", &task, "--json"]);
    assert_eq!((cancelled.code, &cancelled.json()["state"]), (0, &"cancelling".into()), "{cancelled:#?}");
    let (came, pipe) = reading.end();
    assert_unread(pipe);
    assert_cancelled(&home, came);
    let again = home.run(&["tasks", "cancel", &task]);
    assert_eq!((again.code, again.out.as_str()), (2, ""));
    assert!(again.err.contains("has ended already") && again.err.contains("hint: "), "{again:#?}");
    assert!(Path::new(&home.data()).exists());
}

/// A tool that never ends does not keep the task from ending: the watchdog ends it after twice the time
/// budget.
#[test]
fn process_the_watchdog_ends_the_task_and_its_tools() {
    let home = Home::new();
    let reading = Reading::begin(&home, &["--set", "controller.time_budget_ms=400"]);
    let (came, pipe) = reading.end();
    assert_unread(pipe);
    let ended = Ended::of(&home, came);
    assert_eq!((ended.course().as_str(), &ended.result["ended_by"]), ("init→abandon", &"deadline".into()));
    assert!(ended.summary().contains("watchdog"), "{}", ended.summary());
}
