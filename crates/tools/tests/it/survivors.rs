//! Ways to outlive a call, each tried for every way that a call can end: no process is left.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use setpoint_protocol::tool::{ErrorKind, ToolAnswer};
use tokio::net::unix::pipe;
use tokio::task::JoinSet;

use crate::shell::run_with;
use crate::support::World;

/// Shell commands that start `NAP`, a program that sleeps, in ways that a call might miss. `SELF` is a script that
/// starts itself again and again.
const WAYS: &[&str] = &[
    "NAP &",
    "(NAP &)",
    "NAP & disown -a",
    "nohup NAP >/dev/null 2>&1 &",
    "set -m; NAP &",
    "setsid NAP &",
    "setsid -f NAP",
    "env -i setsid -f NAP",
    "(env -i setsid sh -c '(NAP &) &' &)",
    "(trap '' TERM HUP INT; setsid -f NAP)",
    "setsid -f sh -c 'exec 0<&- 1>&- 2>&-; exec NAP'",
    "setsid -f bash -c 'exec -a [kworker/0:1] NAP'",
    "setsid -f sh -c 'cd /; umask 0; NAP & NAP & NAP & exec NAP' </dev/null",
    "env -i setsid -f sh -c 'NAP & kill -STOP $$'",
    "cat <(NAP) &",
    "coproc NAP",
    "timeout 1000 NAP &",
    "echo x | xargs -P 3 -n 1 NAP &",
    "for a in 1 2 3; do (for b in 1 2 3; do setsid -f NAP; done &); done",
    "env -i setsid -f SELF",
    "env -i setsid -f SELF & SELF & setsid -f SELF",
    "perl -e 'use POSIX; fork and exit; setsid; fork and exit; %ENV = (); $0 = \"init\"; exec \"NAP\"'",
    "perl -e '$SIG{TERM} = $SIG{HUP} = $SIG{INT} = \"IGNORE\"; if (!fork) { setpgrp; exec \"NAP\" }'",
    "trap 'setsid -f NAP' EXIT; NAP &",
];

/// One of the ways, in its own world: every process of it has this world's path in its command line.
struct Escape {
    way: &'static str,
    world: World,
    begun: pipe::Receiver,
    go: File,
}

impl Escape {
    fn new(way: &'static str) -> Self {
        let world = World::new();
        let root = world.root();
        for name in ["begun", "go"] {
            assert!(Command::new("mkfifo").arg(root.join(name)).status().unwrap().success());
        }
        // Opened for reading and writing, so that opening it never blocks.
        let begun = pipe::OpenOptions::new().read_write(true).open_receiver(root.join("begun")).unwrap();
        let go = OpenOptions::new().read(true).write(true).open(root.join("go")).unwrap();
        let script = |name: &str, text: String| {
            std::fs::write(root.join(name), text).unwrap();
            std::fs::set_permissions(root.join(name), Permissions::from_mode(0o755)).unwrap();
        };
        std::fs::copy("/bin/sleep", root.join("sleep")).unwrap();
        let (at, path) = (root.display(), std::env::var("PATH").unwrap());
        script("nap", format!("#!/bin/sh\necho begun >'{at}/begun'\nexec '{at}/sleep' 300\n"));
        let chain = "[ \"$1\" = 2000 ] && exit\nsetsid -f \"$0\" $(($1 + 1))\n";
        script("self", format!("#!/bin/sh\nPATH='{path}'\n[ \"$1\" ] || echo begun >'{at}/begun'\n{chain}"));
        Escape { way, world, begun, go }
    }

    /// Returns the command: the way, then a program that waits for a word.
    fn command(&self) -> String {
        let at = |name: &str| self.world.root().join(name).to_str().unwrap().to_owned();
        let way = self.way.replace("NAP", &at("nap")).replace("SELF", &at("self"));
        format!("{way}\nread -r word <'{}'\neval \"$word\"", at("go"))
    }

    async fn run(&self, seconds: u32) -> ToolAnswer {
        run_with(&self.world, json!({ "command": self.command(), "timeout_s": seconds })).await
    }

    /// Waits until a process reports that it got away.
    async fn has_begun(&self) {
        self.begun.readable().await.unwrap();
    }

    fn say(&self, word: &str) {
        writeln!(&self.go, "{word}").unwrap();
    }

