//! Stores that are lost, damaged, or ahead of their journal, and two processes with one store.

use super::*;

#[test]
fn a_lost_memory_is_rebuilt_from_the_journal() {
    let home = Home::new();
    let journal = home.journal();
    let before = {
        let memory = home.memory(&journal);
        for n in 1..=6 {
            task(&journal, n.into(), &[written(&of_intent(n, State::Accept))]);
        }
        dream(&memory).unwrap();
        task(&journal, 7, &[written(&of_intent(7, State::Abandon)), written(&of_intent(8, State::Accept))]);
        memory.act(RoleId::Operator, &MemoryAct::Forgotten { ids: vec![id(8)] }, NOW).unwrap();
        ask(&memory)
    };
    assert_eq!((before.rules.len(), before.records.len()), (1, 1));
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    let memory = home.memory(&journal);
    assert_eq!(ask(&memory), before);
    drop(memory);

    for name in ["memory.db", "memory.db-wal"] {
        let path = home.memory_dir().join(name);
        if let Ok(bytes) = std::fs::read(&path) {
            std::fs::write(&path, vec![0x5a; bytes.len()]).unwrap();
        }
    }
    let (memory, report) = Memory::open(&home.memory_dir(), &journal).unwrap();
    assert!(report.aside.is_some_and(|(path, _)| path.join("memory.db").exists()));
    assert_eq!(ask(&memory), before);
}

#[test]
fn a_journal_that_ends_before_memory_is_applied_again() {
    let home = Home::new();
    let memory_dir = home.memory_dir();
    {
        let journal = home.journal();
        task(&journal, 1, &[written(&of_intent(1, State::Accept)), written(&of_intent(2, State::Accept))]);
        home.memory(&journal).catch_up().unwrap();
    }
    let other = Home::new();
    let journal = other.journal();
    task(&journal, 3, &[written(&of_intent(3, State::Accept))]);
    let (memory, _) = Memory::open(&memory_dir, &journal).unwrap();
    assert_eq!(memory.catch_up().unwrap(), 1);
    let ids: Vec<MegramId> = ask(&memory).records.into_iter().map(|record| record.id).collect();
    assert_eq!(ids, [id(3)], "it is what the journal says");
    assert!(memory_dir.join("damaged-1/memory.db").exists(), "what it was is kept");
    memory.store().check(NOW).unwrap();
}

/// The damage appears only when a record is read, not when the store is opened.
#[test]
fn damage_found_while_reading_is_repaired() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    task(&journal, 1, &[written(&of_intent(1, State::Accept))]);
    let before = ask(&memory);
    drop(memory);
    let path = home.memory_dir().join("memory.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(())).unwrap();
    drop(conn);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(8).position(|window| window == b"lesson 1").unwrap();
    bytes[at] = b'L';
    std::fs::write(&path, bytes).unwrap();
    let (memory, report) = Memory::open(&home.memory_dir(), &journal).unwrap();
    assert_eq!(report.aside, None);
    assert_eq!(ask(&memory), before);
    memory.store().check(NOW).unwrap();
}

#[test]
fn two_processes_write_and_dream_side_by_side() {
    let home = Home::new();
    let setup = home.journal();
    for n in 1..=6 {
        task(&setup, n.into(), &[written(&of_intent(n, State::Accept))]);
    }
    let forget = |memory: &Arc<Memory>, from: u32| {
        for n in from..from + 20 {
            memory.act(RoleId::Operator, &MemoryAct::Forgotten { ids: vec![id(n)] }, NOW).unwrap();
        }
        // A pass does nothing while the other process dreams.
        dream(memory).unwrap_or_default().promoted.len()
    };
    let made: usize = std::thread::scope(|scope| {
        let workers = [1_000, 2_000].map(|from| {
            let (home, forget) = (&home, &forget);
            scope.spawn(move || {
                let journal = home.journal();
                forget(&home.memory(&journal), from)
            })
        });
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let memory = home.memory(&setup);
    memory.catch_up().unwrap();
    let made_later = dream(&memory).unwrap().promoted.len();
    assert_eq!(made + made_later, 1);
    assert_eq!(memory.store().stats().unwrap().forgotten, 40);
    assert_eq!(ask(&memory).rules.len(), 1);
    memory.store().check(NOW).unwrap();
}

/// The journal does not record the deletion of faded records.
#[test]
fn a_rebuilt_memory_does_not_restore_faded_records() {
    let home = Home::new();
    let journal = home.journal();
    let old = Timestamp::from_micros(NOW.as_micros() - 50 * 86_400_000_000);
    let faded = Megram { created_at: old, ..of_intent(1, State::Accept) };
    task(&journal, 1, &[written(&faded), written(&of_intent(2, State::Accept))]);
    let memory = home.memory(&journal);
    assert_eq!(memory.catch_up().unwrap(), 2);
    assert_eq!(ask(&memory).records.len(), 1);
    dream(&memory).unwrap();
    drop(memory);
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    let memory = home.memory(&journal);
    assert_eq!((ask(&memory).records.len(), memory.store().stats().unwrap().records), (1, 1));
}
