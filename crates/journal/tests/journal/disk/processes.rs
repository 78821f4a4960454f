//! Two processes that share one journal.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use setpoint_journal::Journal;
use setpoint_journal::{JournalError, JournalOptions, LeaseTerms, NewCommand, Submission};
use tempfile::TempDir;

use super::child;
use crate::common::{all_rows, open, open_task, rows_behind};

#[test]
fn two_processes_write_and_read_one_journal() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let mut head = open_task(&journal, "parent", 1).head;
    let mut command = child::command("disk::processes::writes_in_a_child", dir.path());
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    for _ in 0..60 {
        head = journal.append(rows_behind(&head, 2)).unwrap().head;
    }
    assert!(process.wait().unwrap().success());

    // The other process's rows are readable, and its command is pending.
    let waiting = journal.waiting_commands("parent").unwrap();
    assert_eq!(waiting.iter().map(|command| command.kind.as_str()).collect::<Vec<_>>(), ["cancel"]);
    let mut taking = rows_behind(&head, 1);
    taking.take_command(waiting[0].id).unwrap();
    journal.append(taking).unwrap();
    assert_eq!(journal.rows("child", 1).count(), 121);
    assert_eq!(journal.rows("parent", 1).count(), 122);
    assert_eq!(all_rows(&journal).unwrap().len(), 243);
    let report = journal.verify().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    journal.close().unwrap();
    assert!(open(&dir).verify().unwrap().is_sound());
}

#[test]
fn writes_in_a_child() {
    let Some(dir) = child::dir() else { return };
    let journal = Journal::open(&dir, &JournalOptions::default()).unwrap();
    let mut head = open_task(&journal, "child", 1).head;
    for _ in 0..60 {
        head = journal.append(rows_behind(&head, 2)).unwrap().head;
        assert!(journal.read_rows("parent", 1, 1).unwrap().len() == 1);
    }
    let cancel = NewCommand { kind: "cancel".to_owned(), body: b"{}".to_vec(), at_us: 1 };
    journal.push_command("parent", cancel).unwrap();
    journal.verify().unwrap();
}

/// The owner is killed; another process detects that it is dead and takes over before the lease expires.
#[test]
fn a_dead_process_loses_its_task_at_once() {
    let dir = TempDir::new().unwrap();
    let mut command = child::command("disk::processes::owns_in_a_child", dir.path());
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("owner at work")));
    let journal = open(&dir);
    let terms = LeaseTerms { owner: "second".to_owned(), now_us: 1, ttl_ms: 1_000 };
    let held = journal.acquire_lease("t", &terms).unwrap_err();
    let JournalError::LeaseHeld { owner, .. } = held else { panic!("{held:?}") };

    process.kill().unwrap();
    process.wait().unwrap();
    let lease = journal.take_over_lease("t", &owner, &terms).unwrap();
    assert_eq!(lease.epoch, 2);
    let mut next = rows_behind(&journal.head("t").unwrap(), 1);
    next.under(&lease);
    journal.append(next).unwrap();
}

#[test]
fn owns_in_a_child() {
    let Some(dir) = child::dir() else { return };
    let journal = Journal::open(&dir, &JournalOptions::default()).unwrap();
    let owner = format!("pid {}", std::process::id());
    let mut submission: Submission = crate::common::first_rows("t", 1);
    let lease = Some(LeaseTerms { owner, now_us: 0, ttl_ms: 60_000 });
    submission.open(setpoint_journal::TaskOpening { lease, ..crate::common::opening("t") }).unwrap();
    journal.append(submission).unwrap();
    println!("owner at work");
    std::io::stdout().flush().unwrap();
    // Block until the parent kills this process.
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

#[test]
fn two_handles_of_one_process_are_two_writers() {
    let dir = TempDir::new().unwrap();
    let (one, other) = (open(&dir), open(&dir));
    let mut heads = [open_task(&one, "a", 1).head, open_task(&other, "b", 1).head];
    for n in 0..40 {
        let journal = if n % 2 == 0 { &one } else { &other };
        heads[n % 2] = journal.append(rows_behind(&heads[n % 2], 1)).unwrap().head;
    }
    assert_eq!(all_rows(&one).unwrap(), all_rows(&other).unwrap());
    one.close().unwrap();
    assert!(other.verify().unwrap().is_sound());
    other.close().unwrap();
    assert!(open(&dir).verify().unwrap().is_sound());
}
