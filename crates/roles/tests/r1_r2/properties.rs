//! Properties that hold for any draft: nothing panics, every answer leads to a next step, and every dispatched plan
//! keeps the limits.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use setpoint_machine::CallReader;
use setpoint_machine::effects::Effect;
use setpoint_protocol::limits::{
    CONTEXT_CHARS_MAX, CRITERIA_MAX, CRITERION_CHARS_MAX, INSTANCES_MAX, INTENT_CHARS_MAX, OUTPUTS_CHARS_MAX,
    PLAN_CALLS_MAX, SUBTASKS_MAX,
};
use setpoint_protocol::message::{Criterion, DispatchManifest, FaultKind, Limits, SubTask};
use setpoint_protocol::predicate::CheckOn;
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::tool;
use setpoint_protocol::topology::{Kind, Payload};
use setpoint_protocol::{CallId, SubTaskId};
use setpoint_roles::blocking;
use setpoint_roles::r1_perceiver::Perceiver;
use setpoint_roles::r2_planner::Planner;

use crate::support::{Bench, Reader, directive, matched};

const TOOLS: [&str; 5] = ["read_file", "search", "write_file", "shell", "fetch"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_dispatched_plan_keeps_the_limits(first in plan(), second in plan(), groups in 0_u32..4) {
        let mut r2 = Bench::<Planner>::new(&json!({}));
        let mut ids = BTreeSet::new();
        let spec = json!({ "intent": "count the lines of todo.txt", "raw_input": "x" });
        let query = r2.message(Kind::TaskSpec, &spec);
        let Some(dispatched) = plan_round(&mut r2, &query, &first.to_string()) else { return Ok(()) };
        let new = judge(&dispatched, &Limits::default(), 0, &mut ids);
        for sequence in 1..=groups {
            let outputs: Vec<Value> = dispatched.manifest.subtasks.iter()
                .filter(|entry| entry.sequence == sequence)
                .map(|entry| json!({ "subtask_id": entry.subtask_id, "output": "a line\n".repeat(4_000) }))
                .collect();
            let group = json!({ "round": 1, "sequence": sequence, "outputs": outputs });
            for effect in r2.message(Kind::GroupMatched, &group) {
                let Effect::Send { payload: Payload::SubTask(subtask), .. } = effect else { panic!("{effect:?}") };
                prop_assert_eq!(subtask.sequence, sequence + 1);
                prop_assert!(subtask.context.chars().count() <= CONTEXT_CHARS_MAX);
                prop_assert!((1..=OUTPUTS_CHARS_MAX).contains(&subtask.outputs.chars().count()));
                prop_assert!(!subtask.inputs.is_empty());
            }
        }
        let limits: Limits = serde_json::from_value(json!({
            "blocked_tools": ["search", "shell/wc"], "blocked_targets": ["read_file: /a"],
        })).unwrap();
        let kept = dispatched.manifest.subtasks.iter().find(|entry| entry.sequence == 1).unwrap();
        let query = r2.message(Kind::PlanDirective, &directive(&json!({
            "directive": "break_symmetry",
            "blocked_tools": limits.blocked_tools,
            "blocked_targets": limits.blocked_targets,
            "matched": [matched(kept.subtask_id.as_str(), &"out".repeat(30_000))],
            "findings": [{ "criterion": "c", "evidence": "e" }],
        })));
        let Some(again) = plan_round(&mut r2, &query, &second.to_string()) else { return Ok(()) };
        judge(&again, &limits, new, &mut ids);
        prop_assert_eq!(again.manifest.round, 2);
        prop_assert_ne!(&again.manifest.plan_fingerprint, &dispatched.manifest.plan_fingerprint);
        prop_assert!(again.manifest.task_criteria.starts_with(&dispatched.manifest.task_criteria));
        prop_assert_eq!(&again.manifest.subtasks[0].subtask_id, &kept.subtask_id);
        prop_assert!(again.manifest.subtasks[0].carried.is_some());
    }

    #[test]
    fn any_text_leads_to_a_next_step(text in "\\PC{0,200}|[{}\\[\\]\":,a-z ]{0,80}") {
        let mut r1 = Bench::<Perceiver>::new(&json!({ "interactive": true, "direct_answers": true }));
        let mut effects = r1.message(Kind::UserInput, &json!({ "raw_input": text }));
        for _ in 0..2 {
            let [Effect::Model { call, .. }] = effects.as_slice() else { break };
            effects = r1.reply(*call, &text);
        }
        prop_assert_eq!(effects.len(), 1);
        prop_assert!(matches!(effects[0], Effect::Send { .. }), "{:?}", effects);

        let mut r2 = Bench::<Planner>::new(&json!({}));
        let query = r2.message(Kind::TaskSpec, &json!({ "intent": text, "raw_input": text }));
        plan_round(&mut r2, &query, &text);
    }
}

