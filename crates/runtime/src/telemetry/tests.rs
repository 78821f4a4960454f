use crate::tap::{Hub, TAP_EVENTS_MAX};
use setpoint_journal::{NewRow, Submission, TaskHead, TaskOpening};
use setpoint_protocol::message::UserInput;
use setpoint_protocol::record::RecordKind;
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Address, CallId, Instance, RoleId};

use super::*;
use crate::config::Sources;

fn plan(file: &str, env: &[(&str, &str)]) -> Result<Option<Plan>, EndpointError> {
    let env: BTreeMap<String, String> =
        env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let path = std::path::PathBuf::from("/setpoint.toml");
    let sources = Sources {
        files: vec![path.clone()],
        texts: BTreeMap::from([(path, file.to_owned())]),
        env: env.clone(),
        ..Sources::default()
    };
    Plan::of(&Config::load(&sources).unwrap(), &env)
}

fn ways(file: &str, env: &[(&str, &str)]) -> (Option<String>, Option<String>) {
    let plan = plan(file, env).unwrap();
    plan.map_or((None, None), |plan| (plan.settings.traces, plan.settings.metrics))
}

#[test]
fn nothing_is_sent_unless_somebody_says_where() {
    assert_eq!(plan("", &[]).unwrap(), None);
    assert_eq!(plan("", &[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap(), None);
    assert_eq!(plan("telemetry.content = true", &[]).unwrap(), None);
}

#[test]
fn a_file_or_the_usual_variables_say_where() {
    let (traces, metrics) =
        (Some("http://c:1/v1/traces".to_owned()), Some("http://c:1/v1/metrics".to_owned()));
    let both = (traces.clone(), metrics.clone());
    assert_eq!(ways("telemetry.otlp_endpoint = 'http://c:1'", &[]), both);
    let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1/");
    assert_eq!(ways("telemetry.otlp_endpoint = 'http://other'", &[general]), both);
    assert_eq!(ways("", &[general, ("OTEL_METRICS_EXPORTER", "none")]), (traces, None));
    assert_eq!(ways("", &[general, ("OTEL_TRACES_EXPORTER", "none")]), (None, metrics));
    assert_eq!(ways("", &[general, ("OTEL_SDK_DISABLED", "TRUE")]), (None, None));
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/spans");
    assert_eq!(ways("", &[own]), (Some("http://t/spans".to_owned()), None));
    let named = plan("", &[general, ("OTEL_SERVICE_NAME", "desk")]).unwrap().unwrap();
    assert_eq!((named.settings.service.as_str(), named.content), ("desk", Content::Left));
    let said = plan("telemetry.content = true", &[general]).unwrap().unwrap();
    assert_eq!((said.settings.service.as_str(), said.content), ("setpoint", Content::Told));
    assert_eq!(said.shown(), "spans go to http://c:1/…, metrics go to http://c:1/…");
}

#[test]
fn an_address_that_is_none_is_refused_and_shown_without_its_password() {
    let error = plan("telemetry.otlp_endpoint = 'grpc://a:secret@c:4317'", &[]).unwrap_err().to_string();
    assert!(error.contains("http://") && !error.contains("secret"), "{error}");
}

/// A task of one message in a journal, and its record.
fn recorded(journal: &setpoint_journal::Journal, n: u64) -> setpoint_protocol::TaskId {
    let task = setpoint_protocol::TaskId::mint("lost", n);
    let mut submission = Submission::new(&TaskHead::start(task.as_str()).unwrap());
    submission
        .open(TaskOpening { opened_at_us: 5, logic_version: 1, title: String::new(), lease: None })
        .unwrap();
    let answer = br#"{"text":"hello"}"#.to_vec();
    let goal = serde_json::to_vec(&UserInput { raw_input: "hello".to_owned() }).unwrap();
    let rows = [
        (RoleId::User, RoleId::Perceiver, Kind::UserInput, goal),
        (RoleId::Perceiver, RoleId::User, Kind::DirectAnswer, answer),
    ];
    for ((from, to, kind, body), seq) in rows.into_iter().zip(1..) {
        submission
            .push(NewRow {
                seq,
                at_us: 5,
                clock_ms: 0,
                from: Address::singleton(from).text(),
                to: Address::singleton(to).text(),
                kind: RecordKind::Message(kind).name().into(),
                cause: None,
                format: 1,
                body,
            })
            .unwrap();
    }
    journal.append(submission).unwrap();
    task
}

/// A tap that falls behind loses events; the spans of what they were about are read from the journal.
#[tokio::test]
async fn what_a_tap_loses_is_read_from_the_journal() {
    let journal = setpoint_journal::Journal::in_memory();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let plan = plan(&format!("telemetry.otlp_endpoint = '{nobody}'"), &[]).unwrap().unwrap();
    let hub = Hub::default();
    let feed = Feed::start(journal.clone(), hub.tap(), plan.exporter().unwrap(), plan.content);
    let mut tasks = Vec::new();
    for n in 0..3 {
        let task = recorded(&journal, n);
        // The third is somebody else's.
        if n < 2 {
            feed.expect_since(&task, setpoint_protocol::Timestamp::from_micros(0));
        }
        tasks.push(task);
    }
    let call = CallId { role: RoleId::Perceiver, instance: Instance(0), n: 1 };
    for _ in 0..=TAP_EVENTS_MAX {
        let text = "…".into();
        hub.publish(crate::tap::Event::Progress { task: tasks[0].clone(), call, text });
    }
    feed.finish().await;
    // R1's activity and the task's own span, of two tasks; nobody took them, so they are counted.
    assert_eq!(feed.spans_missing(), 4);
}
