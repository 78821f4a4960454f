//! Stores that are damaged, foreign or of another version.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};

use setpoint_memory::store::{MemoryError, Options, Store};
use setpoint_mkct::State;

use crate::support::{Home, day, megram, promoted, rule, seen, take, written};

fn full(home: &Home) -> String {
    let store = home.open();
    take(&store, (1..=60).map(|n| written(n as u64 % 3, megram(n, "tool:fetch", State::Accept, day(0.0)))));
    take(&store, [promoted(rule(100, "tool:fetch", 1.0, day(0.0)), 40)]);
    seen(&store, day(1.0))
}

#[test]
fn a_store_of_a_newer_format_is_not_changed() {
    let home = Home::new();
    full(&home);
    let path = home.path().join("memory.db");
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(&home.path(), &Options::default()).unwrap_err();
    assert!(matches!(error, MemoryError::FormatTooNew { found: 2, known: 1, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(
        fs::read_dir(home.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(),
        0
    );
}

#[test]
fn a_foreign_database_is_set_aside() {
    for bytes in [&b"SQLite format 3\0 it is not"[..], &[7; 9_000], b"x"] {
        let home = Home::new();
        fs::create_dir_all(home.path()).unwrap();
        fs::write(home.path().join("memory.db"), bytes).unwrap();
        let (store, report) = Store::open(&home.path(), &Options::default()).unwrap();
        let (aside, what) = report.aside.unwrap();
        assert!(report.is_new && !what.is_empty());
        assert_eq!(fs::read(aside.join("memory.db")).unwrap(), bytes);
        assert_eq!(take(&store, [written(1, megram(1, "a", State::Accept, day(0.0)))]).written, 1);
    }
}

/// Flips a bit in every place: a read returns what was written, or reports the damage.
#[test]
fn a_flipped_byte_is_reported_or_changes_nothing() {
    let home = Home::new();
    let expected = full(&home);
    let path = home.path().join("memory.db");
    {
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(())).unwrap();
    }
    let whole = fs::read(&path).unwrap();
    let mut told = 0;
    let places: Vec<usize> = (100..whole.len()).step_by(131).filter(|at| whole[*at] != 0).collect();
    for at in &places {
        let other = Home::new();
        fs::create_dir_all(other.path()).unwrap();
        let mut bytes = whole.clone();
        bytes[*at] ^= 0x15;
        fs::write(other.path().join("memory.db"), bytes).unwrap();
        let (store, report) = Store::open(&other.path(), &Options::default()).unwrap();
        if report.aside.is_some() {
            told += 1;
            continue;
        }
        match store.check(day(1.0)) {
            Err(error) => {
                assert!(error.is_damage(), "{error}");
                told += 1;
            }
            Ok(_) => assert_eq!(seen(&store, day(1.0)), expected, "byte {at}"),
        }
    }
    assert!(places.len() > 200 && told > places.len() / 2, "{told} of {}", places.len());
}

#[test]
fn a_truncated_store_is_reported() {
    let home = Home::new();
    full(&home);
    let path = home.path().join("memory.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update_and_check(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))
        .unwrap();
    let length = fs::metadata(&path).unwrap().len();
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut end = vec![0; 4_096];
    file.seek(SeekFrom::Start(length - 4_096)).unwrap();
    file.read_exact(&mut end).unwrap();
    file.set_len(length - 4_096).unwrap();
    file.flush().unwrap();
    match Store::open(&home.path(), &Options::default()) {
        Ok((_, report)) if report.aside.is_some() => {}
        Ok((store, _)) => assert!(store.check(day(1.0)).unwrap_err().is_damage()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_directory_that_cannot_be_created_is_named() {
    let home = Home::new();
    fs::write(home.path(), "a file").unwrap();
    let error = Store::open(&home.path(), &Options::default()).unwrap_err();
    assert!(matches!(&error, MemoryError::Io { path, .. } if *path == home.path()), "{error}");
}

/// Two processes have the damaged file open; the first sets it aside, and the second must not do that to the new one.
#[test]
fn a_damaged_store_is_replaced_once() {
    let home = Home::new();
    full(&home);
    let (ours, theirs) = (home.open(), home.open());
    assert!(ours.replace().unwrap().is_some());
    take(&ours, [written(1, megram(1, "a", State::Accept, day(0.0)))]);
    assert_eq!(theirs.replace().unwrap(), None);
    assert!(home.path().join("memory.db-wal").exists(), "the log of the new one is not theirs to delete");
    assert_eq!(seen(&theirs, day(1.0)), seen(&ours, day(1.0)));
    take(&theirs, [written(1, megram(2, "a", State::Accept, day(0.0)))]);
    drop(theirs);
    assert_eq!(ours.stats().unwrap().records, 2);
    drop(ours);
    assert_eq!(home.open().stats().unwrap().records, 2);
}
