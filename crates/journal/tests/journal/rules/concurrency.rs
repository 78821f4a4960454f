//! Several threads and one writer: groups, acknowledgements, waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use setpoint_journal::limits::{GROUP_SUBMISSIONS_MAX, QUEUE_MAX};
use setpoint_journal::{CommandState, CommitReceipt, Journal, JournalError, NewCommand};
use tempfile::TempDir;

use crate::common::{all_rows, first_rows, on_both, open, open_task, row, rows_behind, text};

type Acknowledged = Result<CommitReceipt, Arc<JournalError>>;

/// Keeps the writer busy inside an acknowledgement until the returned sender is used or dropped.
fn hold_the_writer(journal: &Journal) -> Sender<()> {
    let (release, held) = channel::<()>();
    let (started, at_work) = channel();
    journal.submit(first_rows("holding", 1), move |result| {
        result.unwrap();
        started.send(()).unwrap();
        let _released = held.recv();
    });
    at_work.recv().unwrap();
    release
}

#[test]
fn refused_submission_does_not_fail_its_group() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let commits = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&commits);
    let release = hold_the_writer(&journal);
    let listener = journal.on_commit(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });

    let (sender, receiver) = channel::<(u64, Acknowledged)>();
    for n in 0..100 {
        // Every tenth submission opens a task that already exists by then.
        let task = if n % 10 == 9 { "task-0".to_owned() } else { format!("task-{n}") };
        let sender = sender.clone();
        journal.submit(first_rows(&task, 2), move |result| sender.send((n, result)).unwrap());
    }
    release.send(()).unwrap();
    drop(sender);
    for (n, result) in receiver {
        match result {
            Ok(committed) => assert!(n % 10 != 9 && committed.head.seq() == 2, "{n}"),
            Err(error) => assert!(n % 10 == 9 && matches!(*error, JournalError::TaskExists { .. }), "{n}"),
        }
    }
    journal.close().unwrap();
    // The group of the test, and the one that held the writer, whose commit ends after its acknowledgement.
    assert_eq!(commits.load(Ordering::SeqCst), 2);
    drop(listener);
    let journal = open(&dir);
    assert_eq!(all_rows(&journal).unwrap().len(), 1 + 90 * 2);
    assert!(journal.verify().unwrap().is_sound());
}

/// The storage refuses a row in the middle of a submission: only that submission's writes are undone.
#[test]
fn failed_write_undoes_only_its_own_submission() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let other = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    let odd = |task: &str| {
        let mut submission = first_rows(task, 2);
        submission.push(row(3, "odd", b"")).unwrap().push(row(4, "k", b"")).unwrap();
        submission
    };
    journal.append(odd("first")).unwrap();
    other.execute_batch("CREATE UNIQUE INDEX one_odd ON record (kind) WHERE kind = 'odd'").unwrap();
    let before = all_rows(&journal).unwrap();
    let alone = journal.append(odd("alone")).unwrap_err();
    assert!(matches!(*alone, JournalError::Storage { .. }), "{alone:?}");
    assert_eq!(all_rows(&journal).unwrap(), before);

    let release = hold_the_writer(&journal);
    let (sender, receiver) = channel::<(u64, Acknowledged)>();
    for n in 0..9 {
        let task = format!("task-{n}");
        let submission = if n % 3 == 1 { odd(&task) } else { first_rows(&task, 2) };
        let sender = sender.clone();
        journal.submit(submission, move |result| sender.send((n, result)).unwrap());
    }
    drop((release, sender));
    for (n, result) in receiver {
        assert_eq!(result.is_err(), n % 3 == 1, "{n}: {result:?}");
    }
    assert!(journal.poisoned_by().is_none());
    assert_eq!(all_rows(&journal).unwrap().len(), before.len() + 1 + 6 * 2);
    assert!(matches!(journal.task("task-1"), Err(JournalError::UnknownTask { .. })));
    other.execute_batch("DROP INDEX one_odd").unwrap();
    let report = journal.verify().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
}

