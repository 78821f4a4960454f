//! Commands about the program itself: none of them touches a data directory.

use setpoint_client::desk::{Diagnosis, Health, PlaybookProblem};

use crate::support::host::FakeDesk;
use crate::support::organisation::Fake;
use crate::support::world::{Came, World, words};

async fn at(desk: FakeDesk, stdin: &str, line: &str) -> Came {
    let mut world = World::headless(Fake::with(vec![]));
    world.host.desk = desk;
    world.stdin = stdin.as_bytes().to_vec();
    let (came, host) = world.run_arguments(words(line)).await;
    assert_eq!(host.opened(), 0, "{line}");
    came
}

async fn run(line: &str) -> Came {
    at(FakeDesk::default(), "", line).await
}

fn problem() -> PlaybookProblem {
    PlaybookProblem { file: "p.toml".to_owned(), line: 4, reason: "an approach without steps".to_owned() }
}

fn unwell() -> FakeDesk {
    let diagnosis = |subject: &str, state, finding: &str, hint: Option<&str>| Diagnosis {
        subject: subject.to_owned(),
        state,
        finding: finding.to_owned(),
        hint: hint.map(str::to_owned),
    };
    FakeDesk {
        diagnoses: vec![
            diagnosis("journal", Health::Good, "12 tasks", None),
            diagnosis("model", Health::Bad, "no key", Some("set OPENAI_API_KEY")),
        ],
        ..FakeDesk::default()
    }
}

#[tokio::test]
async fn the_configuration_is_shown_with_its_origins() {
    insta::assert_snapshot!(run("config").await.out);
    let value = run("config show --json").await.json();
    assert_eq!(value[0]["origin"], "--set");
    let broken = FakeDesk { is_broken: true.into(), ..FakeDesk::default() };
    let came = at(broken, "", "config").await;
    assert_eq!((came.code, came.out.as_str()), (2, ""));
    assert_eq!(
        came.err,
        "error: failed to read setpoint.toml: line 3 is no key\nhint: `setpoint config path` names the files\n"
    );
}

#[tokio::test]
async fn the_files_are_named_whether_or_not_they_are_there() {
    assert_eq!(
        run("config path").await.out,
        "/etc/setpoint.toml  is not there\n./setpoint.toml     is read\n"
    );
    assert_eq!(run("config path --json").await.json()[1]["exists"], true);
}

#[tokio::test]
async fn playbooks_are_listed_shown_and_checked() {
    insta::assert_snapshot!(run("playbooks").await.out);
    assert_eq!(run("playbooks list --json").await.json()["playbooks"][0]["name"], "count-files");
    // A file gets the text as it is; a terminal does not.
    assert_eq!(
        run("playbooks show count-files").await.out,
        "[playbook]\nname = \"count-files\" # \u{1b}[2J\n"
    );
    let terminal = World::on_terminal(Fake::with(vec![]), vec![]);
    let came = terminal.run("playbooks show count-files").await;
    assert_eq!(came.out, "[playbook]\nname = \"count-files\" # ␛[2J\n");
    assert_eq!(run("playbooks show nope").await.code, 2);
    let good = run("playbooks check").await;
    assert_eq!((good.code, good.out.as_str()), (0, "no problems\n"));
    let broken = || FakeDesk { problems: vec![problem()], ..FakeDesk::default() };
    let came = at(broken(), "", "playbooks check p.toml").await;
    assert_eq!((came.code, came.out.as_str()), (2, "p.toml:4: an approach without steps\n"));
    let listed = at(broken(), "", "playbooks").await;
    assert_eq!((listed.code, listed.err.as_str()), (0, "warning: p.toml:4: an approach without steps\n"));
    assert_eq!(at(broken(), "", "playbooks check --json").await.json()["problems"][0]["line"], 4);
}

#[tokio::test]
async fn the_doctor_says_what_is_wrong_and_what_to_do() {
    let came = at(unwell(), "", "doctor").await;
    assert_eq!(came.code, 1);
    assert_eq!(came.out, "good  journal  12 tasks\nbad   model    no key\n      hint: set OPENAI_API_KEY\n");
    let value = at(unwell(), "", "doctor --json").await.json();
    assert_eq!(
        (&value["state"], &value["findings"][1]["hint"]),
        (&"bad".into(), &"set OPENAI_API_KEY".into())
    );
    assert_eq!(run("doctor").await.code, 0);
}

#[tokio::test]
async fn the_controller_runs_alone_from_stdin_to_stdout() {
    let came = at(FakeDesk::default(), "{}\n[1]\n", "ggs").await;
    assert_eq!((came.code, came.out.as_str()), (0, "{\"answer_to\":2}\n{\"answer_to\":3}\n"));
    let refusing = FakeDesk { refused: 1, ..FakeDesk::default() };
    let came = at(refusing, "{}\n[1]\n", "ggs").await;
    assert_eq!((came.code, came.err.as_str()), (2, "warning: 1 of 2 lines could not be used\n"));
}

#[tokio::test]
async fn schemas_are_json_whether_or_not_it_is_asked_for() {
    for line in ["schema", "schema --json", "schema --asyncapi", "schema FinalResult"] {
        assert!(run(line).await.json().is_object(), "{line}");
    }
    assert_eq!(run("schema --asyncapi").await.json()["asyncapi"], "3.0.0");
    let came = run("schema Finalresult").await;
    assert_eq!(came.code, 2);
    assert!(
        came.err.starts_with("error: no message is called \"Finalresult\"\nhint: the messages are UserInput"),
        "{}",
        came.err
    );
    let terminal = World::on_terminal(Fake::with(vec![]), vec![]).run("schema UserInput").await;
    assert!(terminal.out.lines().count() > 10, "{}", terminal.out);
}

#[tokio::test]
async fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let came = run(&format!("completions {shell}")).await;
        assert_eq!(came.code, 0);
        assert!(came.out.contains("playbooks"), "{shell}");
    }
}
