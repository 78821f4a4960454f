//! What a run sends to a collector, and what it logs: nothing unless configured, and never at the cost of the
//! run.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::support::canned::canned;
use crate::support::task::{GOAL, Trial};
use crate::support::{Came, Home};

/// A secret that a collector requires.
const KEY: &str = "otel-secret-0123456789";

/// Received requests: first line and headers, and the length of the body.
type Requests = Arc<Mutex<Vec<(String, usize)>>>;

/// Starts a collector that accepts everything.
fn collector() -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let requests = Requests::default();
    let kept = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap() <= 2 {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            kept.lock().unwrap().push((head, length));
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.get_mut().write_all(answer).unwrap();
        }
    });
    (base, requests)
}

fn home() -> Home {
    let home = Home::new();
    home.file("a.txt", "a\n");
    Trial::new().reads("a.txt", "1").write(&home);
    home
}

#[test]
fn a_run_is_sent_to_the_collector_of_the_environment() {
    let (home, (base, requests)) = (home(), collector());
    let mut command = home.command(&["run", "--json", GOAL]);
    let headers = format!("x-key={KEY}");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &base).env("OTEL_EXPORTER_OTLP_HEADERS", headers);
    let came = Came::of(&mut command);
    assert_eq!(came.code, 0, "{came:#?}");
    let requests = requests.lock().unwrap().clone();
    let has = |path: &str| {
        let line = format!("POST {path} HTTP/1.1");
        requests.iter().any(|(head, length)| head.starts_with(&line) && head.contains(KEY) && *length > 200)
    };
    assert!(has("/v1/traces") && has("/v1/metrics"), "{requests:#?}");
    let log = fs::read_to_string(home.data().join("setpoint.log")).unwrap_or_default();
    for told in [&came.out, &came.err, &log] {
        assert!(!told.contains(KEY), "{told}");
    }
}

#[test]
fn a_missing_collector_changes_no_result() {
    let ends: Vec<(i32, String)> = [None, Some("http://127.0.0.1:1"), Some("nonsense")]
        .into_iter()
        .map(|base| {
            let home = home();
            let mut command = home.command(&["run", GOAL]);
            if let Some(base) = base {
                command.env("OTEL_EXPORTER_OTLP_ENDPOINT", base);
            }
            let came = Came::of(&mut command);
            let log = fs::read_to_string(home.data().join("setpoint.log")).unwrap_or_default();
            let warnings = log.lines().filter(|line| line.contains("telemetry")).count();
            assert_eq!(warnings > 0, base.is_some(), "{base:?}: {log}");
            assert!(warnings <= 3, "{log}");
            // Everything except the id and the folder.
            let told = came.out.split("task: ").next().unwrap();
            (came.code, told.replace(home.work().to_str().unwrap(), "WORK"))
        })
        .collect();
    assert_eq!((ends[0].0, &ends[0]), (0, &ends[1]));
    assert_eq!(ends[0], ends[2]);
}

#[test]
fn doctor_says_where_telemetry_goes() {
    let home = Home::new();
    let said = |base: &str| {
        let mut command = home.command(&["doctor", "--json"]);
        let found = Came::of(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", base)).json();
        let findings = found["findings"].as_array().unwrap();
        let one = findings.iter().find(|one| one["subject"] == "telemetry").unwrap();
        (one["state"].as_str().unwrap().to_owned(), one["finding"].as_str().unwrap().to_owned())
    };
    assert_eq!(said(""), ("good".to_owned(), "off: nothing is sent anywhere".to_owned()));
    let (base, _) = collector();
    let (state, finding) = said(&base);
    assert_eq!(state, "good");
    let ways = format!("spans go to {base}/…, metrics go to {base}/…");
    assert_eq!(finding, format!("{ways}; the collector accepts it"));
    let (state, finding) = said("http://ada:pass@127.0.0.1:1");
    assert_eq!(state, "note");
    assert!(finding.contains("…@127.0.0.1:1") && finding.contains("refused"), "{finding}");
    assert!(!finding.contains("pass"), "{finding}");
    assert_eq!(said("localhost:4317").0, "note");
}

#[test]
fn an_invalid_level_is_refused_with_the_valid_ones() {
    let home = Home::new();
    for (given, command) in [
        ("$SETPOINT_LOG", home.command(&["config"]).env("SETPOINT_LOG", "inof")),
        ("--set log.level", &mut home.command(&["--set", "log.level=inof", "config"])),
    ] {
        let came = Came::of(command);
        assert_eq!(came.code, 2, "{came:#?}");
        for part in [given, "\"inof\"", "error, warn, info", "setpoint_journal=debug"] {
            assert!(came.err.contains(part), "{part:?} is not in {came:#?}");
        }
    }
}

#[test]
fn levels_are_those_of_the_configuration() {
    // A warning, because the collector is missing.
    let logged = |levels: &str| {
        let home = home();
        fs::write(home.config().join("setpoint.toml"), format!("[log]\nlevel = \"{levels}\"\n")).unwrap();
        let mut command = home.command(&["-v", "run", GOAL]);
        let came = Came::of(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"));
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
    let base = canned(move |_, _| (200, reply.clone()));
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
