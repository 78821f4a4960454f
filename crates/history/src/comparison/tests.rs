//! Tests of which differences between two tasks count.

use setpoint_protocol::record::ForkedFrom;
use setpoint_protocol::topology::Kind;
use setpoint_protocol::{Address, RoleId};

use super::*;

fn records(workspace_of: &TaskId, forked_from: Option<ForkedFrom>) -> Vec<Record> {
    let mut opened: Opened = serde_json::from_value(serde_json::json!({
        "logic_version": 1, "controller": {}, "interactive": false, "tools": [],
        "surroundings": setpoint_protocol::record::Surroundings::default(),
        "models": { "brain": "playbook", "tool": "playbook" }
    }))
    .unwrap();
    opened.forked_from = forked_from;
    let golden = include_str!("../../../protocol/tests/golden/messages/PlanDirective.json");
    let mut directive: Value = serde_json::from_str(golden).unwrap();
    directive["blocked_targets"] = vec![format!("write_file: /data/{workspace_of}/x")].into();
    let body = |value: &Value| serde_json::to_vec(value).unwrap();
    let bodies = [
        (RecordKind::Opened, body(&serde_json::to_value(&opened).unwrap())),
        (RecordKind::Message(Kind::PlanDirective), body(&directive)),
    ];
    let record = |(seq, (kind, body))| Record {
        seq,
        at: Timestamp::default(),
        clock_ms: 0,
        from: Address::singleton(RoleId::Runtime),
        to: vec![],
        kind,
        cause: None,
        body,
    };
    (1..).zip(bodies).map(record).collect()
}

#[test]
fn paths_in_the_workspaces_of_a_task_and_its_fork_compare_equal() {
    let [first, fork, other] = [1, 2, 3].map(|n| TaskId::mint("count", n));
    let from = || Some(ForkedFrom { task: first.clone(), seq: 1, models: None, earlier: vec![] });
    let decision = |workspace_of: &TaskId| {
        let (one, two) = (records(&first, None), records(workspace_of, from()));
        let comparison = Comparison::of((&first, &one), (&fork, &two));
        let decided = comparison.aspects.iter().find(|aspect| aspect.name == "round 1, decision").unwrap();
        let is_named = decided.other.iter().any(|line| line.contains(workspace_of.as_str()));
        (decided.is_same, is_named, comparison.first_record.map(|parting| parting.seq))
    };
    assert_eq!(decision(&fork), (true, true, None));
    // Inherited records name the original workspace.
    assert_eq!(decision(&first), (true, true, None));
    assert_eq!(decision(&other), (false, true, Some(2)));
}

fn message(kind: Kind, body: &Value) -> Record {
    Record {
        seq: 1,
        at: Timestamp::default(),
        clock_ms: 0,
        from: Address::singleton(RoleId::Runtime),
        to: vec![],
        kind: RecordKind::Message(kind),
        cause: None,
        body: serde_json::to_vec(body).unwrap(),
    }
}

/// Returns a decision and an end of a run that took longer for a greater Ω.
fn decided(omega: f64, change: impl Fn(&mut Value)) -> Vec<Record> {
    let reason = |state: &str| {
        format!(
            "{state}: |∇L| < ε = 0.100 and P > ρ = 0.500 (L = {omega:.3} from D = 1.000, P = 1.000, \
             Ω = {omega:.3}; ∇L = {omega:+.3}, of which budget alone {omega:+.3}). Not met: it."
        )
    };
    let mut directive: Value =
        serde_json::from_str(include_str!("../../../protocol/tests/golden/messages/PlanDirective.json"))
            .unwrap();
    let mut result: Value =
        serde_json::from_str(include_str!("../../../protocol/tests/golden/messages/FinalResult.json"))
            .unwrap();
    for name in ["grad_l", "grad_l_budget", "budget_pressure"] {
        directive[name] = omega.into();
    }
    result["grad_l"] = omega.into();
    for body in [&mut directive, &mut result] {
        for name in ["Omega", "L"] {
            body["loss"][name] = omega.into();
        }
    }
    directive["rationale"] = format!(
        "{}{}",
        reason("break_symmetry"),
        if omega > 0.5 {
            " The budget part alone makes this round look like worsening: without it ∇L would be +0.012."
        } else {
            ""
        }
    )
    .into();
    result["summary"] = reason("Given up").into();
    change(&mut directive);
    let timer = serde_json::json!({
        "call": "r4b/1", "attempt": 1, "ask": { "type": "timer", "ms": (omega * 1000.0) as u64 }
    });
    let timer = Record { kind: RecordKind::Asked, ..message(Kind::PlanDirective, &timer) };
    let records = [message(Kind::PlanDirective, &directive), timer, message(Kind::FinalResult, &result)];
    (1..).zip(records).map(|(seq, record)| Record { seq, ..record }).collect()
}

