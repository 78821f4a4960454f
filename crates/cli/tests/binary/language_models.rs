//! `models` and `doctor --model` against local servers: reports about available and missing models, and about
//! servers that misbehave.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::Value;
use setpoint_model_server::{
    Answer, Delay, Fault, Gate, Hosted, Listing, ModelInfo, ModelServer, Script, SeenRequest, Turn, Wire,
    refused_address,
};

use crate::support::{Came, Home};

const KEY: &str = "sk-never-to-be-seen-0123456789";

/// A model that does what `doctor --model` asks, on a server that lists it, maybe with a fault in the list.
#[derive(Clone, Default)]
struct Able {
    listed: Vec<&'static str>,
    list_fault: Option<Fault>,
}

impl Script for Able {
    fn turn(&self, seen: &SeenRequest) -> Turn {
        let user = seen.asked.last_user().unwrap_or_default();
        let answer = if user.contains("ready") {
            Answer::text("ready")
        } else if user.contains("report_number") {
            Answer::call("report_number", r#"{"number": 7}"#)
        } else if user.contains("colour") {
            Answer::text(r#"{"colour": "red", "letters": 3}"#)
        } else {
            Answer::text("quintel-4187")
        };
        Turn::from(answer)
    }

    fn listing(&self, _: &SeenRequest) -> Listing {
        let models = self.listed.iter().map(|name| ModelInfo::new(name)).collect();
        Listing { models, fault: self.list_fault.clone() }
    }
}

/// Writes a configuration with one user-defined provider at this address.
fn configure(home: &Home, address: &str) {
    configure_with(home, address, "60s");
}

/// Writes such a configuration with this idle timeout.
fn configure_with(home: &Home, address: &str, idle: &str) {
    let text = format!(
        "[models]\nbrain = \"mine/big\"\ntool = \"mine/small\"\nidle_ms = \"{idle}\"\n[providers.mine]\n\
         base_url = \"{address}\"\nkey_env = \"MY_KEY\"\n"
    );
    fs::write(home.config().join("setpoint.toml"), text).unwrap();
    let table = "[[model]]\nname = \"mine/*\"\nwindow_tokens = 10_000\ntokens_out_max = 2_000\nrank = 3\n\
         price_in = 1.0\nprice_out = 2.0\n";
    fs::write(home.config().join("models.toml"), table).unwrap();
}

fn run(home: &Home, arguments: &[&str]) -> Came {
    let came = Came::of(home.command(arguments).env("MY_KEY", KEY));
    assert!(!(came.out.clone() + &came.err).contains(KEY), "{came:#?}");
    assert!(!home.data().join("journal").exists(), "{came:#?}");
    came
}

fn hosted(script: Able) -> Hosted {
    Hosted::start(Arc::new(script)).unwrap()
}

#[test]
fn models_are_shown_with_their_data_and_availability() {
    let home = Home::new();
    let server = hosted(Able { listed: vec!["big", "small", "other"], ..Able::default() });
    configure(&home, &server.base(Wire::Chat));
    let came = run(&home, &["models", "--json", "--all"]);
    let shown = came.json();
    assert_eq!((came.code, &shown["state"]), (0, &"good".into()), "{came:#?}");
    let brain = &shown["models"][0];
    let file = home.config().join("setpoint.toml");
    for (field, expected) in [
        ("slot", Value::from("models.brain")),
        ("name", "mine/big".into()),
        ("origin", format!("{}:2", file.display()).into()),
        ("address", server.base(Wire::Chat).into()),
        ("key_env", "MY_KEY".into()),
        ("is_key_set", true.into()),
        ("window_tokens", 10_000.into()),
        ("tokens_out_max", 2_000.into()),
        ("rank", 3.into()),
        ("finding", "its server answers and has the model".into()),
    ] {
        assert_eq!(brain[field], expected, "{field}");
    }
    assert_eq!(brain["price"]["million_in"], "1.00");
    assert_eq!(shown["models"][1]["name"], "mine/small");
    // One server, asked once, with the key.
    assert_eq!(shown["servers"][0]["models"], serde_json::json!(["big", "small", "other"]));
    let seen = server.seen();
    assert_eq!((seen.len(), &seen[0].headers["authorization"]), (1, &format!("Bearer {KEY}")));
    let mine = shown["providers"].as_array().unwrap().iter().find(|one| one["name"] == "mine").unwrap();
    assert_eq!((&mine["key_env"], &mine["is_key_set"]), (&"MY_KEY".into(), &true.into()));
    let text = run(&home, &["models"]);
    assert_eq!(text.code, 0);
    for part in
        ["mine/big", "10000 tokens", "1.00 in, 2.00 out", "MY_KEY is set", "OPENAI_API_KEY must be set"]
    {
        assert!(text.out.contains(part), "{part:?} is not in {text:#?}");
    }
    assert!(!text.out.contains("mine/other"), "{text:#?}");
    assert!(run(&home, &["models", "--all"]).out.contains("mine/other"));
}

#[test]
fn the_embedded_brain_needs_no_server() {
    let home = Home::new();
    let came = home.run(&["models"]);
    assert_eq!((came.code, came.err.as_str()), (0, ""), "{came:#?}");
    assert!(came.out.contains("the embedded brain answers"), "{came:#?}");
    for provider in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "http://127.0.0.1:11434"] {
        assert!(came.out.contains(provider), "{came:#?}");
    }
    let doctor = home.run(&["doctor", "--model", "--json"]).json();
    assert!(doctor.get("cost").is_none() && doctor["state"] == "note", "{doctor:#}");
    let named = home.run(&["doctor", "--model", "playbook"]);
    assert!(named.out.contains("there is nothing to test"), "{named:#?}");
}

#[test]
fn an_unusable_choice_is_reported_with_the_providers() {
    let home = Home::new();
    for model in ["gpt", "openai/gpt-5", "nobody/x", "openai/"] {
        let came = run(&home, &["models", "--model", model]);
        assert_eq!(came.code, 2, "{came:#?}");
        assert!(came.err.starts_with("error: failed to ") && came.err.contains("\nhint: "), "{came:#?}");
        assert!(came.out.contains("OPENAI_API_KEY must be set"), "{came:#?}");
        let came = run(&home, &["models", "--json", "--model", model]);
        let value = came.json();
        assert_eq!((came.code, &value["error"]["kind"]), (2, &"configuration".into()), "{came:#?}");
        assert!(value["providers"].as_array().unwrap().len() >= 4, "{value:#}");
    }
}

#[test]
fn a_missing_model_is_reported_with_what_to_do() {
    let home = Home::new();
    let fault = |fault: Fault| Able { listed: vec!["big", "small"], list_fault: Some(fault) };
    let refused = refused();
    let mut cases: Vec<(String, Option<Hosted>, i32, &str, &str)> =
        vec![(refused.base(Wire::Chat), None, 1, "Connection refused", "that its server runs")];
    for (script, code, finding, hint) in [
        (
            Able { listed: vec!["big", "smart"], ..Able::default() },
            1,
            "does not have the model",
            "it has smart",
        ),
        (fault(Fault::Hang(Delay::Ever)), 1, "did not answer within 400 ms", "not stuck"),
        (fault(Fault::Unauthorized), 1, "401", "check the key"),
        (fault(Fault::RedirectLoop), 1, "307", "set the new one"),
        (fault(Fault::ResetInBody), 1, "broke off", "later"),
        (fault(Fault::BadGateway), 1, "502", "later"),
        (fault(Fault::ModelNotFound), 0, "does not list its models", "doctor --model"),
        (Able::default(), 0, "its list does not contain the model", "doctor --model"),
    ] {
        let server = hosted(script);
        cases.push((server.base(Wire::Chat), Some(server), code, finding, hint));
    }
    let tls = hosted(Able::default());
    cases.push((tls.base_with(Wire::Chat, &Fault::TlsGarbage), Some(tls), 1, "could not connect", "address"));
    for (address, _server, code, finding, hint) in cases {
        // Only the case that waits in vain gets a short timeout.
        configure_with(&home, &address, if finding.contains("400 ms") { "400ms" } else { "60s" });
        let came = run(&home, &["models"]);
        assert_eq!((came.code, came.err.as_str()), (code, ""), "{finding}: {came:#?}");
        assert!(came.out.contains(finding) && came.out.contains(hint), "{finding}: {came:#?}");
        let shown = run(&home, &["models", "--json"]).json();
        assert_eq!(shown["state"], if code == 0 { "note" } else { "bad" }, "{shown:#}");
    }
}

/// Returns a port without a server.
fn refused() -> setpoint_model_server::RefusedAddress {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    refused_address().unwrap()
}

/// The second server is asked while the first one has not answered.
#[tokio::test]
async fn servers_are_asked_side_by_side() {
    let home = Home::new();
    let gate = Gate::new();
    let slow = || Able { list_fault: Some(Fault::Hang(Delay::Until(gate.clone()))), ..Able::default() };
    let one = ModelServer::start(Arc::new(slow())).await.unwrap();
    let two = ModelServer::start(Arc::new(slow())).await.unwrap();
    let text = format!(
        "[models]\nbrain = \"one/m\"\ntool = \"two/m\"\nmeta_validator = \"one/m\"\n[providers.one]\nbase_url = \"{}\"\n\
         [providers.two]\nbase_url = \"{}\"\n",
        one.base(Wire::Chat),
        two.base(Wire::Chat)
    );
    fs::write(home.config().join("setpoint.toml"), text).unwrap();
    let child: &mut Command = &mut home.command(&["models", "--json"]);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    gate.arrivals(2).await;
    assert!(one.served().is_empty() && two.served().is_empty());
    gate.open();
    let came =
        tokio::task::spawn_blocking(move || Came::from(child.wait_with_output().unwrap())).await.unwrap();
    assert_eq!((came.code, came.json()["models"].as_array().unwrap().len()), (1, 3), "{came:#?}");
}

#[test]
fn a_trial_says_what_a_model_can_do_and_what_it_cost() {
    let home = Home::new();
    let server = hosted(Able::default());
    configure(&home, &server.base(Wire::Chat));
    // Without `--model`, the doctor asks no server.
    assert_eq!(run(&home, &["doctor"]).code, 0);
    assert_eq!(server.seen().len(), 0);
    let came = run(&home, &["doctor", "--model", "--json"]);
    let found = came.json();
    assert_eq!(came.code, 0, "{found:#}");
    for model in ["mine/big", "mine/small"] {
        let of_model: Vec<&str> = found["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["subject"] == model)
            .map(|one| one["finding"].as_str().unwrap())
            .collect();
        assert_eq!(
            of_model,
            [
                "answers",
                "calls tools through the provider's interface",
                "follows a JSON Schema",
                "reads a question of about 8000 tokens to its end, in a window of 10000",
            ]
        );
    }
    let served = server.served();
    let sum = |of: fn(&setpoint_model_server::RequestOutcome) -> Option<i128>| -> i128 {
        served.iter().filter_map(of).sum()
    };
    let (tokens_in, tokens_out) = (sum(|one| one.input_tokens), sum(|one| one.output_tokens));
    let cost = &found["cost"];
    assert_eq!((&cost["calls"], served.len()), (&8.into(), 8));
    assert_eq!(cost["tokens_in"].as_i64().map(i128::from), Some(tokens_in));
    assert_eq!(cost["tokens_out"].as_i64().map(i128::from), Some(tokens_out));
    let money = cost["money"].as_f64().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand tokens")]
    let expected = (tokens_in as f64 + 2.0 * tokens_out as f64) / 1e6;
    assert!((money - expected).abs() < 1e-9, "{money} {expected}");
    let text = run(&home, &["doctor", "--model"]);
    assert!(
        text.out.contains("8 calls, ") && text.out.contains("in the currency of the price table"),
        "{text:#?}"
    );
    // One model only, by name.
    let one = run(&home, &["doctor", "--model", "mine/small", "--json"]).json();
    assert_eq!(one["cost"]["calls"], 4, "{one:#}");
}

/// Without any certificate authorities a server that needs none is still asked, and for another the problem is reported.
#[test]
fn without_certificate_authorities_a_local_server_is_asked() {
    let home = Home::new();
    let server = hosted(Able { listed: vec!["big", "small"], ..Able::default() });
    let without = |home: &Home, line: &[&str]| {
        let mut command = home.command(line);
        command
            .env("SSL_CERT_FILE", "/nowhere/certs.pem")
            .env("SSL_CERT_DIR", "/nowhere/certs")
            .env("MY_KEY", KEY);
        Came::of(&mut command)
    };
    configure(&home, &server.base(Wire::Chat));
    assert_eq!(without(&home, &["models"]).code, 0);
    assert_eq!(without(&home, &["doctor", "--model"]).code, 0);
    configure(&home, &server.base(Wire::Chat).replace("http://", "https://"));
    for (line, code) in [(&["models"][..], 1), (&["doctor", "--model"], 1), (&["run", "count the files"], 2)]
    {
        let came = without(&home, line);
        assert_eq!(came.code, code, "{came:#?}");
        assert!((came.out.clone() + &came.err).contains("SSL_CERT_FILE with SSL_CERT_DIR"), "{came:#?}");
    }
    assert!(!home.data().join("journal").exists());
}

/// The examples of docs/models.md together are a valid configuration that chooses what they say.
#[test]
fn the_examples_of_the_guide_can_be_used() {
    let home = Home::new();
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md")).unwrap();
    let examples: Vec<&str> =
        guide.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    let (tables, configuration): (Vec<&str>, Vec<&str>) =
        examples.into_iter().partition(|example| example.starts_with("[[model]]"));
    assert_eq!((tables.len(), configuration.len()), (1, 3));
    // Its budget of money needs a price for every model; the table prices the models that it names.
    let own = "[[model]]\nname = \"ollama/qwen3:8b\"\nprice_in = 0.0\nprice_out = 0.0\nrank = 2\n";
    fs::write(home.config().join("setpoint.toml"), configuration.join("\n")).unwrap();
    fs::write(home.config().join("models.toml"), tables.join("\n") + own).unwrap();
    let mut command = home.command(&["doctor"]);
    let came =
        Came::of(command.env("OPENAI_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY).env("VLLM_KEY", KEY));
    assert_eq!(came.code, 0, "{came:#?}");
    for line in [
        "models.brain is openai/gpt-5, by ",
        "models.tool is ollama/qwen3:8b, by ",
        "models.meta_validator is anthropic/claude-opus-4-1, by ",
    ] {
        assert!(came.out.contains(line), "{line:?} is not in {came:#?}");
    }
}
