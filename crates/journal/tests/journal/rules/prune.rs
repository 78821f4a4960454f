//! What a pruning removes and keeps, and when it is refused.

use std::collections::BTreeSet;

use setpoint_journal::{
    Fragment, Journal, JournalError, KeptKinds, LeaseTerms, NewCommand, PRUNING_KIND, Prune, PruneResult,
    SYSTEM_STREAM, Submission, TaskHead,
};

use crate::common::{all_rows, on_both, open_task, opening, row, rows_behind};

pub(crate) const KEPT: KeptKinds = ["result"; 5];

pub(crate) fn prune(journal: &Journal, tasks: &[&str]) -> Prune {
    Prune {
        tasks: tasks.iter().map(|task| (*task).into()).collect(),
        kept_kinds: KEPT,
        kept_fragments: BTreeSet::new(),
        as_of: journal.last_pos().unwrap(),
        dead_owners: BTreeSet::new(),
        by: "operator",
        now_us: 5_000_000,
    }
}

/// Appends a closed task of four rows, the last one its result, with a fragment of its own and a shared one.
pub(crate) fn ended_task(journal: &Journal, task: &str, at_us: i64) {
    let mut rows = rows_behind(&TaskHead::start(task).unwrap(), 3);
    rows.push(row(4, "result", b"{\"answer\":42}")).unwrap();
    for text in [task, "shared"] {
        rows.attach(Fragment::new(text.as_bytes().to_vec()).unwrap()).unwrap();
    }
    rows.open(opening(task)).unwrap().close(at_us);
    journal.append(rows).unwrap();
}

#[test]
fn rows_of_a_pruned_task_keep_all_but_their_bodies() {
    on_both(|journal| {
        ended_task(journal, "old", 1_000);
        ended_task(journal, "new", 3_000);
        open_task(journal, "open", 2);
        let before = all_rows(journal).unwrap();
        let ids = |tasks: Vec<setpoint_journal::Task>| {
            tasks.iter().map(|task| task.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ids(journal.prunable(2_000).unwrap()), ["old"]);
        assert_eq!(ids(journal.prunable(4_000).unwrap()), ["old", "new"]);
        let (rows, bytes) = journal.content("old", &KEPT).unwrap();
        assert_eq!(rows, 2);

        let shared = Fragment::hash_of(b"shared");
        let kept_fragments = [shared, Fragment::hash_of(b"new")].into();
        let done = journal.prune(Prune { kept_fragments, ..prune(journal, &["old"]) }).unwrap();
        assert_eq!(done, PruneResult { rows, body_bytes: bytes, fragments: 1, fragment_bytes: 3 });
        assert_eq!(journal.fragment(&Fragment::hash_of(b"old")).unwrap(), None);
        assert!(journal.fragment(&shared).unwrap().is_some());

        let after = all_rows(journal).unwrap();
        for (before, after) in before.iter().zip(&after) {
            let is_pruned = &*before.task == "old" && [2, 3].contains(&before.seq);
            assert_eq!((after.is_pruned, after.body.is_empty()), (is_pruned, is_pruned), "{after:?}");
            let mut whole = after.clone();
            (whole.body, whole.is_pruned) = (before.body.clone(), false);
            assert_eq!(&whole, before);
        }
        let act = after.last().unwrap();
        assert_eq!(
            (&*act.task, &*act.kind, &*act.from, act.at_us),
            (SYSTEM_STREAM, PRUNING_KIND, "operator", 5_000_000)
        );
        assert_eq!(act.body, br#"{"kept":["result","result","result","result","result"],"tasks":["old"]}"#);
        assert_eq!(journal.task("old").unwrap().pruned_at_us, Some(5_000_000));
        assert_eq!(journal.task("new").unwrap().pruned_at_us, None);
        assert_eq!(ids(journal.prunable(4_000).unwrap()), ["new"]);
        assert_eq!(journal.verify_task("old").unwrap().rows, 4);
        assert_eq!(journal.rows_of_kinds_after(0, ["result"; 4], 9).unwrap().len(), 2);
        let report = journal.verify().unwrap();
        assert!(report.is_sound() && report.pruned == 2, "{report:?}");

        // Pruning again changes nothing, and the open task goes on.
        let again =
            journal.prune(Prune { kept_fragments: [shared].into(), ..prune(journal, &["old"]) }).unwrap();
        assert_eq!((again.rows, again.fragments), (0, 1));
        journal.append(rows_behind(&journal.head("open").unwrap(), 1)).unwrap();
        journal.compact().unwrap();
        assert_eq!(all_rows(journal).unwrap().len(), after.len() + 1);
    });
}

#[test]
fn more_tasks_than_one_row_names_are_pruned_at_once() {
    on_both(|journal| {
        let tasks: Vec<String> = (0..600).map(|n| format!("t{n}")).collect();
        for task in &tasks {
            let mut rows = rows_behind(&TaskHead::start(task).unwrap(), 2);
            rows.open(opening(task)).unwrap().close(1);
            journal.append(rows).unwrap();
        }
        let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
        assert_eq!(journal.prune(prune(journal, &tasks)).unwrap().rows, 600);
        assert_eq!(journal.head(SYSTEM_STREAM).unwrap().seq(), 3);
        assert!(tasks.iter().all(|task| journal.task(task).unwrap().pruned_at_us.is_some()));
    });
}

#[test]
fn nothing_is_pruned_beside_a_process_that_drives_a_task() {
    on_both(|journal| {
        ended_task(journal, "old", 1);
        open_task(journal, "driven", 1);
        let terms = LeaseTerms { owner: "me".to_owned(), now_us: 1_000_000, ttl_ms: 60_000 };
        journal.acquire_lease("driven", &terms).unwrap();
        let wanted = prune(journal, &["old"]);
        let error = journal.prune(wanted.clone()).unwrap_err();
        assert_eq!(error.to_string(), "prune tasks: task driven is being driven by me");
        assert!(all_rows(journal).unwrap().iter().all(|row| !row.is_pruned));
        // A lease that has expired, or of a dead process, does not block.
        let dead_owners = ["me".to_owned()].into();
        journal.prune(Prune { dead_owners, ..wanted }).unwrap();
        let late = Prune { now_us: 61_000_001, ..prune(journal, &["old"]) };
        journal.prune(late).unwrap();
    });
}

#[test]
fn open_tasks_and_outdated_requests_are_not_pruned() {
    on_both(|journal| {
        ended_task(journal, "old", 1);
        open_task(journal, "open", 1);
        let wanted = prune(journal, &["old"]);
        let head = journal.head("open").unwrap();
        let mut next = Submission::new(&head);
        next.push(row(2, "asks", b"for a fragment")).unwrap();
        journal.append(next).unwrap();
        assert!(matches!(journal.prune(wanted), Err(JournalError::PruneOvertaken)));
        for (task, expected) in [
            ("open", "prune task open: it has not ended"),
            ("none", "find task none: the journal has no such task"),
        ] {
            let error = journal.prune(prune(journal, &["old", task])).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        journal.push_command("open", NewCommand { kind: "k".to_owned(), body: vec![], at_us: 1 }).unwrap();
        assert!(all_rows(journal).unwrap().iter().all(|row| !row.is_pruned));
        journal.prune(prune(journal, &["old"])).unwrap();
        let error = journal.prune(prune(journal, &[SYSTEM_STREAM])).unwrap_err();
        assert_eq!(error.to_string(), "prune task system: it has not ended");
    });
}
