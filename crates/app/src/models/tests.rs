use std::collections::BTreeMap;

use setpoint_model::catalogue::Catalogue;

use super::choose::{Answerer, Chooser, ModelChoice};
use super::error::ChoiceError;
use crate::config::{Config, Sources};

/// A table in which one model has no rank.
const TABLE: &str = "
[[model]]
name = \"local/*\"
rank = 2
[[model]]
name = \"local/big\"
rank = 4
window_tokens = 100_000
[[model]]
name = \"local/tiny\"
window_tokens = 2_048
[[model]]
name = \"other/*\"
window_tokens = 32_768
";

fn choose(settings: &[(&str, &str)], env: &[(&str, &str)]) -> Result<Vec<ModelChoice>, ChoiceError> {
    let env: BTreeMap<String, String> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let standing = [
        ("providers.local.base_url", "http://localhost:8000"),
        ("providers.other.base_url", "http://localhost:9000/v1"),
    ];
    let flags = standing.iter().chain(settings);
    let flags = flags.map(|(key, value)| ((*key).to_owned(), (*value).to_owned(), format!("--set {key}")));
    let sources = Sources { env: env.clone(), flags: flags.collect(), ..Sources::default() };
    let config = Config::load(&sources).unwrap();
    let catalogue = Catalogue::built_in().unwrap().over(TABLE).unwrap();
    Chooser { config: &config, env: &env, catalogue: &catalogue }.choose()
}

/// Returns each slot with its model and origin, or the error with its hint.
fn said(settings: &[(&str, &str)], env: &[(&str, &str)]) -> String {
    match choose(settings, env) {
        Ok(chosen) => {
            let line = |one: &ModelChoice| format!("{} {} by {}", one.slot.key(), one.name, one.origin);
            chosen.iter().map(line).collect::<Vec<_>>().join("; ")
        }
        Err(error) => format!(
            "failed to {}. hint: {}",
            setpoint_protocol::text::error_chain(&error).trim_start_matches("failed to "),
            error.hint()
        ),
    }
}

