//! The program of a home: files of the working directory, options, keys and places.

mod unusable;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;

use super::*;
use crate::error::{Error, ErrorKind};
use crate::models::survey::survey;
use crate::testing::{Home, options};

/// Returns a refusal of the configuration as a person sees it.
fn refusal<T>(loaded: Result<T, ProgramError>) -> String {
    let error = Error::from(loaded.map(drop).unwrap_err());
    assert!(error.kind == ErrorKind::Configuration && error.message.starts_with("failed to "), "{error:?}");
    format!("{}; {}", error.message, error.hints.concat())
}

#[test]
fn a_file_of_the_working_directory_is_not_trusted() {
    let home = Home::new().own("[budgets]\nmoney = 2.0\n");
    let here = |text: &str| fs::write(home.work().join("setpoint.toml"), text).unwrap();
    let load = |model| home.program(&options(model, &[]), &[]);
    for (text, key) in [
        ("[budgets]\nmoney = 100.0\n", "budgets.money"),
        ("[controller]\ntime_budget_ms = \"24h\"\n", "controller.time_budget_ms"),
        ("[providers.openai]\nbase_url = \"http://evil.example\"\n", "providers.openai.base_url"),
    ] {
        here(text);
        let said = refusal(load(None));
        assert!(
            said.contains(&format!("work/setpoint.toml:2: `{key}`")) && said.contains("set it in your own"),
            "{said}"
        );
    }
    here("[budgets]\nmoney = 1.0\n[models]\nbrain = \"playbook\"\n");
    let program = load(None).unwrap();
    assert_eq!(program.config.budgets().money.map(|money| money.units()), Some(1.0));
    let notices = program.notices().concat();
    assert!(notices.starts_with("models.brain = playbook comes from "), "{notices}");
    assert!(notices.contains("work/setpoint.toml:4, a file of the working directory"), "{notices}");
    // The person's own option needs no warning.
    assert_eq!(load(Some("playbook")).unwrap().notices(), [""; 0]);
}

#[test]
fn a_model_of_the_command_line_is_one_for_everything() {
    let home = Home::new()
        .own("[models]\nbrain = \"openai/gpt-5\"\nexecutor = \"openai/gpt-5\"\nmeta_validator = \"gpt-5\"\n");
    let chosen =
        |model, set: &[(&str, &str)]| home.program(&options(model, set), &[]).unwrap().chosen_models();
    let missing = chosen(None, &[]).unwrap_err().hint();
    assert!(missing.contains("OPENAI_API_KEY") && missing.contains("--model playbook"), "{missing}");
    let names: Vec<String> = chosen(Some("playbook"), &[]).unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["playbook", "playbook"]);
    // A setting for one role on the same line is kept.
    chosen(Some("playbook"), &[("models.executor", "openai/gpt-5")]).unwrap_err();
}

