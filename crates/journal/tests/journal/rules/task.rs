//! What is known of tasks without reading their rows.

use setpoint_journal::{JournalError, TaskFilter};

use crate::common::{first_rows, on_both, open_task, rows_behind};

#[test]
fn tasks_are_listed_newest_first() {
    on_both(|journal| {
        open_task(journal, "system", 1);
        let first = open_task(journal, "first", 2).head;
        open_task(journal, "second", 1);
        open_task(journal, "third", 1);
        let mut last = rows_behind(&first, 1);
        last.close(42);
        journal.append(last).unwrap();

        let ids = |filter, limit| -> Vec<String> {
            journal.list_tasks(filter, limit).unwrap().iter().map(|task| task.id.to_string()).collect()
        };
        assert_eq!(ids(TaskFilter::Any, 10), ["third", "second", "first"]);
        assert_eq!(ids(TaskFilter::Any, 1), ["third"]);
        assert_eq!(ids(TaskFilter::Open, 10), ["third", "second"]);
        assert_eq!(ids(TaskFilter::Closed, 10), ["first"]);

        let task = journal.task("first").unwrap();
        assert_eq!((task.title.as_str(), task.logic_version), ("title of first", 3));
        assert_eq!((task.opened_at_us, task.closed_at_us), (1_700_000_000_000_000, Some(42)));
        assert_eq!((task.head.seq(), task.epoch, task.lease), (3, 0, None));
        assert!(matches!(journal.task("none"), Err(JournalError::UnknownTask { .. })));
    });
}

#[test]
fn task_is_resolved_by_a_prefix_or_suffix() {
    on_both(|journal| {
        for id in ["build-a1", "build-a2", "build", "修复-1", "system"] {
            open_task(journal, id, 1);
        }
        assert_eq!(journal.resolve("build").unwrap(), "build");
        assert_eq!(journal.resolve("build-a2").unwrap(), "build-a2");
        assert_eq!(journal.resolve("修").unwrap(), "修复-1");
        assert_eq!(journal.resolve("-a2").unwrap(), "build-a2");
        assert_eq!(journal.resolve("复-1").unwrap(), "修复-1");
        open_task(journal, "a2-build-it", 1);
        let JournalError::Ambiguous { matches, .. } = journal.resolve("a2").unwrap_err() else { panic!() };
        assert_eq!(matches, ["a2-build-it", "build-a2"], "one begins so, the other ends so");
        let JournalError::Ambiguous { matches, .. } = journal.resolve("build-").unwrap_err() else {
            panic!()
        };
        assert_eq!(matches, ["build-a1", "build-a2"]);
        for none in ["", "x", "build-a1x", "sys", "%", "build_", "%2", "_2", "tem"] {
            assert!(matches!(journal.resolve(none), Err(JournalError::NotFound { .. })), "{none}");
        }
        for n in 0..20 {
            open_task(journal, &format!("many-{n}"), 1);
        }
        let JournalError::Ambiguous { matches, .. } = journal.resolve("many").unwrap_err() else { panic!() };
        assert_eq!(matches.len(), setpoint_journal::limits::MATCHES_MAX);
    });
}

#[test]
fn head_of_an_unknown_task_is_its_start() {
    on_both(|journal| {
        let head = journal.head("new").unwrap();
        assert_eq!(head.seq(), 0);
        let mut submission = rows_behind(&head, 1);
        submission.open(crate::common::opening("")).unwrap();
        journal.append(submission).unwrap();
        assert_eq!(journal.head("new").unwrap().seq(), 1);
        assert!(journal.append(first_rows("new", 1)).is_err());
    });
}
