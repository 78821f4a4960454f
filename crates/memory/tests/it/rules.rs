//! Promotion, bankruptcy, recall.

use setpoint_memory::store::{EventKind, Store, StoredRecord};
use setpoint_mkct::{Level, Rule, State};
use setpoint_protocol::MegramId;
use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{InsightCategory, Megram, NegativeFeedback};

use crate::support::{Home, day, id, insight, megram, promoted, rule, seen, stated, take, task, written};

const SPACE: &str = "intent:count";

/// Creates `count` records in this state, with ids from `from`.
fn records(from: u128, count: u128, state: State) -> Vec<EventKind> {
    (from..from + count).map(|n| written(n as u64, megram(n, SPACE, state, day(0.0)))).collect()
}

/// Promotes every pair that is due, as the Dreamer does.
fn dream(store: &Store, n: u128) -> Vec<Rule> {
    let candidates = store.promotable(day(0.0), 100).unwrap();
    let made = candidates.iter().map(|candidate| candidate.rule).collect();
    for (candidate, n) in candidates.into_iter().zip(n..) {
        let rule = Megram {
            sigma: candidate.rule.quantum().sigma,
            entity: candidate.entity,
            ..rule(n, &candidate.space, 1.0, day(0.0))
        };
        take(store, [promoted(rule, candidate.as_of)]);
    }
    made
}

fn ids(records: &[StoredRecord]) -> Vec<MegramId> {
    records.iter().map(|record| record.megram.id.clone()).collect()
}

/// No task confirms a hypothesis, no matter how often it is made.
#[test]
fn a_hypothesis_never_becomes_a_rule() {
    let home = Home::new();
    let store = home.open();
    let made_up = (1..=40).map(|n| written(n as u64, megram(n, "hypothesis:count", State::Accept, day(0.0))));
    take(&store, made_up.collect::<Vec<_>>());
    assert_eq!(store.promotable(day(0.0), 100).unwrap(), []);
    assert_eq!(dream(&store, 100), []);
}

#[test]
fn six_accepts_make_one_best_practice_once() {
    let home = Home::new();
    let store = home.open();
    take(&store, records(1, 5, State::Accept));
    assert_eq!(dream(&store, 100), [], "five are not enough: 4.5");
    take(&store, records(6, 1, State::Accept));
    let due = store.promotable(day(0.0), 100).unwrap();
    assert_eq!((due.len(), due[0].rule, due[0].as_of), (1, Rule::BestPractice, 6));
    assert_eq!((due[0].space.as_str(), due[0].entity.as_str()), (SPACE, "env:local"));
    assert_eq!(ids(&due[0].lessons), [6, 5, 4, 3, 2, 1].map(id));

    assert_eq!(dream(&store, 100), [Rule::BestPractice]);
    assert_eq!(dream(&store, 101), [], "its sources are summed no more");
    let rules = store.rules_of(SPACE, "env:local").unwrap();
    assert_eq!(ids(&rules), [id(100)]);
    assert_eq!(store.potentials(SPACE, "env:local", day(0.0)).unwrap(), Default::default());
    for n in 1..=6 {
        let source = store.get(&id(n)).unwrap();
        assert_eq!((source.rule, source.trace.is_consolidated), (Some(id(100)), true));
    }
    store.check(day(0.0)).unwrap();
}

/// The Dreamer's act is in the journal, and the process dies before or after it was applied.
#[test]
fn an_act_that_is_applied_twice_makes_one_rule() {
    let home = Home::new();
    let store = home.open();
    take(&store, records(1, 6, State::Accept));
    take(&store, [promoted(rule(100, SPACE, 1.0, day(0.0)), 6)]);
    let once = seen(&store, day(1.0));
    take(&store, [promoted(rule(100, SPACE, 1.0, day(0.0)), 6)]);
    assert_eq!(seen(&store, day(1.0)), once);
}

#[test]
fn records_after_the_decision_are_not_sources() {
    let store = Home::new().open();
    take(&store, records(1, 6, State::Accept));
    take(&store, records(7, 1, State::Abandon));
    take(&store, [promoted(rule(100, SPACE, 1.0, day(0.0)), 6)]);
    let sums = store.potentials(SPACE, "env:local", day(0.0)).unwrap();
    assert_eq!((sums.attention, sums.decision), (0.95, -0.95));
    assert_eq!(store.get(&id(7)).unwrap().rule, None);
    store.check(day(0.0)).unwrap();
}

