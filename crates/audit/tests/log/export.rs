//! The exported checkpoints: how they are written, completed after a failure, and what they prove.

use setpoint_audit::log::{AuditLog, LogError, Options};

use crate::common::{Made, append, told};

#[test]
fn an_unavailable_export_later_gets_all_it_lacks() {
    let made = Made::new();
    let away = made.dir().with_file_name("disk");
    let options = Options { export: Some(away.join("exported")), ..Options::default() };
    let (mut log, _) = AuditLog::open(&made.dir(), &options).unwrap();
    for _ in 0..3 {
        append(&mut log, 2);
        let sealed = log.seal(0).unwrap();
        assert!(sealed.is_new, "a checkpoint does not wait for its export");
        assert!(matches!(sealed.exported, Err(LogError::Io { .. })));
    }
    assert!(!away.exists(), "a disk that is away must not be made up");
    std::fs::create_dir(&away).unwrap();
    // There is no new entry, but the export that failed is tried again.
    let sealed = log.seal(0).unwrap();
    assert!(!sealed.is_new && sealed.exported.is_ok(), "{sealed:?}");
    assert_eq!(std::fs::read(away.join("exported")).unwrap(), made.read("checkpoints"));
    append(&mut log, 1);
    assert!(log.seal(0).unwrap().exported.is_ok());
    assert_eq!(std::fs::read(away.join("exported")).unwrap(), made.read("checkpoints"));
}

#[test]
fn an_export_that_is_a_device_loses_nothing() {
    let made = Made::new();
    std::os::unix::fs::symlink("/dev/full", made.export()).unwrap();
    let mut log = made.open();
    append(&mut log, 1_700);
    let error = log.seal(0).unwrap().exported.unwrap_err();
    let LogError::Io { source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(source.to_string(), "it is a device, and only regular files are used");
    assert!(made.verify().is_sound());
    std::fs::remove_file(made.export()).unwrap();
    assert!(log.seal(0).unwrap().exported.is_ok());
    assert_eq!(made.verify_with_export().sealed_by_export, 1_700);
}

#[test]
fn a_part_of_a_line_is_completed() {
    let made = Made::with(&[3]);
    let mut log = made.open();
    append(&mut log, 2);
    log.seal(0).unwrap();
    let whole = std::fs::read(made.export()).unwrap();
    for length in [0, 1, 300, whole.len() / 2 + 7, whole.len() - 1] {
        std::fs::write(made.export(), &whole[..length]).unwrap();
        assert!(log.seal(0).unwrap().exported.is_ok());
        assert_eq!(std::fs::read(made.export()).unwrap(), whole);
    }
}

/// An export that lacks the newest checkpoints is not damaged, and proves only what it holds.
#[test]
fn an_export_vouches_for_what_it_covers() {
    let made = Made::with(&[3, 2, 4]);
    let whole = std::fs::read_to_string(made.export()).unwrap();
    for (lines, covered) in [(0, 0), (1, 3), (2, 5), (3, 9)] {
        std::fs::write(made.export(), whole.split_inclusive('\n').take(lines).collect::<String>()).unwrap();
        let seen = made.verify_with_export();
        assert!(seen.is_sound(), "{seen:?}");
        assert_eq!((seen.sealed, seen.sealed_by_export), (9, covered));
    }
    // Nothing after damage counts as sealed, even where the signed hashes are still there.
    made.edit("log", |lines| *lines[3].last_chunk_mut::<2>().unwrap() = *b" \n");
    let seen = made.verify_with_export();
    assert_eq!((seen.findings.len(), seen.sealed, seen.sealed_by_export), (1, 3, 3));
}

#[test]
fn an_export_of_another_log_is_left_alone() {
    let made = Made::with(&[3, 2]);
    let other = Made::with(&[3, 2]);
    let theirs = std::fs::read(other.export()).unwrap();
    std::fs::write(made.export(), &theirs).unwrap();
    let mut log = made.open();
    append(&mut log, 1);
    let error = log.seal(0).unwrap().exported.unwrap_err();
    assert!(error.to_string().ends_with("its line 1 is not that of the log's own checkpoints"), "{error}");
    assert_eq!(std::fs::read(made.export()).unwrap(), theirs);
}

#[test]
fn a_put_back_log_does_not_overwrite_the_export() {
    let made = Made::with(&[3]);
    let older = made.copied();
    let mut log = made.open();
    append(&mut log, 2);
    log.seal(0).unwrap();
    let known = std::fs::read(made.export()).unwrap();
    std::fs::write(older.export(), &known).unwrap();
    let mut log = older.open();
    let error = log.seal(0).unwrap().exported.unwrap_err();
    assert!(error.to_string().ends_with("it holds checkpoints that the log does not have"), "{error}");
    append(&mut log, 4);
    let error = log.seal(0).unwrap().exported.unwrap_err();
    assert!(error.to_string().ends_with("its line 2 is not that of the log's own checkpoints"), "{error}");
    assert_eq!(std::fs::read(older.export()).unwrap(), known);
    expect_test::expect![[r#"
        export, line 2: it is not the checkpoint that the log has there: the log is a fork, was signed again, or is another one
    "#]].assert_eq(&told(&older.verify_with_export()));
}

#[test]
fn an_export_inside_the_directory_is_refused() {
    let made = Made::with(&[3]);
    for path in [made.file("checkpoints"), made.file("exported"), made.dir().join("../audit/x")] {
        let options = Options { export: Some(path), ..Options::default() };
        let error = AuditLog::open(&made.dir(), &options).unwrap_err();
        assert!(error.to_string().ends_with("it is in the directory of the log itself"), "{error}");
    }
}
