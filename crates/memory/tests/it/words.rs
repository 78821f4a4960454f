//! Search by words.

use setpoint_memory::store::{EventKind, Store};
use setpoint_mkct::State;
use setpoint_protocol::Timestamp;
use setpoint_protocol::memory::MemoryAct;
use setpoint_protocol::message::{InsightCategory, Megram};

use super::support::*;

const NOWHERE: (&str, &str) = ("intent:other", "env:local");

fn about(n: u128, space: &str, lesson: &str, tags: &[&str]) -> Megram {
    let mut megram = megram(n, space, State::Accept, day(0.0));
    megram.content.lesson = lesson.to_owned();
    megram.content.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    megram
}

fn found(store: &Store, text: &str, at: Timestamp) -> Vec<String> {
    let found = store.related(text, NOWHERE, at, 5).unwrap();
    found.into_iter().map(|found| found.record.megram.content.lesson).collect()
}

fn index(store: &Store) {
    while store.index(2).unwrap() {}
    store.check(day(0.0)).unwrap();
}

#[test]
fn records_of_other_intents_are_found_by_their_words() {
    let home = Home::new();
    let store = home.open();
    take(
        &store,
        [
            written(
                1,
                about(1, "intent:install_the_dependencies", "this repo uses pnpm", &["pnpm", "install"]),
            ),
            written(1, about(2, "intent:count_words", "wc counts words", &["count"])),
            written(1, about(3, "intent:数一数", "用 wc 数文件", &["文件"])),
            // Records of a tool, and what a task keeps for itself, are not indexed.
            written(1, about(4, "tool:shell/pnpm", "pnpm install failed", &["pnpm"])),
            written(1, about(5, "task:x", "pnpm install was matched", &["pnpm"])),
        ],
    );
    // A small batch is indexed at once.
    store.check(day(0.0)).unwrap();
    assert_eq!(found(&store, "install with pnpm", day(0.0)), ["this repo uses pnpm"]);
    assert_eq!(found(&store, "请数文件", day(0.0)), ["用 wc 数文件"]);
    assert_eq!(found(&store, "sing a song about nothing", day(0.0)), [""; 0]);
    assert_eq!(found(&store, "", day(0.0)), [""; 0]);
    // Records of its own pair are excluded.
    let own = ("intent:count_words", "env:local");
    assert_eq!(store.related("count words", own, day(0.0), 5).unwrap(), []);
}

#[test]
fn the_score_is_the_match_times_the_remaining_strength() {
    let home = Home::new();
    let store = home.open();
    take(
        &store,
        [
            written(1, about(1, "intent:a", "pack the archive with tar", &[])),
            written(1, about(2, "intent:b", "pack the archive", &[])),
            promoted(rule(3, "intent:c", 1.0, day(0.0)), 0),
        ],
    );
    index(&store);
    assert_eq!(
        found(&store, "pack the archive with tar", day(0.0)),
        ["pack the archive with tar", "pack the archive"]
    );
    let score = |days: f64| store.related("pack archive", NOWHERE, day(days), 5).unwrap()[0].score;
    assert!((score(0.0) - 0.9).abs() < 1e-9, "{}", score(0.0));
    assert!((score(10.0) - 0.9 * (-0.5_f64).exp()).abs() < 1e-9);
    assert_eq!(store.related("pack archive", NOWHERE, day(60.0), 5).unwrap(), [], "it has faded");
    // A rule does not fade.
    assert_eq!(found(&store, "lesson 3", day(900.0)), ["lesson 3"]);
}

#[test]
fn the_index_follows_forgetting_rewording_and_rules() {
    let home = Home::new();
    let store = home.open();
    take(&store, [1, 2, 3].map(|n| written(1, about(n, "intent:a", &format!("walrus number{n}"), &[]))));
    index(&store);
    assert_eq!(found(&store, "walrus", day(0.0)).len(), 3);
    take(&store, [forgotten(&[1])]);
    let mut content = insight("seal of approval");
    content.category = InsightCategory::Fact;
    take(&store, [EventKind::Act(Box::new(MemoryAct::Reflected { id: id(2), content, worded: None }))]);
    store.check(day(0.0)).unwrap();
    assert_eq!(found(&store, "walrus", day(0.0)), ["walrus number3"]);
    assert_eq!(found(&store, "seal approval", day(0.0)), ["seal of approval"]);
    // Source records are replaced by their rule.
    take(&store, [promoted(rule(9, "intent:a", 1.0, day(0.0)), store.cursor().unwrap())]);
    assert_eq!(found(&store, "walrus", day(0.0)), [""; 0]);
}

#[test]
fn a_long_batch_is_indexed_later() {
    let home = Home::new();
    let store = home.open();
    take(&store, (1..=17).map(|n| written(1, about(n, "intent:a", "walrus", &[]))));
    assert_eq!(found(&store, "walrus", day(0.0)), [""; 0]);
    // Later records wait until those before them are indexed.
    take(&store, [written(1, about(18, "intent:a", "walrus", &[]))]);
    assert_eq!(found(&store, "walrus", day(0.0)), [""; 0]);
    assert!(store.index(17).unwrap() && !store.index(17).unwrap());
    store.check(day(0.0)).unwrap();
    assert_eq!(found(&store, "walrus", day(0.0)).len(), 5);
}

/// The number of the newest record is reused after it is deleted.
#[test]
fn a_record_that_reuses_a_number_is_found() {
    let home = Home::new();
    let store = home.open();
    take(&store, [written(1, about(1, "intent:a", "walrus", &[]))]);
    index(&store);
    take(&store, [forgotten(&[1]), written(1, about(2, "intent:a", "penguin", &[]))]);
    store.check(day(0.0)).unwrap();
    assert_eq!(found(&store, "penguin walrus", day(0.0)), ["penguin"]);
}
