//! A task that several processes drive is one trace.

use std::collections::BTreeSet;

use opentelemetry_proto::tonic::trace::v1::Span;
use setpoint_journal::{Journal, JournalOptions};
use setpoint_protocol::message::{PlanDecision, PlanProposal};
use setpoint_protocol::record::RecordKind;
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_runtime::tap::{Event, TapItem};
use setpoint_telemetry::task::Content;

use super::collector::{Collector, Manner};
use super::{base, files, goal, told};

#[tokio::test]
async fn each_process_exports_what_ended_while_it_drove() {
    let (data, files) = (tempfile::tempdir().unwrap(), files());
    let journal = || Journal::open(data.path(), &JournalOptions::default()).unwrap();
    let (before, after) = (Collector::start(Manner::Takes).await, Collector::start(Manner::Takes).await);

    let first = told(&journal(), &base(&before), Content::Omitted);
    let mut tap = first.tap();
    let mut new = goal(files.path());
    new.opened.preview_plan = true;
    new.opened.interactive = true;
    let task = first.start(new).await.unwrap();
    let shown: PlanProposal = loop {
        if let TapItem::Event(Event::Records { records, .. }) = tap.next().await
            && let Some(record) =
                records.iter().find(|record| record.kind == RecordKind::Message(Kind::PlanProposal))
        {
            break serde_json::from_slice(&record.body).unwrap();
        }
    };
    first.shutdown().await;

    let second = told(&journal(), &base(&after), Content::Omitted);
    second.resume(&task).await.unwrap();
    let decision = PlanDecision { call_id: shown.call_id, approved: true, note: None, allows: Vec::new() };
    second.say(&task, Payload::PlanDecision(decision)).await.unwrap();
    second.ended(&task).await;
    second.shutdown().await;

    let (before, after) = (before.spans(), after.spans());
    let names = |spans: &[Span]| -> BTreeSet<String> { spans.iter().map(|span| span.name.clone()).collect() };
    assert_eq!(
        names(&before),
        BTreeSet::from(["chat playbook", "invoke_agent perceiver"].map(str::to_owned))
    );
    assert!(names(&after).contains("invoke_workflow setpoint") && names(&after).contains("plan planner"));
    assert!(!names(&after).contains("invoke_agent perceiver"), "it was told before");
    let all: Vec<&Span> = before.iter().chain(&after).collect();
    let ids: BTreeSet<&[u8]> = all.iter().map(|span| span.span_id.as_slice()).collect();
    assert_eq!(ids.len(), all.len(), "a span was told twice");
    for span in &all {
        assert_eq!(span.trace_id, all[0].trace_id);
        assert!(span.parent_span_id.is_empty() || ids.contains(span.parent_span_id.as_slice()), "{span:?}");
    }
}
