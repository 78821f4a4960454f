//! Commands as real processes: what they print, how they end, and that nothing of them is left.

use std::fs::{File, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use setpoint_protocol::tool::{Effect, ErrorKind, SideEffect, ToolAnswer};

use crate::support::World;

#[tokio::test]
async fn process_output_and_exit_code() {
    let world = World::new();
    let answer = world.run("shell", json!({"command": "printf 'out\\n'; printf 'err\\n' >&2"})).await;
    assert!(answer.ok);
    assert_eq!(answer.text, "exit code zero\nout\n[errors]\nerr\n");
    assert_eq!(answer.exit_code, Some(0));
    assert_eq!(answer.side_effect, SideEffect::None);
    let facts = answer.facts.unwrap().0;
    assert_eq!(
        facts,
        json!({"exit_code": 0, "stdout": "out\n", "stderr": "err\n", "timed_out": false, "complete": true})
    );
}

#[tokio::test]
async fn process_ends_have_their_kinds() {
    let world = World::new();
    for (command, code, kind) in [
        ("false", Some(1), ErrorKind::Exit),
        ("exit 42", Some(42), ErrorKind::Exit),
        ("no_such_program_at_all", Some(127), ErrorKind::MissingTool),
        ("./text", Some(126), ErrorKind::Permission),
        ("kill -KILL $$", None, ErrorKind::Signal),
    ] {
        world.file("text", "no program");
        let answer = run_anyhow(&world, command).await;
        assert!(!answer.ok, "{command}");
        assert_eq!((answer.exit_code, answer.error_kind), (code, Some(kind)), "{command}: {}", answer.text);
    }
}

#[tokio::test]
async fn process_gets_a_clean_environment_and_no_input() {
    let world = World::new();
    let answer =
        run_anyhow(&world, "cat; echo \"$TERM $NO_COLOR $PAGER $GIT_PAGER $HOME $PWD $CARGO_MANIFEST_DIR\"")
            .await;
    let root = world.root();
    let expected = format!("exit code zero\ndumb 1 cat cat {0}/home {0}/project \n", root.display());
    assert_eq!(answer.text, expected);
}

#[tokio::test]
async fn process_runs_in_the_folder_it_is_told() {
    let world = World::new();
    world.file("sub dir/x", "");
    let answer = world.run("shell", json!({"command": "ls", "cwd": "$PROJECT/sub dir"})).await;
    assert_eq!(answer.text, "exit code zero\nx\n");
    let missing = world.run("shell", json!({"command": "ls", "cwd": "none"})).await;
    assert_eq!(missing.error_kind, Some(ErrorKind::NotFound), "{}", missing.text);
    let file = world.run("shell", json!({"command": "ls", "cwd": "sub dir/x"})).await;
    assert_eq!(file.error_kind, Some(ErrorKind::InvalidInput), "{}", file.text);
}

#[tokio::test]
async fn process_output_is_capped_while_it_is_read() {
    let world = World::new();
    let bytes = 64 * 1024 * 1024;
    let command = format!("head -c {bytes} /dev/zero | tr '\\0' x; echo; echo the end");
    let answer = world.run("shell", json!({"command": command})).await;
    assert!(answer.ok, "{}", answer.text.chars().take(200).collect::<String>());
    assert!(answer.text.len() <= setpoint_protocol::limits::TOOL_OUTPUT_BYTES_MAX);
    assert!(answer.text.len() > 300 * 1024, "{}", answer.text.len());
    assert!(answer.text.starts_with("exit code zero\nxxx"));
    assert!(answer.text.ends_with("xxx\nthe end\n"));
    assert!(answer.text.contains(&format!("of {} bytes cut", bytes + 9)));
    let facts = answer.facts.unwrap();
    assert!(facts.to_bytes().len() <= setpoint_protocol::limits::FACTS_BYTES_MAX);
    assert_eq!(facts.get("complete"), Some(&json!(false)));
}

#[tokio::test]
async fn process_output_that_is_no_text() {
    let world = World::new();
    let answer = world.run("shell", json!({"command": "printf 'a\\377b\\000c'"})).await;
    assert_eq!(answer.text, "exit code zero\na\u{fffd}b\0c");
}

#[tokio::test]
async fn process_out_of_time_is_stopped_and_says_so() {
    let world = World::new();
    let answer =
        run_with(&world, json!({"command": "echo begun; sleep 300; echo survived", "timeout_s": 1})).await;
    assert!(!answer.ok);
    assert_eq!(answer.error_kind, Some(ErrorKind::Timeout));
    let text = "TIMED OUT after 1 s: it and everything it started was stopped. Output so far:\nbegun\n";
    assert_eq!(answer.text, text);
    assert_eq!(answer.facts.unwrap().get("timed_out"), Some(&json!(true)));
}

/// Each of these keeps the pipe open and does not want to go; the call has to return all the same, and nothing may be left.
#[tokio::test]
async fn process_descendants_do_not_outlive_a_stopped_call() {
    for descendant in [
        "NAP",
        "(trap '' TERM; NAP; NAP)",
        "(trap '' TERM HUP INT; NAP; NAP) & NAP",
        "(NAP & NAP) & wait",
        "setsid NAP & NAP",
        "(setsid sh -c 'setsid NAP & NAP' &) ; NAP",
        "env -i NAP & NAP",
        "setsid env -i NAP & NAP",
        "kill -STOP $$",
        "for n in 1 2 3 4 5 6 7 8 9; do (NAP & NAP) & done; wait",
        "exec >/dev/null 2>&1 </dev/null; NAP",
    ] {
        let world = World::new();
        let watch = Watch::new(&world);
        let command = watch.command(descendant);
        let call = run_anyhow(&world, &command);
        let (answer, watch) = tokio::join!(call, async {
            let watch = watch.begun().await;
            world.cancel.cancel();
            watch
        });
        assert_eq!(answer.error_kind, Some(ErrorKind::Interrupted), "{descendant}: {}", answer.text);
        watch.ended(descendant).await;
    }
}

#[tokio::test]
async fn process_descendants_do_not_outlive_a_call_that_ended_by_itself() {
    for descendant in ["NAP &", "setsid NAP &", "(trap '' TERM; setsid NAP >/dev/null 2>&1 &)"] {
        let world = World::new();
        let watch = Watch::new(&world);
        let command = format!("{}\necho done", watch.command(descendant));
        let (answer, watch) = tokio::join!(run_anyhow(&world, &command), watch.begun());
        assert!(answer.ok, "{descendant}: {}", answer.text);
        assert!(answer.text.contains("that it left running in the background"), "{}", answer.text);
        watch.ended(descendant).await;
    }
}

#[tokio::test]
async fn process_descendants_do_not_outlive_a_dropped_call() {
    let world = World::new();
    let watch = Watch::new(&world);
    let command = watch.command("setsid NAP & (trap '' TERM; NAP)");
    let watch = tokio::select! {
        answer = run_anyhow(&world, &command) => panic!("it ended by itself: {}", answer.text),
        watch = watch.begun() => watch,
    };
    watch.ended("dropped").await;
}

/// This test is two processes: one that runs a call, and one that kills the first.
#[tokio::test]
async fn process_descendants_do_not_outlive_a_killed_runtime() {
    const VICTIM: &str = "SETPOINT_TEST_VICTIM_COMMAND";
    if let Ok(command) = std::env::var(VICTIM) {
        let world = World::new();
        let answer = run_anyhow(&world, &command).await;
        panic!("it ended by itself: {}", answer.text);
    }
    let world = World::new();
    let watch = Watch::new(&world);
    let command = watch.command("setsid NAP & (trap '' TERM HUP; NAP) & NAP");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "shell::process_descendants_do_not_outlive_a_killed_runtime", "--nocapture"])
        .env(VICTIM, command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let watch = watch.begun().await;
    victim.kill().unwrap();
    assert!(!victim.wait().unwrap().success());
    watch.until_end("killed runtime").await;
}

