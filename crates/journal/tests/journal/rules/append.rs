//! Who may append what after which row.

use std::sync::Arc;

use expect_test::expect;
use setpoint_journal::{Fragment, JournalError, Submission, TaskHead, chain, start_of_chain};

use crate::common::{all_rows, first_rows, on_both, open_task, opening, row, rows_behind, text};

#[test]
fn rows_read_back_as_submitted() {
    on_both(|journal| {
        let mut submission = Submission::new(&TaskHead::start("t").unwrap());
        let body = br#"{"n":0.1,"text":"\u0000 "}"#;
        submission.push(row(1, "user_input", body)).unwrap();
        submission.push(row(2, "asked", b"")).unwrap();
        submission.open(opening("a goal")).unwrap();
        let committed = journal.append(submission).unwrap();
        assert_eq!((committed.first_pos, committed.last_pos), (1, 2));

        let rows: Vec<_> = journal.rows("t", 1).collect::<Result<_, _>>().unwrap();
        let [first, second] = rows.as_slice() else { panic!("{rows:?}") };
        let sent = row(1, "user_input", body);
        assert_eq!(first.chain, chain(&start_of_chain("t"), "t", &sent));
        assert_eq!((&first.from, &first.to, &first.kind), (&sent.from, &sent.to, &sent.kind));
        assert_eq!((first.at_us, first.clock_ms, first.cause), (sent.at_us, sent.clock_ms, sent.cause));
        assert_eq!((first.pos, &*first.task, first.seq, first.format), (1, "t", 1, 1));
        assert_eq!(first.body, body);
        assert_eq!(second.chain, chain(&first.chain, "t", &row(2, "asked", b"")));
        assert_eq!((second.cause, &second.chain), (Some(1), committed.head.chain()));
    });
}

#[test]
fn a_task_goes_on_from_its_head() {
    on_both(|journal| {
        let mut head = open_task(journal, "t", 3).head;
        for _ in 0..5 {
            head = journal.append(rows_behind(&head, 2)).unwrap().head;
        }
        assert_eq!(head.seq(), 13);
        assert_eq!(journal.head("t").unwrap(), head);
        assert_eq!(journal.verify_task("t").unwrap().head, head);
        let positions: Vec<_> = all_rows(journal).unwrap().iter().map(|row| (row.pos, row.seq)).collect();
        assert_eq!(positions, (1..=13).map(|n| (n, n)).collect::<Vec<_>>());
    });
}

