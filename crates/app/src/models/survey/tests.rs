//! Reports about models of servers that are there, are not, or misbehave, and what a trial of them costs.

use std::sync::Arc;

use setpoint_model_server::{
    Answer, Delay, Fault, Gate, Listing, ModelInfo, ModelServer, RequestOutcome, Script, SeenRequest, Turn,
    Wire, refused_address,
};

use super::*;
use crate::desk::examine;
use crate::error::ErrorKind;
use crate::models::trial::try_out;
use crate::testing::{Home, KEY, options};

/// A model that does what a trial asks, on a server that lists it, maybe with a fault in the list.
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

/// Loads a program with one user-defined provider at this address, and its models in the table.
fn program(home: &Home, address: &str, idle: &str, model: Option<&str>) -> Program {
    let text = format!(
        "[models]\nbrain = \"mine/big\"\ntool = \"mine/small\"\nidle_ms = \"{idle}\"\n[providers.mine]\n\
         base_url = \"{address}\"\nkey_env = \"MY_KEY\"\n"
    );
    std::fs::write(home.config().join("setpoint.toml"), text).unwrap();
    let table = "[[model]]\nname = \"mine/*\"\nwindow_tokens = 10_000\ntokens_out_max = 2_000\nrank = 3\n\
         price_in = 1.0\nprice_out = 2.0\n";
    std::fs::write(home.config().join("models.toml"), table).unwrap();
    home.program(&options(model, &[]), &[("MY_KEY", KEY)]).unwrap()
}

/// Returns the state, the finding and the hint of the first model.
async fn brain(home: &Home, address: &str, idle: &str) -> String {
    let report = survey(&program(home, address, idle, None)).await;
    let ModelLine { state, finding, hint, .. } = &report.models[0];
    let said = format!("{state:?}: {finding}; {}", hint.as_deref().unwrap_or_default());
    assert!(!said.contains(KEY), "{said}");
    said
}

#[tokio::test]
async fn a_model_is_shown_with_its_data_and_availability() {
    let home = Home::new();
    let script = Able { listed: vec!["big", "small", "other"], ..Able::default() };
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let address = server.base(Wire::Chat);
    let report = survey(&program(&home, &address, "60s", None)).await;
    assert_eq!(
        serde_json::to_value(&report.models[0]).unwrap(),
        serde_json::json!({
            "slot": "models.brain",
            "name": "mine/big",
            "origin": format!("{}:2", home.config().join("setpoint.toml").display()),
            "address": address,
            "key_env": "MY_KEY",
            "is_key_set": true,
            "window_tokens": 10_000,
            "tokens_out_max": 2_000,
            "rank": 3,
            "price": { "million_in": "1.00", "million_out": "2.00", "million_cached": "1.00" },
            "state": "good",
            "finding": "its server answers and has the model",
        })
    );
    // One server, asked once, with the key.
    assert_eq!((report.models.len(), report.servers.len()), (2, 1));
    assert_eq!(report.servers[0].models, ["big", "small", "other"]);
    let seen = server.seen();
    assert_eq!((seen.len(), &seen[0].headers["authorization"]), (1, &format!("Bearer {KEY}")));
    let mine = report.providers.iter().find(|one| one.name == "mine").unwrap();
    assert!(mine.key_env.as_deref() == Some("MY_KEY") && mine.is_key_set, "{mine:?}");
}

#[tokio::test]
async fn the_embedded_brain_needs_no_server() {
    let program = Home::new().program(&options(None, &[]), &[]).unwrap();
    let report = survey(&program).await;
    assert!(
        report.models.iter().all(|one| one.state == Health::Note && one.finding == EMBEDDED),
        "{report:?}"
    );
    let known: Vec<_> =
        report.providers.iter().map(|one| (one.key_env.as_deref(), one.is_key_needed)).collect();
    let needed = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"].map(|key| (Some(key), true));
    assert_eq!(known, [&needed[..], &[(None, false)]].concat());
    assert_eq!(report.providers[3].address.as_deref(), Some("http://127.0.0.1:11434"));
    let trial = try_out(&program).await;
    assert!(trial.cost.is_none() && trial.found[0].finding.contains("there is nothing to test"), "{trial:?}");
}

#[tokio::test]
async fn an_unusable_choice_is_reported_with_the_providers() {
    let home = Home::new();
    for model in ["gpt", "openai/gpt-5", "nobody/x", "openai/"] {
        let report = survey(&home.program(&options(Some(model), &[]), &[]).unwrap()).await;
        let error = report.error.unwrap();
        assert_eq!((error.kind, report.models.len()), (ErrorKind::Configuration, 0), "{error:?}");
        assert!(error.message.starts_with("failed to ") && !error.hints.is_empty(), "{error:?}");
        assert_eq!(report.providers.len(), 4);
    }
}