#[tokio::test]
async fn only_what_is_provably_read_only_runs_unasked() {
    let world = World::new();
    world.file("old", "x");
    assert_eq!(world.read("shell", json!({"command": "ls | wc -l"})).effect, Effect::ReadOnly);
    for command in [
        "rm old",
        "echo x > new",
        "sed -i s/a/b/ old",
        "python3 -c 'print(1)'",
        "ls $(rm old)",
        "unknown_program",
    ] {
        assert_eq!(world.read("shell", json!({"command": command})).effect, Effect::Unsafe, "{command}");
        let need = world.need("shell", json!({"command": command})).await;
        assert_eq!(need.command, command);
    }
    assert_eq!(std::fs::read(world.at("old")).unwrap(), b"x");
    assert!(!world.at("new").exists());
}

#[tokio::test]
async fn a_command_says_what_it_would_touch_and_then_what_it_did() {
    let mut world = World::new();
    let old = world.file("old one", "x");
    let need = world.need("shell", json!({"command": "cp 'old one' new; rm 'old one'"})).await;
    assert_eq!(need.writes, [world.at("new").to_str().unwrap()]);
    assert_eq!(need.deletes, [old.to_str().unwrap()]);
    let answer = run_anyhow(&world, "cp 'old one' new; rm 'old one'").await;
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(answer.created, [world.at("new").to_str().unwrap()]);
    assert_eq!(answer.side_effect, SideEffect::Irreversible);

    let answer = run_anyhow(&world, "mkdir -p a/b && touch a/b/c").await;
    let created: Vec<String> =
        ["a", "a/b", "a/b/c"].map(|name| world.at(name).to_str().unwrap().to_owned()).into();
    assert_eq!(answer.created, created);
    assert_eq!(answer.side_effect, SideEffect::Reversible);
    // Consent is per command, whoever created the files.
    world.created.extend(created.iter().map(PathBuf::from));
    world.need("shell", json!({"command": "rm -r a"})).await;
}

