use super::super::{Divergence, Strictness};
use super::*;

/// Returns the records of a finished task with two sub-tasks.
fn journal() -> Vec<Record> {
    let mut bench = Bench::dispatched(opened(), "one,two");
    for call in ["r3.1/2", "r3.2/2"] {
        bench.tool_answers(call);
    }
    for call in ["r4a.1/1", "r4a.2/1"] {
        bench.replies(call, "good");
    }
    assert!(bench.cell.is_closed());
    bench.records
}

fn diverges(records: &[Record], strictness: Strictness) -> Divergence {
    empty_cell().replay(records, strictness).unwrap_err()
}

fn place_of(records: &[Record], kind: &str) -> usize {
    records.iter().position(|record| record.kind.to_string() == kind).unwrap()
}

#[test]
fn a_changed_derived_record_is_a_divergence_at_its_place() {
    let records = journal();
    let mut changed = 0;
    for (at, record) in records.iter().enumerate().filter(|(_, record)| !record.is_input()) {
        let seq = record.seq;
        let changes: [fn(&mut Record); 5] = [
            |record| *record.body.last_mut().unwrap() = b' ',
            |record| record.kind = RecordKind::Quiesced,
            |record| record.to.push(setpoint_protocol::Address::singleton(RoleId::Auditor)),
            |record| record.cause = Some(1_000),
            |record| record.seq += 1,
        ];
        for change in changes {
            let mut records = records.clone();
            change(records.get_mut(at).unwrap());
            assert_eq!(diverges(&records, Strictness::Exact).seq, seq);
            changed += 1;
        }
    }
    assert!(changed > 50, "{changed}");
}

#[test]
fn a_missing_record_is_a_divergence_at_its_place() {
    let records = journal();
    for (at, record) in records.iter().enumerate() {
        let mut records = records.clone();
        records.remove(at);
        // Without the last input the journal is merely shorter; without a step's last records it is torn.
        let Err(divergence) = empty_cell().replay(&records, Strictness::Exact) else {
            panic!("record {} was not missed", record.seq);
        };
        assert_eq!(divergence.seq, record.seq, "{divergence}");
    }
}

#[test]
fn an_extra_record_is_a_divergence_at_its_place() {
    let records = journal();
    for at in 0..records.len() {
        let mut records = records.clone();
        let twice = records.get(at).unwrap().clone();
        records.insert(at + 1, twice);
        for (n, record) in records.iter_mut().enumerate() {
            record.seq = n as u64 + 1;
        }
        let divergence = diverges(&records, Strictness::Exact);
        assert_eq!(divergence.seq, at as u64 + 2, "{divergence}");
    }
}

#[test]
fn another_logic_version_may_differ_in_its_bodies() {
    let mut records = journal();
    let task_spec = place_of(&records, "TaskSpec");
    let record = records.get_mut(task_spec).unwrap();
    record.body = String::from_utf8_lossy(&record.body).replace("count the files", "count").into_bytes();
    let seq = record.seq;
    assert_eq!(diverges(&records, Strictness::Exact).seq, seq);
    empty_cell().replay(&records, Strictness::KindAndAddressee).unwrap();

    let subtask = place_of(&records, "SubTask");
    records.get_mut(subtask).unwrap().to.reverse();
    let divergence = diverges(&records, Strictness::KindAndAddressee);
    assert_eq!(divergence.seq, records.get(subtask).unwrap().seq);
}

#[test]
fn an_input_that_cannot_be_read_is_a_divergence() {
    let records = journal();
    for (at, record) in records.iter().enumerate().filter(|(_, record)| record.is_input()) {
        let mut records = records.clone();
        records.get_mut(at).unwrap().body = b"{".to_vec();
        for strictness in [Strictness::Exact, Strictness::KindAndAddressee] {
            assert_eq!(diverges(&records, strictness).seq, record.seq);
        }
    }
}

