//! Opens logs for appending: after a crash, after damage, with other keys.

use setpoint_audit::log::{
    AuditLog, DamageKind, LogDamage, LogError, LogFile, OnDamage, Options, TrustAnchors, verify,
};

use crate::common::{Made, append};

fn refused(made: &Made) -> LogError {
    let before = ["log", "checkpoints"].map(|name| made.read(name));
    let error = AuditLog::open(&made.dir(), &made.options()).unwrap_err();
    assert_eq!(["log", "checkpoints"].map(|name| made.read(name)), before, "a refusal changes nothing");
    error
}

/// Returns why a log is refused.
fn damage(made: &Made) -> LogDamage {
    match refused(made) {
        LogError::Damaged { damage, .. } => damage,
        error => panic!("{error}"),
    }
}

fn put_aside(made: &Made) -> (AuditLog, Option<String>) {
    let options = Options { on_damage: OnDamage::PutAside { at_us: 9 }, ..made.options() };
    AuditLog::open(&made.dir(), &options).unwrap()
}

#[test]
fn a_log_goes_on_where_it_ended() {
    let made = Made::new();
    let mut log = made.open();
    append(&mut log, 1_700);
    let (hash, key) = (log.hash(), log.key());
    drop(log);
    let (mut log, aside) = AuditLog::open(&made.dir(), &made.options()).unwrap();
    assert_eq!(aside, None);
    assert_eq!((log.hash(), log.key(), log.size(), log.unsealed()), (hash, key, 1_700, 700));
    append(&mut log, 400);
    log.seal(0).unwrap();
    let seen = made.verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    assert_eq!(
        (seen.entries, seen.sealed, seen.sealed_by_export, seen.checkpoints),
        (2_100, 2_100, 2_100, 2)
    );
}

#[test]
fn a_torn_end_is_cut_off_and_reported_wherever_it_is_torn() {
    let made = Made::with(&[3]);
    let sealed = made.read("log");
    append(&mut made.open(), 2);
    let whole = made.read("log");
    let second = whole.len() - 1 - whole[..whole.len() - 1].iter().rev().position(|b| *b == b'\n').unwrap();
    for length in sealed.len()..=whole.len() {
        let copy = made.copied();
        copy.write("log", &whole[..length]);
        let kept =
            [sealed.len(), second, whole.len()].into_iter().filter(|end| *end <= length).max().unwrap();
        copy.open();
        assert_eq!(copy.read("log").len(), kept);
        append(&mut copy.open(), 1);
        assert!(copy.verify().is_sound());
    }
}

#[test]
fn a_torn_end_of_any_length_and_bytes_is_cut_off() {
    for torn in [vec![0; 300_000], vec![b'x'; 70_000], b"4 \xff".to_vec()] {
        let made = Made::with(&[3]);
        made.write("log", [made.read("log"), torn.clone()].concat());
        let length = made.read("log").len();
        let [found] = made.verify().findings.try_into().unwrap();
        assert_eq!((found.file, found.line, found.kind), (LogFile::Log, Some(4), DamageKind::Torn));
        made.open();
        assert_eq!((length - made.read("log").len(), made.entries().len()), (torn.len(), 3));
    }
}

#[test]
fn a_torn_checkpoint_is_cut_off_and_made_again() {
    let made = Made::with(&[3]);
    let one = made.read("checkpoints");
    let mut log = made.open();
    append(&mut log, 2);
    log.seal(0).unwrap();
    let two = made.read("checkpoints");
    // The export never got it: it is written after the list.
    std::fs::write(made.export(), &one).unwrap();
    for length in [one.len() + 1, one.len() + 40, two.len() - 1] {
        made.write("checkpoints", &two[..length]);
        let mut log = made.open();
        assert_eq!(log.size() - log.unsealed(), 3);
        assert_eq!(made.read("checkpoints"), one);
        assert!(log.seal(0).unwrap().is_new);
        assert!(made.verify_with_export().is_sound());
        std::fs::write(made.export(), &one).unwrap();
    }
}

/// A version with a tree left this file; its content is ignored.
#[test]
fn a_state_file_is_neither_read_nor_written() {
    let made = Made::with(&[1_500, 20]);
    append(&mut made.open(), 7);
    assert!(!made.file("state").exists());
    for state in [b"".as_slice(), b"\xff", b"setpoint audit log state 1\n1520 9\n", &[b'1'; 100_000]] {
        made.write("state", state);
        let mut log = made.open();
        assert_eq!(log.size() - log.unsealed(), 1_520);
        append(&mut log, 1);
        assert_eq!(made.read("state"), state);
    }
    assert!(made.verify().is_sound());
}

