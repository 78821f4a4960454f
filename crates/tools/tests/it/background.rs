//! Processes that a task keeps running: what reaches them, what they leave, and what is known of them later.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use setpoint_protocol::tool::{Effect, ErrorKind, SideEffect, ToolAnswer};
use setpoint_tools::BACKGROUND_MAX;

use crate::sandbox::{with_sandbox, world as sandbox_world};
use crate::support::World;
use crate::survivors::left_of;

/// Answers every connection, and says its port and its requests. It makes a file, and changes none.
const SERVER: &str = r#"
import socket, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])))
open("made", "w").write("by the server")
print("listening", flush=True)
while True:
    c, _ = s.accept()
    c.recv(999)
    c.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello from p")
    c.close()
    print("asked", flush=True)
"#;
const CLIENT: &str = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:8000/').read())";

fn world() -> Option<World> {
    let mut world = sandbox_world()?;
    world.probe = false;
    world.file("server.py", SERVER);
    fs::copy("/bin/sleep", world.at("nap")).unwrap();
    Some(world.keeping())
}

fn start(command: &str) -> Value {
    json!({ "action": "start", "command": command })
}

fn with(mut input: Value, more: Value) -> Value {
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

async fn call(world: &World, input: Value) -> ToolAnswer {
    let answer = world.run("background", input).await;
    assert!(answer.approval.is_none(), "{:?}", answer.approval);
    answer
}

async fn poll(world: &World, name: &str) -> ToolAnswer {
    call(world, json!({ "action": "poll", "name": name })).await
}

async fn stop(world: &World, name: &str) -> ToolAnswer {
    call(world, json!({ "action": "stop", "name": name })).await
}

fn facts(answer: &ToolAnswer) -> &Value {
    &answer.facts.as_ref().unwrap().0
}

/// Waits until the kernel has ended everything of this world. If something stayed, this would not end.
async fn none_is_left(world: &World) {
    while !left_of(&world.root().join("project")).is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn process_commands_reach_a_server_in_the_background() {
    let Some(mut world) = world() else { return };
    let serve = with(start("python3 server.py 8000"), json!({ "wait_for": "8000", "wait_s": 60 }));
    let started = call(&world, serve).await;
    assert!(started.ok && started.text.contains("p1 is running"), "{}", started.text);
    assert_eq!((&facts(&started)["name"], started.side_effect), (&json!("p1"), SideEffect::None));
    for (tool, input) in [
        ("shell", json!({ "command": "curl -s http://127.0.0.1:8000/" })),
        ("shell", json!({ "command": format!("python3 -c \"{CLIENT}\"") })),
        ("run_code", json!({ "language": "python", "code": CLIENT })),
    ] {
        let answer = world.run(tool, input.clone()).await;
        assert!(
            answer.ok && answer.text.contains("hello from p"),
            "{input}: {:?} {}",
            answer.approval,
            answer.text
        );
    }
    // What another process in the background serves is in the same network.
    let serve = with(start("python3 server.py 8001"), json!({ "wait_for": "listening", "wait_s": 60 }));
    assert!(call(&world, serve).await.ok);
    let answer =
        world.run("shell", json!({ "command": "curl -s localhost:8000 && curl -s localhost:8001" })).await;
    assert_eq!(answer.text.matches("hello").count(), 2, "{}", answer.text);
    // The view of the server is its own until it is stopped.
    assert!(!world.at("made").exists());
    let seen = poll(&world, "p1").await;
    assert_eq!(facts(&seen)["running"], true);
    assert_eq!(seen.text.matches("asked").count(), 4, "{}", seen.text);

    // A judge's probe and another task reach nothing of it.
    world.probe = true;
    let probed = world.run("shell", json!({ "command": format!("python3 -c \"{CLIENT}\"") })).await;
    assert!(!probed.ok && !probed.text.contains("hello"), "{}", probed.text);
    world.probe = false;
    let own = world.task.clone();
    world.task = "b-task-00000000000000b2".parse().unwrap();
    let stranger = poll(&world, "p1").await;
    assert_eq!(stranger.error_kind, Some(ErrorKind::InvalidInput), "{}", stranger.text);
    assert!(!stop(&world, "p1").await.ok);
    let code = json!({ "language": "python", "code": CLIENT });
    assert!(!world.run("run_code", code).await.text.contains("hello"));
    world.task = own;

    let stopped = stop(&world, "p1").await;
    assert!(stopped.ok && stopped.text.contains("p1 was stopped"), "{}", stopped.text);
    assert_eq!(stopped.side_effect, SideEffect::Reversible);
    assert_eq!(facts(&stopped)["changed"]["made"], json!([world.at("made")]));
    assert_eq!(fs::read_to_string(world.at("made")).unwrap(), "by the server");
    let again = stop(&world, "p1").await;
    assert!(again.text.contains("put in place before"), "{}", again.text);
    // The network is there as long as one of them is.
    let answer = world.run("shell", json!({ "command": "curl -s localhost:8001" })).await;
    assert!(answer.ok, "{}", answer.text);
    world.registry.end_background(&world.task).await;
    none_is_left(&world).await;
    let kept = poll(&world, "p2").await;
    assert!(kept.ok && kept.text.contains("p2 had ended before the task was interrupted"), "{}", kept.text);
    assert!(kept.text.contains("python3 server.py 8001") && kept.text.contains("asked"), "{}", kept.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn process_what_it_changed_is_asked_about_when_it_is_stopped() {
    let Some(world) = world() else { return };
    world.file(".envrc", "old\n");
    let begun = call(&world, with(start("echo new > .envrc; exit 3"), json!({ "wait_for": "x" }))).await;
    assert!(!begun.ok && begun.text.contains("p1 has ended: exit code 3"), "{}", begun.text);
    let input = json!({ "action": "stop", "name": "p1" });
    let need = world.need("background", input.clone()).await;
    assert_eq!(fs::read_to_string(world.at(".envrc")).unwrap(), "old\n");
    assert!(need.preview.unwrap().contains("+new"));
    let answer = world.run_under("background", input, Some(need.digest)).await;
    assert!(answer.ok && answer.text.contains("exit code 3. It had ended before"), "{}", answer.text);
    assert_eq!(fs::read_to_string(world.at(".envrc")).unwrap(), "new\n");
}

/// Ways to stay: `NAP` is a program that sleeps.
const WAYS: &[&str] = &[
    "trap '' TERM HUP INT; NAP",
    "setsid -f NAP; (NAP &); exec NAP",
    "python3 -c 'import os, signal; signal.signal(15, signal.SIG_IGN); [os.fork() for _ in range(5)]; os.execv(\"NAP\", [\"NAP\", \"300\"])'",
    "NAP & exec yes flood",
    "setsid -f sh -c 'trap \"\" TERM; NAP' >&- 2>&-; read x; NAP",
    "python3 -c 'import os, signal; os.kill(os.getppid(), signal.SIGSTOP)'; NAP # STOP",
];

async fn all_ways(world: &World, deadline_s: u64) -> Vec<String> {
    let mut names = Vec::new();
    for way in WAYS.iter().take(BACKGROUND_MAX) {
        names.push(begin(world, way, deadline_s).await);
    }
    names
}

async fn begin(world: &World, way: &str, deadline_s: u64) -> String {
    let nap = world.at("nap").to_str().unwrap().to_owned();
    let nap = if way.contains("execv") { nap } else { format!("{nap} 300") };
    let command = format!("echo begun; {}", way.replace("NAP", &nap));
    let more = json!({ "deadline_s": deadline_s, "wait_for": "begun", "wait_s": 60 });
    let answer = call(world, with(start(&command), more)).await;
    assert!(answer.ok, "{way}: {}", answer.text);
    facts(&answer)["name"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_its_stop() {
    let Some(world) = world() else { return };
    for way in WAYS {
        let name = begin(&world, way, 600).await;
        assert!(!left_of(&world.at("nap")).is_empty() || way.contains("STOP"), "{way}");
        // Of a flood, more must have come than is kept.
        while way.contains("flood") && !poll(&world, &name).await.text.contains("bytes cut") {}
        let answer = stop(&world, &name).await;
        assert!(answer.text.contains(" was stopped"), "{way}: {}", answer.text);
        assert!(answer.text.len() < 16 * 1024, "{way}: {}", answer.text.len());
        assert!(!way.contains("flood") || answer.text.contains("bytes cut"), "{way}: {}", answer.text);
        none_is_left(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_its_deadline() {
    let Some(world) = world() else { return };
    for name in all_ways(&world, 1).await {
        // It waits for the end, since this text never comes.
        let wait = json!({ "action": "poll", "name": name, "wait_for": "never printed", "wait_s": 60 });
        let answer = call(&world, wait).await;
        assert!(answer.text.contains("has ended: its time was over"), "{}", answer.text);
    }
    none_is_left(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn process_nothing_survives_the_end_of_its_task() {
    let Some(world) = world() else { return };
    all_ways(&world, 600).await;
    let more = call(&world, start("true")).await;
    assert_eq!(more.error_kind, Some(ErrorKind::InvalidInput), "{}", more.text);
    assert!(more.text.contains("p1, p2, p3, p4 run already"), "{}", more.text);
    world.registry.end_background(&world.task).await;
    none_is_left(&world).await;
    // What it changed has no place any more.
    assert!(!world.root().join("layers").exists());
    // Its names are not given again.
    let next = call(&world, with(start("echo next"), json!({ "wait_for": "next" }))).await;
    assert_eq!(facts(&next)["name"], "p5");
}

/// This test consists of two processes: one keeps something running, the other kills it and is its next life.
#[tokio::test(flavor = "multi_thread")]
async fn process_a_killed_runtime_leaves_nothing_but_what_was_known() {
    const VICTIM: &str = "SETPOINT_TEST_BACKGROUND_VICTIM";
    if let Some(folder) = std::env::var_os(VICTIM) {
        let mut world = with_sandbox(World::of_another_process(Path::new(&folder))).unwrap().keeping();
        world.probe = false;
        all_ways(&world, 600).await;
        fs::write(world.root().join("ready"), "").unwrap();
        std::future::pending::<()>().await;
    }
    let Some(world) = world() else { return };
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "background::process_a_killed_runtime_leaves_nothing_but_what_was_known",
            "--nocapture",
        ])
        .env(VICTIM, world.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !world.root().join("ready").exists() {
        assert!(victim.try_wait().unwrap().is_none(), "the victim ended by itself");
        tokio::task::yield_now().await;
    }
    assert!(left_of(&world.at("nap")).len() >= BACKGROUND_MAX);
    victim.kill().unwrap();
    victim.wait().unwrap();
    none_is_left(&world).await;
    let answer = poll(&world, "p1").await;
    assert!(answer.ok && answer.text.contains("p1 ended when the task was interrupted"), "{}", answer.text);
    assert!(answer.text.contains("trap '' TERM") && answer.text.contains("begun"), "{}", answer.text);
    assert_eq!((&facts(&answer)["running"], &facts(&answer)["name"]), (&json!(false), &json!("p1")));
    // The next one has a name of its own, and a network that works.
    let serve = with(start("python3 server.py 8000"), json!({ "wait_for": "8000", "wait_s": 60 }));
    let started = call(&world, serve).await;
    assert_eq!((started.ok, &facts(&started)["name"]), (true, &json!("p5")), "{}", started.text);
    let answer = world.run("shell", json!({ "command": "curl -s localhost:8000" })).await;
    assert!(answer.ok, "{}", answer.text);
}

#[tokio::test]
async fn what_cannot_run_in_the_background_is_refused() {
    let Some(mut world) = world() else { return };
    for (input, why) in [
        (json!({ "action": "start" }), "`command`"),
        (start("a\0b"), "`command`"),
        (with(start("true"), json!({ "deadline_s": 0 })), "`deadline_s`"),
        (with(start("true"), json!({ "wait_for": "" })), "`wait_for`"),
        (with(start("true"), json!({ "wait_for": "x", "wait_s": 0 })), "`wait_s`"),
        (json!({ "action": "poll" }), "`name`"),
        (json!({ "action": "stop", "name": "../p1" }), "keeps no `../p1` running"),
        (start("curl https://example.org"), "`shell` can run it"),
        (start("curl http://localhost.example.org"), "`shell` can run it"),
        (start("curl http://localhost:80@example.org"), "`shell` can run it"),
    ] {
        let answer = call(&world, input).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{}", answer.text);
        assert!(answer.text.contains(why), "{}", answer.text);
    }
    assert_eq!(world.read("background", start("true")).effect, Effect::Unsafe);
    world.has_sandbox = false;
    let answer = call(&world, start("true")).await;
    assert!(answer.text.contains("only the sandbox"), "{}", answer.text);
    // Without a sandbox no task is offered the tool, but calls of tasks that had one read as before: they replay.
    let bare = World::new();
    assert!(bare.registry.specs().iter().all(|spec| spec.name != "background"));
    assert_eq!(bare.read("background", start("true")), world.read("background", start("true")));
    let refused = bare.run("background", start("true")).await;
    assert!(refused.text.contains("only the sandbox"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn process_stopping_says_what_became_of_the_changes() {
    let Some(world) = world() else { return };
    world.file(".envrc", "old\n");
    let serve = with(start("echo new > .envrc; tail -f /dev/null"), json!({ "wait_for": "x", "wait_s": 1 }));
    call(&world, serve).await;
    let input = json!({ "action": "stop", "name": "p1" });
    let need = world.need("background", input.clone()).await;
    // It ran until the first of the two calls ended it.
    let refused = stop(&world, "p1").await;
    assert!(refused.text.starts_with("p1 was stopped. What it changed is not in place"), "{}", refused.text);
    let answer = world.run_under("background", input, Some(need.digest)).await;
    assert!(answer.ok && answer.text.starts_with("p1 was stopped\n"), "{}", answer.text);
    assert_eq!(fs::read_to_string(world.at(".envrc")).unwrap(), "new\n");
    let again = stop(&world, "p1").await;
    assert!(
        again.text.starts_with("p1 was stopped. What it changed was put in place before."),
        "{}",
        again.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn process_a_question_says_that_the_server_has_ended() {
    let Some(mut world) = world() else { return };
    let curl = json!({ "command": "curl -s http://localhost:8000/" });
    let before = world.need("shell", curl.clone()).await;
    assert!(!before.why().contains("ended"), "{}", before.why());
    let serve = with(start("python3 server.py 8000"), json!({ "wait_for": "8000", "wait_s": 60 }));
    assert!(call(&world, serve).await.ok);
    assert!(world.run("shell", curl.clone()).await.ok);
    stop(&world, "p1").await;
    let need = world.need("shell", curl.clone()).await;
    assert!(need.why().contains("p1 ended, so `localhost` is this machine itself"), "{}", need.why());
    // So it does after a restart.
    world.registry.end_background(&world.task.clone()).await;
    let need = world.need("shell", curl).await;
    assert!(need.why().contains("p1 ended, so `localhost` is this machine itself"), "{}", need.why());
    let other = world.need("shell", json!({ "command": "curl -s http://docs.example.org/" })).await;
    assert!(!other.why().contains("p1"), "{}", other.why());
    world.task = "b-task-00000000000000b2".parse().unwrap();
    let stranger = world.need("shell", json!({ "command": "curl -s http://localhost:8000/" })).await;
    assert!(!stranger.why().contains("ended"), "{}", stranger.why());
}

#[tokio::test(flavor = "multi_thread")]
async fn process_a_refusal_names_the_reason_that_holds() {
    let Some(mut world) = world() else { return };
    for (input, wanted) in [
        (start("curl http://docs.example.org"), "`curl` needs a network or acts on other programs"),
        (start("cat /etc/../var/log/x"), "`/etc/../var/log/x` names a place that the sandbox does not show"),
        (
            json!({ "action": "stop" }),
            "`poll` and `stop` need the name of a process, as `p1`; it has started none",
        ),
        (with(start("true"), json!({ "deadline_s": 9_999 })), "`deadline_s`: it must be 1 to 3600"),
        (with(start("true"), json!({ "wait_for": "x", "wait_s": 61 })), "`wait_s`: it must be 1 to 60"),
        (with(start("true"), json!({ "timeout_s": 5 })), "`timeout_s`: the tool has no such parameter"),
    ] {
        let answer = call(&world, input.clone()).await;
        assert!(!answer.ok && answer.text.contains(wanted), "{input}: {}", answer.text);
    }
    let ended = call(&world, with(start("exit 3"), json!({ "wait_for": "zzz", "wait_s": 60 }))).await;
    assert!(
        ended.text.starts_with("p1 has ended: exit code 3. There is no `zzz` in its output.\n"),
        "{}",
        ended.text
    );
    world.has_sandbox = false;
    let answer = call(&world, start("true")).await;
    assert!(answer.text.contains("only the sandbox runs something in the background"), "{}", answer.text);
}
