//! Opening, applying events, asking.

use setpoint_memory::store::{BatchOutcome, Event, EventKind, MemoryError, Options, Store};
use setpoint_mkct::{Action, State};
use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{Level, Megram, NegativeFeedback};

use crate::support::{Home, day, forgotten, id, insight, megram, rule, seen, stated, take, task, written};

#[test]
fn applied_events_survive_reopening() {
    let home = Home::new();
    let now = day(1.0);
    let before = {
        let store = home.open();
        let applied = take(&store, [written(1, megram(1, "intent:count", State::Accept, day(0.0)))]);
        assert_eq!((applied.written, applied.known, applied.refused), (1, 0, 0));
        seen(&store, now)
    };
    let (store, report) = Store::open(&home.path(), &Options::default()).unwrap();
    assert_eq!((report.is_new, report.aside, store.cursor().unwrap()), (false, None, 1));
    assert_eq!(seen(&store, now), before);
    let potentials = store.potentials("intent:count", "env:local", now).unwrap();
    assert!((potentials.attention - 0.9 * (-0.05_f64).exp()).abs() < 1e-12, "{potentials:?}");
    assert_eq!(Action::of(potentials), Action::Exploit);
    let record = store.get(&id(1)).unwrap();
    assert_eq!((record.task, record.pos), (Some(task(1)), 1));
    assert_eq!(record.megram, megram(1, "intent:count", State::Accept, day(0.0)));
}

#[test]
fn an_empty_store_returns_nothing() {
    let store = Home::new().open();
    assert_eq!(store.potentials("a", "b", day(0.0)).unwrap(), Default::default());
    assert_eq!(store.tool("tool:a", day(0.0)).unwrap(), Default::default());
    assert_eq!(store.records("a", "b", 10).unwrap(), []);
    assert!(matches!(store.get(&id(7)), Err(MemoryError::Unknown { id: of }) if of == id(7)));
}

#[test]
fn the_same_record_counts_once() {
    let home = Home::new();
    let store = home.open();
    let one = || written(1, megram(1, "intent:count", State::Accept, day(0.0)));
    take(&store, [one()]);
    let once = seen(&store, day(1.0));
    let applied = take(&store, [one(), one()]);
    assert_eq!((applied.written, applied.known), (0, 2));
    assert_eq!(seen(&store, day(1.0)), once);
}

#[test]
fn a_batch_must_start_at_the_position_of_the_store() {
    let home = Home::new();
    let (ours, theirs) = (home.open(), home.open());
    let event = |n: u128| {
        let what = written(1, megram(n, "intent:count", State::Accept, day(0.0)));
        [Event { pos: u64::try_from(n).unwrap(), what }]
    };
    assert!(matches!(ours.apply(0, &event(1), 1).unwrap(), BatchOutcome::Applied(_)));
    assert_eq!(theirs.apply(0, &event(1), 1).unwrap(), BatchOutcome::WrongPosition { cursor: 1 });
    assert!(matches!(theirs.apply(1, &event(2), 2).unwrap(), BatchOutcome::Applied(_)));
    assert_eq!(seen(&ours, day(0.0)), seen(&theirs, day(0.0)));
    assert_eq!(ours.stats().unwrap().records, 2);
}

#[test]
fn similar_pairs_are_never_confused() {
    let store = Home::new().open();
    let parts = ["", ":", "|", "a", "a:", ":a", "a|", "a\0", "\0a", "\n", "a\n", "é", "e\u{301}", "🦀", "数"];
    let tags: Vec<(&str, &str)> =
        parts.iter().flat_map(|space| parts.iter().map(move |entity| (*space, *entity))).collect();
    let record = |n: usize, (space, entity): (&str, &str)| {
        let megram = megram(n as u128, space, State::Accept, day(0.0));
        written(1, Megram { entity: entity.to_owned(), ..megram })
    };
    take(&store, tags.iter().enumerate().map(|(n, tags)| record(n, *tags)));
    assert_eq!(store.stats().unwrap().pairs, tags.len() as u64);
    for (n, (space, entity)) in tags.iter().enumerate() {
        let records = store.records(space, entity, 10).unwrap();
        assert_eq!(records.len(), 1, "{space:?} {entity:?}");
        assert_eq!(records[0].megram.id, id(n as u128));
        assert_eq!(store.potentials(space, entity, day(0.0)).unwrap().attention, 0.9);
    }
}

