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
