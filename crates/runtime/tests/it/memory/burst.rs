//! Many records at once, and a full disk: nothing is lost, and no writer waits for memory.

use setpoint_memory::store::Options;

use super::*;

/// Number of tasks of a burst, and of records per task.
const TASKS: u32 = 20;
const EACH: u32 = 500;

/// Publishes ten thousand records at once, as tasks do.
fn burst(journal: &Journal) {
    for n in 0..TASKS {
        let states = State::ALL.into_iter().cycle();
        let records = (n * EACH..(n + 1) * EACH).zip(states).map(|(id, state)| {
            let (space, entity) = match id % 3 {
                0 => ("intent:count".to_owned(), "env:local".to_owned()),
                1 => ("tool:fetch".to_owned(), format!("path:{}", id % 50)),
                _ => (format!("intent:kind {}", id % 7), "env:local".to_owned()),
            };
            written(&megram(id + 1, &space, &entity, state))
        });
        task(journal, u64::from(n) + 1, &records.collect::<Vec<_>>());
    }
}

#[test]
fn a_burst_while_memory_is_locked_loses_nothing() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    let other = rusqlite::Connection::open(home.memory_dir().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Records of tasks go to the journal alone: this returns although memory is locked.
    burst(&journal);
    assert_eq!(memory.store().stats().unwrap().records, 0);
    other.execute_batch("ROLLBACK").unwrap();

    let reply = ask(&memory);
    assert_eq!(reply.availability, Availability::Available);
    let stats = memory.store().stats().unwrap();
    assert_eq!((stats.records, stats.summed), (u64::from(TASKS * EACH), u64::from(TASKS * EACH)));
    assert_eq!(memory.store().check(NOW).unwrap().records, u64::from(TASKS * EACH));
}

#[test]
fn a_full_disk_disables_memory_and_loses_nothing() {
    let home = Home::new();
    let journal = home.journal();
    let options = Options { database_pages_max: Some(64), ..Options::default() };
    let (full, _) = Memory::open_with(&home.memory_dir(), &journal, &options).unwrap();
    assert_eq!(ask(&full).availability, Availability::Available);
    burst(&journal);
    let reply = ask(&full);
    assert_eq!(reply.availability, Availability::Unavailable);
    assert!(reply.reason.as_ref().unwrap().contains("no space is left"), "{reply:?}");
    full.store().check(NOW).unwrap();
    drop(full);

    let memory = home.memory(&journal);
    assert_eq!(ask(&memory).availability, Availability::Available);
    assert_eq!(memory.store().stats().unwrap().records, u64::from(TASKS * EACH));
    memory.store().check(NOW).unwrap();
}
