//! The accepted command lines, and the errors for all others.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use expect_test::expect;
use setpoint_cli::{Color, CommandLine, Options, parse};

use crate::support::organisation::{Beat, Fake};
use crate::support::tapes;
use crate::support::world::{Came, World, words};

fn options(line: &str) -> Options {
    let CommandLine { options, command: _ } =
        parse(std::iter::once("setpoint".into()).chain(words(line))).unwrap();
    options
}

async fn refused(arguments: Vec<OsString>) -> Came {
    World::headless(Fake::with(vec![])).run_arguments(arguments).await.0
}

/// Returns the goal with which a task is started.
async fn goal(line: &str, stdin: &str) -> String {
    let fake = Fake::starting(tapes::accepted(), vec![Beat::TellRest]);
    let mut world = World::headless(fake.clone());
    world.stdin = stdin.as_bytes().to_vec();
    assert_eq!(world.run(line).await.code, 0, "{line}");
    let goals = fake.goals.lock().unwrap();
    goals[0].raw_input.clone()
}

#[tokio::test]
async fn a_goal_is_words_stdin_or_a_file() {
    assert_eq!(goal("run count the files", "").await, "count the files");
    assert_eq!(goal("run 'count  the' files", "").await, "count  the files");
    assert_eq!(goal("run -", "from stdin").await, "from stdin");
    assert_eq!(goal("run -- --odd -words", "").await, "--odd -words");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("goal.txt");
    std::fs::write(&file, "from a file").unwrap();
    assert_eq!(goal(&format!("run --file {}", file.display()), "").await, "from a file");
}

#[test]
fn options_of_run_become_settings_after_the_others() {
    let global = options(
        "run --time-budget 5m --max-replans 2 --set a.b=c=d --max-calls 7 --max-tokens 8 --max-cost 0.5 --model m --color never x",
    );
    let set: Vec<(&str, &str, &str)> =
        global.set.iter().map(|one| (one.key.as_str(), one.value.as_str(), one.option.as_str())).collect();
    assert_eq!(
        set,
        [
            ("a.b", "c=d", "--set a.b"),
            ("controller.time_budget_ms", "300000", "--time-budget"),
            ("controller.max_replans", "2", "--max-replans"),
            ("budgets.calls", "7", "--max-calls"),
            ("budgets.tokens", "8", "--max-tokens"),
            ("budgets.money", "0.5", "--max-cost")
        ]
    );
    assert_eq!((global.model.as_deref(), global.color), (Some("m"), Color::Never));
    // A model of the doctor is one for every role, and may be left out.
    assert_eq!(options("doctor --model m").model.as_deref(), Some("m"));
    assert_eq!(options("doctor --model").model, None);
}

#[test]
fn global_options_stand_before_or_after_the_command() {
    for line in [
        "--json --data-dir /d tasks list",
        "tasks --json list --data-dir /d",
        "tasks list --data-dir=/d --json",
    ] {
        let global = options(line);
        assert!(global.is_json, "{line}");
        assert_eq!(global.data_dir, Some(PathBuf::from("/d")), "{line}");
    }
}

