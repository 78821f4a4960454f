//! A journal that lost its tail is refused, and opens once a person has accepted the loss.

use std::fs;
use std::path::Path;
use std::process::Command;

use setpoint_journal::{
    HeadState, Journal, JournalError, JournalOptions, LOSS_KIND, Loss, OnLoss, SYSTEM_STREAM,
};
use tempfile::TempDir;

use crate::common::{all_rows, open, open_task, rows_behind};

/// Returns a directory as a killed process would leave it, with `appended` single-row commits in the log.
pub(crate) fn left_open(appended: u64) -> TempDir {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    open_task(&journal, "moved", 4);
    journal.close().unwrap();
    let journal = open(&dir);
    let mut head = open_task(&journal, "t", 1).head;
    for _ in 0..appended {
        head = journal.append(rows_behind(&head, 1)).unwrap().head;
    }
    let copy = TempDir::new().unwrap();
    copy_files(dir.path(), copy.path());
    copy
}

/// Copies with another process: closing the files here would drop the locks that this process has on them.
pub(crate) fn copy_files(from: &Path, to: &Path) {
    for name in ["journal.db", "journal.db-wal", "head"] {
        assert!(Command::new("cp").arg(from.join(name)).arg(to.join(name)).status().unwrap().success());
    }
}

fn flip_in_the_log(dir: &Path, at: impl Fn(usize) -> usize) {
    let log = dir.join("journal.db-wal");
    let mut bytes = fs::read(&log).unwrap();
    let at = at(bytes.len());
    bytes[at] ^= 1;
    fs::write(&log, bytes).unwrap();
}

fn accepting() -> JournalOptions {
    JournalOptions { on_loss: OnLoss::Accept { now_us: 42 }, ..JournalOptions::default() }
}

#[test]
fn untouched_copy_has_no_loss() {
    let dir = left_open(10);
    let journal = open(&dir);
    assert_eq!(journal.open_report().head, HeadState::Current);
    assert_eq!(all_rows(&journal).unwrap().len(), 15);
}

#[test]
fn a_flipped_bit_in_the_log_is_a_lost_tail() {
    let dir = left_open(10);
    flip_in_the_log(dir.path(), |length| length / 2);
    let log = fs::read(dir.path().join("journal.db-wal")).unwrap();
    for _ in 0..2 {
        let error = Journal::open(dir.path(), &JournalOptions::default()).unwrap_err();
        let JournalError::LostTail { head_pos: 15, last_pos, .. } = error else { panic!("{error:?}") };
        assert!((5..15).contains(&last_pos), "{last_pos}");
        // Refusing changes no evidence.
        assert_eq!(fs::read(dir.path().join("journal.db-wal")).unwrap(), log);
    }
}

#[test]
fn accepted_loss_is_recorded_and_its_positions_stay_empty() {
    let dir = left_open(10);
    flip_in_the_log(dir.path(), |length| length / 2);
    let log = fs::read(dir.path().join("journal.db-wal")).unwrap();
    let journal = Journal::open(dir.path(), &accepting()).unwrap();
    let loss = journal.open_report().loss.unwrap();
    assert_eq!(loss.head_pos, 15);
    assert_eq!(fs::read(dir.path().join("lost-15/journal.db-wal")).unwrap(), log);

    // The journal is usable, even for the task that lost rows.
    let head = journal.verify_task("t").unwrap().head;
    assert_eq!(head.seq() + 4, loss.last_pos);
    let committed = journal.append(rows_behind(&head, 2)).unwrap();
    assert_eq!((committed.first_pos, committed.last_pos), (17, 18));
    let rows = all_rows(&journal).unwrap();
    let system = rows.iter().find(|row| &*row.task == SYSTEM_STREAM).unwrap();
    assert_eq!((system.pos, &*system.kind, system.at_us), (16, LOSS_KIND, 42));
    assert_eq!(Loss::recorded_by(system), Some(loss));
    // A reader positioned among the lost rows continues after them.
    assert_eq!(journal.rows_after(13, 10).unwrap().first().unwrap().pos, 16);

    let report = journal.verify().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    assert_eq!((report.losses.as_slice(), report.rows_lost()), (&[loss][..], 15 - loss.last_pos));
    journal.close().unwrap();
    let journal = open(&dir);
    assert_eq!((journal.open_report().loss, journal.open_report().head), (None, HeadState::Current));
    assert!(journal.verify().unwrap().is_sound());
}

