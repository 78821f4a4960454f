use setpoint_journal::{NewRow, Submission, TaskHead, TaskOpening};
use setpoint_protocol::message::UserInput;
use setpoint_protocol::record::RecordKind;
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Address, CallId, Instance, RoleId};
use setpoint_telemetry::otlp::{Settings, Signal, endpoint};

use super::*;
use crate::tap::{Hub, TAP_EVENTS_MAX};

/// Stores a task of one message in a journal and returns it with its record.
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

/// A tap that falls behind loses events; their spans are read from the journal.
#[tokio::test]
async fn events_lost_by_a_tap_are_read_from_the_journal() {
    let journal = setpoint_journal::Journal::in_memory();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let to = |signal| Some(endpoint(&nobody, Some(signal)).unwrap());
    let settings = Settings {
        traces: to(Signal::Traces),
        metrics: to(Signal::Metrics),
        service: "setpoint".to_owned(),
        version: String::new(),
        instance: String::new(),
    };
    let hub = Hub::default();
    let feed = Feed::start(journal.clone(), hub.tap(), Exporter::start(&settings).unwrap(), Content::Omitted);
    let mut tasks = Vec::new();
    for n in 0..3 {
        let task = recorded(&journal, n);
        // The third task belongs to another process.
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
    // R1's activity and the task's own span, for two tasks. They count because no collector accepted them.
    assert_eq!(feed.spans_missing(), 4);
}
