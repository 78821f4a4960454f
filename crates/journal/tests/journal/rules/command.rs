//! Commands are pending until a submission takes them together with the rows that they cause.

use setpoint_journal::limits::{COMMAND_BODY_BYTES_MAX, COMMANDS_PER_TASK_MAX};
use setpoint_journal::{CommandState, JournalError, NewCommand};

use crate::common::{on_both, open_task, rows_behind};

fn command(kind: &str) -> NewCommand {
    NewCommand { kind: kind.to_owned(), body: kind.as_bytes().to_vec(), at_us: 5 }
}

#[test]
fn a_command_is_taken_together_with_its_rows() {
    on_both(|journal| {
        let head = open_task(journal, "t", 1).head;
        let cancel = journal.push_command("t", command("cancel")).unwrap();
        let answer = journal.push_command("t", command("answer")).unwrap();
        assert!(answer > cancel);
        let waiting = journal.waiting_commands("t").unwrap();
        let kinds: Vec<_> = waiting.iter().map(|command| (command.id, command.kind.as_str())).collect();
        assert_eq!(kinds, [(cancel, "cancel"), (answer, "answer")]);
        assert_eq!(
            (waiting[0].body.as_slice(), waiting[0].at_us, waiting[0].task.as_str()),
            (&b"cancel"[..], 5, "t")
        );

        let mut taking = rows_behind(&head, 2);
        taking.take_command(cancel).unwrap();
        let head = journal.append(taking).unwrap().head;
        assert_eq!(journal.command_state(cancel).unwrap(), Some(CommandState::Taken { seq: 2 }));
        assert_eq!(journal.command_state(answer).unwrap(), Some(CommandState::Pending));
        assert_eq!(journal.command_state(99).unwrap(), None);

        let mut twice = rows_behind(&head, 1);
        twice.take_command(cancel).unwrap();
        let error = journal.append(twice).unwrap_err();
        assert!(matches!(*error, JournalError::CommandGone { .. }), "{error:?}");
        let mut doubled = rows_behind(&head, 1);
        doubled.take_command(answer).unwrap().take_command(answer).unwrap();
        assert!(matches!(*journal.append(doubled).unwrap_err(), JournalError::CommandGone { .. }));
        assert_eq!(journal.waiting_commands("t").unwrap().len(), 1);
    });
}

#[test]
fn a_command_for_another_task_cannot_be_taken() {
    on_both(|journal| {
        let head = open_task(journal, "a", 1).head;
        open_task(journal, "b", 1);
        let id = journal.push_command("b", command("cancel")).unwrap();
        let mut stealing = rows_behind(&head, 1);
        stealing.take_command(id).unwrap();
        assert!(matches!(*journal.append(stealing).unwrap_err(), JournalError::CommandGone { .. }));
        assert_eq!(journal.head("a").unwrap(), head);
    });
}

#[test]
fn commands_pending_when_the_task_ends_are_too_late() {
    on_both(|journal| {
        let head = open_task(journal, "t", 1).head;
        let taken = journal.push_command("t", command("a")).unwrap();
        let late = journal.push_command("t", command("b")).unwrap();
        let mut last = rows_behind(&head, 1);
        last.take_command(taken).unwrap().close(9);
        assert_eq!(journal.append(last).unwrap().commands_too_late, [late]);
        assert_eq!(journal.command_state(late).unwrap(), Some(CommandState::TooLate));
        assert!(journal.pending_commands(0, 10).unwrap().is_empty());
        assert!(matches!(journal.push_command("t", command("c")), Err(JournalError::TaskClosed { .. })));
    });
}

#[test]
fn owner_of_many_tasks_lists_all_pending_commands() {
    on_both(|journal| {
        let ids: Vec<_> = (0..5)
            .map(|n| {
                let task = format!("task-{}", n % 2);
                if n < 2 {
                    open_task(journal, &task, 1);
                }
                journal.push_command(&task, command("c")).unwrap()
            })
            .collect();
        let seen = |after, limit| -> Vec<_> {
            journal.pending_commands(after, limit).unwrap().iter().map(|command| command.id).collect()
        };
        assert_eq!(seen(0, 10), ids);
        assert_eq!(seen(ids[1], 2), ids[2..4]);
        let tasks: Vec<_> =
            journal.pending_commands(0, 2).unwrap().into_iter().map(|command| command.task).collect();
        assert_eq!(tasks, ["task-0", "task-1"]);
    });
}

#[test]
fn commands_are_bounded() {
    on_both(|journal| {
        open_task(journal, "t", 1);
        for _ in 0..COMMANDS_PER_TASK_MAX {
            journal.push_command("t", command("c")).unwrap();
        }
        assert!(matches!(journal.push_command("t", command("c")), Err(JournalError::CommandsFull { .. })));
        let large = NewCommand { body: vec![0; COMMAND_BODY_BYTES_MAX + 1], ..command("c") };
        assert!(matches!(journal.push_command("t", large), Err(JournalError::Limit { .. })));
        assert!(matches!(journal.push_command("x", command("c")), Err(JournalError::UnknownTask { .. })));
        assert!(matches!(journal.waiting_commands("x"), Err(JournalError::UnknownTask { .. })));
    });
}