#[test]
fn instances_are_never_used_twice_and_run_out_with_a_fault() {
    let mut r2 = Bench::<Planner>::new(&json!({}));
    let spec = json!({ "intent": "count the lines of todo.txt", "raw_input": "x" });
    let mut effects = r2.message(Kind::TaskSpec, &spec);
    let mut used = BTreeSet::new();
    for round in 0_u32.. {
        let subtasks: Vec<Value> = (0..SUBTASKS_MAX)
            .map(|n| json!({ "intent": format!("part {n} of {round}"), "success_criteria": ["a number above 3"] }))
            .collect();
        let plan = json!({ "subtasks": subtasks, "task_criteria": ["all numbers are even"] });
        let call = memory_reply(&mut r2, &effects);
        effects = r2.reply(call, &plan.to_string());
        if let [Effect::Send { payload: Payload::TaskFault(fault), .. }] = effects.as_slice() {
            assert_eq!((fault.kind, fault.retryable), (FaultKind::Fault, false));
            break;
        }
        for effect in &effects {
            if let Effect::Send { payload: Payload::SubTask(_), instance } = effect {
                assert!(used.insert(instance.0), "{instance:?} twice");
            }
        }
        assert!(used.len() <= usize::from(INSTANCES_MAX));
        effects = r2.message(Kind::PlanDirective, &directive(&json!({})));
    }
    assert_eq!(used.len(), usize::from(INSTANCES_MAX));
}

struct Dispatched {
    manifest: DispatchManifest,
    subtasks: Vec<(u16, SubTask)>,
}

/// Gives the same answer to every plan call of a round: it ends in a dispatch, or in a fault after at most
/// `PLAN_CALLS_MAX` calls.
fn plan_round(r2: &mut Bench<Planner>, query: &[Effect], answer: &str) -> Option<Dispatched> {
    let mut call = memory_reply(r2, query);
    for calls in 1.. {
        assert!(calls <= PLAN_CALLS_MAX);
        let mut effects = r2.reply(call, answer).into_iter();
        match effects.next() {
            Some(Effect::Model { call: next, .. }) => call = next,
            Some(Effect::Send { payload: Payload::TaskFault(fault), .. }) => {
                assert!(!fault.reason.is_empty());
                return None;
            }
            Some(Effect::Send { payload: Payload::DispatchManifest(manifest), .. }) => {
                let subtasks = effects.map(|effect| match effect {
                    Effect::Send { payload: Payload::SubTask(subtask), instance } => (instance.0, subtask),
                    other => panic!("{other:?}"),
                });
                return Some(Dispatched { manifest, subtasks: subtasks.collect() });
            }
            other => panic!("{other:?}"),
        }
    }
    None
}

