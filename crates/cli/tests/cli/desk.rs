//! Commands about the program itself, none of which touches a data directory.

use setpoint_app::desk::{Diagnosis, Health};
use setpoint_app::init::*;
use setpoint_app::models::provider::ProviderLine;
use setpoint_app::models::survey::*;
use setpoint_app::models::trial::*;
use setpoint_app::program::PlaybookProblem;
use setpoint_app::{Error, ErrorKind};

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
        subject: subject.to_owned().into(),
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
        "/etc/setpoint.toml  does not exist\n./setpoint.toml     is read\n"
    );
    assert_eq!(run("config path --json").await.json()[1]["exists"], true);
}

#[tokio::test]
async fn playbooks_are_listed_shown_and_checked() {
    insta::assert_snapshot!(run("playbooks").await.out);
    assert_eq!(run("playbooks list --json").await.json()["playbooks"][0]["name"], "count-files");
    // A file gets the text unchanged; a terminal does not.
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
        came.err.starts_with("error: there is no message \"Finalresult\"\nhint: choose one of UserInput"),
        "{}",
        came.err
    );
    let terminal = World::on_terminal(Fake::with(vec![]), vec![]).run("schema UserInput").await;
    assert!(terminal.out.lines().count() > 10, "{}", terminal.out);
}

#[tokio::test]
async fn completions_ask_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let came = run(&format!("completions {shell}")).await;
        assert_eq!(came.code, 0);
        assert!(came.out.contains("COMPLETE") && came.out.contains("setpoint"), "{shell}");
    }
}

fn language_models() -> FakeDesk {
    let model = ModelLine {
        slot: "models.brain".to_owned(),
        name: "mine/big".to_owned(),
        origin: "setpoint.toml:2".to_owned(),
        address: Some("http://127.0.0.1:8000/v1".to_owned()),
        key_env: Some("MY_KEY".to_owned()),
        is_key_set: false,
        window_tokens: Some(8_192),
        tokens_out_max: None,
        rank: Some(3),
        price: Some(PriceLine {
            million_in: "1.25".to_owned(),
            million_out: "10.00".to_owned(),
            million_cached: "0.1250".to_owned(),
        }),
        state: Health::Bad,
        finding: "its server answers, but does not have the model".to_owned(),
        hint: Some("it has big\u{1b}[2Jger".to_owned()),
    };
    let own = ModelLine {
        slot: "models.tool".to_owned(),
        address: None,
        hint: None,
        state: Health::Note,
        ..model.clone()
    };
    let provider = ProviderLine {
        name: "mine".to_owned(),
        api: "openai",
        address: Some("http://127.0.0.1:8000/v1".to_owned()),
        key_env: Some("MY_KEY".to_owned()),
        is_key_set: false,
        is_key_needed: true,
        problem: None,
    };
    let server = |models: usize, problem: Option<&str>| ServerLine {
        provider: "mine".to_owned(),
        address: "http://127.0.0.1:8000/v1".to_owned(),
        models: (0..models).map(|n| format!("m{n}")).collect(),
        is_whole: models < 3,
        problem: problem.map(str::to_owned),
    };
    FakeDesk {
        models: ModelsReport {
            models: vec![model, own],
            servers: vec![server(2, None), server(202, None), server(0, Some("it has no list (status 404)"))],
            providers: vec![provider],
            error: None,
        },
        trial: Trial {
            found: vec![Diagnosis {
                subject: "mine/big".into(),
                state: Health::Note,
                finding: "takes no tools".to_owned(),
                hint: None,
            }],
            cost: Some(TrialCost { calls: 4, tokens_in: 9_000, tokens_out: 70, money: Some(0.01) }),
        },
        ..FakeDesk::default()
    }
}

#[tokio::test]
async fn models_are_shown_with_what_is_known_of_them() {
    let came = at(language_models(), "", "models").await;
    assert_eq!((came.code, came.err.as_str()), (1, ""));
    insta::assert_snapshot!(came.out);
    let value = at(language_models(), "", "models --json").await.json();
    assert_eq!((&value["state"], &value["models"][0]["rank"]), (&"bad".into(), &3.into()));
    assert!(value.get("servers").is_none());
    let all = at(language_models(), "", "models --all").await.out;
    assert!(
        all.contains("mine/m1\n") && all.contains("mine/m199\n") && !all.contains("mine/m200\n"),
        "{all}"
    );
    assert!(all.contains("202 models or more\n") && all.contains("… 2 more; `--json` lists all"), "{all}");
    assert!(all.contains("it has no list (status 404)"), "{all}");
    let all = at(language_models(), "", "models --all --json").await.json();
    assert_eq!(all["servers"][1]["models"].as_array().unwrap().len(), 202);
}