/// The person's own table of models counts, and its mistakes are reported before anything is written.
#[tokio::test]
async fn an_unusable_model_is_reported_before_a_journal_is_created() {
    let brain = "[models]\nbrain = \"mine/m\"\n[providers.mine]\nbase_url = \"http://127.0.0.1:9\"\n";
    let judged = brain.replace("\n[", "\nmeta_validator = \"mine/n\"\n[");
    let ranks = "[[model]]\nname = \"mine/m\"\nrank = 4\n[[model]]\nname = \"mine/n\"\nrank = 2\n";
    for (own, table, said) in [
        (brain, "[[model]]\nname = \"mine/m\"\nwindow_tokens = 4096\n", "window of 4096 tokens is too small"),
        (&judged, ranks, "its rank 2 is below 4"),
        (&judged, "", "the rank of mine/n is not known; state the `rank`"),
        (brain, "[[model]]\nname = 7\n", "config/setpoint/models.toml"),
    ] {
        let home = Home::new().own(own);
        fs::write(home.config().join(MODELS_FILE), table).unwrap();
        let said_of = refusal(home.program(&options(None, &[]), &[]).unwrap().open());
        assert!(said_of.contains(said) && !home.data().exists(), "{said}: {said_of}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_start_leaves_no_recording() {
    let home = Home::new();
    let tape = home.work().join("tape.jsonl");
    let cassette = Some(Cassette::Record("tape.jsonl".into()));
    let program = home.program(&ProgramOptions { cassette, ..ProgramOptions::default() }, &[]).unwrap();
    fs::create_dir(home.data()).unwrap();
    fs::write(home.data().join("journal"), "taken").unwrap();
    assert!(program.open().is_err() && !tape.exists());
    fs::remove_file(home.data().join("journal")).unwrap();
    program.open().unwrap().shutdown().await;
    assert!(tape.exists());
}

/// A collector's address that is none costs its telemetry and nothing else.
#[tokio::test]
async fn an_invalid_collector_does_not_stop_a_program() {
    let home = Home::new();
    let program = home.program(&options(None, &[]), &[("OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense")]).unwrap();
    program.telemetry().unwrap_err();
    program.open().unwrap().shutdown().await;
}

#[test]
fn a_key_that_is_not_utf8_is_not_reported_as_missing() {
    let own = "[models]\nbrain = \"mine/m\"\n[providers.mine]\nbase_url = \"http://h\"\nkey_env = \"MINE\"\n";
    for (variable, own, model) in
        [("OPENAI_API_KEY", "", Some("openai/gpt-5")), ("OPENAI_API_KEY", "", None), ("MINE", own, None)]
    {
        let home = Home::new().own(own);
        let mut launch = home.launch(&[]);
        launch.vars.insert(variable.into(), OsString::from_vec(b"sk-\xff\xfe-0123456789".to_vec()));
        let program = Program::launched(&options(model, &[]), &launch).unwrap();
        let said = refusal(program.chosen_models().map_err(ProgramError::from));
        assert!(
            said.contains(&format!("the key in {variable} contains characters that a request cannot carry")),
            "{said}"
        );
    }
}

/// Paths are passed to tools as text. A path that is not UTF-8 would become another path, so it is refused.
#[test]
fn a_place_that_cannot_be_used_is_refused() {
    let odd = || OsString::from_vec(b"/w\xffd".to_vec());
    let home = Home::new();
    let load = |options: ProgramOptions, change: &dyn Fn(&mut Launch)| {
        let mut launch = home.launch(&[]);
        change(&mut launch);
        refusal(Program::launched(&options, &launch))
    };
    let named = ProgramOptions { data_dir: Some(odd().into()), ..ProgramOptions::default() };
    let said = [
        load(named, &|_| {}),
        load(ProgramOptions::default(), &|launch| launch.cwd = odd().into()),
        load(ProgramOptions::default(), &|launch| drop(launch.vars.insert("HOME".into(), odd()))),
        load(ProgramOptions::default(), &|launch| {
            drop(launch.vars.insert("SETPOINT_DATA_DIR".into(), odd()));
        }),
        load(ProgramOptions::default(), &|launch| launch.vars.clear()),
    ];
    expect_test::expect![[r#"
        failed to use the data directory "/w�d": it is not UTF-8; rename it, or choose another: --data-dir names the data directory, `cd` changes the working directory
        failed to use the working directory "/w�d": it is not UTF-8; rename it, or choose another: --data-dir names the data directory, `cd` changes the working directory
        failed to use HOME "/w�d": it is not UTF-8; rename it, or choose another: --data-dir names the data directory, `cd` changes the working directory
        failed to use SETPOINT_DATA_DIR "/w�d": it is not UTF-8; rename it, or choose another: --data-dir names the data directory, `cd` changes the working directory
        failed to find a home directory: neither HOME nor SETPOINT_DATA_DIR is set; set HOME to an absolute path, or name a directory with --data-dir"#]].assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn a_password_in_an_address_is_not_shown() {
    let (home, address) = (Home::new(), "https://me:secretpw@h/v1");
    let set = [("providers.openai.base_url", address)];
    for (set, vars) in [(&set[..], &[][..]), (&[], &[("OPENAI_BASE_URL", address)])] {
        let program = home.program(&options(Some("openai/x"), set), vars).unwrap();
        let lines = program.config.lines();
        let line = lines.iter().find(|line| line.key == "providers.openai.base_url").unwrap();
        assert_eq!(line.value, "https://…@h/…");
        let report = survey(&program).await;
        let opened = program.open().map(drop).map_err(Error::from).unwrap_err();
        let said = format!("{lines:?} {report:?} {opened:?}");
        assert!(said.contains("failed to use the address that ") && !said.contains("secretpw"), "{said}");
    }
}
