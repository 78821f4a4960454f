//! A changed entry is reported with its place, by verification and by readers.

use expect_test::{Expect, expect};
use setpoint_journal::{Fragment, Journal, JournalError, LeaseTerms, NewCommand, TaskOpening};
use tempfile::TempDir;

use crate::common::{all_rows, first_rows, open, opening, quick_dir, rows_behind};

/// Creates two interleaved tasks, with a lease, a fragment, a command and a cursor.
fn journal_dir() -> TempDir {
    let dir = quick_dir();
    let journal = open(&dir);
    let mut first = first_rows("a", 2);
    first.attach(Fragment::new(b"prompt".to_vec()).unwrap()).unwrap();
    first
        .open(TaskOpening {
            lease: Some(LeaseTerms { owner: "me".to_owned(), now_us: 1, ttl_ms: 1 }),
            ..opening("title")
        })
        .unwrap();
    let opened = journal.append(first).unwrap();
    let mut others = journal.append(first_rows("b", 1)).unwrap().head;
    let mut next = rows_behind(&opened.head, 2);
    next.under(&opened.lease.unwrap());
    journal.append(next).unwrap();
    others = journal.append(rows_behind(&others, 1)).unwrap().head;
    let command = NewCommand { kind: "cancel".to_owned(), body: b"{}".to_vec(), at_us: 1 };
    journal.push_command(others.task(), command).unwrap();
    journal.advance_cursor("memory", 3).unwrap();
    journal.close().unwrap();
    dir
}

/// Checks what verification, a cursor reader and each task's reader report after the change.
fn check(sql: &str, expected: &Expect) {
    let dir = journal_dir();
    rusqlite::Connection::open(dir.path().join("journal.db")).unwrap().execute_batch(sql).unwrap();
    let journal = open(&dir);
    let mut out = String::new();
    for damage in journal.verify().unwrap().damages {
        out.push_str(&format!("{damage}\n"));
    }
    let mut say = |who: &str, error: Result<usize, JournalError>| match error {
        Ok(rows) => out.push_str(&format!("{who} reads {rows} rows\n")),
        Err(JournalError::Damaged { damage, .. }) => out.push_str(&format!("{who} stops: {damage}\n")),
        Err(error) => out.push_str(&format!("{who} stops: {error}\n")),
    };
    say("cursor", all_rows(&journal).map(|rows| rows.len()));
    for task in ["a", "b"] {
        say(task, task_rows(&journal, task));
        say(task, journal.verify_task(task).map(|found| usize::try_from(found.rows).unwrap()));
    }
    expected.assert_eq(&out);
}

fn task_rows(journal: &Journal, task: &str) -> Result<usize, JournalError> {
    Ok(journal.rows(task, 1).collect::<Result<Vec<_>, _>>()?.len())
}

