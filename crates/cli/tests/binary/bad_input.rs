//! A person's mistakes: commands, configuration, approvals, goals. Each is reported with what to do about it,
//! before anything is written.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::task::{Ended, GOAL, Trial};
use crate::support::{Came, Home};

/// Asserts a usage or configuration error: reported on stderr with a hint, nothing on stdout, nothing
/// written.
fn assert_refused(home: &Home, came: &Came, said: &[&str]) {
    assert_eq!((came.code, came.out.as_str()), (2, ""), "{came:#?}");
    assert!(came.err.starts_with("error: ") && came.err.contains("\nhint: "), "{came:#?}");
    // Each cause continues one sentence, so "failed to" occurs only once.
    assert!(came.err.matches("failed to").count() <= 1, "{came:#?}");
    for part in said {
        assert!(came.err.contains(part), "{part:?} is not in {came:#?}");
    }
    assert!(!came.err.contains('\u{1b}'), "{came:#?}");
    assert!(!home.data().exists(), "{came:#?}");
}

fn run_with_stdin(home: &Home, arguments: &[&str], stdin: &[u8]) -> Came {
    let mut command = home.command(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads no further than it needs has closed its end.
    drop(child.stdin.take().unwrap().write_all(stdin));
    Came::from(child.wait_with_output().unwrap())
}

#[test]
fn an_invalid_command_line() {
    let home = Home::new();
    for (line, said) in [
        (&["fly"][..], "fly"),
        (&["run", "--fast", "x"], "--fast"),
        (&["run"], "GOAL"),
        (&["run", "--max-calls", "0", "x"], "--max-calls"),
        (&["run", "--max-calls", "-1", "x"], "-1"),
        (&["run", "--max-replans", "4294967296", "x"], "--max-replans"),
        (&["run", "--time-budget", "soon", "x"], "--time-budget"),
        (&["run", "--time-budget", "5", "x"], "with its unit"),
        (&["run", "--set", "delta", "x"], "KEY=VALUE"),
        (&["tasks", "list", "--limit", "many"], "--limit"),
        (&["completions", "klingon"], "klingon"),
        (&["schema", "Nonsense"], "Nonsense"),
        (&["playbooks", "show", "nonsense"], "nonsense"),
    ] {
        let came = home.run(line);
        assert_refused(&home, &came, &[said]);
        let mut line = line.to_vec();
        line.push("--json");
        let came = home.run(&line);
        assert_eq!(came.code, 2, "{came:#?}");
        let error = &came.json()["error"];
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        assert!(!error["hints"].as_array().unwrap().is_empty(), "{error}");
    }
}

#[test]
fn a_value_that_cannot_be_used_is_named_with_key_file_and_line() {
    for (content, line, key, said) in [
        ("[controller]\nalpha = 1\nrho = 2.5\n", 3, "controller.rho", "from 0 to"),
        ("[controller]\ndelta = \"near\"\n", 2, "controller.delta", "a finite number"),
        ("[controller]\nmax_replans = 0\n", 2, "controller.max_replans", "from 1 to"),
        ("[controller]\nmax_replans = -1\n", 2, "controller.max_replans", "a whole number"),
        ("[controller]\nlaw = \"murphy\"\n", 2, "controller.law", "reference"),
        ("[controller]\ntime_budget_ms = \"soon\"\n", 2, "controller.time_budget_ms", "milliseconds"),
        ("[controller]\nurgency = \"much\"\n", 2, "controller.urgency", "one of words, sets"),
        ("\n\n[controller]\ndetla = 1\n", 4, "controller.detla", "did you mean `controller.delta`?"),
        ("delta = 1\n", 1, "delta", "did you mean `controller.delta`?"),
        ("[run]\npreview_plan = 1\n", 2, "run.preview_plan", "true or false"),
        ("[budgets]\ncalls = 1.5\n", 2, "budgets.calls", "a whole number"),
        ("controller = 7\n", 1, "controller", "there is no key"),
    ] {
        let home = Home::new();
        // In the user's configuration and in the project's.
        for path in [home.config().join("setpoint.toml"), home.work().join("setpoint.toml")] {
            fs::write(&path, content).unwrap();
            let place = format!("{}:{line}", path.canonicalize().unwrap().display());
            let short = format!("{}:{line}", path.display());
            let came = home.run(&["run", GOAL]);
            assert_refused(&home, &came, &[&format!("`{key}`"), said]);
            assert!(came.err.contains(&place) || came.err.contains(&short), "{place}: {came:#?}");
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn a_value_from_a_flag_or_the_environment_is_named_by_it() {
    let home = Home::new();
    let came = home.run(&["--set", "controller.delta=near", "run", GOAL]);
    assert_refused(&home, &came, &["--set controller.delta:", "\"near\"", "a finite number"]);
    let came = home.run(&["--set", "controller.nonsense=1", "run", GOAL]);
    assert_refused(&home, &came, &["controller.nonsense"]);
    let came = home.run(&["--model", "gpt", "run", GOAL]);
    assert_refused(&home, &came, &["\"gpt\"", "playbook"]);
    let mut command = home.command(&["run", GOAL]);
    let came = Came::from(command.env("SETPOINT_BRAIN_MODEL", "gpt").output().unwrap());
    assert_refused(&home, &came, &["\"gpt\"", "playbook"]);
}

#[test]
fn an_invalid_configuration() {
    type Make = fn(&Path);
    let files: [(Make, &str); 6] = [
        (|path| fs::write(path, "[controller\ndelta = 1").unwrap(), "setpoint.toml:1: "),
        (|path| fs::write(path, b"# fine\nlaw = \"\xff\"\n").unwrap(), "setpoint.toml:2: it is not UTF-8"),
        (
            |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
            "it is a pipe, and only regular files are used",
        ),
        (|path| fs::create_dir(path).unwrap(), "directory"),
        (|path| symlink(path, path).unwrap(), "symbolic links"),
        (|path| fs::write(path, vec![b'#'; (1 << 20) + 1]).unwrap(), "1048576"),
    ];
    for (make, said) in files {
        let home = Home::new();
        let path = home.config().join("setpoint.toml");
        make(&path);
        for line in [&["run", GOAL][..], &["doctor"], &["config"]] {
            assert_refused(&home, &home.run(line), &["setpoint.toml", said]);
        }
    }
}

#[test]
fn an_invalid_approval_file() {
    let home = Home::new();
    Trial::new().reads("there.txt", "1").write(&home);
    let text = |content: &[u8]| home.file("consent", content).to_str().unwrap().to_owned();
    for (file, said) in [
        (home.work().join("gone").to_str().unwrap().to_owned(), "gone"),
        (home.work().to_str().unwrap().to_owned(), "directory"),
        (text(b"path .\n\n# a comment\nallow everything\n"), "consent:4"),
    ] {
        let came = home.run(&["run", "--approve", &file, GOAL]);
        assert_refused(&home, &came, &["failed to read", said]);
    }
    for (content, said) in
        [(&b"command\n"[..], "consent:1"), (b"path a\npath [\n", "consent:2"), (b"path \xff\n", "UTF-8")]
    {
        let came = home.run(&["run", "--approve", &text(content), GOAL]);
        assert_refused(&home, &came, &["failed to read", said]);
    }
}

#[test]
fn an_invalid_goal() {
    let home = Home::new();
    let long = vec![b'x'; 1 << 20];
    let file = home.file("long", &long);
    for (arguments, stdin, said) in [
        (&["run", ""][..], &b""[..], "the goal is empty"),
        (&["run", " \t\n "], b"", "the goal is empty"),
        (&["run", "-"], b"", "the goal is empty"),
        (&["run", "-"], b"\n\n", "the goal is empty"),
        (&["run", "-"], &long, "longer than 262144 bytes"),
        (&["run", "--file", file.to_str().unwrap()], b"", "longer than 262144 bytes"),
        (&["run", "-"], b"count\xff", "not UTF-8"),
        (&["run", "--file", "gone"], b"", "gone"),
        (&["run", "--file", "."], b"", "it is a directory, and only regular files are used"),
    ] {
        let came = run_with_stdin(&home, arguments, stdin);
        assert_refused(&home, &came, &[said]);
    }
    let came = home.run(&[OsString::from("run"), OsString::from_vec(b"count \xff".to_vec())]);
    assert_refused(&home, &came, &["is not UTF-8", "--file"]);
}

#[test]
fn a_goal_may_come_from_stdin_or_a_file() {
    let home = Home::new();
    Trial::new().reads("there.txt", "1").write(&home);
    let came = run_with_stdin(&home, &["run", "--json", "-"], format!("{GOAL}\n").as_bytes());
    assert_eq!(Ended::of(&home, came).course(), "init→accept");
    let file = home.file("goal", GOAL);
    let came = home.run(&["run", "--json", "--file", file.to_str().unwrap()]);
    assert_eq!(Ended::of(&home, came).course(), "init→accept");
}

#[test]
fn a_goal_without_a_playbook_gets_advice() {
    let home = Home::new();
    let before = home.file("notes.txt", "mine\n");
    let came = home.run(&["run", "count the angels on the head of a pin"]);
    assert_eq!(came.code, 4, "{came:#?}");
    for part in [
        "not started: no playbook matches this goal, and no language model is set",
        "what to try next:",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "OLLAMA_HOST",
        "is close: ",
        "`setpoint playbooks`",
    ] {
        assert!(came.out.contains(part), "{part:?} is not in {came:#?}");
    }
    assert_eq!(fs::read_to_string(before).unwrap(), "mine\n");
}

/// A broken playbook is reported and left out; the others work.
#[test]
fn a_broken_playbook_does_not_stop_the_others() {
    let home = Home::new();
    Trial::new().reads("there.txt", "1").write(&home);
    home.playbook("broken", "name = \"broken\"\n[[approach]\n");
    fs::write(home.playbooks().join("bytes.toml"), b"name = \"\xff\"").unwrap();
    fs::create_dir(home.playbooks().join("folder.toml")).unwrap();
    let came = home.run(&["playbooks", "check"]);
    assert_eq!(came.code, 2, "{came:#?}");
    for part in ["broken.toml:2: ", "bytes.toml: ", "folder.toml: "] {
        assert!(came.out.contains(part), "{part}: {came:#?}");
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    assert!(doctor.out.contains("3 of them cannot be used"), "{doctor:#?}");
    assert_eq!(home.run(&["run", GOAL]).code, 0);
}