#[test]
fn a_diverged_task_is_ended_by_a_fault_after_its_last_record() {
    let records = journal();
    // Torn inside a step, so that the machines derive more than the journal has; and changed at its very end.
    let torn: Vec<Record> = records.iter().take(place_of(&records, "SubTask")).cloned().collect();
    let mut changed = records;
    changed.last_mut().unwrap().body.push(b' ');
    for records in [torn, changed] {
        let last = records.last().unwrap().seq;
        let mut bench = Bench::new();
        bench.cell.replay(&records, Strictness::Exact).unwrap_err();
        bench.cell.skip_to(last);
        bench.step(fault());
        for pending in bench.cell.pending() {
            bench.step(answered(&pending.call.to_string(), Answer::Interrupted));
        }
        assert!(bench.cell.is_closed());
        assert_eq!(
            bench.records.first().map(|record| (record.seq, record.kind.to_string())),
            Some((last + 1, "TaskFault".to_owned()))
        );
        assert_eq!(bench.records.last().unwrap().kind.to_string(), "FinalResult");
        let seqs: Vec<u64> = bench.records.iter().map(|record| record.seq).collect();
        assert_eq!(seqs, (last + 1..=bench.cell.seq()).collect::<Vec<u64>>());
        // Only asks in the journal have an answer.
        let asked =
            |seq: u64| records.iter().any(|record| record.seq == seq && record.kind == RecordKind::Asked);
        for answer in bench.records.iter().filter(|record| record.kind == RecordKind::Answered) {
            assert!(asked(answer.cause.unwrap()), "{answer:?}");
        }
    }
}

#[test]
fn a_poisoned_input_is_not_delivered_again() {
    let mut bench = Bench::with_goal(opened(), "count");
    bench.replies("r1/1", "count");
    bench.memory_replies();
    let error = bench.try_step(answered("r2/2", reply("panic"))).unwrap_err();
    let poisoned = bench.cell.poisoned(&error);
    assert_eq!((poisoned.kind.as_str(), &poisoned.panic), ("Answered", &error.to_string()));
    assert_eq!(poisoned.body.0["call"], "r2/2");
    // Acts as a driver does: rebuild, record the input as poisoned, end the task.
    bench.cell = empty_cell();
    bench.cell.replay(&bench.records, Strictness::Exact).unwrap();
    bench.step(External::Poisoned(poisoned));
    bench.step(fault());
    bench.step(answered("r2/2", Answer::Interrupted));
    assert!(bench.cell.is_closed());
    let mut again = empty_cell();
    again.replay(&bench.records, Strictness::Exact).unwrap();
    assert!(again.is_closed());
}

#[test]
fn every_step_of_a_replay_is_shown_with_its_records_and_effects() {
    let records = journal();
    let (mut shown, mut asked, mut closed) = (Vec::new(), Vec::new(), Vec::new());
    let mut cell = empty_cell();
    cell.replay_steps(&records, Strictness::Exact, &mut |step| {
        assert!(step.records[0].is_input() && step.records[1..].iter().all(|record| !record.is_input()));
        shown.extend(step.records.iter().map(|record| record.seq));
        asked.extend(step.effects.iter().map(WorldEffect::call));
        closed.push(step.closed);
    })
    .unwrap();
    assert_eq!(shown, (1..=records.len() as u64).collect::<Vec<_>>());
    assert!(asked.iter().any(|call| call.to_string() == "r4a.2/1"), "{asked:?}");
    assert_eq!(closed.iter().position(|closed| *closed), Some(closed.len() - 1));
}

#[test]
fn a_changed_body_is_reported_with_its_place() {
    let mut records = journal();
    let at = place_of(&records, "FinalResult");
    let body = String::from_utf8(records[at].body.clone()).unwrap();
    let changed = body.replacen("\"replans\":0", "\"replans\":7", 1);
    assert_ne!(body, changed);
    records[at].body = changed.into_bytes();
    let divergence = diverges(&records, Strictness::Exact);
    assert!(divergence.reason.ends_with("with another body (at /replans)"), "{divergence}");
}
