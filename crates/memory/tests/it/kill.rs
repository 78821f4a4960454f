//! `kill -9` while the store applies events and forgets.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use setpoint_memory::store::{BatchOutcome, Event, Options, Store};
use setpoint_mkct::State;
use setpoint_protocol::message::Megram;

use crate::support::{Home, day, megram, promoted, rule, seen, written};

const HOME: &str = "SETPOINT_TEST_MEMORY_HOME";
const EVENTS: u64 = 6_000;
const BATCH: u64 = 20;

/// Returns the same journal every time: records of a few pairs over two hundred days, with some rules.
fn event(pos: u64) -> Event {
    let days = pos as f64 / 30.0;
    let (space, entity) = (["intent:count", "tool:fetch"][pos as usize % 2], pos % 5);
    let at = day(days);
    let what = if pos.is_multiple_of(97) {
        let sigma = if pos.is_multiple_of(2) { 1.0 } else { -1.0 };
        promoted(Megram { entity: entity.to_string(), ..rule(pos.into(), space, sigma, at) }, pos - 3)
    } else {
        let record = megram(pos.into(), space, State::ALL[(pos * 7 % 11) as usize % 7], at);
        written(pos % 13, Megram { entity: entity.to_string(), ..record })
    };
    Event { pos, what }
}

/// Applies the missing events, and reports its position after each batch.
fn go_on(store: &Store, mut tell: impl FnMut(u64)) {
    let mut from = store.cursor().unwrap();
    while from < EVENTS {
        let to = (from + BATCH).min(EVENTS);
        let events: Vec<Event> = (from + 1..=to).map(event).collect();
        assert!(matches!(store.apply(from, &events, to).unwrap(), BatchOutcome::Applied(_)));
        tell(to);
        from = to;
        store.forget_faded(day(from as f64 / 30.0), 16).unwrap();
    }
}

/// The process that the test below kills; in an ordinary run it does nothing.
#[test]
fn child() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let (store, _) = Store::open(Path::new(&home), &Options::default()).unwrap();
    go_on(&store, |to| println!("\nat {to}"));
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let home = Home::new();
    let mut killed = 0;
    for lives in [1, 7, 2, 13, 30, 3, 21, 40, 5] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["kill::child", "--exact", "--nocapture", "--test-threads=1"])
            .env(HOME, home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told =
            lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("at ")?.parse::<u64>().ok());
        let acknowledged = told.take(lives).last().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;

        let store = home.open();
        let cursor = store.cursor().unwrap();
        assert!(cursor >= acknowledged && cursor.is_multiple_of(BATCH), "{cursor} < {acknowledged}");
        assert!(cursor < EVENTS, "it was quicker than its killer");
        store.check(day(cursor as f64 / 30.0)).unwrap();
    }
    assert_eq!(killed, 9);

    let survivor = home.open();
    go_on(&survivor, |_| {});
    let unharmed = Home::new();
    let calm = unharmed.open();
    go_on(&calm, |_| {});
    let end = day(EVENTS as f64 / 30.0);
    for store in [&survivor, &calm] {
        while store.forget_faded(end, 1_000).unwrap().has_more {}
        store.check(end).unwrap();
    }
    let (ours, theirs) = (seen(&survivor, end), seen(&calm, end));
    assert!(ours.lines().count() > 500, "the premise: {}", ours.lines().count());
    assert!(ours == theirs, "they differ");
}
