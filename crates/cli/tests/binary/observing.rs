//! What a run sends to a collector, and what it logs: nothing unless configured, and never at the cost of the
//! run.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use setpoint_model_server::canned;

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
    let base = canned(move |_, _| (200, reply.clone())).unwrap();
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