#[tokio::test]
async fn a_command_that_can_do_one_obvious_thing_does_it() {
    let out = async |line: &str| {
        let came = World::headless(Fake::with(vec![(tapes::accepted(), 99, vec![], None)])).run(line).await;
        assert_eq!(came.code, 0, "{line}: {}", came.err);
        came.out + &came.err
    };
    for (bare, meant) in [
        ("tasks", "tasks list --limit 20"),
        ("memory", "memory list --limit 20"),
        ("audit", "audit query --limit 50"),
        ("playbooks", "playbooks list"),
        ("config", "config show"),
    ] {
        let said = out(bare).await;
        assert!(!said.is_empty(), "{bare}");
        assert_eq!(said, out(meant).await, "{bare}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_with_what_to_do() {
    let mut said = String::new();
    for line in [
        "",
        "run",
        "run --frobnicate x",
        "run --file f x",
        "run --time-budget soon x",
        "run --max-replans 0 x",
        "run --set nonsense x",
        "tasks show",
        "tasks list --limit 0",
        "taks list",
        "schema --asyncapi FinalResult",
        "completions tcsh",
    ] {
        let came = refused(words(line)).await;
        assert_eq!((came.code, came.out.as_str()), (2, ""), "{line}");
        let shown: Vec<&str> = came.err.lines().skip_while(|line| !line.starts_with("error")).collect();
        said.push_str(&format!("{}\n{}\n", format!("$ setpoint {line}").trim_end(), shown.join("\n")));
    }
    expect![[r#"
        $ setpoint
        error: no command was given, and there is no interactive session yet
        hint: start with `setpoint run GOAL`
        $ setpoint run
        error: the following required arguments were not provided: <GOAL>...
        hint: see `setpoint run --help`
        $ setpoint run --frobnicate x
        error: unexpected argument '--frobnicate' found
        hint: to pass '--frobnicate' as a value, use '-- --frobnicate'
        hint: see `setpoint run --help`
        $ setpoint run --file f x
        error: the argument '--file <FILE>' cannot be used with '[GOAL]...'
        hint: see `setpoint run --help`
        $ setpoint run --time-budget soon x
        error: invalid value 'soon' for '--time-budget <TIME>': expected a time of at least 1 ms with its unit, such as 90s, 5m or 1h
        hint: see `setpoint run --help`
        $ setpoint run --max-replans 0 x
        error: invalid value '0' for '--max-replans <N>': 0 is not in 1..=4294967295
        hint: see `setpoint run --help`
        $ setpoint run --set nonsense x
        error: invalid value 'nonsense' for '--set <KEY=VALUE>': expected KEY=VALUE, such as controller.delta=0.2
        hint: see `setpoint run --help`
        $ setpoint tasks show
        error: the following required arguments were not provided: <TASK>
        hint: see `setpoint tasks show --help`
        $ setpoint tasks list --limit 0
        error: invalid value '0' for '--limit <N>': expected a whole number from 1 to 10000
        hint: see `setpoint tasks list --help`
        $ setpoint taks list
        error: unrecognized subcommand 'taks'
        hint: a similar subcommand exists: 'tasks'
        hint: see `setpoint --help`
        $ setpoint schema --asyncapi FinalResult
        error: the argument '--asyncapi' cannot be used with '[NAME]'
        hint: see `setpoint schema --help`
        $ setpoint completions tcsh
        error: invalid value 'tcsh' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]
        hint: a similar value exists: 'zsh'
        hint: see `setpoint completions --help`
    "#]].assert_eq(&said);
}

#[tokio::test]
async fn an_option_on_both_sides_of_the_command_is_refused() {
    let came = refused(words("--set controller.delta=0.1 run --set controller.rho=0.4 x")).await;
    assert_eq!((came.code, came.out.as_str()), (2, ""));
    assert!(came.err.contains("put every --set on the same side"), "{}", came.err);
}

#[tokio::test]
async fn with_json_a_wrong_command_line_is_one_value_on_stdout() {
    let came = refused(words("run --json --frobnicate 'x\u{1b}[2J'")).await;
    assert_eq!(came.code, 2);
    let value = came.json();
    assert_eq!(value["error"]["kind"], "usage");
    assert!(value["error"]["message"].as_str().unwrap().contains("--frobnicate"));
    let came = refused(words("--json")).await;
    assert_eq!(came.json()["error"]["kind"], "usage");
}

#[tokio::test]
async fn arguments_that_are_not_utf8_are_named() {
    let bad = || OsString::from_vec(b"caf\xe9".to_vec());
    let came = refused(vec!["run".into(), "count".into(), bad()]).await;
    assert_eq!(came.code, 2);
    assert_eq!(
        came.err,
        "error: the argument \"caf\u{fffd}\" is not UTF-8\nhint: write the goal to a file in UTF-8 and use `--file FILE`\n"
    );
    for arguments in [
        vec![bad()],
        vec!["tasks".into(), "show".into(), bad()],
        vec!["memory".into(), "remember".into(), bad()],
        vec!["memory".into(), "export".into(), "--skills".into(), bad(), bad()],
        vec!["--set".into(), bad(), "doctor".into()],
        vec!["--model".into(), bad(), "doctor".into()],
        vec!["--color".into(), bad(), "doctor".into()],
        vec!["run".into(), "--data-dir".into(), bad(), bad()],
        vec!["--json".into(), "run".into(), bad()],
    ] {
        let came = refused(arguments.clone()).await;
        assert_eq!(came.code, 2, "{arguments:?}");
        assert!(came.err.contains("caf\u{fffd}"), "{arguments:?}: {}", came.err);
    }
}

#[test]
fn paths_need_not_be_utf8() {
    let bad = OsString::from_vec(b"caf\xe9".to_vec());
    let arguments = ["setpoint".into(), "--data-dir".into(), bad.clone(), "doctor".into()];
    assert_eq!(parse(arguments).unwrap().options.data_dir, Some(PathBuf::from(bad)));
}

#[tokio::test]
async fn help_and_version_go_to_stdout() {
    let help = refused(words("--help")).await;
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    assert!(help.out.contains("Exit codes"), "{}", help.out);
    for topic in ["run", "tasks", "memory"] {
        let word = refused(words(&format!("help {topic}"))).await;
        let option = refused(words(&format!("{topic} --help"))).await;
        assert_eq!((word.code, &word.out), (0, &option.out), "{topic}");
    }
    let version = refused(words("--version")).await;
    assert_eq!(version.out, format!("setpoint {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn without_a_command_the_help_is_shown() {
    let came = refused(vec![]).await;
    assert_eq!((came.code, came.out.as_str()), (2, ""));
    assert!(came.err.contains("Usage: setpoint"), "{}", came.err);
    assert!(came.err.contains("there is no interactive session yet"), "{}", came.err);
}