#[test]
fn flags_files_and_keys_in_the_environment_choose() {
    let told = [
        said(&[], &[]),
        said(&[("models.brain", "playbook")], &[("OPENAI_API_KEY", "k")]),
        said(&[("models.brain", "local/big")], &[]),
        said(
            &[("models.brain", "local/big"), ("models.tool", "other/x/y"), ("models.executor", "local/z")],
            &[],
        ),
        said(&[], &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "a")]),
        said(&[], &[("ANTHROPIC_API_KEY", "a")]),
        said(&[], &[("GEMINI_API_KEY", " g ")]),
        said(&[], &[("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "gpt-x")]),
        said(&[], &[("OPENAI_BASE_URL", "http://localhost:1234"), ("OPENAI_MODEL", "qwen")]),
        said(&[], &[("SETPOINT_BRAIN_MODEL", "claude-x"), ("ANTHROPIC_API_KEY", "a")]),
        said(&[("models.brain", "qwen3:32b")], &[("OLLAMA_HOST", "gpu:11434")]),
        said(&[("models.brain", "gpt-oss:20b")], &[("OLLAMA_HOST", "gpu:11434"), ("OPENAI_API_KEY", "k")]),
        said(&[("models.brain", "gpt-oss:20b")], &[("OPENAI_API_KEY", "k")]),
        said(&[("models.brain", "gpt-oss:20b")], &[("OPENAI_BASE_URL", "http://localhost:1234")]),
        said(&[("models.brain", "ft:gpt-x:me::1")], &[("OPENAI_API_KEY", "k")]),
        said(&[("models.brain", "gpt-oss")], &[("OLLAMA_HOST", "gpu"), ("OPENAI_API_KEY", "k")]),
        // A server at another address has unknown models; another provider's key is for known ones.
        said(&[], &[("ANTHROPIC_BASE_URL", "http://h"), ("ANTHROPIC_API_KEY", "a"), ("GEMINI_API_KEY", "g")]),
        said(&[], &[("OLLAMA_HOST", "gpu"), ("ANTHROPIC_API_KEY", "a")]),
        said(&[("models.brain", "local/big"), ("models.executor", "")], &[]),
    ]
    .join("\n");
    expect_test::expect![[r#"
        models.brain playbook by built in; models.tool playbook by built in
        models.brain playbook by --set models.brain; models.tool playbook by --set models.brain
        models.brain local/big by --set models.brain; models.tool local/big by --set models.brain
        models.brain local/big by --set models.brain; models.tool other/x/y by --set models.tool; models.executor local/z by --set models.executor
        models.brain openai/gpt-5 by $OPENAI_API_KEY; models.tool openai/gpt-5-mini by $OPENAI_API_KEY
        models.brain anthropic/claude-sonnet-4-6 by $ANTHROPIC_API_KEY; models.tool anthropic/claude-haiku-4-5 by $ANTHROPIC_API_KEY
        models.brain gemini/gemini-2.5-pro by $GEMINI_API_KEY; models.tool gemini/gemini-2.5-flash by $GEMINI_API_KEY
        models.brain openai/gpt-x by $OPENAI_MODEL; models.tool openai/gpt-x by $OPENAI_MODEL
        models.brain openai/qwen by $OPENAI_MODEL; models.tool openai/qwen by $OPENAI_MODEL
        models.brain anthropic/claude-x by $SETPOINT_BRAIN_MODEL; models.tool anthropic/claude-x by $SETPOINT_BRAIN_MODEL
        models.brain ollama/qwen3:32b by --set models.brain; models.tool ollama/qwen3:32b by --set models.brain
        models.brain ollama/gpt-oss:20b by --set models.brain; models.tool ollama/gpt-oss:20b by --set models.brain
        models.brain ollama/gpt-oss:20b by --set models.brain; models.tool ollama/gpt-oss:20b by --set models.brain
        models.brain openai/gpt-oss:20b by --set models.brain; models.tool openai/gpt-oss:20b by --set models.brain
        models.brain openai/ft:gpt-x:me::1 by --set models.brain; models.tool openai/ft:gpt-x:me::1 by --set models.brain
        models.brain openai/gpt-oss by --set models.brain; models.tool openai/gpt-oss by --set models.brain
        models.brain gemini/gemini-2.5-pro by $GEMINI_API_KEY; models.tool gemini/gemini-2.5-flash by $GEMINI_API_KEY
        models.brain anthropic/claude-sonnet-4-6 by $ANTHROPIC_API_KEY; models.tool anthropic/claude-haiku-4-5 by $ANTHROPIC_API_KEY
        models.brain local/big by --set models.brain; models.tool local/big by --set models.brain"#]].assert_eq(&told);
}

#[test]
fn unusable_settings_are_named_with_a_hint() {
    let told = [
        said(&[("models.brain", "qwen")], &[]),
        said(&[("models.brain", "local/")], &[]),
        said(&[("models.brain", "gpt-5")], &[]),
        said(&[("models.brain", "anthropic/claude-x")], &[("ANTHROPIC_API_KEY", " ")]),
        said(&[("models.brain", "local/tiny")], &[]),
        said(&[], &[("OLLAMA_HOST", "gpu")]),
        said(&[], &[("OPENAI_BASE_URL", "http://localhost:1234"), ("OPENAI_API_KEY", "k")]),
        said(&[], &[("ANTHROPIC_BASE_URL", "http://localhost:1234"), ("ANTHROPIC_API_KEY", "k")]),
        said(&[("providers.gemini.base_url", "http://localhost:1234")], &[("GEMINI_API_KEY", "k")]),
        said(&[("models.brain", "openai/gpt-5")], &[("OPENAI_API_KEY", "sk-\u{fffd}x")]),
        said(&[("models.brain", "openai/gpt-5")], &[("OPENAI_API_KEY", "sk-a\nb")]),
        said(&[("providers.new.api", "gemini"), ("models.brain", "new/x")], &[]),
        said(&[("providers.local.base_url", "localhost"), ("models.brain", "local/x")], &[]),
        said(&[("providers.local.base_url", "http://me:secret@h/v1"), ("models.brain", "local/x")], &[]),
        said(&[("providers.local.extra", "[1]"), ("models.brain", "local/x")], &[]),
        said(&[("providers.local.key_env", "MY_KEY"), ("models.brain", "local/x")], &[]),
        said(&[("budgets.money", "1"), ("models.brain", "local/x")], &[]),
    ]
    .join("\n");
    expect_test::expect![[r#"
        failed to find the provider of model "qwen" (--set models.brain). hint: write PROVIDER/MODEL, such as `openai/qwen` or `ollama/qwen`, or `playbook` for the embedded brain; `setpoint models` lists the providers
        failed to use "local/" as a model, which --set models.brain names: the part after the slash is missing. hint: write PROVIDER/MODEL, or `playbook` for the embedded brain
        failed to ask openai: its key is missing, OPENAI_API_KEY is not set. hint: set OPENAI_API_KEY, choose another model with --model, or use `--model playbook`, which needs none
        failed to ask anthropic: its key is missing, ANTHROPIC_API_KEY is not set. hint: set ANTHROPIC_API_KEY, choose another model with --model, or use `--model playbook`, which needs none
        failed to use local/tiny: its window of 2048 tokens is too small, a task needs 8192. hint: choose a model with a larger window, or state local/tiny's window in `models.toml` if it is larger
        failed to choose a model of ollama: its address is set by $OLLAMA_HOST, but no model is named. hint: name one with --model ollama/MODEL, SETPOINT_BRAIN_MODEL and SETPOINT_TOOL_MODEL, or `models.brain` and `models.tool`, or let the embedded brain answer with `--model playbook`; `setpoint init` looks for models
        failed to choose a model of openai: its address is set by $OPENAI_BASE_URL, but no model is named. hint: name one with --model openai/MODEL, SETPOINT_BRAIN_MODEL and SETPOINT_TOOL_MODEL, or `models.brain` and `models.tool`, or let the embedded brain answer with `--model playbook`; `setpoint init` looks for models
        failed to choose a model of anthropic: its address is set by $ANTHROPIC_BASE_URL, but no model is named. hint: name one with --model anthropic/MODEL, SETPOINT_BRAIN_MODEL and SETPOINT_TOOL_MODEL, or `models.brain` and `models.tool`, or let the embedded brain answer with `--model playbook`; `setpoint init` looks for models
        failed to choose a model of gemini: its address is set by --set providers.gemini.base_url, but no model is named. hint: name one with --model gemini/MODEL, SETPOINT_BRAIN_MODEL and SETPOINT_TOOL_MODEL, or `models.brain` and `models.tool`, or let the embedded brain answer with `--model playbook`; `setpoint init` looks for models
        failed to ask openai: the key in OPENAI_API_KEY contains characters that a request cannot carry. hint: set OPENAI_API_KEY to the key alone: letters, digits and signs in one line
        failed to ask openai: the key in OPENAI_API_KEY contains characters that a request cannot carry. hint: set OPENAI_API_KEY to the key alone: letters, digits and signs in one line
        failed to ask new: it has no address (`providers.new.base_url`). hint: set `providers.new.base_url` in your configuration file; `setpoint config path` shows where that is
        failed to use the address that --set providers.local.base_url names: use "localhost" as a model's address: it does not begin with http:// or https://. hint: an address looks like https://host/v1 or http://localhost:8000
        failed to use the address that --set providers.local.base_url names: use "http://…@h/v1" as a model's address: it contains a user or a password; a key has its own setting. hint: an address looks like https://host/v1 or http://localhost:8000
        failed to use --set providers.local.extra: `providers.local.extra` is not a JSON object: invalid type: sequence, expected a map at line 1 column 0. hint: write it as text that holds JSON, such as '{"top_k": 20}'
        failed to ask local: its key is missing, MY_KEY is not set. hint: set MY_KEY, choose another model with --model, or use `--model playbook`, which needs none
        failed to enforce the budget of money: the price of local/x is not known. hint: state price_in and price_out of local/x in `models.toml`, or leave --set budgets.money out"#]].assert_eq(&told);
}

#[test]
fn the_judge_must_not_rank_below_the_planner() {
    let with = |planner: &str, judge: &str| {
        said(
            &[("models.brain", "local/big"), ("models.planner", planner), ("models.meta_validator", judge)],
            &[],
        )
    };
    for (planner, judge) in [("local/a", "local/big"), ("local/a", "local/b"), ("other/x", "other/x")] {
        assert!(with(planner, judge).starts_with("models.brain local/big"), "{planner} {judge}");
    }
    let told =
        [with("local/big", "local/a"), with("local/a", "other/x"), with("other/x", "local/big")].join("\n");
    expect_test::expect![[r#"
        failed to let local/a verify plans of local/big: its rank 2 is below 4. hint: choose for `models.meta_validator` a model that ranks at least as high, or leave it to `models.brain`; ranks can be stated in `models.toml`
        failed to let other/x verify plans of local/a: the rank of other/x is not known. hint: state the `rank` of other/x in `models.toml`, or use the same model for both
        failed to let local/big verify plans of other/x: the rank of other/x is not known. hint: state the `rank` of other/x in `models.toml`, or use the same model for both"#]].assert_eq(&told);
}

#[test]
fn an_endpoint_combines_configuration_and_catalogue() {
    let settings = [
        ("models.brain", "local/big"),
        ("models.brain_effort", "low"),
        ("models.stream", "false"),
        ("models.idle_ms", "5s"),
        ("providers.local.api", "openai-responses"),
        ("providers.local.key_env", "MY_KEY"),
        ("providers.local.tools", "false"),
        ("providers.local.extra", "{\"top_k\": 20}"),
    ];
    let chosen = choose(&settings, &[("MY_KEY", "sk-secret-value")]).unwrap();
    let Some(Answerer::Remote(endpoint)) = chosen.first().map(|one| &one.answerer) else { panic!() };
    let told = format!("{endpoint:#?}");
    assert!(!told.contains("sk-secret-value"));
    let shown = (
        endpoint.base.as_str(),
        endpoint.dialect.name(),
        endpoint.is_streamed,
        endpoint.takes_tools,
        endpoint.takes_schema,
        endpoint.effort.map(|effort| effort.word()),
        endpoint.window_tokens,
        endpoint.idle.as_secs(),
        endpoint.extra.len(),
    );
    let expected = (
        "http://localhost:8000/v1",
        "openai-responses",
        false,
        false,
        true,
        Some("low"),
        Some(100_000),
        5,
        1,
    );
    assert_eq!(shown, expected);
}
