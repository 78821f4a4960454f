//! Prunings on disk: the space is freed, a kill leaves all or nothing, and a body removed by another program is damage.

use setpoint_journal::JournalError;
use tempfile::TempDir;

use crate::common::{all_rows, open, quick_dir};
use crate::rules::prune::{ended_task, prune};

fn journal_dir() -> TempDir {
    let dir = quick_dir();
    let journal = open(&dir);
    for n in 0..50 {
        ended_task(&journal, &format!("t{n}"), 1);
    }
    journal.close().unwrap();
    dir
}

fn tamper(dir: &TempDir, sql: &str) {
    rusqlite::Connection::open(dir.path().join("journal.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn compacting_frees_space_on_the_disk() {
    let dir = journal_dir();
    let size = || std::fs::metadata(dir.path().join("journal.db")).unwrap().len();
    let conn = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    conn.execute_batch("UPDATE record SET body = randomblob(9000), format = 1 WHERE seq = 2").unwrap();
    drop(conn);
    let before = size();
    let journal = open(&dir);
    let tasks: Vec<String> = (0..50).map(|n| format!("t{n}")).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let beside = open(&dir);
    journal.prune(prune(&journal, &tasks)).unwrap();
    journal.compact().unwrap();
    assert_eq!(all_rows(&beside).unwrap().len(), 201);
    beside.close().unwrap();
    journal.close().unwrap();
    assert!(size() < before / 4, "{before} bytes, then {}", size());
    let journal = open(&dir);
    assert!(journal.verify().unwrap().is_sound());
    ended_task(&journal, "next", 1);
}

/// The chain of the rows after it still fits, so only the missing record of a pruning reveals it.
#[test]
fn a_body_that_no_pruning_took_is_damage() {
    const HOLLOW: &str = "UPDATE record SET body = x'', format = format | (2 << 16) WHERE pos = 2;";
    const SAYS: &str =
        "journal.db, pos 2, task t0, seq 2: the row's body is gone, and its task was never pruned";
    let dir = journal_dir();
    tamper(&dir, HOLLOW);
    let journal = open(&dir);
    let damages: Vec<_> = journal.verify().unwrap().damages.iter().map(ToString::to_string).collect();
    assert_eq!(damages, [SAYS]);
    let says = |error: JournalError| match error {
        JournalError::Damaged { damage, .. } => damage.to_string(),
        error => panic!("{error:?}"),
    };
    assert_eq!(says(all_rows(&journal).unwrap_err()), SAYS);
    assert_eq!(says(journal.verify_task("t0").unwrap_err()), SAYS);
    assert_eq!(says(journal.rows_of_kinds_after(1, ["record"; 4], 9).unwrap_err()), SAYS);
    journal.close().unwrap();

    // An entry alone proves nothing, whether it names another row or a pruning of other tasks.
    tamper(&dir, "INSERT INTO pruning VALUES (1, 3)");
    let journal = open(&dir);
    let unfounded = "journal.db, task t0: entry 3, a pruning of `record` is missing";
    assert_eq!(says(journal.verify_task("t0").unwrap_err()), unfounded);
    journal.prune(prune(&journal, &["t1"])).unwrap();
    journal.close().unwrap();
    tamper(&dir, "UPDATE pruning SET pos = (SELECT max(pos) FROM record) WHERE tid = 1");
    let journal = open(&dir);
    assert!(says(journal.verify_task("t0").unwrap_err()).ends_with("a pruning of `record` is missing"));
    assert!(!journal.verify().unwrap().is_sound());
    assert_eq!(journal.verify_task("t1").unwrap().rows, 4);
}

/// A pruning records which kinds of rows keep their bodies, so emptying a result or the first row later is detected,
/// and so is an entry for a task that was not pruned.
#[test]
fn emptying_a_kept_body_after_a_pruning_is_detected() {
    for (row, damage) in
        [("kind = 'result'", "the row's body is gone"), ("seq = 1", "the row's body is gone")]
    {
        let dir = journal_dir();
        let journal = open(&dir);
        journal.prune(prune(&journal, &["t1"])).unwrap();
        journal.close().unwrap();
        tamper(
            &dir,
            &format!("UPDATE record SET body = x'', format = format | (2 << 16) WHERE tid = 2 AND {row}"),
        );
        let journal = open(&dir);
        let report = journal.verify().unwrap();
        assert!(report.damages.iter().any(|found| found.to_string().contains(damage)), "{row}: {report:?}");
        assert!(journal.verify_task("t1").is_err(), "{row}");
    }
    let dir = journal_dir();
    tamper(&dir, "INSERT INTO pruning VALUES (1, 3)");
    assert!(!open(&dir).verify().unwrap().is_sound());
}

#[test]
#[cfg(feature = "failpoints")]
fn a_kill_leaves_a_task_whole_or_pruned() {
    use std::os::unix::process::ExitStatusExt;

    for point in ["before", "torn", "after_write", "after_sync"] {
        let dir = journal_dir();
        let whole = all_rows(&open(&dir)).unwrap();
        let mut command = super::child::command("disk::prune::prunes_in_a_child", dir.path());
        let killed = command.env("SETPOINT_FAILPOINT", format!("{point}:1")).output().unwrap();
        assert_eq!(killed.status.signal(), Some(9), "{point}: {killed:?}");
        let journal = open(&dir);
        let is_done = point.starts_with("after");
        let rows = all_rows(&journal).unwrap();
        assert_eq!(rows.len(), whole.len() + usize::from(is_done), "{point}");
        assert_eq!(rows.iter().filter(|row| row.is_pruned).count(), if is_done { 2 } else { 0 }, "{point}");
        assert_eq!(journal.task("t7").unwrap().pruned_at_us.is_some(), is_done, "{point}");
        assert!(journal.verify().unwrap().is_sound(), "{point}");
        journal.prune(prune(&journal, &["t7"])).unwrap();
        assert_eq!(journal.verify().unwrap().pruned, 2);
    }
}

#[test]
#[cfg(feature = "failpoints")]
fn prunes_in_a_child() {
    let Some(dir) = super::child::dir() else { return };
    let journal =
        setpoint_journal::Journal::open(&dir, &setpoint_journal::JournalOptions::default()).unwrap();
    journal.prune(prune(&journal, &["t7"])).unwrap();
}