#[test]
fn a_run_a_second_later_compares_equal() {
    let task = TaskId::mint("count", 1);
    let compared = |one: &[Record], other: &[Record]| {
        let comparison = Comparison::of((&task, one), (&task, other));
        let differs = comparison.aspects.into_iter().filter(|aspect| !aspect.is_same);
        let names: Vec<String> = differs.map(|aspect| aspect.name).collect();
        (names, comparison.first_record.map(|parting| parting.seq))
    };
    let now = decided(0.25, |_| {});
    assert!(
        now.iter().all(|record| !matches!(record.kind, RecordKind::Message(_)) || record.message().is_some())
    );
    assert_eq!(compared(&now, &decided(0.75, |_| {})), (vec![], None));
    // Measurements and decisions are compared.
    let other = decided(0.75, |directive| directive["loss"]["D"] = 0.0625.into());
    assert_eq!(compared(&now, &other), (vec!["round 1, loss".to_owned()], Some(1)));
    let other = decided(0.75, |directive| {
        directive["rationale"] =
            directive["rationale"].as_str().unwrap().replace("ε = 0.100", "ε = 0.200").into();
    });
    assert_eq!(compared(&now, &other), (vec![], Some(1)));
}

#[test]
fn settings_and_tool_inputs_are_not_durations() {
    let task = TaskId::mint("count", 1);
    let parting = |one: &[Record], other: &[Record]| {
        Comparison::of((&task, one), (&task, other)).first_record.map(|parting| parting.seq)
    };
    let opened = |ms: u64| {
        let mut records = records(&task, None);
        let mut body: Value = serde_json::from_slice(&records[0].body).unwrap();
        body["controller"]["time_budget_ms"] = ms.into();
        records[0].body = serde_json::to_vec(&body).unwrap();
        records
    };
    assert_eq!(parting(&opened(1), &opened(1)), None);
    assert_eq!(parting(&opened(1), &opened(2)), Some(1));
    let asked = |ms: u64| {
        let body = serde_json::json!({ "ask": { "call": { "input": { "wait_ms": ms }, "took_ms": ms } } });
        vec![Record { kind: RecordKind::Asked, ..message(Kind::PlanDirective, &body) }]
    };
    assert_eq!(parting(&asked(1), &asked(2)), Some(1));
}

#[test]
fn rounds_are_listed_in_numeric_order() {
    let task = TaskId::mint("count", 1);
    let mut records = Vec::new();
    for round in [2, 10, u32::MAX] {
        let mut manifest: Value = serde_json::from_str(include_str!(
            "../../../protocol/tests/golden/messages/DispatchManifest.json"
        ))
        .unwrap();
        manifest["round"] = round.into();
        records.push(message(Kind::DispatchManifest, &manifest));
        records.extend(decided(0.25, |_| {}).into_iter().take(1));
    }
    let comparison = Comparison::of((&task, &records), (&task, &[]));
    let names: Vec<&str> = comparison.aspects.iter().map(|aspect| aspect.name.as_str()).collect();
    let decisions: Vec<&str> = names.iter().filter(|name| name.ends_with(", decision")).copied().collect();
    assert_eq!(decisions, ["round 2, decision", "round 10, decision", "round 4294967295, decision"]);
    assert_eq!(names.last(), Some(&"end"));
}