#[test]
fn a_log_that_ends_before_its_checkpoint_is_refused() {
    let made = Made::with(&[3, 2]);
    made.edit("log", |lines| lines.truncate(4));
    let found = damage(&made);
    assert_eq!((found.file, found.kind), (LogFile::Checkpoints, DamageKind::Gone));
    assert!(found.what.contains("it covers 5 entries, and the log ends after 4"), "{found}");
    made.write("log", "");
    let found = damage(&made);
    assert_eq!(found.kind, DamageKind::Gone);
    assert!(found.what.contains("it covers 5 entries, and the log ends after 0"), "{found}");
}

#[test]
fn a_line_that_does_not_fit_is_named() {
    let made = Made::with(&[3]);
    append(&mut made.open(), 3);
    made.edit("log", |lines| *lines[4].last_chunk_mut::<2>().unwrap() = *b" \n");
    let found = damage(&made);
    assert_eq!((found.file, found.line, found.kind), (LogFile::Log, Some(5), DamageKind::Changed));
    assert!(found.what.starts_with("its hash does not fit"), "{found}");
    made.edit("log", |lines| drop(lines.remove(4)));
    let found = damage(&made);
    assert_eq!((found.file, found.line, found.kind), (LogFile::Log, Some(5), DamageKind::Changed));
    assert!(found.what.starts_with("it is number 6, where 5 comes next"), "{found}");
}

#[test]
fn another_log_under_the_same_checkpoints_is_refused() {
    let made = Made::with(&[3]);
    let other = Made::new();
    let mut log = other.open();
    let _appended = log.append(&["1", "2", "3"], 0).unwrap();
    made.write("log", other.read("log"));
    let found = damage(&made);
    assert_eq!((found.file, found.line), (LogFile::Checkpoints, Some(1)));
    assert_eq!(found.kind, DamageKind::Rewritten);
    assert!(found.what.starts_with("the first 3 entries of the log are not those"), "{found}");
}

#[test]
fn a_damaged_last_checkpoint_is_refused() {
    let made = Made::with(&[3, 2]);
    // A digit of its size, which only the signature protects, and the comma after it.
    for place in [8, 9] {
        made.edit("checkpoints", |lines| lines[1][place] ^= 1);
        let found = damage(&made);
        assert_eq!((found.file, found.line), (LogFile::Checkpoints, None));
        assert_eq!(found.kind, DamageKind::Changed);
        made.edit("checkpoints", |lines| lines[1][place] ^= 1);
    }
    made.write("checkpoints", [b"x".repeat(10_000), b"\n".to_vec()].concat());
    assert_eq!(damage(&made).file, LogFile::Checkpoints);
}

#[test]
fn another_key_is_refused_and_a_lost_one_is_not_replaced() {
    let made = Made::with(&[3]);
    let other = Made::with(&[3]);
    std::fs::copy(other.file("key"), made.file("key")).unwrap();
    let error = refused(&made);
    let told = format!("its public half is {}, and the newest checkpoint names", other.open().key());
    assert!(matches!(&error, LogError::Key { why, .. } if why.starts_with(&told)), "{error}");
    std::fs::remove_file(made.file("key")).unwrap();
    let is_gone = |error| matches!(error, LogError::Key { why, .. } if why.starts_with("it is gone"));
    assert!(is_gone(refused(&made)));
    assert!(!made.file("key").exists());
    // A lost key is not replaced if its checkpoints are lost, too.
    made.write("checkpoints", "");
    assert!(is_gone(refused(&made)));
    assert!(!made.file("key").exists());
}

/// A log that was rewritten without its checkpoints must not be signed by the next writer.
#[test]
fn a_log_whose_checkpoints_were_taken_away_is_not_signed() {
    let made = Made::with(&[1_000; 7]);
    for kept in [0, 1] {
        made.edit("checkpoints", |lines| lines.truncate(kept));
        // A torn end does not hide it.
        for torn in ["", "7001 "] {
            let whole = made.read("log");
            made.write("log", [whole.as_slice(), torn.as_bytes()].concat());
            let found = damage(&made);
            assert_eq!(found.kind, DamageKind::Unsigned);
            let told = format!("no checkpoint covers the last {} entries", 7_000 - 1_000 * kept);
            assert!(found.what.starts_with(&told), "{found}");
            assert!(made.verify().findings.contains(&found));
            made.write("log", whole);
        }
        made.write("checkpoints", std::fs::read(made.export()).unwrap());
    }
    // With as few unsigned entries as a writer may leave, the log is continued: only the export could tell.
    made.edit("checkpoints", |lines| lines.truncate(2));
    assert_eq!(made.open().unsealed(), 5_000);
    made.edit("checkpoints", |lines| lines.truncate(1));
    let (log, aside) = put_aside(&made);
    assert!(aside.is_some() && log.size() == 1 && made.file("log.aside-1").exists());
    assert!(made.verify().is_sound());
}

