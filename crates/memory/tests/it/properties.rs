//! Properties over random sequences of writing, promoting, demoting, forgetting and losing.

use proptest::prelude::*;
use setpoint_memory::store::{BatchOutcome, Event, EventKind, Store};
use setpoint_mkct::State;
use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{Level, Megram};

use crate::support::{
    Home, day, forgotten, id, insight, megram, promoted, rule, seen, stated, task, written,
};

const SPACES: [&str; 3] = ["intent:count", "tool:fetch", "tool:shell"];
const END_DAYS: f64 = 400.0;

/// One event, in numbers that proptest can shrink.
#[derive(Clone, Debug)]
struct Draw {
    kind: u8,
    space: usize,
    entity: u8,
    state: usize,
    days: f64,
    of: usize,
}

fn draw() -> impl Strategy<Value = Draw> {
    (0_u8..20, 0..=SPACES.len(), 0_u8..3, 0..7_usize, 0.0..END_DAYS, any::<prop::sample::Index>()).prop_map(
        |(kind, space, entity, state, days, of)| Draw { kind, space, entity, state, days, of: of.index(200) },
    )
}

/// Returns the event at this position; acts refer to earlier records.
fn event(pos: u64, draw: &Draw) -> Event {
    let n = u128::from(pos);
    let earlier = (draw.of as u128 % n.max(1)) + 1;
    // The last kind is that of a task's own outputs.
    let own = format!("task:{}", task(pos % 5));
    let space = SPACES.get(draw.space).copied().unwrap_or(&own);
    let entity = format!("entity {}", draw.entity);
    let at = day(draw.days);
    let what = match draw.kind {
        0..=12 => {
            let level = if draw.kind == 0 { Level::K } else { Level::M };
            let record = megram(n, space, State::ALL[draw.state], at);
            written(pos % 5, Megram { level, entity, ..record })
        }
        13 | 14 => {
            let sigma = if draw.of.is_multiple_of(2) { 1.0 } else { -1.0 };
            promoted(Megram { entity, ..rule(n, space, sigma, at) }, pos - 1 - pos.min(2) / 2)
        }
        15 | 16 => EventKind::Act(Box::new(MemoryAct::Demoted { rule: id(earlier), at })),
        17 => forgotten(&[earlier]),
        18 => stated(rule(n, space, 1.0, at)),
        19 if draw.of.is_multiple_of(2) => {
            let content = insight("in better words");
            EventKind::Act(Box::new(MemoryAct::Reflected { id: id(earlier), content, worded: None }))
        }
        _ => EventKind::Ended { task: task(pos % 5) },
    };
    Event { pos, what }
}

fn take(store: &Store, events: &[Event], from: u64) {
    let to = from + events.len() as u64;
    assert!(matches!(store.apply(from, events, to).unwrap(), BatchOutcome::Applied(_)));
}

fn forget_all(store: &Store, days: f64) {
    while store.forget_faded(day(days), 7).unwrap().has_more {}
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// A store that applied events in steps, forgot in between, was reopened, and was rebuilt midway equals one that
    /// applied everything at once; and its running sums equal the plain ones.
    #[test]
    fn memory_is_what_the_journal_says(
        draws in proptest::collection::vec(draw(), 1..120),
        steps in proptest::collection::vec((1_usize..30, 0_u8..8), 1..20),
    ) {
        let events: Vec<Event> = draws.iter().zip(1..).map(|(draw, pos)| event(pos, draw)).collect();
        let at_once = Home::new();
        let whole = at_once.open();
        take(&whole, &events, 0);

        let by_and_by = Home::new();
        let mut store = by_and_by.open();
        let mut at = 0;
        let mut turns = steps.iter().cycle();
        while at < events.len() {
            let (count, also) = turns.next().unwrap();
            let to = (at + count).min(events.len());
            take(&store, &events[at..to], at as u64);
            at = to;
            match also {
                0 => forget_all(&store, END_DAYS),
                1 => {
                    drop(store);
                    store = by_and_by.open();
                }
                2 => {
                    store.start_over(at as u64).unwrap();
                    take(&store, &events[..at], 0);
                }
                3 | 4 => {
                    store.index(*count).unwrap();
                }
                _ => {}
            }
            store.check(day(END_DAYS)).unwrap();
        }
        prop_assert_eq!(store.cursor().unwrap(), events.len() as u64);
        for days in [END_DAYS, END_DAYS + 60.0] {
            for store in [&whole, &store] {
                forget_all(store, days);
                while store.index(9).unwrap() {}
                store.check(day(days)).unwrap();
            }
            prop_assert_eq!(seen(&store, day(days)), seen(&whole, day(days)));
        }
    }

    #[test]
    fn the_order_of_writes_is_irrelevant(
        draws in proptest::collection::vec((0..7_usize, 0.0..END_DAYS, any::<u32>()), 1..80),
    ) {
        let potentials = |order: &[usize]| {
            let store = Home::new().open();
            let events: Vec<Event> = order.iter().zip(1..).map(|(n, pos)| {
                let (state, days, _) = draws[*n];
                Event { pos, what: written(1, megram(*n as u128, "tool:fetch", State::ALL[state], day(days))) }
            }).collect();
            take(&store, &events, 0);
            let now = day(END_DAYS);
            let plain = store.plain_potentials("tool:fetch", "env:local", now).unwrap();
            let tool = store.tool("tool:fetch", now).unwrap().potentials;
            (store.potentials("tool:fetch", "env:local", now).unwrap(), plain, tool)
        };
        let ordered: Vec<usize> = (0..draws.len()).collect();
        let mut shuffled = ordered.clone();
        shuffled.sort_by_key(|n| draws[*n].2);
        let (ours, plain, tool) = potentials(&ordered);
        let (theirs, ..) = potentials(&shuffled);
        let size = plain.attention.max(f64::MIN_POSITIVE);
        for (a, b) in [(ours, plain), (ours, theirs), (ours, tool)] {
            prop_assert!((a.attention - b.attention).abs() / size < 1e-12, "{a:?} {b:?}");
            prop_assert!((a.decision - b.decision).abs() / size < 1e-12, "{a:?} {b:?}");
        }
    }
}