#[test]
fn losses_can_be_accepted_again() {
    let dir = left_open(4);
    let mut losses = 0;
    for _ in 0..3 {
        flip_in_the_log(dir.path(), |length| length - 2_000);
        let journal = Journal::open(dir.path(), &accepting()).unwrap();
        assert!(journal.open_report().loss.is_some());
        losses += 1;
        let head = journal.head("t").unwrap();
        journal.append(rows_behind(&head, 3)).unwrap();
        assert_eq!(journal.verify().unwrap().losses.len(), losses);
        let copy = TempDir::new().unwrap();
        copy_files(dir.path(), copy.path());
        journal.close().unwrap();
        // Restore the state in which the log still holds the last commit.
        copy_files(copy.path(), dir.path());
    }
}

#[test]
fn missing_database_is_a_lost_tail() {
    for emptied in [false, true] {
        let dir = left_open(6);
        let database = dir.path().join("journal.db");
        if emptied {
            fs::write(&database, "").unwrap();
        } else {
            fs::remove_file(&database).unwrap();
        }
        let error = Journal::open(dir.path(), &JournalOptions::default()).unwrap_err();
        assert!(matches!(error, JournalError::LostTail { head_pos: 11, last_pos: 0, .. }), "{error:?}");
        assert!(dir.path().join("journal.db-wal").exists());
        let journal = Journal::open(dir.path(), &accepting()).unwrap();
        assert!(dir.path().join("lost-11/journal.db-wal").exists());
        assert_eq!(open_task(&journal, "t", 1).first_pos, 13);
        assert!(journal.verify().unwrap().is_sound());
    }
}

#[test]
fn another_journal_in_the_directory_is_a_head_mismatch() {
    let dir = left_open(6);
    let other = TempDir::new().unwrap();
    let journal = open(&other);
    open_task(&journal, "another", 40);
    journal.close().unwrap();
    fs::remove_file(dir.path().join("journal.db-wal")).unwrap();
    fs::copy(other.path().join("journal.db"), dir.path().join("journal.db")).unwrap();
    let error = Journal::open(dir.path(), &JournalOptions::default()).unwrap_err();
    assert!(matches!(error, JournalError::HeadMismatch { pos: 11, .. }), "{error:?}");
    let journal = Journal::open(dir.path(), &accepting()).unwrap();
    assert_eq!(journal.open_report().loss, Some(Loss { last_pos: 40, head_pos: 11 }));
    assert_eq!(all_rows(&journal).unwrap().len(), 41);
    assert!(journal.verify().unwrap().is_sound());
}

#[test]
fn a_missing_head_file_is_reported_and_made_again() {
    let dir = left_open(6);
    fs::remove_file(dir.path().join("head")).unwrap();
    let journal = open(&dir);
    assert_eq!(journal.open_report().head, HeadState::Absent);
    assert_eq!(
        journal.verify().unwrap().damages[0].to_string(),
        "head: it names no row although the journal has some"
    );
    journal.close().unwrap();
    let journal = open(&dir);
    assert_eq!(journal.open_report().head, HeadState::Current);
    assert!(journal.verify().unwrap().is_sound());
}

/// Another program deletes rows while this process has the journal open.
#[test]
fn journal_cut_while_open_refuses_appends() {
    let dir = left_open(3);
    let journal = open(&dir);
    let head = journal.head("t").unwrap();
    journal.append(rows_behind(&head, 1)).unwrap();
    let other = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    other.execute_batch("DELETE FROM record WHERE pos > 5").unwrap();
    let error = journal.append(rows_behind(&head, 1)).unwrap_err();
    assert!(matches!(*error, JournalError::LostTail { head_pos: 9, last_pos: 5, .. }), "{error:?}");
    assert!(journal.poisoned_by().is_some());
    let kinds: Vec<_> = journal.verify().unwrap().damages.iter().map(ToString::to_string).collect();
    assert!(kinds.iter().any(|text| text.starts_with("head, pos 9:")), "{kinds:?}");
}