fn memory_reply(r2: &mut Bench<Planner>, effects: &[Effect]) -> CallId {
    let [Effect::Send { payload: Payload::MemoryQuery(query), .. }] = effects else { panic!("{effects:?}") };
    let reply = json!({ "call_id": query.call_id, "availability": "unavailable" });
    let effects = r2.message(Kind::MemoryReply, &reply);
    let [Effect::Model { call, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    *call
}

/// Checks a dispatched plan against every limit; returns the highest instance.
fn judge(dispatched: &Dispatched, limits: &Limits, above: u16, ids: &mut BTreeSet<SubTaskId>) -> u16 {
    let Dispatched { manifest, subtasks } = dispatched;
    let new: Vec<_> = manifest.subtasks.iter().filter(|entry| entry.carried.is_none()).collect();
    assert!((1..=SUBTASKS_MAX).contains(&new.len()));
    for entry in &new {
        assert!(ids.insert(entry.subtask_id.clone()), "an id twice");
        judge_criteria(&entry.success_criteria, limits);
    }
    judge_criteria(&manifest.task_criteria, &Limits::default());
    let groups: BTreeSet<u32> = manifest.subtasks.iter().map(|entry| entry.sequence).collect();
    assert!(groups.iter().copied().eq(1..=u32::try_from(groups.len()).unwrap()), "{groups:?}");
    let first = new.iter().map(|entry| entry.sequence).min().unwrap();
    let mut highest = above;
    for (instance, subtask) in subtasks {
        assert!(*instance > highest, "instances count on");
        highest = *instance;
        assert_eq!(subtask.sequence, first, "only the first group starts");
        assert_eq!(&subtask.limits, limits);
        let chars = subtask.intent.chars().count();
        assert!((1..=INTENT_CHARS_MAX).contains(&chars));
        assert!(subtask.context.chars().count() <= CONTEXT_CHARS_MAX);
        assert_eq!(subtask.fingerprint.len(), 16);
        for tool in &subtask.tools {
            assert!(TOOLS.contains(&tool.tool()), "{tool}");
            assert!(!limits.blocked_tools.iter().any(|blocked| blocked.covers(tool)), "{tool}");
        }
        for input in &subtask.inputs {
            assert!(manifest.subtasks.iter().any(|entry| entry.subtask_id == *input));
        }
    }
    // Instances of later groups have the numbers in between and after.
    above + u16::try_from(new.len()).unwrap()
}

fn judge_criteria(criteria: &[Criterion], limits: &Limits) {
    assert!((1..=CRITERIA_MAX).contains(&criteria.len()));
    assert_eq!(criteria.iter().map(|criterion| &criterion.id).collect::<BTreeSet<_>>().len(), criteria.len());
    for criterion in criteria {
        let chars = criterion.criterion.chars().count();
        assert!((1..=CRITERION_CHARS_MAX).contains(&chars));
        let Some(check) = &criterion.check else {
            assert!(!criterion.criterion.ends_with('?'), "a question");
            continue;
        };
        check.expect.validate().unwrap();
        if let CheckOn::Probe(call) = &check.on {
            let reading = Reader.read(call, &Surroundings::default());
            assert_eq!(reading.effect, tool::Effect::ReadOnly);
            assert_eq!(blocking::refusal(limits, &reading), None);
        }
    }
}

/// Generates a plan as a model might write it: mostly right, wrong in any place.
fn plan() -> impl Strategy<Value = Value> {
    let subtasks = prop_oneof![
        40 => prop::collection::vec(subtask(), 1..4),
        1 => prop::collection::vec(subtask(), 33..35),
        1 => Just(Vec::new()),
    ];
    let criteria = prop_oneof![20 => criteria(), 1 => anything()];
    prop_oneof![
        30 => (subtasks, criteria).prop_map(|(subtasks, task_criteria)| {
            json!({ "subtasks": subtasks, "task_criteria": task_criteria, "task_id": "mine" })
        }),
        1 => anything(),
    ]
}

fn subtask() -> impl Strategy<Value = Value> {
    let intent = prop_oneof![
        30 => "[a-z]{1,6}( [a-z]{1,6}){0,6}",
        1 => Just(String::new()),
        1 => "\\PC{0,40}",
        1 => Just("x ".repeat(2_000)),
    ];
    let tools = prop::collection::vec(
        prop_oneof![
            60 => prop::sample::select(vec!["read_file", "search", "write_file", "shell", "shell/wc", "fetch"]),
            1 => prop::sample::select(vec!["", "cloc", "a b", "/x", "shell/"]),
        ],
        0..3,
    );
    let sequence = prop_oneof![
        3 => (-2_i64..4).prop_map(|n| json!(n)),
        1 => Just(json!(null)),
        1 => any::<i64>().prop_map(|n| json!(n)),
    ];
    let inputs = prop_oneof![20 => Just(Vec::new()), 1 => prop::collection::vec(0_u32..4, 0..2)];
    let context = prop_oneof![4 => "[a-z ]{0,20}", 1 => Just("`c`".repeat(9_000))];
    let extra = prop_oneof![20 => Just(json!(null)), 1 => anything()];
    (intent, tools, sequence, inputs, context, criteria(), extra).prop_map(
        |(intent, tools, sequence, inputs, context, criteria, extra)| {
            let mut subtask = json!({
                "subtask_id": "00000000-0000-0000-0000-000000000000",
                "intent": intent, "tools": tools, "inputs": inputs, "context": context,
                "success_criteria": criteria, "deadline": extra,
            });
            if !sequence.is_null() {
                subtask["sequence"] = sequence;
            }
            subtask
        },
    )
}

fn criteria() -> impl Strategy<Value = Value> {
    let text = || {
        prop_oneof![
            60 => "the [a-z]{3,9} holds [0-9]{1,3} [a-z]{3,9}",
            1 => Just("the lines of todo.txt are counted".to_owned()),
            1 => Just("is it there?".to_owned()),
            1 => Just("completed successfully".to_owned()),
            1 => Just("z".repeat(1_200)),
            1 => "\\PC{0,30}",
        ]
    };
    let check = prop_oneof![
        40 => Just(json!({ "on": "output", "expect": { "contains": "x" } })),
        20 => prop::sample::select(vec!["/a", "/b"]).prop_map(|path| json!({
            "on": { "probe": { "tool": "read_file", "input": { "path": path } } }, "expect": { "contains": "x" },
        })),
        2 => prop::sample::select(vec!["search", "shell", "cloc", "shell/wc"]).prop_map(|tool| json!({
            "on": { "probe": { "tool": tool, "input": { "program": "wc" } } }, "expect": { "matches": "x|y" },
        })),
        1 => prop::sample::select(vec!["(", ""])
            .prop_map(|pattern| json!({ "on": "output", "expect": { "matches": pattern } })),
        1 => anything(),
    ];
    let criterion = prop_oneof![
        3 => text().prop_map(|text| json!(text)),
        4 => (text(), check).prop_map(|(text, check)| json!({ "criterion": text, "check": check })),
    ];
    prop_oneof![
        60 => prop::collection::vec(criterion, 1..3).prop_map(|criteria| json!(criteria)),
        1 => prop::collection::vec(text(), 33..34).prop_map(|criteria| json!(criteria)),
        1 => Just(json!([])),
    ]
}

/// Generates any JSON.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        "\\PC{0,20}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let keys = prop::sample::select(vec![
            "on", "expect", "probe", "not", "all", "subtasks", "tool", "input", "x",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::btree_map(keys.prop_map(str::to_owned), inner, 0..4)
                .prop_map(|fields| json!(fields)),
        ]
    })
}
