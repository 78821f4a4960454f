//! Every value is bounded, and exceeding a bound returns a typed error.

use setpoint_journal::limits::{
    ADDRESS_BYTES_MAX, BODY_BYTES_MAX, COUNT_MAX, FRAGMENT_BYTES_MAX, KIND_BYTES_MAX,
    ROWS_PER_SUBMISSION_MAX, SUBMISSION_BYTES_MAX, TASK_ID_BYTES_MAX, TITLE_BYTES_MAX,
};
use setpoint_journal::{Fragment, JournalError, NewRow, Submission, TaskHead};

use crate::common::{on_both, opening, row, rows_behind};

fn submission() -> Submission {
    Submission::new(&TaskHead::start("t").unwrap())
}

#[test]
fn bounds_of_a_row_are_exact() {
    let fits = |change: &dyn Fn(&mut NewRow)| {
        let mut row = row(1, "k", b"");
        change(&mut row);
        match submission().push(row) {
            Ok(_) => true,
            Err(JournalError::Limit { .. }) => false,
            Err(other) => panic!("{other:?}"),
        }
    };
    assert!(fits(&|row| row.body = vec![0; BODY_BYTES_MAX]));
    assert!(!fits(&|row| row.body = vec![0; BODY_BYTES_MAX + 1]));
    assert!(fits(&|row| row.from = "x".repeat(ADDRESS_BYTES_MAX).into()));
    assert!(!fits(&|row| row.from = "x".repeat(ADDRESS_BYTES_MAX + 1).into()));
    assert!(!fits(&|row| row.to = "x".repeat(ADDRESS_BYTES_MAX + 1).into()));
    assert!(fits(&|row| row.kind = "x".repeat(KIND_BYTES_MAX).into()));
    assert!(!fits(&|row| row.kind = "x".repeat(KIND_BYTES_MAX + 1).into()));
    assert!(fits(&|row| row.clock_ms = COUNT_MAX));
    assert!(!fits(&|row| row.clock_ms = COUNT_MAX + 1));
    assert!(!fits(&|row| row.cause = Some(u64::MAX)));
}

#[test]
fn empty_names_and_control_characters_are_refused() {
    for bad in ["", "a\nb", "\u{0}", "\u{9b}"] {
        let mut of = row(1, "k", b"");
        of.from = bad.to_owned().into();
        assert!(matches!(submission().push(of), Err(JournalError::BadName { .. })), "{bad:?}");
        assert!(matches!(TaskHead::start(bad), Err(JournalError::BadName { .. })), "{bad:?}");
    }
    assert!(TaskHead::start("修复构建-7f").is_ok());
    assert!(matches!(TaskHead::start(&"x".repeat(TASK_ID_BYTES_MAX + 1)), Err(JournalError::Limit { .. })));
}

#[test]
fn push_over_a_bound_leaves_the_submission_unchanged() {
    let mut submission = rows_behind(&TaskHead::start("t").unwrap(), ROWS_PER_SUBMISSION_MAX as u64);
    let head = submission.head().clone();
    let over = submission.push(row(head.seq() + 1, "k", b"")).unwrap_err();
    assert!(matches!(over, JournalError::Limit { what: "rows of a submission", .. }), "{over:?}");
    assert_eq!(*submission.head(), head);

    let mut submission = self::submission();
    for seq in 1..=4 {
        let room = SUBMISSION_BYTES_MAX / 4 - 64;
        submission.push(row(seq, "k", &vec![0; room.min(BODY_BYTES_MAX)])).unwrap();
    }
    let over = submission.attach(Fragment::new(vec![0; 1_024]).unwrap()).unwrap_err();
    assert!(matches!(over, JournalError::Limit { what: "bytes of a submission", .. }), "{over:?}");
    assert!(matches!(Fragment::new(vec![0; FRAGMENT_BYTES_MAX + 1]), Err(JournalError::Limit { .. })));
    assert!(matches!(
        submission.open(opening(&"x".repeat(TITLE_BYTES_MAX + 1))),
        Err(JournalError::Limit { what: "title", .. })
    ));
}

#[test]
fn the_largest_row_is_stored() {
    on_both(|journal| {
        let mut submission = submission();
        submission.push(row(1, "k", &vec![0xa5; BODY_BYTES_MAX])).unwrap();
        submission.open(opening("")).unwrap();
        journal.append(submission).unwrap();
        assert_eq!(journal.read_rows("t", 1, 1).unwrap()[0].body.len(), BODY_BYTES_MAX);
    });
}
