//! Goals that are to be pursued with models that cannot be used: told with the setting to change, before anything is
//! written.

use std::fs;

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
            "contains a user or a password",
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
