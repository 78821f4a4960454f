//! For any order of events, a task that is replayed up to any step continues byte for byte the same.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{AskClass, Strictness};
use setpoint_protocol::settings::Budgets;

use super::*;

/// The events of one step, and the open asks after it.
struct Happened {
    external: External,
    clock_ms: u64,
    step: String,
    records: usize,
    open: BTreeMap<CallId, String>,
}

/// Runs a task by chance: each number picks what happens next.
fn run(choices: &[(u8, u8, u16)]) -> (Vec<Happened>, Vec<Record>) {
    let mut bench = Bench::new();
    let mut open = BTreeMap::new();
    let mut story = Vec::new();
    let mut choices = choices.iter();
    // The budget has room for two questions at a time, so that a third waits.
    let budgets = Budgets { tokens: Some(20_000), ..Budgets::default() };
    let mut next = Some(External::Opened(Box::new(Opened { budgets, ..opened() })));
    while let Some(external) = next.take() {
        if let Some(call) = ends(&external) {
            open.remove(&call);
        }
        let step = bench.try_step(external.clone()).unwrap();
        follow(&bench, &mut open, &step);
        let records = bench.records.len();
        let step = format!("{:?} {}", step.records, render(&step));
        story.push(Happened { external, clock_ms: bench.clock_ms, step, records, open: open.clone() });
        if bench.cell.is_closed() {
            break;
        }
        next = choices.next().and_then(|(what, which, ms)| {
            bench.clock_ms += u64::from(*ms);
            choose(&bench, records, *what, usize::from(*which))
        });
    }
    (story, bench.records)
}

fn choose(bench: &Bench, records: usize, what: u8, which: usize) -> Option<External> {
    let goals = ["count the files", "count the files", "do it", "hello"];
    match what {
        _ if records == 1 => {
            let payload = user_input(goals.get(which % goals.len()).unwrap());
            return Some(External::Message { from: RoleId::User, payload });
        }
        0 => return Some(cancel()),
        1 | 2 => return Some(fault()),
        _ => {}
    }
    let pending = bench.cell.pending();
    let ask = pending.get(which.checked_rem(pending.len())?)?;
    let call = ask.call.to_string();
    let message = |from, payload| External::Message { from, payload };
    Some(match ask.class {
        AskClass::Model | AskClass::Pure | AskClass::Unsafe if what < 20 && !ask.stopped => {
            let attempt = ask.attempt + 1;
            External::Reasked(Reasked {
                call: ask.call,
                attempt,
                reason: String::new(),
                spent: Usage::default(),
                by_runtime: false,
            })
        }
        AskClass::Survey => answered(&call, Answer::Survey(Box::default())),
        AskClass::Timer => answered(&call, Answer::Timer),
        AskClass::Memory => message(RoleId::Memory, memory_reply(&call)),
        AskClass::Person if ask.call.role == RoleId::Executor => message(RoleId::User, approval(&call, "d1")),
        AskClass::Person => {
            let answers = vec!["count".to_owned()];
            message(RoleId::User, message::ClarificationAnswer { call_id: ask.call, answers }.into())
        }
        AskClass::Pure | AskClass::Unsafe => answered(&call, tool_answer()),
        AskClass::Model => {
            let plans = ["one", "read,approve", "one,two,approve"];
            answered(&call, reply(plans.get(which % plans.len()).unwrap()))
        }
    })
}

/// Returns the ask that an input ends.
fn ends(external: &External) -> Option<CallId> {
    match external {
        External::Answered(Answered { call, .. }) => Some(*call),
        External::Message { payload, .. } => payload.answers(),
        _ => None,
    }
}

/// Tracks open effects as a driver would: models and tools stay until they have answered.
fn follow(bench: &Bench, open: &mut BTreeMap<CallId, String>, step: &Step) {
    for effect in &step.effects {
        if !matches!(effect, WorldEffect::Stop { .. }) {
            open.insert(effect.call(), outside(effect));
        }
    }
    let pending = bench.cell.pending();
    open.retain(|call, _| pending.iter().any(|ask| ask.call == *call));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_task_replayed_to_any_step_continues_unchanged(
        choices in vec((0_u8..=255, 0_u8..=255, 0_u16..2_000), 0..40),
    ) {
        let (story, records) = run(&choices);
        for (done, last) in story.iter().enumerate() {
            let mut cell = empty_cell();
            let (prefix, _) = records.split_at(last.records);
            let replayed = cell.replay(prefix, Strictness::Exact).unwrap();
            let open: BTreeMap<CallId, String> =
                replayed.open.iter().map(|(call, effect)| (*call, outside(effect))).collect();
            prop_assert_eq!(&open, &last.open);
            let pending: Vec<CallId> = cell.pending().iter().map(|ask| ask.call).collect();
            prop_assert_eq!(pending, open.keys().copied().collect::<Vec<_>>());
            for happened in story.iter().skip(done + 1) {
                let at = START.plus_millis(happened.clock_ms);
                let step = cell.step(happened.external.clone(), at, happened.clock_ms).unwrap();
                prop_assert_eq!(&format!("{:?} {}", step.records, render(&step)), &happened.step);
            }
        }
    }

    #[test]
    fn a_stream_is_gapless_and_a_fault_or_cancel_always_ends_it(
        choices in vec((3_u8..=255, 0_u8..=255, 0_u16..2_000), 0..30),
        cancelled: bool,
    ) {
        let (story, mut records) = run(&choices);
        let mut bench = Bench::new();
        bench.cell.replay(&records, Strictness::Exact).unwrap();
        bench.clock_ms = story.last().map_or(0, |last| last.clock_ms);
        if !bench.cell.is_closed() {
            bench.step(if cancelled { cancel() } else { fault() });
        }
        for ask in bench.cell.pending() {
            prop_assert!(ask.stopped);
            bench.step(answered(&ask.call.to_string(), Answer::Interrupted));
        }
        prop_assert!(bench.cell.is_closed());
        records.append(&mut bench.records);
        for (n, record) in records.iter().enumerate() {
            prop_assert_eq!(record.seq, n as u64 + 1);
            prop_assert!(record.cause.is_none_or(|cause| cause < record.seq));
        }
        let ends = ["FinalResult", "DirectAnswer"];
        let ended = records.iter().filter(|record| ends.contains(&record.kind.to_string().as_str())).count();
        prop_assert_eq!(ended, 1);
        prop_assert!(ends.contains(&records.last().unwrap().kind.to_string().as_str()));
    }
}