#[test]
fn untouched_journal_is_sound() {
    check(
        "",
        &expect![[r#"
        cursor reads 6 rows
        a reads 4 rows
        a reads 4 rows
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn changed_body_is_reported() {
    check(
        "UPDATE record SET body = x'00' WHERE pos = 2",
        &expect![[r#"
        journal.db, pos 2, task a, seq 2: the row does not match its chain
        cursor stops: journal.db, pos 2, task a, seq 2: the row does not match its chain
        a stops: journal.db, pos 2, task a, seq 2: the row does not match its chain
        a stops: journal.db, pos 2, task a, seq 2: the row does not match its chain
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn changed_time_is_reported() {
    check(
        "UPDATE record SET at_us = at_us + 1 WHERE pos = 6",
        &expect![[r#"
        journal.db, pos 6, task b, seq 2: the row does not match its chain
        cursor stops: journal.db, pos 6, task b, seq 2: the row does not match its chain
        a reads 4 rows
        a reads 4 rows
        b stops: journal.db, pos 6, task b, seq 2: the row does not match its chain
        b stops: journal.db, pos 6, task b, seq 2: the row does not match its chain
    "#]],
    );
}

#[test]
fn changed_chain_is_reported() {
    check(
        "UPDATE record SET chain = zeroblob(32) WHERE pos = 4",
        &expect![[r#"
        journal.db, pos 4, task a, seq 3: the row does not match its chain
        journal.db, pos 5, task a, seq 4: the row does not match its chain
        cursor stops: journal.db, pos 4, task a, seq 3: the row does not match its chain
        a stops: journal.db, pos 4, task a, seq 3: the row does not match its chain
        a stops: journal.db, pos 4, task a, seq 3: the row does not match its chain
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn short_chain_is_reported() {
    check(
        "UPDATE record SET chain = x'00' WHERE pos = 4",
        &expect![[r#"
        journal.db, pos 4: column `chain` holds an invalid value
        journal.db, task a, seq 3: the row is missing
        cursor stops: journal.db, pos 4: column `chain` holds an invalid value
        a stops: journal.db, pos 4: column `chain` holds an invalid value
        a stops: journal.db, pos 4: column `chain` holds an invalid value
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn missing_row_in_the_middle_is_reported() {
    check(
        "DELETE FROM record WHERE pos = 2",
        &expect![[r#"
        journal.db, pos 2: the row is missing
        journal.db, task a, seq 2: the row is missing
        cursor stops: journal.db, pos 2: the row is missing
        a stops: journal.db, task a, seq 2: the row is missing
        a stops: journal.db, task a, seq 2: the row is missing
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn missing_last_row_of_a_task_is_reported() {
    check(
        "DELETE FROM record WHERE pos = 5",
        &expect![[r#"
        journal.db, pos 5: the row is missing
        journal.db, task a, seq 4: the task's entry and its rows disagree about the last row
        cursor stops: journal.db, pos 5: the row is missing
        a stops: journal.db, task a, seq 4: the row is missing
        a stops: journal.db, task a, seq 4: the row is missing
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn two_exchanged_rows_are_reported() {
    check(
        "UPDATE record SET pos = -1 WHERE pos = 1; UPDATE record SET pos = 1 WHERE pos = 3; \
         UPDATE record SET pos = 3 WHERE pos = -1",
        &expect![[r#"
            journal.db, task a, seq 1: the row is missing
            journal.db, pos 3, task a, seq 1: the row is out of order
            journal.db, task a, seq 2: the row is missing
            cursor stops: journal.db, pos 2, task a, seq 2: the row is out of order
            a reads 4 rows
            a reads 4 rows
            b reads 2 rows
            b reads 2 rows
        "#]],
    );
}

#[test]
fn row_moved_to_another_task_is_reported() {
    check(
        "UPDATE record SET tid = 2, seq = 3 WHERE pos = 5",
        &expect![[r#"
        journal.db, task b, seq 2: the row is missing
        journal.db, pos 6, task b, seq 2: the row is out of order
        journal.db, task a, seq 4: the task's entry and its rows disagree about the last row
        cursor stops: journal.db, pos 5, task b, seq 3: the row is out of order
        a stops: journal.db, task a, seq 4: the row is missing
        a stops: journal.db, task a, seq 4: the row is missing
        b reads 2 rows
        b stops: journal.db, task b, seq 3: the task's entry and its rows disagree about the last row
    "#]],
    );
}

#[test]
fn task_reset_to_an_earlier_row_is_reported() {
    check(
        "UPDATE task_state SET seq = 2 WHERE tid = 1",
        &expect![[r#"
        journal.db, task a: entry 1 of `task_state` does not match its check
        cursor reads 6 rows
        a stops: journal.db, task a: entry 1 of `task_state` does not match its check
        a stops: journal.db, task a: entry 1 of `task_state` does not match its check
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn changed_lease_owner_is_reported() {
    check(
        "UPDATE task_state SET owner = 'you' WHERE tid = 1",
        &expect![[r#"
        journal.db, task a: entry 1 of `task_state` does not match its check
        cursor reads 6 rows
        a stops: journal.db, task a: entry 1 of `task_state` does not match its check
        a stops: journal.db, task a: entry 1 of `task_state` does not match its check
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn renamed_task_is_reported() {
    check(
        "UPDATE task SET id = 'c' WHERE tid = 1",
        &expect![[r#"
        journal.db, task c: entry 1 of `task` does not match its check
        cursor stops: journal.db, task c: entry 1 of `task` does not match its check
        a stops: find task a: the journal has no such task
        a stops: find task a: the journal has no such task
        b reads 2 rows
        b reads 2 rows
    "#]],
    );
}

#[test]
fn changed_title_is_reported() {
    check(
        "UPDATE task SET title = 'other' WHERE tid = 2",
        &expect![[r#"
        journal.db, task b: entry 2 of `task` does not match its check
        cursor stops: journal.db, task b: entry 2 of `task` does not match its check
        a reads 4 rows
        a reads 4 rows
        b reads 2 rows
        b stops: journal.db, task b: entry 2 of `task` does not match its check
    "#]],
    );
}

#[test]
fn deleted_task_entry_is_reported() {
    check(
        "DELETE FROM task_state WHERE tid = 2; DELETE FROM task WHERE tid = 2",
        &expect![[r#"
        journal.db: entry 2 of `task` is missing
        cursor stops: journal.db: entry 2 of `task` is missing
        a reads 4 rows
        a reads 4 rows
        b stops: find task b: the journal has no such task
        b stops: find task b: the journal has no such task
    "#]],
    );
}

#[test]
fn changed_entries_without_a_chain_are_reported() {
    check(
        "UPDATE command SET body = x'7b' ; UPDATE cursor SET pos = 4; UPDATE fragment SET body = x'00'",
        &expect![[r#"
            journal.db: fragment 66fabd4d998134319768c6498bd0b7ddc47a979b9d9c0b611855b128f307a694 does not match its hash
            journal.db: entry 1 of `command` does not match its check
            journal.db: entry memory of `cursor` does not match its check
            cursor reads 6 rows
            a reads 4 rows
            a reads 4 rows
            b reads 2 rows
            b reads 2 rows
        "#]],
    );
}