#[test]
fn failures_make_a_constraint_that_is_not_bankrupt_at_once() {
    let store = Home::new().open();
    take(&store, records(1, 6, State::Abandon));
    assert_eq!(dream(&store, 100), [Rule::Constraint]);
    assert_eq!(store.bankrupt(day(0.0)).unwrap(), []);
    take(&store, records(10, 1, State::Abandon));
    assert_eq!(store.bankrupt(day(0.0)).unwrap(), [], "more of the same speaks for it");
    take(&store, records(11, 3, State::Accept));
    assert_eq!(ids(&store.bankrupt(day(0.0)).unwrap()), [id(100)]);
}

#[test]
fn contradictions_bankrupt_a_rule_which_fades_from_then_on() {
    let store = Home::new().open();
    take(&store, records(1, 6, State::Accept));
    dream(&store, 100);
    let contradiction = |n: u128| EventKind::Contradicted {
        task: task(1),
        id: id(n),
        at: day(1.0),
        feedback: Box::new(NegativeFeedback { rule_id: id(100), content: insight("it did not hold") }),
        known_to: Vec::new(),
        after: Vec::new(),
    };
    take(&store, [contradiction(201)]);
    let against = store.get(&id(201)).unwrap();
    assert_eq!((against.megram.f, against.megram.sigma, against.megram.k), (1.0, -1.0, 0.05));
    assert_eq!((against.megram.space.as_str(), against.trace.level), (SPACE, Level::M));
    assert_eq!(store.bankrupt(day(1.0)).unwrap(), [], "one does not: 1 − 1 = 0");
    take(&store, [contradiction(202), contradiction(203)]);
    assert_eq!(ids(&store.bankrupt(day(1.0)).unwrap()), [id(100)]);

    take(&store, [EventKind::Act(Box::new(MemoryAct::Demoted { rule: id(100), at: day(1.0) }))]);
    assert_eq!(store.rules_of(SPACE, "env:local").unwrap(), []);
    let rule = store.get(&id(100)).unwrap();
    assert_eq!((rule.trace.level, rule.trace.quantum.k), (Level::K, 0.05));
    assert_eq!(rule.trace.moments.demoted_us, Some(day(1.0).as_micros()));
    // The rule's experience is summed beside what contradicts it: 1 − 3.
    let sums = store.potentials(SPACE, "env:local", day(1.0)).unwrap();
    assert!((sums.decision + 2.0).abs() < 1e-9 && (sums.attention - 4.0).abs() < 1e-9, "{sums:?}");
    store.check(day(1.0)).unwrap();
    // ln(1 / 0.1) / 0.05 = 46.05 days from its demotion.
    store.forget_faded(day(46.9), 1_000).unwrap();
    assert!(store.get(&id(100)).is_ok());
    store.forget_faded(day(47.2), 1_000).unwrap();
    assert!(store.get(&id(100)).is_err());
    store.check(day(47.2)).unwrap();
}

#[test]
fn a_newer_rule_supersedes_and_an_opposite_one_demotes() {
    let store = Home::new().open();
    take(&store, records(1, 6, State::Accept));
    dream(&store, 100);
    take(&store, records(11, 6, State::Accept));
    dream(&store, 101);
    assert_eq!(ids(&store.rules_of(SPACE, "env:local").unwrap()), [id(101)]);
    assert_eq!(store.get(&id(100)).unwrap().superseded_by, Some(id(101)));

    take(&store, records(21, 9, State::Abandon));
    assert_eq!(dream(&store, 102), [Rule::Constraint]);
    assert_eq!(ids(&store.rules_of(SPACE, "env:local").unwrap()), [id(102)]);
    assert_eq!(store.get(&id(101)).unwrap().trace.level, Level::K);
    assert_eq!(store.get(&id(21)).unwrap().rule, Some(id(102)));
    assert_eq!(store.get(&id(11)).unwrap().rule, Some(id(101)));
    store.check(day(0.0)).unwrap();
}

#[test]
fn facts_need_less_evidence_than_experience() {
    let store = Home::new().open();
    let two = |from: u128, category| {
        records(from, 2, State::Accept).into_iter().map(move |happening| match happening {
            EventKind::Written { task, mut megram } => {
                megram.content.category = category;
                megram.space = format!("intent:{category:?}");
                EventKind::Written { task, megram }
            }
            other => other,
        })
    };
    take(&store, two(1, InsightCategory::Fact).chain(two(3, InsightCategory::Procedure)));
    let due = store.promotable(day(0.0), 100).unwrap();
    assert_eq!(due.iter().map(|due| due.space.as_str()).collect::<Vec<_>>(), ["intent:Fact"]);
}