#[test]
fn invalid_records_are_refused() {
    let store = Home::new().open();
    let good = megram(1, "intent:count", State::Accept, day(0.0));
    let bad = [
        Megram { f: f64::NAN, ..good.clone() },
        Megram { f: 1.5, ..good.clone() },
        Megram { sigma: -2.0, ..good.clone() },
        Megram { k: f64::INFINITY, ..good.clone() },
        Megram { k: -0.1, ..good.clone() },
        Megram { space: "s".repeat(5_000), ..good.clone() },
        Megram { content: insight(&"l".repeat(2 << 20)), ..good.clone() },
    ];
    let count = bad.len() as u64;
    let applied = take(&store, bad.into_iter().map(|megram| written(1, megram)));
    assert_eq!((applied.written, applied.refused), (0, count));
    assert_eq!(store.stats().unwrap().pairs, 0);
    assert_eq!(take(&store, [written(1, good)]).written, 1);
}

#[test]
fn a_record_from_the_future_counts_as_new() {
    let store = Home::new().open();
    take(&store, [written(1, megram(1, "intent:count", State::Accept, day(10.0)))]);
    take(&store, [written(2, megram(2, "intent:count", State::Accept, day(0.0)))]);
    let sums = store.potentials("intent:count", "env:local", day(0.0)).unwrap();
    assert!((sums.attention - 1.8).abs() < 1e-12, "{sums:?}");
    assert_eq!(sums, store.plain_potentials("intent:count", "env:local", day(0.0)).unwrap());
}

#[test]
fn a_tool_is_summed_over_its_targets_and_its_tasks_are_counted() {
    let store = Home::new().open();
    let record = |n: u64, entity: &str| {
        let megram = megram(n.into(), "tool:fetch", State::ChangeApproach, day(0.0));
        written(n % 3, Megram { entity: entity.to_owned(), ..megram })
    };
    take(&store, [record(1, "path:/a"), record(2, "path:/b"), record(4, "path:/a")]);
    let tool = store.tool("tool:fetch", day(0.0)).unwrap();
    assert!((tool.potentials.attention - 3.0 * 0.85).abs() < 1e-12, "{tool:?}");
    assert_eq!(tool.tasks, 2);
    assert_eq!(store.potentials("tool:fetch", "path:/a", day(0.0)).unwrap().attention, 1.7);
    take(&store, [forgotten(&[2])]);
    assert_eq!(store.tool("tool:fetch", day(0.0)).unwrap().tasks, 1);
}

#[test]
fn records_that_the_operator_forgets_stay_forgotten() {
    let home = Home::new();
    let store = home.open();
    let one = || written(1, megram(1, "intent:count", State::Accept, day(0.0)));
    take(&store, [one(), written(1, megram(2, "intent:count", State::Accept, day(0.0))), forgotten(&[1])]);
    assert!(matches!(store.get(&id(1)), Err(MemoryError::Unknown { .. })));
    let before = seen(&store, day(1.0));
    assert_eq!(take(&store, [one()]).known, 1);
    assert_eq!(seen(&store, day(1.0)), before);
    assert_eq!(store.stats().unwrap().forgotten, 1);
}

#[test]
fn only_faded_records_are_forgotten() {
    let store = Home::new().open();
    let records = [(1, State::Accept), (2, State::Refine), (3, State::ChangePath)];
    take(&store, records.map(|(n, state)| written(1, megram(n, "intent:count", state, day(0.0)))));
    take(&store, [stated(rule(4, "user:", 1.0, day(0.0)))]);
    // ln(0.3 / 0.1) / 0.2 = 5.49 days, ln(0.9 / 0.1) / 0.05 = 43.9 days; 0.1 is gone at once.
    for (at, left) in [
        (0.0, vec![1, 2, 3, 4]),
        (0.01, vec![1, 3, 4]),
        (5.4, vec![1, 3, 4]),
        (5.6, vec![1, 4]),
        (43.8, vec![1, 4]),
        (44.1, vec![4]),
    ] {
        let forgotten = store.forget_faded(day(at), 1_000).unwrap();
        assert!(!forgotten.has_more);
        let mut ids: Vec<String> =
            store.newest(10).unwrap().iter().map(|record| record.megram.id.to_string()).collect();
        ids.sort();
        let expected: Vec<String> = left.iter().map(|n| id(*n).to_string()).collect();
        assert_eq!(ids, expected, "after {at} days");
        store.check(day(at)).unwrap();
    }
    assert_eq!(store.stats().unwrap().summed, 0);
}