/// The group of such a submission runs a second time; its other jobs must be committed only once.
#[test]
fn rerun_group_is_committed_once() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let known = open_task(&journal, "known", 1).head;
    let command = NewCommand { kind: "k".to_owned(), body: Vec::new(), at_us: 1 };
    let command = journal.push_command("known", command).unwrap();
    let other = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    other.execute_batch("CREATE UNIQUE INDEX no_odd ON record (pos > 0) WHERE kind = 'odd'").unwrap();
    let mut odd = first_rows("odd", 2);
    odd.push(row(3, "odd", b"")).unwrap().push(row(4, "odd", b"")).unwrap();

    let mut taking = rows_behind(&known, 2);
    taking.take_command(command).unwrap();
    let new = first_rows("new", 2);
    let group = [
        ("behind the first", rows_behind(taking.head(), 1)),
        ("takes the command", taking.clone()),
        ("new", new.clone()),
        ("new a second time", new.clone()),
        ("odd", odd),
        ("behind the new", rows_behind(new.head(), 3)),
        ("takes it a second time", taking),
    ];
    let (sender, receiver) = channel();
    let commits = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&commits);
    let release = hold_the_writer(&journal);
    for (name, submission) in group {
        let sender = sender.clone();
        journal.submit(submission, move |result| sender.send((name, result)).unwrap());
    }
    let listener = journal.on_commit(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    drop((release, sender));
    let told: String = receiver
        .iter()
        .map(|(name, result)| match result {
            Ok(done) => format!("{name}: {} to {}\n", done.first_pos, done.last_pos),
            Err(error) => format!("{name}: {}\n", text(&error)),
        })
        .collect();
    let told = told.replace(&*dir.path().to_string_lossy(), "DIR");
    expect_test::expect![[r#"
        behind the first: failed to append to task known: its next row is 2, not 4
        takes the command: 3 to 4
        new: 5 to 6
        new a second time: failed to open task new: it exists already
        odd: failed to access the journal at DIR/journal.db: UNIQUE constraint failed: index 'no_odd' (SQLite code 2067)
        behind the new: 7 to 9
        takes it a second time: failed to append to task known: its next row is 4, not 2
    "#]].assert_eq(&told);
    journal.close().unwrap();
    drop(listener);
    // One more commit: the one that held the writer.
    assert_eq!(commits.load(Ordering::SeqCst), 2);

    other.execute_batch("DROP INDEX no_odd").unwrap();
    let journal = open(&dir);
    assert!(journal.verify().unwrap().is_sound());
    let rows = all_rows(&journal).unwrap();
    let places: Vec<_> = rows.iter().map(|row| format!("{} {} {}", row.pos, row.task, row.seq)).collect();
    let expected =
        "1 known 1, 2 holding 1, 3 known 2, 4 known 3, 5 new 1, 6 new 2, 7 new 3, 8 new 4, 9 new 5";
    assert_eq!(places.join(", "), expected);
    assert_eq!(journal.command_state(command).unwrap(), Some(CommandState::Taken { seq: 2 }));
}

#[test]
fn a_group_is_bounded() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let ends = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&ends);
    let release = hold_the_writer(&journal);
    let _listener = journal.on_commit(move |pos| seen.lock().unwrap().push(pos));
    for n in 0..GROUP_SUBMISSIONS_MAX + 1 {
        journal.submit(first_rows(&format!("task-{n}"), 1), |result| assert!(result.is_ok()));
    }
    drop(release);
    journal.close().unwrap();
    let group = GROUP_SUBMISSIONS_MAX as u64;
    assert_eq!(*ends.lock().unwrap(), [1, 1 + group, 2 + group]);
}

#[test]
fn threads_append_side_by_side() {
    on_both(|journal| {
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (journal, barrier) = (journal.clone(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for task in 0..4 {
                        let mut head = open_task(&journal, &format!("{thread}-{task}"), 2).head;
                        for _ in 0..10 {
                            head = journal.append(rows_behind(&head, 3)).unwrap().head;
                        }
                    }
                });
            }
        });
        let rows = all_rows(journal).unwrap();
        assert_eq!(rows.len(), 8 * 4 * 32);
        assert!(rows.iter().zip(1..).all(|(row, pos)| row.pos == pos));
        let report = journal.verify().unwrap();
        assert!(report.is_sound(), "{:?}", report.damages);
        assert_eq!((report.rows, report.tasks), (1_024, 32));
    });
}

#[test]
fn two_submitters_with_one_head_cannot_both_append() {
    on_both(|journal| {
        let head = open_task(journal, "t", 1).head;
        let barrier = Barrier::new(2);
        let results: Vec<_> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        journal.append(rows_behind(&head, 1))
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        let lost = results.into_iter().find_map(Result::err).unwrap();
        assert!(matches!(*lost, JournalError::SeqConflict { expected: 3, got: 2, .. }), "{lost:?}");
    });
}

#[test]
fn a_full_queue_gives_the_submission_back() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let release = hold_the_writer(&journal);
    let (sender, receiver) = channel::<Acknowledged>();
    let mut queued = 0;
    let returned = loop {
        let sender = sender.clone();
        let submission = first_rows(&format!("task-{queued}"), 1);
        let ack = Box::new(move |result| sender.send(result).unwrap());
        match journal.try_submit(submission, ack) {
            Ok(()) => queued += 1,
            Err(returned) => break returned,
        }
    };
    assert_eq!(queued, QUEUE_MAX);
    assert_eq!(&**returned.submission.task(), format!("task-{queued}"));
    drop(release);
    journal.submit(returned.submission, returned.ack);
    drop(sender);
    let results: Vec<_> = receiver.iter().collect();
    assert!(results.len() == QUEUE_MAX + 1 && results.iter().all(Result::is_ok));
}