#[tokio::test]
async fn an_allowed_command_is_exactly_that_command_on_exactly_those_bytes() {
    let world = World::new();
    world.file("old", "one");
    let input = json!({"command": "rm old"});
    let need = world.need("shell", input.clone()).await;
    let other = world.run_under("shell", json!({"command": "rm -f old"}), Some(need.digest.clone())).await;
    assert_eq!(other.error_kind, Some(ErrorKind::ApprovalRequired));
    let elsewhere = json!({"command": "rm old", "cwd": "$PROJECT/.."});
    let elsewhere = world.run_under("shell", elsewhere, Some(need.digest.clone())).await;
    assert_eq!(elsewhere.error_kind, Some(ErrorKind::ApprovalRequired));
    world.file("old", "two");
    let changed = world.run_under("shell", input.clone(), Some(need.digest.clone())).await;
    assert_eq!(changed.error_kind, Some(ErrorKind::ApprovalRequired), "{}", changed.text);
    assert_ne!(changed.approval.unwrap().digest, need.digest);
    world.file("old", "one");
    assert!(world.run_under("shell", input, Some(need.digest)).await.ok);
    assert!(!world.at("old").exists());
}

#[tokio::test]
async fn executed_files_are_named_with_their_content() {
    let world = World::new();
    let script = world.file("job.sh", "echo from the job\n");
    let input = json!({"command": "sh job.sh"});
    let need = world.need("shell", input.clone()).await;
    let answer = world.run_under("shell", input.clone(), Some(need.digest.clone())).await;
    assert_eq!(answer.text, "exit code zero\nfrom the job\n");
    let [executed] = answer.executed_files.as_slice() else { panic!("{:?}", answer.executed_files) };
    assert_eq!(executed.path, script.to_str().unwrap());
    assert_eq!(executed.hash, blake3::hash(b"echo from the job\n").to_hex().to_string());
    world.file("job.sh", "echo something else\n");
    let changed = world.run_under("shell", input, Some(need.digest)).await;
    assert_eq!(changed.error_kind, Some(ErrorKind::ApprovalRequired));
}