#[test]
fn forgetting_goes_on_where_it_left_off() {
    let store = Home::new().open();
    take(&store, (0..10).map(|n| written(1, megram(n, "intent:count", State::Refine, day(0.0)))));
    let passes: Vec<(u64, bool)> = (0..4)
        .map(|_| store.forget_faded(day(30.0), 4).unwrap())
        .map(|forgotten| (forgotten.faded, forgotten.has_more))
        .collect();
    assert_eq!(passes, [(4, true), (4, true), (2, false), (0, false)]);
}

#[test]
fn outputs_of_a_task_are_deleted_after_its_end() {
    let store = Home::new().open();
    let output = |n: u64| {
        let space = format!("task:{}", task(n));
        let megram = Megram { level: Level::K, ..megram(n.into(), &space, State::ChangePath, day(0.0)) };
        written(n, Megram { entity: "subtask:f".to_owned(), ..megram })
    };
    let experience = megram(9, "intent:count", State::Accept, day(0.0));
    take(&store, [output(1), output(2), written(1, experience), EventKind::Ended { task: task(1) }]);
    assert_eq!(store.stats().unwrap().records, 3, "only the Dreamer deletes");
    let forgotten = store.forget_faded(day(0.0), 1_000).unwrap();
    assert_eq!((forgotten.faded, forgotten.outputs), (0, 1));
    assert!(store.get(&id(1)).is_err() && store.get(&id(2)).is_ok() && store.get(&id(9)).is_ok());
    assert_eq!(store.forget_faded(day(0.0), 1_000).unwrap().outputs, 0);
    store.check(day(0.0)).unwrap();
}

#[test]
fn outputs_written_after_the_end_are_kept() {
    let store = Home::new().open();
    let output = |n: u128| {
        let megram = megram(n, &format!("task:{}", task(1)), State::ChangePath, day(0.0));
        written(1, Megram { level: Level::K, entity: "subtask:f".to_owned(), ..megram })
    };
    take(&store, [output(1), EventKind::Ended { task: task(1) }, output(2)]);
    assert_eq!(store.forget_faded(day(0.0), 1_000).unwrap().outputs, 1);
    assert!(store.get(&id(1)).is_err() && store.get(&id(2)).is_ok());
}

#[test]
fn reflection_changes_only_the_words_of_a_record() {
    let store = Home::new().open();
    take(&store, [written(1, megram(1, "intent:count", State::Accept, day(0.0)))]);
    let sums = store.potentials("intent:count", "env:local", day(1.0)).unwrap();
    let content = insight("count with wc -w");
    take(
        &store,
        [EventKind::Act(Box::new(MemoryAct::Reflected {
            id: id(1),
            content: content.clone(),
            worded: None,
        }))],
    );
    assert_eq!(store.get(&id(1)).unwrap().megram.content, content);
    assert_eq!(store.potentials("intent:count", "env:local", day(1.0)).unwrap(), sums);
}

#[test]
fn a_full_disk_rejects_the_whole_batch_and_keeps_the_rest() {
    let home = Home::new();
    home.open();
    let small = Options { database_pages_max: Some(48), ..Options::default() };
    let (store, _) = Store::open(&home.path(), &small).unwrap();
    let record = |n: u128| {
        let megram = megram(n, "intent:count", State::Accept, day(0.0));
        Megram { content: insight(&"word ".repeat(400)), ..megram }
    };
    let batch = |from: u64| -> Vec<Event> {
        (from + 1..=from + 20).map(|pos| Event { pos, what: written(1, record(pos.into())) }).collect()
    };
    let mut from = 0;
    let error = loop {
        match store.apply(from, &batch(from), from + 20) {
            Ok(_) => from += 20,
            Err(error) => break error,
        }
        assert!(from < 10_000, "the bound does not hold");
    };
    assert!(matches!(error, MemoryError::NoSpace { .. }), "{error}");
    assert_eq!((store.cursor().unwrap(), store.stats().unwrap().records), (from, from));
    store.check(day(0.0)).unwrap();
    drop(store);
    assert!(matches!(home.open().apply(from, &batch(from), from + 20).unwrap(), BatchOutcome::Applied(_)));
}