#[tokio::test]
async fn an_unusable_choice_is_shown_beside_the_providers() {
    let broken = || {
        let mut desk = language_models();
        let error =
            Error::new(ErrorKind::Configuration, "failed to ask mine: MY_KEY is not set").hint("set MY_KEY");
        (desk.models.error, desk.models.models) = (Some(error), vec![]);
        desk
    };
    let came = at(broken(), "", "models").await;
    assert_eq!(
        (came.code, came.err.as_str()),
        (2, "error: failed to ask mine: MY_KEY is not set\nhint: set MY_KEY\n")
    );
    assert!(came.out.contains("MY_KEY must be set"), "{}", came.out);
    let came = at(broken(), "", "models --json").await;
    let value = came.json();
    assert_eq!((came.code, &value["error"]["hints"][0]), (2, &"set MY_KEY".into()));
    assert_eq!(value["providers"][0]["name"], "mine");
}

#[tokio::test]
async fn the_doctor_asks_models_only_when_it_is_told_to() {
    let without = at(language_models(), "", "doctor").await;
    assert!(!without.out.contains("mine/big"), "{}", without.out);
    for line in ["doctor --model", "doctor --model mine/big"] {
        assert_eq!(at(language_models(), "", line).await.out, "note  mine/big  takes no tools\n", "{line}");
    }
    let value = at(language_models(), "", "doctor --model --json").await.json();
    assert_eq!((&value["cost"]["calls"], &value["state"]), (&4.into(), &"note".into()));
}

#[tokio::test]
async fn a_first_configuration_is_told_shown_or_missed() {
    let written = || FakeDesk {
        initialised: InitResult {
            found: vec!["OPENAI_API_KEY is set: a key for openai".to_owned()],
            brain: Some("openai/a".to_owned()),
            tool: Some("openai/b".to_owned()),
            files: vec![InitFile {
                path: "/home/ada/setpoint.toml".into(),
                text: "brain = 1\n".to_owned(),
                kept: Some("/home/ada/setpoint.toml.bak".into()),
            }],
            is_written: true,
            notes: vec!["SETPOINT_BRAIN_MODEL is set".to_owned()],
            variables: vec![KeyVariable {
                variable: "OPENAI_API_KEY".to_owned(),
                provider: "openai".to_owned(),
            }],
            unnamed: vec![],
        },
        ..FakeDesk::default()
    };
    let came = at(written(), "", "init").await;
    assert_eq!((came.code, came.err.as_str()), (0, "warning: SETPOINT_BRAIN_MODEL is set\n"));
    insta::assert_snapshot!(came.out);
    let value = at(written(), "", "init --json").await.json();
    assert_eq!((&value["tool"], &value["is_written"]), (&"openai/b".into(), &true.into()));
    let file = &value["files"][0];
    assert_eq!((&file["path"], &file["text"]), (&"/home/ada/setpoint.toml".into(), &"brain = 1\n".into()));
    assert_eq!(file["kept"], "/home/ada/setpoint.toml.bak");
    let mut shown = written();
    shown.initialised.is_written = false;
    let came = at(shown, "", "init --print").await;
    assert_eq!(came.out, "# /home/ada/setpoint.toml\nbrain = 1\n\n");
    let mut nothing = written();
    (nothing.initialised.brain, nothing.initialised.files) = (None, vec![]);
    let came = at(nothing, "", "init").await;
    assert_eq!(came.code, 0);
    insta::assert_snapshot!(came.out);
    let mut unnamed = written();
    (unnamed.initialised.brain, unnamed.initialised.files) = (None, vec![]);
    let (provider, origin) = ("openai".to_owned(), "$OPENAI_BASE_URL".to_owned());
    unnamed.initialised.unnamed = vec![UnnamedProvider { provider, origin }];
    insta::assert_snapshot!(at(unnamed, "", "init").await.out);
}

#[tokio::test]
async fn the_options_of_init_are_passed_on() {
    let look_at = vec!["http://a".to_owned(), "b".to_owned()];
    for (line, wishes) in [
        (
            "init --look-at http://a --look-at b --force",
            InitOptions { look_at, is_forced: true, is_shown_only: false },
        ),
        ("init --dry-run", InitOptions { is_shown_only: true, ..InitOptions::default() }),
    ] {
        let mut world = World::headless(Fake::with(vec![]));
        world.host.desk = FakeDesk::default();
        let (_, host) = world.run_arguments(words(line)).await;
        assert_eq!(*host.desk.wishes.lock().unwrap(), wishes);
    }
    assert_eq!(run("init --force --print").await.code, 2);
}