#[test]
fn an_acknowledgement_may_submit_but_not_wait() {
    on_both(|journal| {
        let (sender, receiver) = channel();
        let inside = journal.clone();
        journal.submit(first_rows("t", 1), move |result| {
            let head = result.unwrap().head;
            let waiting = inside.append(rows_behind(&head, 1)).unwrap_err();
            let closing = inside.close().unwrap_err();
            let leasing = inside.advance_cursor("c", 1).unwrap_err();
            let reading = inside.last_pos();
            inside.submit(rows_behind(&head, 1), move |result| {
                sender.send((waiting, closing, leasing, reading, result)).unwrap();
            });
        });
        let (waiting, closing, leasing, reading, submitted) = receiver.recv().unwrap();
        for error in [Arc::unwrap_or_clone(waiting), closing, leasing] {
            assert!(matches!(error, JournalError::CalledFromAck), "{error:?}");
        }
        assert_eq!(reading.unwrap(), 1);
        assert_eq!(submitted.unwrap().head.seq(), 2);
    });
}

/// Each acknowledgement submits the next row. In memory this must not pile up on the stack.
#[test]
fn acknowledgements_can_chain_for_long() {
    fn step(journal: &Journal, left: u64, done: Sender<u64>, result: Acknowledged) {
        let head = result.unwrap().head;
        if left == 0 {
            return done.send(head.seq()).unwrap();
        }
        let next = journal.clone();
        journal.submit(rows_behind(&head, 1), move |result| step(&next, left - 1, done, result));
    }
    let journal = Journal::in_memory();
    let (sender, receiver) = channel();
    let next = journal.clone();
    journal.submit(first_rows("t", 1), move |result| step(&next, 50_000, sender, result));
    assert_eq!(receiver.recv().unwrap(), 50_001);
}

#[test]
fn panicking_acknowledgement_does_not_stop_the_journal() {
    on_both(|journal| {
        journal.submit(first_rows("a", 1), |_| panic!("expected by the test"));
        let _listener = journal.on_commit(|_| panic!("expected by the test"));
        assert_eq!(open_task(journal, "b", 1).last_pos, 2);
    });
}

#[test]
fn a_reader_is_woken_by_the_next_commit() {
    on_both(|journal| {
        open_task(journal, "a", 3);
        assert_eq!(journal.wait_for_rows(1, Duration::MAX), 3);
        assert_eq!(journal.wait_for_rows(3, Duration::ZERO), 3);
        let read = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut cursor = 3;
                while cursor < 9 {
                    let _known = journal.wait_for_rows(cursor, Duration::from_secs(60));
                    cursor = journal.rows_after(cursor, 100).unwrap().last().map_or(cursor, |row| row.pos);
                }
                cursor
            });
            for n in 0..3 {
                open_task(journal, &format!("b-{n}"), 2);
            }
            reader.join().unwrap()
        });
        assert_eq!(read, 9);
    });
}

#[test]
fn closing_wakes_waiting_readers() {
    on_both(|journal| {
        let journal = journal.clone();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| journal.wait_for_rows(0, Duration::from_secs(600)));
            journal.close().unwrap();
            assert_eq!(waiting.join().unwrap(), 0);
        });
    });
}

#[test]
fn the_last_handle_closes_and_drains() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let mut submission = first_rows("t", 1);
    submission.push(row(2, "large", &vec![7; 100_000])).unwrap();
    journal.submit(submission, |result| assert!(result.is_ok()));
    drop(journal);
    assert_eq!(open(&dir).last_pos().unwrap(), 2);
}

/// The last handle is dropped inside an acknowledgement while other submissions are queued: they are still done.
#[test]
fn the_last_handle_may_be_dropped_inside_an_acknowledgement() {
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    let (release, held) = channel::<()>();
    let (sender, receiver) = channel();
    let last = journal.clone();
    journal.submit(first_rows("holding", 1), move |_| {
        let _released = held.recv();
        drop(last);
    });
    for n in 0..QUEUE_MAX - 1 {
        let sender = sender.clone();
        journal.submit(first_rows(&format!("task-{n}"), 1), move |result| sender.send(result).unwrap());
    }
    drop((journal, sender));
    drop(release);
    let results: Vec<_> = receiver.iter().collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), QUEUE_MAX - 1);
}