#[test]
fn facts_of_the_operator_coexist_and_never_go_bankrupt() {
    let store = Home::new().open();
    take(&store, [stated(rule(1, "user:", 1.0, day(0.0))), stated(rule(2, "user:", 1.0, day(0.0)))]);
    take(&store, (3..9).map(|n| written(1, megram(n, "user:", State::Abandon, day(0.0)))));
    assert_eq!(store.bankrupt(day(0.0)).unwrap(), []);
    take(&store, [promoted(rule(10, "user:", -1.0, day(0.0)), 8)]);
    assert_eq!(ids(&store.rules_of("user:", "env:local").unwrap()), [10, 2, 1].map(id));
}

/// The vectors `recall-queryc-touches` and `recall-queryc-ignores-m`.
#[test]
fn asking_for_rules_recalls_only_the_rules() {
    let store = Home::new().open();
    take(&store, records(1, 6, State::Accept));
    dream(&store, 100);
    take(&store, records(7, 1, State::Accept));
    take(&store, [stated(rule(50, "intent:other", 1.0, day(0.0)))]);
    let recalled = store.recall(SPACE, "env:local", day(3.0)).unwrap();
    assert_eq!(ids(&recalled), [id(100)]);
    assert_eq!(recalled[0].trace.level, Level::C);
    let moments = |n| store.get(&id(n)).unwrap().trace.moments.recalled_us;
    assert_eq!(moments(100), Some(day(3.0).as_micros()));
    assert_eq!([moments(1), moments(7), moments(50)], [None; 3]);
    store.recall(SPACE, "env:local", day(2.0)).unwrap();
    assert_eq!(moments(100), Some(day(3.0).as_micros()), "a clock that goes back takes nothing away");
}

#[test]
fn sources_of_a_rule_leave_the_task_count_of_their_tool() {
    let store = Home::new().open();
    let record = |n: u128, entity: &str| {
        let megram = megram(n, "tool:fetch", State::Abandon, day(0.0));
        written(n as u64, Megram { entity: entity.to_owned(), ..megram })
    };
    take(&store, (1..=6).map(|n| record(n, "path:/a")).chain([record(6 + 6, "path:/b")]));
    assert_eq!(store.tool("tool:fetch", day(0.0)).unwrap().tasks, 7);
    assert_eq!(dream(&store, 100), [Rule::Constraint]);
    let tool = store.tool("tool:fetch", day(0.0)).unwrap();
    assert_eq!(tool.tasks, 1);
    assert!((tool.potentials.attention - 0.95).abs() < 1e-12, "{tool:?}");
    store.check(day(0.0)).unwrap();
}

#[test]
fn calls_to_avoid_come_with_their_evidence() {
    let store = Home::new().open();
    let record = |n: u128, entity: &str, state: State| {
        let megram = megram(n, "tool:fetch", state, day(0.0));
        written(n as u64, Megram { entity: entity.to_owned(), ..megram })
    };
    take(&store, (1..=6).map(|n| record(n, "path:/constraint", State::Abandon)));
    dream(&store, 100);
    take(
        &store,
        [
            record(10, "path:/bad", State::ChangeApproach),
            record(11, "path:/bad", State::ChangePath),
            record(12, "path:/good", State::BreakSymmetry),
            record(13, "path:/torn", State::Abandon),
            record(14, "path:/torn", State::Accept),
            written(1, megram(15, "tool:shell/curl", State::Accept, day(0.0))),
        ],
    );
    let told = |at| -> Vec<(String, MegramId)> {
        let avoided = store.avoided("tool:fetch", at).unwrap();
        avoided.into_iter().map(|avoided| (avoided.entity, avoided.evidence.megram.id)).collect()
    };
    let bad = ("path:/bad".to_owned(), id(10));
    let constraint = ("path:/constraint".to_owned(), id(100));
    assert_eq!(told(day(0.0)), [bad, constraint.clone()]);
    assert_eq!(told(day(60.0)), [constraint], "blame fades, a rule does not");
    assert_eq!(store.tool_spaces().unwrap(), ["tool:fetch", "tool:shell/curl"]);
    assert_eq!(store.avoided("tool:shell/curl", day(0.0)).unwrap(), []);
}