    fn assert_none_left(&self) {
        let left = left_of(&self.world.root());
        assert_eq!(left, Vec::<String>::new(), "{}", self.way);
    }
}

/// Returns the command lines that contain this path.
pub(crate) fn left_of(root: &std::path::Path) -> Vec<String> {
    let root = root.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(root))
        .collect()
}

/// Tries every way concurrently.
async fn each<F: Future<Output = ()> + Send + 'static>(ways: &[&'static str], attempt: impl Fn(Escape) -> F) {
    let mut attempts: JoinSet<()> = ways.iter().map(|way| attempt(Escape::new(way))).collect();
    while let Some(done) = attempts.join_next().await {
        done.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_the_end_of_its_call() {
    each(WAYS, |escape| async move {
        let (answer, ()) = tokio::join!(escape.run(60), async {
            escape.has_begun().await;
            escape.say("true");
        });
        escape.assert_none_left();
        assert!(answer.ok, "{}: {}", escape.way, answer.text);
        let is_told =
            answer.text.contains("that it left running in the background") || escape.way.contains("SELF");
        assert!(is_told, "{}: {}", escape.way, answer.text);
    })
    .await;
}

/// Ways for a call that does not end by itself.
const ENDLESS: &[&str] =
    &["kill -STOP $PPID; NAP &", "trap 'setsid -f NAP' TERM; NAP &", "NAP & kill -STOP $$", "exec NAP"];

#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_a_cancelled_call() {
    each(&[WAYS, ENDLESS].concat(), |escape| async move {
        let (answer, ()) = tokio::join!(escape.run(60), async {
            escape.has_begun().await;
            escape.world.cancel.cancel();
        });
        escape.assert_none_left();
        assert_eq!(answer.error_kind, Some(ErrorKind::Interrupted), "{}: {}", escape.way, answer.text);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_a_timed_out_call() {
    each(&[WAYS, ENDLESS].concat(), |escape| async move {
        let answer = escape.run(1).await;
        escape.assert_none_left();
        assert_eq!(answer.error_kind, Some(ErrorKind::Timeout), "{}: {}", escape.way, answer.text);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_a_dropped_call() {
    each(&[WAYS, ENDLESS].concat(), |escape| async move {
        tokio::select! {
            answer = escape.run(60) => panic!("it ended by itself: {}", answer.text),
            () = escape.has_begun() => {}
        }
        escape.assert_none_left();
    })
    .await;
}

/// This process adopts what is left of the call and ends it.
#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_its_killed_keeper() {
    each(WAYS, |escape| async move {
        let (answer, ()) = tokio::join!(escape.run(60), async {
            escape.has_begun().await;
            escape.say("kill -KILL $PPID");
        });
        escape.assert_none_left();
        assert_eq!(answer.error_kind, Some(ErrorKind::Signal), "{}: {}", escape.way, answer.text);
    })
    .await;
}

/// This test consists of two processes: one runs the calls, the other kills it.
#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_a_killed_runtime() {
    const VICTIM: &str = "SETPOINT_TEST_VICTIM_COMMANDS";
    if let Ok(commands) = std::env::var(VICTIM) {
        let commands: Vec<String> = serde_json::from_str(&commands).unwrap();
        let run = |command| async move { run_with(&World::new(), json!({ "command": command })).await.text };
        let mut calls: JoinSet<String> = commands.into_iter().map(run).collect();
        panic!("it ended by itself: {:?}", calls.join_next().await);
    }
    let escapes: Vec<Escape> = [WAYS, ENDLESS].concat().into_iter().map(Escape::new).collect();
    let commands: Vec<String> = escapes.iter().map(Escape::command).collect();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "survivors::process_nothing_survives_a_killed_runtime", "--nocapture"])
        .env(VICTIM, json!(commands).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    for escape in &escapes {
        escape.has_begun().await;
    }
    victim.kill().unwrap();
    assert!(!victim.wait().unwrap().success());
    // Their keepers end them within their own limits. If they did not, this would not end.
    for root in escapes.iter().map(|escape| escape.world.root()).collect::<Vec<PathBuf>>() {
        while !left_of(&root).is_empty() {
            tokio::task::yield_now().await;
        }
    }
}
