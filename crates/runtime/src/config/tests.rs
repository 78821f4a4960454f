use super::*;

fn load(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE_NAME);
    std::fs::write(&path, file).unwrap();
    Config::load(&Sources {
        texts: vec![],
        files: vec![dir.path().join("absent.toml"), path],
        foreign: None,
        env: env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        flags: flags
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned(), format!("--set {k}={v}")))
            .collect(),
    })
}

fn refusal(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> String {
    let text = load(file, env, flags).unwrap_err().to_string();
    let start = text.find("/").unwrap_or(0);
    let end = text.find(FILE_NAME).unwrap_or(start);
    if text.contains(FILE_NAME) { text.replacen(text.get(start..end).unwrap(), "", 1) } else { text }
}

#[test]
fn the_defaults_are_the_reference_table() {
    let config = load("", &[], &[]).unwrap();
    assert_eq!(*config.controller(), ControllerSettings::default());
    assert_eq!(config.budgets(), Budgets::default());
}

#[test]
fn the_last_layer_that_says_something_wins_and_is_named() {
    let file = "[models]\nbrain = \"a\"\n[controller]\ndelta = 0.2\ntime_budget_ms = \"2m\"\n";
    let config = load(file, &[("SETPOINT_BRAIN_MODEL", "b")], &[("controller.delta", "0.1")]).unwrap();
    assert_eq!(config.text("models.brain"), Some("b"));
    assert_eq!(config.controller().delta, 0.1);
    assert_eq!(config.controller().time_budget_ms, 120_000);
    let origin = |key| config.settings().get(key).unwrap().origin.to_string();
    assert_eq!(origin("models.brain"), "$SETPOINT_BRAIN_MODEL");
    assert_eq!(origin("controller.delta"), "--set controller.delta=0.1");
    assert!(origin("controller.time_budget_ms").ends_with("setpoint.toml:5"));
    assert_eq!(origin("controller.alpha"), "built in");
}

#[test]
fn a_bad_value_is_named_with_file_and_line() {
    let said = [
        refusal("[controller]\n\ndelta = 1.5\n", &[], &[]),
        refusal("[controller]\ndelta = \"x\"\n", &[], &[]),
        refusal("[controller]\ndelta = nan\n", &[], &[]),
        refusal("[controller]\nmax_replans = 0\n", &[], &[]),
        refusal("[controller]\nmax_replans = -1\n", &[], &[]),
        refusal("[controller]\nlaw = \"magic\"\n", &[], &[]),
        refusal("[controller]\nurgency = \"loud\"\n", &[], &[]),
        refusal("[controller]\ndelt = 0.2\n", &[], &[]),
        refusal("[controller]\ndetla = 0.2\n", &[], &[]),
        refusal("[nonsense]\nx = 1\n", &[], &[]),
        refusal("[controller\n", &[], &[]),
        refusal("", &[], &[("controller.delta", "NaN")]),
        refusal("", &[], &[("controller.time_budget_ms", "5 parsecs")]),
    ]
    .join("\n");
    expect_test::expect![[r#"
        use setpoint.toml:3: `controller.delta` is 1.5; it must be from 0 to 0.999
        use setpoint.toml:2: `controller.delta` is "x"; it must be a finite number
        use setpoint.toml:2: `controller.delta` is "nan"; it must be a finite number
        use setpoint.toml:2: `controller.max_replans` is 0; it must be from 1 to 100
        use setpoint.toml:2: `controller.max_replans` is -1; it must be a whole number, 0 or more
        use setpoint.toml:2: `controller.law` is "magic"; it must be one of reference
        use setpoint.toml:2: `controller.urgency` is "loud"; it must be one of words, sets
        use setpoint.toml:2: there is no key `controller.delt` (did you mean `controller.delta`?)
        use setpoint.toml:2: there is no key `controller.detla` (did you mean `controller.delta`?)
        use setpoint.toml:2: there is no key `nonsense.x`
        read setpoint.toml:1: unclosed table, expected `]`
        use --set controller.delta=NaN: `controller.delta` is "NaN"; it must be a finite number
        use --set controller.time_budget_ms=5 parsecs: `controller.time_budget_ms` is "5 parsecs"; it must be milliseconds, or a number with ms, s, m or h"#]]
    .assert_eq(&said);
}

#[test]
fn a_file_of_the_working_directory_does_not_say_where_keys_go() {
    let dir = tempfile::tempdir().unwrap();
    let (own, foreign) = (dir.path().join("own.toml"), dir.path().join("foreign.toml"));
    let load = |text: &str| {
        std::fs::write(&own, "[providers.openai]\nbase_url = \"http://mine\"\n").unwrap();
        std::fs::write(&foreign, text).unwrap();
        let files = vec![own.clone(), foreign.clone()];
        Config::load(&Sources { files, foreign: Some(foreign.clone()), ..Sources::default() })
    };
    let config = load("[models]\nbrain = \"openai/gpt-5\"\n").unwrap();
    assert_eq!(config.text("models.brain"), Some("openai/gpt-5"));
    assert_eq!(config.text("providers.openai.base_url"), Some("http://mine"));
    for line in ["base_url = \"http://elsewhere\"", "key_env = \"AWS_SECRET_ACCESS_KEY\"", "api = \"ollama\""]
    {
        let error = load(&format!("[providers.openai]\n{line}\n")).unwrap_err().to_string();
        assert!(error.contains("foreign.toml:2") && error.contains("may not stand in a file"), "{error}");
    }
}

#[test]
fn a_providers_name_is_one_word_and_everything_said_of_it_is_shown() {
    let config = load("[providers.my-gpu_2]\napi = \"ollama\"\ntools = false\n", &[], &[]).unwrap();
    assert_eq!(config.providers(), ["my-gpu_2"]);
    assert_eq!(config.word("providers.my-gpu_2.tools"), Some(false));
    let shown: Vec<&str> =
        config.shown().map(|(name, ..)| name).filter(|name| name.starts_with("prov")).collect();
    assert_eq!(shown, ["providers.my-gpu_2.api", "providers.my-gpu_2.tools"]);
    let said = [
        refusal("[providers.\"a b\"]\napi = \"openai\"\n", &[], &[]),
        refusal("[providers.x]\napi = \"soap\"\n", &[], &[]),
        refusal("[providers.x]\nkey = \"sk-1\"\n", &[], &[]),
        refusal("[budgets]\nmoney = -1\n", &[], &[]),
    ]
    .join("\n");
    expect_test::expect![[r#"
        use setpoint.toml:2: there is no key `providers.a b.api` (did you mean `providers.*.api`?)
        use setpoint.toml:2: `providers.x.api` is "soap"; it must be one of openai, openai-responses, anthropic, gemini, ollama
        use setpoint.toml:2: there is no key `providers.x.key`
        use setpoint.toml:2: `budgets.money` is -1; it must be from 0 to 1000000"#]].assert_eq(&said);
}
