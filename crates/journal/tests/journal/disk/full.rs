//! Failed writes: a full disk, and a failing one.

use std::process::Command;
use std::sync::mpsc::channel;

use setpoint_journal::{Journal, JournalError, JournalOptions, Submission, TaskHead};
use tempfile::TempDir;

use super::child;
use crate::common::{all_rows, first_rows, noise, open, open_task, opening, row, rows_behind};

fn with_pages(dir: &TempDir, pages: u32) -> Journal {
    let options = JournalOptions { database_pages_max: Some(pages), ..JournalOptions::default() };
    Journal::open(dir.path(), &options).unwrap()
}

fn large(task: &str) -> Submission {
    let mut submission = Submission::new(&TaskHead::start(task).unwrap());
    submission.push(row(1, "k", &noise(1, 1 << 20))).unwrap();
    submission.open(opening("")).unwrap();
    submission
}

#[test]
fn full_disk_refuses_and_keeps_stored_rows() {
    let dir = TempDir::new().unwrap();
    let journal = with_pages(&dir, 60);
    let mut head = open_task(&journal, "t", 1).head;
    let refused = loop {
        match journal.append(rows_behind(&head, 20)) {
            Ok(committed) => head = committed.head,
            Err(error) => break error,
        }
    };
    assert!(matches!(*refused, JournalError::NoSpace { .. }), "{refused:?}");
    assert!(head.seq() > 100);
    // Nothing of the refused submission is stored, and the writer goes on.
    assert_eq!(journal.rows("t", 1).count() as u64, head.seq());
    assert!(journal.poisoned_by().is_none());
    let again = journal.append(rows_behind(&head, 20)).unwrap_err();
    assert!(matches!(*again, JournalError::NoSpace { .. }), "{again:?}");
    assert!(journal.verify().unwrap().is_sound());
    journal.close().unwrap();

    // With more space, the same submission is accepted.
    let journal = with_pages(&dir, 600);
    head = journal.append(rows_behind(&head, 20)).unwrap().head;
    assert_eq!(all_rows(&journal).unwrap().len() as u64, head.seq());
}

#[test]
fn submission_that_does_not_fit_fails_without_its_group() {
    let dir = TempDir::new().unwrap();
    let journal = with_pages(&dir, 200);
    let (release, held) = channel::<()>();
    let (sender, receiver) = channel();
    journal.submit(first_rows("holding", 1), move |_| {
        let _released = held.recv();
    });
    for n in 0..20 {
        let sender = sender.clone();
        let submission = if n % 5 == 2 { large(&format!("t-{n}")) } else { first_rows(&format!("t-{n}"), 2) };
        journal.submit(submission, move |result| sender.send((n, result)).unwrap());
    }
    drop((release, sender));
    for (n, result) in receiver {
        match result {
            Ok(_) => assert!(n % 5 != 2, "{n}"),
            Err(error) => {
                assert!(n % 5 == 2 && matches!(*error, JournalError::NoSpace { .. }), "{n} {error:?}");
            }
        }
    }
    assert_eq!(all_rows(&journal).unwrap().len(), 1 + 16 * 2);
    assert!(journal.verify().unwrap().is_sound());
}

/// A limit on the size of files makes the write of the log fail half-way, which is not a full disk.
#[test]
fn after_a_failed_write_nothing_is_appended() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    open_task(&journal, "before", 3);
    journal.close().unwrap();
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    // Writes beyond 512 KiB fail instead of ending the process.
    command.args(["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "sh"]).arg(exe);
    child::arrange(&mut command, "disk::full::writes_until_it_fails_in_a_child", dir.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let acknowledged: u64 =
        said.split("acknowledged ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();

    let journal = open(&dir);
    let report = journal.verify().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    assert_eq!(journal.rows("before", 1).count(), 3);
    assert!(acknowledged > 20);
    assert_eq!(journal.rows("t", 1).count() as u64, acknowledged);
}

#[test]
fn writes_until_it_fails_in_a_child() {
    let Some(dir) = child::dir() else { return };
    let journal = Journal::open(&dir, &JournalOptions::default()).unwrap();
    let mut head = open_task(&journal, "t", 1).head;
    let first = loop {
        match journal.append(rows_behind(&head, 1)) {
            Ok(committed) => head = committed.head,
            Err(error) => break error,
        }
    };
    println!("acknowledged {} rows", head.seq());
    assert!(matches!(*first, JournalError::Storage { .. }), "{first:?}");
    for _ in 0..3 {
        let next = journal.append(rows_behind(&head, 1)).unwrap_err();
        let JournalError::Poisoned { cause } = &*next else { panic!("{next:?}") };
        assert_eq!(cause.to_string(), first.to_string());
        let cursor = journal.advance_cursor("c", 1).unwrap_err();
        assert!(matches!(cursor, JournalError::Poisoned { .. }), "{cursor:?}");
    }
    assert!(journal.poisoned_by().is_some());
    // Reading still works.
    assert_eq!(journal.rows("t", 1).count() as u64, head.seq());
}
