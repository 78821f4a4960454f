//! Pages, cursors through the whole journal, and formats.

use setpoint_journal::limits::{PAGE_BYTES_MAX, PAGE_ROWS_MAX};
use setpoint_journal::{Journal, JournalError, JournalOptions, Submission, TaskHead};
use tempfile::TempDir;

use crate::common::{all_rows, first_rows, on_both, open_task, opening, row, rows_behind};

#[test]
fn a_task_is_read_page_by_page() {
    on_both(|journal| {
        let head = open_task(journal, "t", 1).head;
        let mut head = journal.append(rows_behind(&head, PAGE_ROWS_MAX as u64)).unwrap().head;
        open_task(journal, "other", 2);
        head = journal.append(rows_behind(&head, 5)).unwrap().head;
        let page = journal.read_rows("t", 1, usize::MAX).unwrap();
        assert_eq!(page.len(), PAGE_ROWS_MAX);
        let rows: Vec<_> = journal.rows("t", 0).map(|row| row.unwrap().seq).collect();
        assert_eq!(rows, (1..=head.seq()).collect::<Vec<_>>());
        let tail: Vec<_> = journal.rows("t", head.seq() - 1).map(|row| row.unwrap().seq).collect();
        assert_eq!(tail, [head.seq() - 1, head.seq()]);
        assert!(journal.read_rows("t", head.seq() + 1, 10).unwrap().is_empty());
        assert!(journal.read_rows("t", u64::MAX, 10).unwrap().is_empty());
        assert!(journal.read_rows("t", 1, 0).unwrap().is_empty());
        assert!(matches!(journal.read_rows("none", 1, 1), Err(JournalError::UnknownTask { .. })));
        assert!(matches!(journal.rows("none", 1).next(), Some(Err(JournalError::UnknownTask { .. }))));
    });
}

#[test]
fn a_page_is_bounded_in_bytes() {
    on_both(|journal| {
        let mut submission = Submission::new(&TaskHead::start("t").unwrap());
        for seq in 1..=12 {
            submission.push(row(seq, "k", &vec![1; PAGE_BYTES_MAX / 4])).unwrap();
        }
        submission.open(opening("")).unwrap();
        journal.append(submission).unwrap();
        assert_eq!(journal.rows_after(0, 100).unwrap().len(), 4);
        assert_eq!(journal.read_rows("t", 3, 100).unwrap().len(), 4);
        assert_eq!(journal.rows("t", 1).count(), 12);
    });
}

#[test]
fn a_cursor_sees_every_row_of_every_task_in_commit_order() {
    on_both(|journal| {
        let mut heads = [open_task(journal, "a", 2).head, open_task(journal, "b", 1).head];
        for n in 0..20 {
            let head = &mut heads[n % 2];
            *head = journal.append(rows_behind(head, 1 + n as u64 % 3)).unwrap().head;
        }
        let rows = all_rows(journal).unwrap();
        assert!(rows.iter().zip(1..).all(|(row, pos)| row.pos == pos));
        assert_eq!(rows.len() as u64, journal.last_pos().unwrap());
        for head in heads {
            let mine: Vec<_> = rows.iter().filter(|row| row.task == *head.task()).cloned().collect();
            let read: Vec<_> = journal.rows(head.task(), 1).collect::<Result<_, _>>().unwrap();
            assert_eq!(mine, read);
        }
        // Start in the middle, with rows of both tasks before the page.
        assert_eq!(journal.rows_after(7, 3).unwrap(), rows[7..10]);
        assert!(journal.rows_after(rows.len() as u64, 3).unwrap().is_empty());
        assert!(journal.rows_after(u64::MAX, 3).unwrap().is_empty());
        let last = rows.len() as u64;
        let next = [0, 7, last - 1, last, u64::MAX].map(|pos| journal.next_pos(pos).unwrap());
        assert_eq!(next, [Some(1), Some(8), Some(last), None, None]);
    });
}

#[test]
fn rows_are_read_by_kind() {
    on_both(|journal| {
        for task in ["a", "b"] {
            let mut submission = Submission::new(&TaskHead::start(task).unwrap());
            submission.open(opening("")).unwrap();
            for seq in 1..=40 {
                submission.push(row(seq, ["v", "w", "x", "y", "z"][seq as usize % 5], b"body")).unwrap();
            }
            journal.append(submission).unwrap();
        }
        let kinds = ["x", "z", "none", "x"];
        let mut wanted = all_rows(journal).unwrap();
        wanted.retain(|row| kinds.contains(&&*row.kind));
        assert_eq!(wanted.len(), 32);
        assert_eq!(journal.rows_of_kinds_after(0, kinds, 100).unwrap(), wanted);
        assert_eq!(journal.rows_of_kinds_after(wanted[4].pos, kinds, 3).unwrap(), wanted[5..8]);
        let last = wanted.last().unwrap().pos;
        assert!(journal.rows_of_kinds_after(last, kinds, 3).unwrap().is_empty());
        assert!(journal.rows_of_kinds_after(u64::MAX, kinds, 3).unwrap().is_empty());
        assert!(journal.rows_of_kinds_after(0, ["none"; 4], 3).unwrap().is_empty());
    });
}

#[test]
fn older_reader_stops_at_a_row_of_a_newer_format() {
    let dir = TempDir::new().unwrap();
    let newer = JournalOptions { row_format_known: 3, ..JournalOptions::default() };
    let journal = Journal::open(dir.path(), &newer).unwrap();
    let head = open_task(&journal, "t", 2).head;
    let mut submission = Submission::new(&head);
    let mut of_tomorrow = row(3, "k", b"");
    of_tomorrow.format = 3;
    submission.push(of_tomorrow).unwrap();
    journal.append(submission).unwrap();
    assert_eq!(journal.rows("t", 1).filter_map(Result::ok).count(), 3);
    journal.close().unwrap();

    let journal = Journal::open(dir.path(), &JournalOptions::default()).unwrap();
    assert_eq!(journal.rows_after(0, 100).unwrap().len(), 2);
    let refused = journal.rows_after(2, 100).unwrap_err();
    assert!(
        matches!(refused, JournalError::RowFormatTooNew { seq: 3, found: 3, known: 2, .. }),
        "{refused:?}"
    );
    assert!(matches!(journal.verify_task("t"), Err(JournalError::RowFormatTooNew { .. })));
    let mut rows = journal.rows("t", 1);
    assert!(rows.next().is_some_and(|row| row.is_ok()) && rows.next().is_some_and(|row| row.is_ok()));
    assert!(matches!(rows.next(), Some(Err(JournalError::RowFormatTooNew { .. }))));
    assert!(rows.next().is_none());
    // Verification does not depend on knowing the format.
    assert!(journal.verify().unwrap().is_sound());
}

#[test]
fn readers_do_not_wait_for_the_writer() {
    on_both(|journal| {
        open_task(journal, "a", 1);
        let (started, at_work) = std::sync::mpsc::channel();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let writer = journal.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                writer.submit(first_rows("b", 1), move |_| {
                    started.send(()).unwrap();
                    held.recv().unwrap();
                });
            });
            at_work.recv().unwrap();
            assert_eq!(journal.last_pos().unwrap(), 2);
            assert_eq!(journal.rows("b", 1).count(), 1);
            release.send(()).unwrap();
        });
    });
}
