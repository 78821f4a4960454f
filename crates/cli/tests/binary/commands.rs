//! The commands other than `run`, each with the binary on a real data directory, in text and in JSON.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::task::{Ended, Trial, pursue};
use crate::support::tree::tree;
use crate::support::{Came, Home};

/// Returns a home with one task that went through two directives.
fn home() -> (Home, Ended) {
    let home = Home::new();
    Trial::new().reads("gone.txt", "00").counts("there.txt", "00").hashes("there.txt", "11").write(&home);
    let ended = pursue(&home, &["--set", "controller.w2=0"]);
    assert_eq!(ended.course(), "init→change_path→change_approach→accept");
    (home, ended)
}

fn task_of(ended: &Ended) -> &str {
    ended.result["task_id"].as_str().unwrap()
}

#[test]
fn an_ended_task_is_shown_again_and_not_run_again() {
    let (home, ended) = home();
    let task = task_of(&ended);
    let again = home.run(&["tasks", "resume", task, "--json"]);
    assert_eq!((again.code, again.json()), (0, ended.result.clone()));
    let again = home.run(&["tasks", "resume", task]);
    assert_eq!((again.code, again.out.lines().next()), (0, Some("mark0: 1")), "{again:#?}");
    let cancelled = home.run(&["tasks", "cancel", task]);
    assert_eq!(cancelled.code, 2, "{cancelled:#?}");
    assert_eq!(home.records(task), ended.records);
    let all = home.run(&["tasks", "resume", "--json"]);
    assert_eq!((all.code, all.json()), (0, Value::Array(vec![])));
}

#[test]
fn config_shows_every_value_with_its_origin() {
    let home = Home::new();
    let user = home.config().join("setpoint.toml");
    fs::write(&user, "[controller]\nalpha = 0.5\nbeta = 0.2\n\n[budgets]\ncalls = 99\n").unwrap();
    let project = home.file("setpoint.toml", "# of the project\n[controller]\nbeta = 0.25\n");
    let mut command = home.command(&[
        "config",
        "show",
        "--json",
        "--set",
        "controller.delta=0.2",
        "--set",
        "controller.delta=0.1",
    ]);
    command.env("SETPOINT_TOOL_MODEL", "playbook");
    let shown = Came::from(command.output().unwrap()).json();
    let of = |key: &str| {
        let line = shown.as_array().unwrap().iter().find(|line| line["key"] == key).unwrap();
        (line["value"].clone(), line["origin"].as_str().unwrap().to_owned())
    };
    let place = |path: &std::path::Path, line: u32| format!("{}:{line}", path.display());
    assert_eq!(of("controller.alpha"), (0.5.into(), place(&user, 2)));
    let (value, origin) = of("controller.beta");
    assert_eq!(value, 0.25);
    assert!(
        origin.ends_with("setpoint.toml:3")
            && origin.contains(project.parent().unwrap().file_name().unwrap().to_str().unwrap()),
        "{origin}"
    );
    assert_eq!(of("budgets.calls"), (99.into(), place(&user, 6)));
    assert_eq!(of("models.tool"), ("playbook".into(), "$SETPOINT_TOOL_MODEL".to_owned()));
    assert_eq!(of("controller.delta"), (0.1.into(), "--set controller.delta".to_owned()));
    assert_eq!(of("controller.rho"), (0.5.into(), "built in".to_owned()));
    assert!(shown.as_array().unwrap().iter().all(|line| !line["about"].as_str().unwrap().is_empty()));
    let text = home.run(&["config"]);
    assert_eq!(text.code, 0);
    for line in shown.as_array().unwrap() {
        assert!(text.out.contains(line["key"].as_str().unwrap()), "{text:#?}");
    }
    let files = home.run(&["config", "path", "--json"]).json();
    assert_eq!(files.as_array().map(Vec::len), Some(2));
    assert!(files.as_array().unwrap().iter().all(|file| file["exists"] == true), "{files:#}");
    fs::remove_file(project).unwrap();
    let text = home.run(&["config", "path"]).out;
    assert_eq!(text.lines().filter(|line| line.ends_with("does not exist")).count(), 1, "{text}");
    assert!(!home.data().exists());
}