/// SQLite drops the sign of a zero.
#[test]
fn a_negative_zero_is_a_zero() {
    let store = Home::new().open();
    let zero = Megram { f: -0.0, sigma: -0.0, k: -0.0, ..megram(1, "intent:count", State::Accept, day(0.0)) };
    let other = megram(2, "intent:count", State::ChangePath, day(0.0));
    let against = EventKind::Contradicted {
        task: task(1),
        id: id(3),
        at: day(0.0),
        feedback: Box::new(NegativeFeedback { rule_id: id(2), content: insight("no") }),
        known_to: Vec::new(),
        after: Vec::new(),
    };
    let applied = take(&store, [written(1, zero), written(1, other), against]);
    assert_eq!((applied.written, applied.refused), (2, 0), "what speaks for nothing cannot be contradicted");
    store.check(day(0.0)).unwrap();
}

#[test]
fn a_reflection_that_is_too_long_is_ignored() {
    let store = Home::new().open();
    take(&store, [written(1, megram(1, "intent:count", State::Accept, day(0.0)))]);
    for length in [(1 << 20) + 1, 4 << 20] {
        let content = insight(&"w".repeat(length));
        take(&store, [EventKind::Act(Box::new(MemoryAct::Reflected { id: id(1), content, worded: None }))]);
    }
    assert_eq!(store.get(&id(1)).unwrap().megram.content, insight("lesson 1"));
}

#[test]
fn a_task_cannot_write_rules() {
    let store = Home::new().open();
    let applied = take(&store, [written(1, rule(1, "tool:fetch", 1.0, day(0.0)))]);
    assert_eq!((applied.written, applied.refused), (0, 1));
}

#[test]
fn starting_over_keeps_the_forgotten_ids_only() {
    let home = Home::new();
    let store = home.open();
    let one = |n| written(1, megram(n, "intent:count", State::Accept, day(0.0)));
    take(&store, [one(1), one(2), forgotten(&[1])]);
    store.start_over(2).unwrap();
    assert_eq!(store.cursor().unwrap(), 3, "memory does not stand there");
    store.start_over(3).unwrap();
    assert_eq!((store.cursor().unwrap(), store.stats().unwrap().records), (0, 0));
    assert!(home.path().join("damaged-1/memory.db").exists());
    let applied = take(&store, [one(1), one(2)]);
    assert_eq!((applied.written, applied.known), (1, 1));
    store.check(day(0.0)).unwrap();
}

/// Years of tasks leave pairs without any record.
#[test]
fn a_pair_is_deleted_with_its_last_record() {
    let home = Home::new();
    let store = home.open();
    let blame = |n: u128, tool: &str, at| written(n as u64, megram(n, tool, State::ChangeApproach, at));
    take(&store, [blame(1, "tool:a", day(0.0)), blame(2, "tool:b", day(0.0)), blame(3, "tool:c", day(50.0))]);
    assert_eq!((store.stats().unwrap().pairs, store.tool_spaces().unwrap().len()), (3, 3));
    while store.forget_faded(day(60.0), 1).unwrap().has_more {}
    store.check(day(60.0)).unwrap();
    assert_eq!((store.stats().unwrap().pairs, store.tool_spaces().unwrap()), (1, vec!["tool:c".to_owned()]));
    // Numbers of deleted rows are reused.
    take(&store, [forgotten(&[3]), blame(4, "tool:b", day(60.0)), blame(5, "tool:c", day(60.0))]);
    store.check(day(60.0)).unwrap();
    assert_eq!(store.stats().unwrap().pairs, 2);
    for tool in ["tool:b", "tool:c"] {
        assert_eq!(store.tool(tool, day(60.0)).unwrap().tasks, 1);
        assert_eq!(store.potentials(tool, "env:local", day(60.0)).unwrap().decision, -0.85);
    }
}
