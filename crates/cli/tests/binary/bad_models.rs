//! Goals with models that cannot be used: reported with the setting to change, before anything is written if
//! it can be known then, else by the end of the task.

use std::fs;
use std::sync::Arc;

use setpoint_model_server::{Always, Fault, Hosted, UnauthorizedForm, Wire};

use crate::support::{Came, Home};

const GOAL: &str = "say what is in this directory";

fn assert_refused(home: &Home, came: &Came, said: &str, hint: &str) {
    assert_eq!((came.code, came.out.as_str()), (2, ""), "{came:#?}");
    let told = came.err.lines().any(|line| line.starts_with("error: ") && line.contains(said));
    let hinted = came.err.lines().any(|line| line.starts_with("hint: ") && line.contains(hint));
    assert!(told && hinted, "{said:?}, {hint:?}: {came:#?}");
    assert!(came.err.matches("failed to").count() <= 1, "{came:#?}");
    assert!(!home.data().exists(), "{came:#?}");
}

#[test]
fn a_missing_key_is_reported_before_a_journal_is_created() {
    let home = Home::new();
    for (model, variable) in [
        ("openai/gpt-5", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-6", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-pro", "GEMINI_API_KEY"),
        ("gpt-5", "OPENAI_API_KEY"),
        ("claude-sonnet-4-6", "ANTHROPIC_API_KEY"),
    ] {
        let came = home.run(&["run", "--model", model, GOAL]);
        assert_refused(&home, &came, &format!("{variable} is not set"), &format!("set {variable}"));
        // An empty variable counts as not set.
        let came = Came::of(home.command(&["run", "--model", model, GOAL]).env(variable, " "));
        assert_refused(&home, &came, &format!("{variable} is not set"), &format!("set {variable}"));
        let came = home.run(&["run", "--json", "--model", model, GOAL]);
        assert_eq!((came.code, &came.json()["error"]["kind"]), (2, &"configuration".into()));
    }
}

#[test]
fn an_unusable_model_is_reported_before_a_journal_is_created() {
    let small = "[[model]]\nname = \"mine/m\"\nwindow_tokens = 4096\n";
    let ranks = "[[model]]\nname = \"mine/m\"\nrank = 4\n[[model]]\nname = \"mine/n\"\nrank = 2\n";
    let mine = "[providers.mine]\nbase_url = \"http://127.0.0.1:9\"\n";
    let with = |more: &str| format!("{more}\n{mine}");
    for (file, table, said, hint) in [
        ("[models]\nbrain = \"gpt\"\n".to_owned(), "", "the provider of model", "PROVIDER/MODEL"),
        ("[models]\nbrain = \"nobody/m\"\n".to_owned(), "", "the provider of model", "PROVIDER/MODEL"),
        (with("[models]\nbrain = \"mine/\""), "", "the part after the slash is missing", "PROVIDER/MODEL"),
        ("[models]\nbrain = \"new/m\"\n[providers.new]\ntools = false\n".to_owned(), "", "no address", "providers.new.base_url"),
        (
            "[models]\nbrain = \"new/m\"\n[providers.new]\nbase_url = \"localhost:1\"\n".to_owned(),
            "",
            "it does not begin with http",
            "an address looks like",
        ),
        (
            "[models]\nbrain = \"new/m\"\n[providers.new]\nbase_url = \"http://me:secret@h/v1\"\n".to_owned(),
            "",
            "carries a user or a password",
            "an address looks like",
        ),
        (
            "[models]\nbrain = \"mine/m\"\n[providers.mine]\nbase_url = \"http://127.0.0.1:9\"\nextra = \"{\"\n".to_owned(),
            "",
            "is not a JSON object",
            "text that holds JSON",
        ),
        (with("[models]\nbrain = \"mine/m\""), small, "window of 4096 tokens is too small", "larger window"),
        (
            with("[models]\nbrain = \"mine/m\"\nmeta_validator = \"mine/n\""),
            ranks,
            "its rank 2 is below 4",
            "models.meta_validator",
        ),
        (with("[models]\nbrain = \"mine/m\"\nmeta_validator = \"mine/x\""), ranks, "the rank of mine/x", "`rank`"),
        (with("[models]\nbrain = \"mine/m\"\n[budgets]\nmoney = 1.0"), "", "the price of mine/m", "price_in"),
        (with("[models]\nbrain = \"mine/m\""), "[[model]]\nname = 7\n", "models.toml", "correct the file"),
    ] {
        let home = Home::new();
        fs::write(home.config().join("setpoint.toml"), &file).unwrap();
        if !table.is_empty() {
            fs::write(home.config().join("models.toml"), table).unwrap();
        }
        let came = home.run(&["run", GOAL]);
        assert_refused(&home, &came, said, hint);
        assert!(!came.err.contains("secret"), "{came:#?}");
    }
}

/// An error that only the server can report ends the task by a fault, with the setting to change among the
/// next moves.
#[test]
fn a_server_error_ends_the_task_with_the_setting_to_change() {
    for (fault, hint) in [
        (Fault::Unauthorized(UnauthorizedForm::Status401), "check the key"),
        (Fault::ModelNotFound, "setpoint models"),
        (Fault::RedirectLoop, "the address moved"),
    ] {
        let home = Home::new();
        let server = Hosted::start(Arc::new(Always::new(fault))).unwrap();
        let mut command = home.command(&["run", "--json", "--model", "openai/m", GOAL]);
        let came = Came::of(
            command.env("OPENAI_BASE_URL", server.base(Wire::Chat)).env("OPENAI_API_KEY", "sk-none-of-it"),
        );
        let result = came.json();
        assert_eq!((came.code, &result["directive"]), (4, &"abandon".into()), "{result:#}");
        assert!(result["next_moves"].to_string().contains(hint), "{hint:?}: {result:#}");
        assert!(!(came.out.clone() + &came.err).contains("sk-none-of-it"), "{came:#?}");
        // The server is asked only once.
        assert_eq!(server.seen().len(), 1, "{result:#}");
    }
}