#[test]
fn doctor_writes_nothing() {
    let fresh = Home::new();
    let came = fresh.run(&["doctor"]);
    assert_eq!((came.code, came.err.as_str()), (0, ""), "{came:#?}");
    assert!(came.out.contains("does not exist yet and will be created"), "{came:#?}");
    assert!(!fresh.data().exists());
    let (home, ended) = home();
    let before = tree(&home.data());
    let came = home.run(&["doctor", "--json"]);
    let found = came.json();
    assert_eq!((came.code, &found["state"]), (0, &"note".into()), "{found:#}");
    let findings = found["findings"].as_array().unwrap();
    let journal = findings.iter().find(|one| one["subject"] == "journal").unwrap();
    let records = ended.records.len();
    assert_eq!(journal["finding"], format!("1 task, {records} records, all chains are intact"));
    assert!(findings.iter().all(|one| one["state"] != "bad"), "{found:#}");
    let names =
        |tree: &std::collections::BTreeMap<_, _>| tree.keys().cloned().collect::<Vec<std::path::PathBuf>>();
    assert_eq!(names(&tree(&home.data())), names(&before));
    let mut command = home.command(&["doctor"]);
    let came = Came::from(command.env("OPENAI_API_KEY", "k").env("PATH", "/nowhere").output().unwrap());
    assert_eq!(came.code, 1);
    assert!(came.out.contains("by $OPENAI_API_KEY") && came.out.contains("install git"), "{came:#?}");
}

/// Commands and options, and the tasks of the data directory: by the shell's own script, in the shell.
#[test]
fn completions_complete() {
    let (home, ended) = home();
    let task = task_of(&ended);
    let bash = home.run(&["completions", "bash"]);
    assert_eq!((bash.code, bash.err.as_str()), (0, ""));
    home.file("complete.bash", &bash.out);
    let complete = |words: &str, at: usize| {
        let script = format!(
            "source complete.bash; COMP_WORDS=({words}); COMP_CWORD={at}; \
             $(complete -p setpoint | sed 's/.*-F \\([^ ]*\\).*/\\1/') setpoint \"${{COMP_WORDS[{at}]}}\" x; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut command = home.other("bash");
        let folder = Path::new(env!("CARGO_BIN_EXE_setpoint")).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        command.args(["--norc", "-c", &script]).env("PATH", path);
        let came = Came::from(command.output().unwrap());
        assert_eq!(came.err, "");
        came.out.trim_end().to_owned()
    };
    assert_eq!(complete("setpoint ta", 1), "tasks");
    assert_eq!(complete("setpoint tasks exp", 2), "export");
    assert_eq!(complete("setpoint run --appr", 2), "--approve");
    let beginning: String = task.chars().take(4).collect();
    assert_eq!(complete(&format!("setpoint tasks show {beginning}"), 3), task);
    assert_eq!(complete("setpoint tasks show nothing-like-it", 3), "");
    // A directory that is only mentioned is not created.
    let words = format!("setpoint --data-dir elsewhere tasks show {beginning}");
    assert_eq!(complete(&words, 5), "");
    assert!(!home.work().join("elsewhere").exists());
    let zsh = home.run(&["completions", "zsh"]).out;
    assert!(zsh.starts_with("#compdef setpoint"), "{zsh}");
    let fish = home.run(&["completions", "fish"]).out;
    assert!(fish.contains("complete ") && fish.contains("--command setpoint"), "{fish}");
}

/// A pipe gets no escape sequences, whatever the terminal supports, unless they are asked for.
#[test]
fn a_pipe_gets_no_escape_sequences() {
    let (home, ended) = home();
    let task = task_of(&ended);
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = home.command(arguments);
        command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor");
        let came = Came::from(command.envs(variables.iter().copied()).output().unwrap());
        (came.out + &came.err).contains('\u{1b}')
    };
    let commands = [
        &["run", "compose a sonnet"][..],
        &["tasks", "list"],
        &["tasks", "show", task],
        &["tasks", "export", task],
        &["tasks", "show", "nonsense"],
        &["config"],
        &["doctor"],
        &["playbooks"],
        &["--help"],
        &["fly"],
    ];
    for command in commands {
        assert!(!coloured(command, &[]), "{command:?}");
        assert!(!coloured(command, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "")]), "{command:?}");
    }
    assert!(coloured(&["--color", "always", "tasks", "list"], &[]));
    assert!(coloured(&["--color", "always", "tasks", "list"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["--color", "never", "tasks", "list"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&["--color", "always", "tasks", "list", "--json"], &[]));
}