#[test]
fn refusals_are_typed_and_store_nothing() {
    on_both(|journal| {
        let head = open_task(journal, "open", 2).head;
        let mut last = rows_behind(&open_task(journal, "closed", 1).head, 1);
        let closed = journal
            .append({
                last.close(5);
                last
            })
            .unwrap()
            .head;
        let before = all_rows(journal).unwrap();

        let unopened = rows_behind(&TaskHead::start("nobody").unwrap(), 1);
        let again = first_rows("open", 1);
        let behind = rows_behind(&TaskHead::start("open").unwrap(), 1);
        let mut ahead = rows_behind(&head, 1);
        ahead = rows_behind(ahead.head(), 1);
        let mut forged = Submission::new(&TaskHead::start("open").unwrap());
        forged.push(row(1, "other", b"history")).unwrap().push(row(2, "of", b"the task")).unwrap();
        let forged = rows_behind(forged.head(), 1);
        let mut newer = Submission::new(&head);
        let mut of_tomorrow = row(3, "k", b"");
        of_tomorrow.format = 3;
        newer.push(of_tomorrow).unwrap();
        let mut taking = rows_behind(&head, 1);
        taking.take_command(99).unwrap();

        let refusals = [
            unopened,
            again,
            behind,
            ahead,
            forged,
            rows_behind(&closed, 1),
            Submission::new(&head),
            newer,
            taking,
        ];
        let texts: Vec<_> = refusals.into_iter().map(|bad| text(&journal.append(bad).unwrap_err())).collect();
        expect![[r#"
            failed to find task nobody: the journal has no such task
            failed to open task open: it exists already
            failed to append to task open: its next row is 3, not 1
            failed to append to task open: its next row is 3, not 4
            failed to append row 3 to task open: it does not continue the task's chain
            failed to append to task closed: it is closed
            failed to append to task open: the submission holds no row
            failed to read row 3 of task open: it has format 3, and this program knows formats up to 2
            failed to take command 99 for task open: it is not pending there"#]]
        .assert_eq(&texts.join("\n"));
        assert_eq!(all_rows(journal).unwrap(), before);
        assert_eq!(journal.append(rows_behind(&head, 1)).unwrap().head.seq(), 3);
    });
}

#[test]
fn row_with_a_wrong_number_is_refused_when_pushed() {
    let mut submission = Submission::new(&TaskHead::start("t").unwrap());
    let error = submission.push(row(2, "k", b"")).unwrap_err();
    assert!(matches!(error, JournalError::SeqConflict { expected: 1, got: 2, .. }), "{error:?}");
    submission.push(row(1, "k", b"")).unwrap();
    assert_eq!(submission.row_count(), 1);
}

#[test]
fn the_system_stream_never_closes() {
    on_both(|journal| {
        let mut submission = first_rows("system", 1);
        submission.close(1);
        let error = journal.append(submission).unwrap_err();
        assert!(matches!(*error, JournalError::NeverCloses { .. }), "{error:?}");
    });
}

#[test]
fn fragments_are_stored_once_and_with_their_rows() {
    on_both(|journal| {
        let prompt = Fragment::new(b"You are R1.".to_vec()).unwrap();
        let lost = Fragment::new(b"never stored".to_vec()).unwrap();
        let mut first = first_rows("a", 1);
        first.attach(prompt.clone()).unwrap().attach(prompt.clone()).unwrap();
        journal.append(first).unwrap();
        let mut second = first_rows("b", 1);
        second.attach(prompt.clone()).unwrap();
        journal.append(second).unwrap();
        let mut refused = first_rows("a", 1);
        refused.attach(lost.clone()).unwrap();
        journal.append(refused).unwrap_err();

        assert_eq!(journal.fragment(prompt.hash()).unwrap().as_deref(), Some(prompt.bytes()));
        assert_eq!(journal.fragment(lost.hash()).unwrap(), None);
        assert_eq!(journal.verify().unwrap().fragments, 1);
    });
}

#[test]
fn closing_is_part_of_the_last_submission() {
    on_both(|journal| {
        let mut only = first_rows("t", 2);
        only.close(77);
        journal.append(only).unwrap();
        assert_eq!(journal.task("t").unwrap().closed_at_us, Some(77));
        assert!(journal.task("t").unwrap().is_closed());
    });
}

#[test]
fn closed_journal_refuses_with_closed() {
    on_both(|journal| {
        let handle = journal.clone();
        let head = open_task(journal, "t", 1).head;
        // `on_both` closes it once more, which must succeed.
        handle.close().unwrap();
        let error = journal.append(rows_behind(&head, 1)).unwrap_err();
        assert!(matches!(*error, JournalError::Closed), "{error:?}");
        assert!(matches!(journal.last_pos(), Err(JournalError::Closed)));
        assert!(matches!(journal.cursor("c"), Err(JournalError::Closed)));
    });
}

#[test]
fn submissions_before_closing_become_durable() {
    on_both(|journal| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut head = TaskHead::start("t").unwrap();
        for n in 0..200 {
            let submission = if n == 0 { first_rows("t", 1) } else { rows_behind(&head, 1) };
            head = submission.head().clone();
            let sender = sender.clone();
            journal.submit(submission, move |result| sender.send(result).unwrap());
        }
        journal.close().unwrap();
        drop(sender);
        let acknowledged: Result<Vec<_>, Arc<JournalError>> = receiver.iter().collect();
        assert_eq!(acknowledged.unwrap().len(), 200);
    });
}
