//! Opening for appending: after a crash, after damage, with other keys.

use setpoint_audit::log::{
    Against, AuditLog, DamageKind, LineFault, LogError, OnDamage, OpenReport, Options, verify,
};

use crate::common::{Made, append};

fn report(made: &Made) -> OpenReport {
    AuditLog::open(&made.dir(), &made.options()).unwrap().1
}

fn refused(made: &Made) -> LogError {
    let before = ["log", "checkpoints"].map(|name| made.read(name));
    let error = AuditLog::open(&made.dir(), &made.options()).unwrap_err();
    assert_eq!(["log", "checkpoints"].map(|name| made.read(name)), before, "a refusal changes nothing");
    error
}

fn put_aside(made: &Made) -> (AuditLog, OpenReport) {
    let options = Options { on_damage: OnDamage::PutAside { at_us: 9 }, ..made.options() };
    AuditLog::open(&made.dir(), &options).unwrap()
}

#[test]
fn a_log_goes_on_where_it_ended() {
    let made = Made::new();
    assert_eq!(report(&made), OpenReport { is_new: true, ..OpenReport::default() });
    let mut log = made.open();
    append(&mut log, 1_700);
    let (hash, key) = (log.hash(), log.key());
    drop(log);
    let (mut log, report) = AuditLog::open(&made.dir(), &made.options()).unwrap();
    assert_eq!(report, OpenReport { entries: 1_700, sealed: 1_000, ..OpenReport::default() });
    assert_eq!((log.hash(), log.key(), log.unsealed()), (hash, key, 700));
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
fn a_torn_end_is_cut_off_and_told_wherever_it_is_torn() {
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
        let report = report(&copy);
        assert_eq!(report.torn_bytes, (length - kept) as u64);
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
        assert_eq!(report(&made).torn_bytes, torn.len() as u64);
        assert_eq!(made.entries().len(), 3);
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
    // The export was never told of it: it is written after the list.
    std::fs::write(made.export(), &one).unwrap();
    for length in [one.len() + 1, one.len() + 40, two.len() - 1] {
        made.write("checkpoints", &two[..length]);
        let (mut log, report) = AuditLog::open(&made.dir(), &made.options()).unwrap();
        assert_eq!((report.torn_checkpoint_bytes, report.sealed), ((length - one.len()) as u64, 3));
        assert_eq!(made.read("checkpoints"), one);
        assert!(log.seal(0).unwrap().is_new);
        assert!(made.verify_with_export().is_sound());
        std::fs::write(made.export(), &one).unwrap();
    }
}

/// The state file is a short cut: without it, or with another one, the log is read and nothing else is different.
#[test]
fn the_state_file_is_believed_only_where_it_fits() {
    let made = Made::with(&[1_500, 20]);
    append(&mut made.open(), 7);
    let mut expected = report(&made);
    assert!(!expected.was_read_whole);
    expected.was_read_whole = true;
    let state = String::from_utf8(made.read("state")).unwrap();
    let (_, offset) = state.lines().nth(1).unwrap().split_once(' ').unwrap();
    let nearer = state.replace(offset, &(offset.parse::<u64>().unwrap() - 1).to_string());
    let inside = state.replace(offset, &(offset.parse::<u64>().unwrap() + 5).to_string());
    let farther = state.replace(offset, "99999999999999999999");
    let mut another_tree = state.clone().into_bytes();
    let digit = another_tree.len() - 2;
    another_tree[digit] = if another_tree[digit] == b'0' { b'1' } else { b'0' };
    let older = Made::with(&[1_500]).read("state");
    for bad in [
        b"".as_slice(),
        b"\xff",
        &older,
        &[b'1'; 100_000],
        nearer.as_bytes(),
        inside.as_bytes(),
        farther.as_bytes(),
        &another_tree,
    ] {
        made.write("state", bad);
        assert_eq!(report(&made), expected, "{:?}", String::from_utf8_lossy(&bad[..bad.len().min(80)]));
    }
    std::fs::remove_file(made.file("state")).unwrap();
    assert_eq!(report(&made), expected);
    let mut log = made.open();
    append(&mut log, 1);
    log.seal(0).unwrap();
    assert!(!report(&made).was_read_whole);
    assert!(made.verify().is_sound());
}

#[test]
fn a_log_that_ends_before_its_checkpoint_is_refused() {
    let made = Made::with(&[3, 2]);
    made.edit("log", |lines| lines.truncate(4));
    let error = refused(&made);
    assert!(matches!(error, LogError::LostTail { sealed: 5, entries: 4, .. }), "{error}");
    made.write("log", "");
    assert!(matches!(refused(&made), LogError::LostTail { sealed: 5, entries: 0, .. }));
}

#[test]
fn a_line_that_does_not_fit_is_named() {
    for has_state in [true, false] {
        let made = Made::with(&[3]);
        append(&mut made.open(), 3);
        if !has_state {
            std::fs::remove_file(made.file("state")).unwrap();
        }
        made.edit("log", |lines| *lines[4].last_chunk_mut::<2>().unwrap() = *b" \n");
        let error = refused(&made);
        let fault = LineFault::HashMismatch;
        assert!(
            matches!(error, LogError::Damaged { line: 5, fault: found, .. } if found == fault),
            "{error}"
        );
        made.edit("log", |lines| drop(lines.remove(4)));
        let error = refused(&made);
        let fault = LineFault::Missing { expected: 5, found: 6 };
        assert!(
            matches!(error, LogError::Damaged { line: 5, fault: found, .. } if found == fault),
            "{error}"
        );
    }
}

#[test]
fn another_log_under_the_same_checkpoints_is_refused() {
    let made = Made::with(&[3]);
    let other = Made::new();
    let mut log = other.open();
    let _appended = log.append(&["1", "2", "3"], 0).unwrap();
    made.write("log", other.read("log"));
    let error = refused(&made);
    assert!(matches!(error, LogError::NotSealed { size: 3, .. }), "{error}");
}

#[test]
fn a_damaged_last_checkpoint_is_refused() {
    let made = Made::with(&[3, 2]);
    // A digit of its size, which the signature alone can tell, and the comma behind it.
    for place in [8, 9] {
        made.edit("checkpoints", |lines| lines[1][place] ^= 1);
        let error = refused(&made);
        assert!(matches!(error, LogError::CheckpointDamaged { line: None, .. }), "{error}");
        made.edit("checkpoints", |lines| lines[1][place] ^= 1);
    }
    made.write("checkpoints", [b"x".repeat(10_000), b"\n".to_vec()].concat());
    assert!(matches!(refused(&made), LogError::CheckpointDamaged { line: None, .. }));
}

#[test]
fn another_key_is_refused_and_a_lost_one_is_not_replaced() {
    let made = Made::with(&[3]);
    let other = Made::with(&[3]);
    std::fs::copy(other.file("key"), made.file("key")).unwrap();
    let error = refused(&made);
    assert!(matches!(error, LogError::KeyChanged { signed, .. } if signed != other.open().key()), "{error}");
    std::fs::remove_file(made.file("key")).unwrap();
    let error = refused(&made);
    assert!(matches!(error, LogError::KeyMissing { .. }), "{error}");
    assert!(!made.file("key").exists());
    // Nor one whose checkpoints are lost with it.
    made.write("checkpoints", "");
    assert!(matches!(refused(&made), LogError::KeyMissing { .. }));
    assert!(!made.file("key").exists());
}

/// Whoever rewrites a log and takes its checkpoints away must not get it signed by the next writer.
#[test]
fn a_log_whose_checkpoints_were_taken_away_is_not_signed() {
    let made = Made::with(&[1_000; 7]);
    for kept in [0, 1] {
        made.edit("checkpoints", |lines| lines.truncate(kept));
        let error = refused(&made);
        let entries = 7_000 - 1_000 * kept as u64;
        assert!(matches!(error, LogError::Unsealed { entries: found, .. } if found == entries), "{error}");
        let seen = made.verify();
        assert_eq!(seen.findings[0].kind, DamageKind::Unsealed { entries });
        made.write("checkpoints", std::fs::read(made.export()).unwrap());
    }
    // As many as a writer may leave are gone on with: the export alone could tell.
    made.edit("checkpoints", |lines| lines.truncate(2));
    assert_eq!(made.open().unsealed(), 5_000);
    made.edit("checkpoints", |lines| lines.truncate(1));
    let (log, report) = put_aside(&made);
    assert_eq!((log.size(), report.aside.unwrap().log), (1, Some(made.file("log.aside-1"))));
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
    let against = Against { export: None, key: Some(log.key()) };
    assert!(verify(&made.dir(), &against).unwrap().is_sound());
    assert!(AuditLog::open(&made.dir(), &options).is_ok());
}

#[test]
fn a_log_that_was_cut_is_put_aside_and_the_next_one_continues_its_checkpoints() {
    let made = Made::with(&[3, 2]);
    made.edit("log", |lines| lines.truncate(4));
    let (mut log, report) = put_aside(&made);
    let aside = report.aside.unwrap();
    assert_eq!((aside.log, aside.checkpoints), (Some(made.file("log.aside-1")), None));
    assert_eq!((report.entries, report.sealed, log.unsealed()), (1, 1, 0));
    let first: serde_json::Value = serde_json::from_str(&made.entries()[0]).unwrap();
    let first = &first["put_aside"];
    let bytes = made.read("log.aside-1");
    assert_eq!(first["log"], "log.aside-1");
    assert_eq!(
        (first["bytes"].as_u64(), &first["checkpoints"]),
        (Some(bytes.len() as u64), &serde_json::Value::Null)
    );
    assert_eq!(first["blake3"], blake3::hash(&bytes).to_hex().as_str());
    assert!(first["why"].as_str().unwrap().contains("covers 5 entries, but the log ends after 4"), "{first}");
    append(&mut log, 2);
    log.seal(10).unwrap();
    let seen = made.verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    assert_eq!((seen.earlier_logs, seen.checkpoints, seen.sealed, seen.sealed_by_export), (1, 4, 3, 3));
    // It is opened like any other, with the short cut and without.
    drop(log);
    assert_eq!(made.open().size(), 3);
    std::fs::remove_file(made.file("state")).unwrap();
    assert_eq!(made.open().size(), 3);
}

#[test]
fn damaged_checkpoints_are_put_aside_with_their_log() {
    let made = Made::with(&[3]);
    made.write("checkpoints", "no checkpoint\n");
    let (log, report) = put_aside(&made);
    let aside = report.aside.unwrap();
    assert_eq!(aside.checkpoints, Some(made.file("checkpoints.aside-1")));
    assert_eq!((log.size(), made.verify().is_sound(), made.verify().earlier_logs), (1, true, 0));
    // The exported checkpoints still say that there was another log.
    assert!(!made.verify_with_export().is_sound());
}

/// Wherever the putting aside is interrupted, the next opening does it again.
#[test]
fn an_interrupted_putting_aside_is_done_again() {
    let made = Made::with(&[3, 2]);
    made.edit("log", |lines| lines.truncate(4));
    std::fs::rename(made.file("log"), made.file("log.aside-1")).unwrap();
    let (_, report) = put_aside(&made);
    assert_eq!(report.entries, 1);
    let seen = made.verify_with_export();
    assert!(seen.is_sound(), "{seen:?}");
    // With the first entry written, and no checkpoint over it.
    made.edit("checkpoints", |lines| lines.truncate(2));
    std::fs::write(made.export(), made.read("checkpoints")).unwrap();
    assert!(matches!(refused(&made), LogError::LostTail { sealed: 5, .. } | LogError::Damaged { .. }));
    let (_, report) = put_aside(&made);
    assert_eq!(report.entries, 1);
    assert!(made.verify_with_export().is_sound());
}

#[test]
fn a_sound_log_is_not_put_aside_and_a_wrong_key_is_no_damage() {
    let made = Made::with(&[3]);
    let (_, report) = put_aside(&made);
    assert_eq!(report, OpenReport { entries: 3, sealed: 3, ..OpenReport::default() });
    std::fs::remove_file(made.file("key")).unwrap();
    let options = Options { on_damage: OnDamage::PutAside { at_us: 9 }, ..made.options() };
    let error = AuditLog::open(&made.dir(), &options).unwrap_err();
    assert!(matches!(error, LogError::KeyMissing { .. }), "{error}");
    assert!(made.file("log").exists());
}
