//! What a run sends to a collector, and what it logs: nothing unless configured, and never at the cost of the
//! run.

use std::fs;
use std::sync::{Arc, Mutex};

use setpoint_model_server::{CannedRequest, canned};

use crate::support::task::{GOAL, Trial};
use crate::support::{Came, Home};

/// A secret that a collector requires.
const KEY: &str = "otel-secret-0123456789";

fn home() -> Home {
    let home = Home::new();
    home.file("a.txt", "a\n");
    Trial::new().reads("a.txt", "1").write(&home);
    home
}

#[test]
fn a_run_is_sent_to_the_collector_of_the_environment() {
    let (home, requests) = (home(), Arc::new(Mutex::new(Vec::<CannedRequest>::new())));
    let kept = Arc::clone(&requests);
    let base = canned(move |request| {
        kept.lock().unwrap().push(request);
        (200, String::new())
    })
    .unwrap();
    let mut command = home.command(&["run", "--json", GOAL]);
    let headers = format!("x-key={KEY}");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &base).env("OTEL_EXPORTER_OTLP_HEADERS", headers);
    let came = Came::of(&mut command);
    assert_eq!(came.code, 0, "{came:#?}");
    let requests = requests.lock().unwrap().clone();
    let has = |path: &str| {
        let mut at = requests.iter().filter(|one| one.head.starts_with("POST ") && one.path == path);
        at.any(|one| one.head.contains(KEY) && one.body.len() > 200)
    };
    assert!(has("/v1/traces") && has("/v1/metrics"), "{requests:#?}");
    let log = fs::read_to_string(home.data().join("setpoint.log")).unwrap_or_default();
    for told in [&came.out, &came.err, &log] {
        assert!(!told.contains(KEY), "{told}");
    }
}

/// Without a collector a run ends as always, with a warning in its log.
#[test]
fn levels_are_those_of_the_configuration() {
    let logged = |levels: &str| {
        let home = home();
        fs::write(home.config().join("setpoint.toml"), format!("[log]\nlevel = \"{levels}\"\n")).unwrap();
        let mut command = home.command(&["-v", "run", GOAL]);
        let came = Came::of(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"));
        assert!(came.code == 0 && came.out.contains("accepted"), "{came:#?}");
        let log = fs::read_to_string(home.data().join("setpoint.log")).unwrap_or_default();
        assert_eq!(
            came.err.contains("the collector does not accept telemetry"),
            log.contains("the collector does not accept telemetry")
        );
        log.contains("the collector does not accept telemetry")
    };
    assert!(logged("warn"));
    assert!(logged("off,setpoint_telemetry=warn"));
    assert!(!logged("error"));
    assert!(!logged("trace,setpoint_telemetry=off"));
}

#[test]
fn neither_a_key_nor_an_answer_is_logged() {
    const SAID: &str = "a-word-that-only-the-model-knows";
    let reply = format!(
        r#"{{"choices":[{{"message":{{"role":"assistant","content":"{SAID}"}},"finish_reason":"stop"}}],"usage":{{}}}}"#
    );
    let base = canned(move |_| (200, reply.clone())).unwrap();
    let home = Home::new();
    let mut command = home.command(&["--set", "models.stream=false", "--model", "openai/x", "run", "do it"]);
    command
        .env("OPENAI_BASE_URL", base)
        .env("OPENAI_API_KEY", KEY)
        .env("SETPOINT_LOG", "setpoint=trace,debug");
    // Something is logged, because a collector is missing.
    let came = Came::of(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"));
    assert_eq!(came.code, 4, "{came:#?}");
    let exported = home.run(&["tasks", "list", "--json"]).json()[0]["task_id"].as_str().unwrap().to_owned();
    assert!(home.run(&["tasks", "export", &exported]).out.contains(SAID), "the model was asked");
    let log = fs::read_to_string(home.data().join("setpoint.log")).unwrap();
    assert!(log.contains("the collector does not accept telemetry"), "{log}");
    for secret in [SAID, KEY] {
        assert!(!log.contains(secret), "{log}");
    }
}
