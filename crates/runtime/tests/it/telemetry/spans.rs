//! The spans and metrics of whole tasks, as a collector receives them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use expect_test::expect;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use setpoint_journal::Journal;
use setpoint_telemetry::span::TraceId;
use setpoint_telemetry::task::Content;

use super::collector::{Collector, Manner, totals};
use super::{base, files, goal, run, told};

#[tokio::test]
async fn a_collector_gets_the_whole_tree_of_a_task() {
    let collector = Collector::start(Manner::Takes).await;
    let (journal, files) = (Journal::in_memory(), files());
    let task = run(told(&journal, &base(&collector), Content::Omitted), goal(files.path())).await;
    let spans = collector.spans();
    let ids: BTreeSet<_> = spans.iter().map(|span| span.span_id.clone()).collect();
    assert_eq!(ids.len(), spans.len(), "a span was told twice");
    assert!(spans.iter().all(|span| span.trace_id == TraceId::of(&task).0));
    expect![[r#"
        invoke_workflow setpoint workflow.name=setpoint conventions=1.41.0 loss.d=0 loss.p=0 directive=accept ended_by=criteria_met round=1 replans=0 usage.calls=0 usage.tool_calls=3 usage.tokens_in=0 usage.tokens_out=0 task.id=0000000000000001
          invoke_agent perceiver agent.id=perceiver role=R1 round=1
            chat playbook (client) request.model=playbook purpose=perceive attempt=1 usage.input_tokens=0 usage.output_tokens=0
          invoke_agent planner agent.id=planner role=R2 round=1
            plan planner agent.id=planner role=R2 round=1 plan.subtasks=1
              chat playbook (client) request.model=playbook purpose=plan attempt=1 usage.input_tokens=0 usage.output_tokens=0
          invoke_agent meta_validator agent.id=meta_validator role=R4b round=1
            * gen_ai.evaluation.result evaluation.name=t1 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
            * gen_ai.evaluation.result evaluation.name=t2 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
            * gen_ai.evaluation.result evaluation.name=t3 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
            * gen_ai.evaluation.result evaluation.name=t4 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
            execute_tool shell tool.type=function tool.call.id=r4b/1 phase=before attempt=1 side_effect=none exit_code=0
          invoke_agent agent_validator agent.id=agent_validator.1 role=R4a round=1 outcome=matched
            * gen_ai.evaluation.result evaluation.name=s1.c1 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
            * gen_ai.evaluation.result evaluation.name=s1.c2 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
            * gen_ai.evaluation.result evaluation.name=s1.c3 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
            * gen_ai.evaluation.result evaluation.name=s1.c4 evaluation.score.label=pass evaluation.score.value=1 judged_by=check vacuous=false
          invoke_agent executor agent.id=executor.1 role=R3 round=1 outcome=matched
            chat playbook (client) request.model=playbook purpose=execute attempt=1 usage.input_tokens=0 usage.output_tokens=0
            execute_tool disk_usage tool.type=function tool.call.id=r3.1/2 phase=work attempt=1 side_effect=none
            chat playbook (client) request.model=playbook purpose=execute attempt=1 usage.input_tokens=0 usage.output_tokens=0
            execute_tool shell tool.type=function tool.call.id=r3.1/4 phase=after attempt=1 side_effect=none exit_code=0
          invoke_agent goal_gradient_solver agent.id=goal_gradient_solver role=R7 round=1 loss.d=0 loss.p=0 directive=accept ended_by=criteria_met
            * setpoint.round loss.d=0 loss.p=0 directive=accept ended_by=criteria_met round=1
    "#]].assert_eq(&tree(&spans));
    let resource: BTreeMap<_, _> =
        collector.resource().attributes.into_iter().map(|one| (one.key, text(one.value))).collect();
    assert_eq!(resource["service.name"], "setpoint");
    assert_eq!(resource["service.instance.id"], "one");
}

#[tokio::test]
async fn metrics_arrive_by_the_end_of_the_process() {
    let collector = Collector::start(Manner::Takes).await;
    let (journal, files) = (Journal::in_memory(), files());
    run(told(&journal, &base(&collector), Content::Omitted), goal(files.path())).await;
    let found: BTreeMap<String, usize> =
        collector.metrics().iter().map(totals).map(|(name, points, _)| (name, points)).collect();
    let shown = format!("{found:#?}");
    expect![[r#"
        {
            "gen_ai.client.operation.duration": 1,
            "setpoint.task.duration": 1,
            "setpoint.task.loss": 4,
            "setpoint.task.rounds": 1,
            "setpoint.tasks": 1,
        }"#]]
    .assert_eq(&shown);
}

/// The words of a person or a file are in no request to a collector, unless that is enabled.
#[tokio::test]
async fn content_stays_local_unless_requested() {
    for (content, is_told) in [(Content::Omitted, false), (Content::Exported, true)] {
        let collector = Collector::start(Manner::Takes).await;
        let (journal, files) = (Journal::in_memory(), files());
        run(told(&journal, &base(&collector), content), goal(files.path())).await;
        let all = format!("{:?}", collector.spans());
        assert!(!all.is_empty());
        for words in ["three largest", "three-largest", &files.path().display().to_string()] {
            assert_eq!(all.contains(words), is_told, "{words}");
        }
    }
}

/// Formats spans as an indented tree, without parts that differ between runs.
fn tree(spans: &[Span]) -> String {
    let mut shown = String::new();
    branch(&mut shown, spans, &[], 0);
    shown
}

fn branch(shown: &mut String, spans: &[Span], parent: &[u8], depth: usize) {
    let mut children: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id == parent).collect();
    children.sort_by_key(|span| (span.start_time_unix_nano, attribute(&span.attributes, "gen_ai.agent.id")));
    for span in children {
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano && span.start_time_unix_nano > 0);
        let kind = match span.kind {
            1 => "",
            3 => " (client)",
            other => panic!("{other}"),
        };
        let indent = "  ".repeat(depth);
        writeln!(shown, "{indent}{}{kind} {}", span.name, attributes(&span.attributes)).unwrap();
        for event in &span.events {
            writeln!(shown, "{indent}  * {} {}", event.name, attributes(&event.attributes)).unwrap();
        }
        branch(shown, spans, &span.span_id, depth + 1);
    }
}

/// Returns the attributes that are the same in every run.
fn attributes(all: &[KeyValue]) -> String {
    const VARY: [&str; 9] = [
        "setpoint.loss.omega",
        "setpoint.loss.l",
        "setpoint.plan.fingerprint",
        "setpoint.subtask.id",
        "setpoint.grad_l",
        "gen_ai.operation.name",
        "gen_ai.agent.name",
        "gen_ai.provider.name",
        "gen_ai.tool.name",
    ];
    let shown = all.iter().filter(|one| !VARY.contains(&one.key.as_str()));
    let short = |key: &str| key.trim_start_matches("setpoint.").trim_start_matches("gen_ai.").to_owned();
    shown.map(|one| format!("{}={}", short(&one.key), text(one.value.clone()))).collect::<Vec<_>>().join(" ")
}

fn attribute(all: &[KeyValue], name: &str) -> String {
    all.iter().find(|one| one.key == name).map(|one| text(one.value.clone())).unwrap_or_default()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(any_value::Value::StringValue(text)) => text,
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::DoubleValue(number)) => number.to_string(),
        Some(any_value::Value::BoolValue(yes)) => yes.to_string(),
        Some(any_value::Value::ArrayValue(array)) => {
            array.values.into_iter().map(|value| text(Some(value))).collect::<Vec<_>>().join("+")
        }
        other => panic!("{other:?}"),
    }
}