#[test]
fn the_key_may_lie_somewhere_else() {
    let made = Made::new();
    let key = made.export().with_file_name("own key");
    let options = Options { key: Some(key.clone()), ..made.options() };
    let (mut log, _) = AuditLog::open(&made.dir(), &options).unwrap();
    append(&mut log, 1);
    log.seal(0).unwrap();
    assert!(key.exists() && !made.file("key").exists());
    let against = TrustAnchors { export: None, key: Some(log.key()) };
    assert!(verify(&made.dir(), &against).unwrap().is_sound());
    assert!(AuditLog::open(&made.dir(), &options).is_ok());
}

#[test]
fn a_new_log_continues_the_checkpoints_of_a_cut_one() {
    let made = Made::with(&[3, 2]);
    made.edit("log", |lines| lines.truncate(4));
    let (mut log, aside) = put_aside(&made);
    assert!(made.file("log.aside-1").exists() && !made.file("checkpoints.aside-1").exists());
    assert_eq!((log.size(), log.unsealed()), (1, 0));
    let first: serde_json::Value = serde_json::from_str(&made.entries()[0]).unwrap();
    let first = &first["put_aside"];
    let bytes = made.read("log.aside-1");
    assert_eq!(first["log"], "log.aside-1");
    assert_eq!(
        (first["bytes"].as_u64(), &first["checkpoints"]),
        (Some(bytes.len() as u64), &serde_json::Value::Null)
    );
    assert_eq!(first["blake3"], blake3::hash(&bytes).to_hex().as_str());
    assert_eq!(first["why"], aside.unwrap().as_str());
    assert!(first["why"].as_str().unwrap().contains("covers 5 entries, and the log ends after 4"), "{first}");
    append(&mut log, 2);
    log.seal(10).unwrap();
    let seen = made.verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    assert_eq!((seen.earlier_logs, seen.checkpoints, seen.sealed, seen.sealed_by_export), (1, 4, 3, 3));
    // It opens like any other log, and by reading all of it.
    drop(log);
    assert_eq!(made.open().size(), 3);
    let options = Options { is_read_whole: true, ..made.options() };
    assert_eq!(AuditLog::open(&made.dir(), &options).unwrap().0.size(), 3);
}

#[test]
fn damaged_checkpoints_are_put_aside_with_their_log() {
    let made = Made::with(&[3]);
    made.write("checkpoints", "no checkpoint\n");
    let (log, aside) = put_aside(&made);
    assert!(aside.is_some() && made.file("checkpoints.aside-1").exists());
    assert_eq!((log.size(), made.verify().is_sound(), made.verify().earlier_logs), (1, true, 0));
    // The exported checkpoints still show that there was another log.
    assert!(!made.verify_with_export().is_sound());
}

/// Wherever putting the log aside is interrupted, the next opening does it again.
#[test]
fn an_interrupted_putting_aside_is_done_again() {
    let made = Made::with(&[3, 2]);
    made.edit("log", |lines| lines.truncate(4));
    std::fs::rename(made.file("log"), made.file("log.aside-1")).unwrap();
    assert_eq!(put_aside(&made).0.size(), 1);
    let seen = made.verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    // The first entry is written, without a checkpoint over it.
    made.edit("checkpoints", |lines| lines.truncate(2));
    std::fs::write(made.export(), made.read("checkpoints")).unwrap();
    assert!(matches!(damage(&made).kind, DamageKind::Gone | DamageKind::Changed));
    assert_eq!(put_aside(&made).0.size(), 1);
    assert!(made.verify_with_export().is_sound());
}

#[test]
fn a_wrong_key_does_not_put_a_sound_log_aside() {
    let made = Made::with(&[3]);
    let (log, aside) = put_aside(&made);
    assert_eq!((log.size(), log.unsealed(), aside), (3, 0, None));
    std::fs::remove_file(made.file("key")).unwrap();
    let options = Options { on_damage: OnDamage::PutAside { at_us: 9 }, ..made.options() };
    let error = AuditLog::open(&made.dir(), &options).unwrap_err();
    assert!(matches!(&error, LogError::Key { why, .. } if why.starts_with("it is gone")), "{error}");
    assert!(made.file("log").exists());
}