#[tokio::test]
async fn a_missing_model_is_reported_with_what_to_do() {
    let home = Home::new();
    let fault = |fault: Fault| Able { listed: vec!["big", "small"], list_fault: Some(fault) };
    for (script, idle, finding, hint) in [
        (
            Able { listed: vec!["smart", "bigger"], ..Able::default() },
            "60s",
            "Bad: its server answers, but does not have the model",
            "it has bigger",
        ),
        // Only the case that waits in vain gets a short timeout.
        (fault(Fault::Hang(Delay::Ever)), "400ms", "did not answer within 400 ms", "not stuck"),
        (fault(Fault::Unauthorized), "60s", "401", "check the key"),
        (fault(Fault::RedirectLoop), "60s", "307", "set the new one"),
        (fault(Fault::ResetInBody), "60s", "broke off", "later"),
        (fault(Fault::BadGateway), "60s", "502", "later"),
        (
            fault(Fault::ModelNotFound),
            "60s",
            "Note: its server answers, but does not list its models",
            "doctor --model",
        ),
        (
            Able::default(),
            "60s",
            "Note: its server answers; its list does not contain the model",
            "doctor --model",
        ),
    ] {
        let server = ModelServer::start(Arc::new(script)).await.unwrap();
        let said = brain(&home, &server.base(Wire::Chat), idle).await;
        assert!(said.contains(finding) && said.contains(hint), "{finding}: {said}");
        assert_eq!(said.starts_with("Bad"), !finding.starts_with("Note"), "{said}");
    }
    let refused = refused_address().unwrap();
    let said = brain(&home, &refused.base(Wire::Chat), "60s").await;
    assert!(said.contains("Connection refused") && said.contains("that its server runs"), "{said}");
    let tls = ModelServer::start(Arc::new(Able::default())).await.unwrap();
    let said = brain(&home, &tls.base_with(Wire::Chat, &Fault::TlsGarbage), "60s").await;
    assert!(said.contains("could not connect") && said.contains("address"), "{said}");
}

/// The second server is asked while the first one has not answered; a server of several models is asked once.
#[tokio::test]
async fn servers_are_asked_side_by_side() {
    let gate = Gate::new();
    let slow = || Able { list_fault: Some(Fault::Hang(Delay::Until(gate.clone()))), ..Able::default() };
    let one = ModelServer::start(Arc::new(slow())).await.unwrap();
    let two = ModelServer::start(Arc::new(slow())).await.unwrap();
    let home = Home::new().own(&format!(
        "[models]\nbrain = \"one/m\"\ntool = \"two/m\"\nmeta_validator = \"one/m\"\n[providers.one]\nbase_url = \"{}\"\n\
         [providers.two]\nbase_url = \"{}\"\n",
        one.base(Wire::Chat),
        two.base(Wire::Chat)
    ));
    let program = home.program(&options(None, &[]), &[]).unwrap();
    let watched = async {
        gate.arrivals(2).await;
        assert!(one.served().is_empty() && two.served().is_empty());
        gate.open();
    };
    let (report, ()) = tokio::join!(survey(&program), watched);
    assert_eq!((report.models.len(), report.servers.len(), one.seen().len()), (3, 2, 1), "{report:?}");
}

#[tokio::test]
async fn a_trial_says_what_a_model_can_do_and_what_it_cost() {
    let home = Home::new();
    let server = ModelServer::start(Arc::new(Able::default())).await.unwrap();
    let program = |model| program(&home, &server.base(Wire::Chat), "60s", model);
    // Without a trial, the doctor asks no server.
    assert!(!examine(&program(None)).is_empty());
    assert_eq!(server.seen().len(), 0);
    let trial = try_out(&program(None)).await;
    for model in ["mine/big", "mine/small"] {
        let of_model = trial.found.iter().filter(|one| one.subject == model);
        assert_eq!(
            of_model.map(|one| one.finding.as_str()).collect::<Vec<_>>(),
            [
                "answers",
                "calls tools through the provider's interface",
                "follows a JSON Schema",
                "reads a question of about 8000 tokens to its end, in a window of 10000",
            ]
        );
    }
    let served = server.served();
    let sum = |of: fn(&RequestOutcome) -> Option<i128>| -> u64 {
        served.iter().filter_map(of).sum::<i128>().try_into().unwrap()
    };
    let (tokens_in, tokens_out) = (sum(|one| one.input_tokens), sum(|one| one.output_tokens));
    let cost = trial.cost.unwrap();
    assert_eq!((cost.calls, cost.tokens_in, cost.tokens_out), (8, tokens_in, tokens_out));
    #[expect(clippy::cast_precision_loss, reason = "a few thousand tokens")]
    let expected = (tokens_in as f64 + 2.0 * tokens_out as f64) / 1e6;
    assert!((cost.money.unwrap() - expected).abs() < 1e-9, "{cost:?} {expected}");
    let last = &trial.found.last().unwrap().finding;
    assert!(last.starts_with("8 calls, ") && last.ends_with("in the currency of the price table"), "{last}");
    // One model only, by name.
    assert_eq!(try_out(&program(Some("mine/small"))).await.cost.unwrap().calls, 4);
}

/// The examples of docs/models.md together are a valid configuration that chooses what they say.
#[test]
fn the_examples_of_the_guide_can_be_used() {
    let guide = include_str!("../../../../../docs/models.md");
    let examples = guide.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let (tables, configuration): (Vec<&str>, Vec<&str>) =
        examples.partition(|example| example.starts_with("[[model]]"));
    assert_eq!((tables.len(), configuration.len()), (1, 3));
    let home = Home::new().own(&configuration.join("\n"));
    // Its budget of money needs a price for every model; the table prices the models that it names.
    let own = "[[model]]\nname = \"ollama/qwen3:8b\"\nprice_in = 0.0\nprice_out = 0.0\nrank = 2\n";
    std::fs::write(home.config().join("models.toml"), tables.concat() + own).unwrap();
    let keys = [("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY), ("VLLM_KEY", KEY)];
    let chosen = home.program(&options(None, &[]), &keys).unwrap().chosen_models().unwrap();
    let chosen: Vec<_> = chosen.iter().map(|one| format!("{} {}", one.slot.key(), one.name)).collect();
    for line in [
        "models.brain openai/gpt-5",
        "models.tool ollama/qwen3:8b",
        "models.meta_validator anthropic/claude-opus-4-1",
    ] {
        assert!(chosen.contains(&line.to_owned()), "{line}: {chosen:?}");
    }
}