#[tokio::test]
async fn a_program_planted_in_the_project_does_not_run_unasked() {
    let mut world = World::new();
    let planted = world.file("bin/wc", "#!/bin/sh\necho planted\n");
    std::fs::set_permissions(&planted, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", world.at("bin").display());
    let host = setpoint_tools::Host::new("linux", [("PATH".into(), path.into())]);
    world.registry = setpoint_tools::Registry::built_in(&host);
    let answer = world.run("shell", json!({"command": "printf abc | wc -c"})).await;
    assert_eq!(answer.text.trim(), "exit code zero\n3");
}

#[test]
fn readings_name_programs_and_the_normal_form() {
    let world = World::new();
    let reading =
        world.read("shell", json!({"command": "  cat   'a b' |sort  2>/dev/null", "timeout_s": 60}));
    let tools: Vec<&str> = reading.tools.iter().map(|id| id.as_str()).collect();
    assert_eq!(tools, ["shell/cat", "shell/sort"]);
    assert_eq!(reading.target, "cat 'a b' | sort");
    let same = world.read("shell", json!({"command": "cat \"a b\"|sort"}));
    assert_eq!((same.tools, same.target), (reading.tools, reading.target.clone()));
    let longer = world.read("shell", json!({"command": "cat 'a b' | sort", "timeout_s": 90}));
    assert_ne!(longer.target, reading.target);
    let unread = world.read("shell", json!({"cmd": "ls"}));
    assert_eq!((unread.tools[0].as_str(), unread.effect), ("shell", Effect::Unsafe));
}

#[tokio::test]
async fn impossible_inputs_are_named() {
    let world = World::new();
    for (input, field) in [
        (json!({}), "command"),
        (json!({"command": 3}), "command"),
        (json!({"command": "ls", "timeout_s": 0}), "timeout_s"),
        (json!({"command": "ls", "timeout_s": -1}), "timeout_s"),
        (json!({"command": "ls", "cwd": "$NOWHERE"}), "cwd"),
        (json!({"command": "l\u{0}s"}), "command"),
    ] {
        let answer = world.run("shell", input.clone()).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{input}");
        assert!(answer.text.contains(&format!("`{field}`")), "{}", answer.text);
    }
}

async fn run_anyhow(world: &World, command: &str) -> ToolAnswer {
    run_with(world, json!({"command": command})).await
}

/// Runs a command, with an approval where it needs one.
async fn run_with(world: &World, input: serde_json::Value) -> ToolAnswer {
    let answer = world.run("shell", input.clone()).await;
    match answer.approval {
        Some(need) => world.run_under("shell", input, Some(need.digest)).await,
        None => answer,
    }
}

/// Sees when a command's last process has ended: all of them hold the writing end of a named pipe.
struct Watch {
    pipe: PathBuf,
    nap: PathBuf,
}

/// A command that has begun.
struct Begun {
    reader: BufReader<File>,
    call: String,
}

impl Watch {
    fn new(world: &World) -> Self {
        let pipe = world.root().join("watch");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let nap = world.root().join("nap");
        std::fs::write(&nap, "#!/bin/sh\n/bin/sleep 300\necho survived >&9\n").unwrap();
        std::fs::set_permissions(&nap, Permissions::from_mode(0o755)).unwrap();
        Watch { pipe, nap }
    }

    /// A command that says its mark through the pipe, then does `what`. `NAP` in it is a program that says so when it comes
    /// to its own end.
    fn command(&self, what: &str) -> String {
        let what = what.replace("NAP", self.nap.to_str().unwrap());
        format!("exec 9>'{}'; echo \"$SETPOINT_CALL\" >&9; {what}", self.pipe.display())
    }

    async fn begun(self) -> Begun {
        let open = move || {
            let mut reader = BufReader::new(File::open(self.pipe).unwrap());
            let mut call = String::new();
            reader.read_line(&mut call).unwrap();
            Begun { reader, call: call.trim().to_owned() }
        };
        tokio::task::spawn_blocking(open).await.unwrap()
    }
}

impl Begun {
    /// The call is over: no process of it may be there, now.
    async fn ended(self, what: &str) {
        assert!(!self.call.is_empty(), "{what}: no mark");
        assert_eq!(marked(&self.call), Vec::<String>::new(), "{what}");
        self.until_end(what).await;
    }

    /// Waits for the end of the last process that holds the pipe. None of them may have come to its own end.
    async fn until_end(mut self, what: &str) {
        let mut said = String::new();
        let read = move || {
            self.reader.read_to_string(&mut said).unwrap();
            said
        };
        assert_eq!(tokio::task::spawn_blocking(read).await.unwrap(), "", "{what}");
    }
}

/// Command lines of the processes that carry a call's mark.
fn marked(call: &str) -> Vec<String> {
    let wanted = format!("SETPOINT_CALL={call}");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let holds = entries.filter(|entry| {
        std::fs::read(entry.path().join("environ")).is_ok_and(|environ| {
            environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        })
    });
    holds.map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default()).collect()
}
