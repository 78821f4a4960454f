//! Who may append: epochs are the fence, time only allows the next epoch.

use setpoint_journal::limits::LEASE_TTL_MS_MAX;
use setpoint_journal::{Journal, JournalError, Lease, LeaseTerms, Submission};

use crate::common::{first_rows, on_both, open_task, opening, rows_behind};

fn terms(owner: &str, now_us: i64) -> LeaseTerms {
    LeaseTerms { owner: owner.to_owned(), now_us, ttl_ms: 10 }
}

fn under(lease: &Lease, mut submission: Submission) -> Submission {
    submission.under(lease);
    submission
}

fn open_under(journal: &Journal, task: &str, owner: &str) -> (Lease, setpoint_journal::TaskHead) {
    let mut submission = first_rows(task, 1);
    submission.open(setpoint_journal::TaskOpening { lease: Some(terms(owner, 0)), ..opening("t") }).unwrap();
    let committed = journal.append(submission).unwrap();
    (committed.lease.unwrap(), committed.head)
}

#[test]
fn a_task_can_be_opened_under_a_lease() {
    on_both(|journal| {
        let (lease, head) = open_under(journal, "t", "a");
        assert_eq!((lease.epoch, lease.until_us, lease.owner.as_str()), (1, 10_000, "a"));
        let without = journal.append(rows_behind(&head, 1)).unwrap_err();
        assert!(matches!(*without, JournalError::LeaseLost { held: None, current: 1, .. }), "{without:?}");
        let committed = journal.append(under(&lease, rows_behind(&head, 1))).unwrap();
        assert_eq!(committed.head.seq(), 2);
        assert_eq!(journal.task("t").unwrap().lease, Some(lease));
    });
}

#[test]
fn taking_an_expired_lease_fences_off_the_old_holder() {
    on_both(|journal| {
        let (old, head) = open_under(journal, "t", "a");
        let held = journal.acquire_lease("t", &terms("b", 9_999)).unwrap_err();
        assert!(matches!(held, JournalError::LeaseHeld { epoch: 1, until_us: 10_000, .. }), "{held:?}");
        let new = journal.acquire_lease("t", &terms("b", 10_000)).unwrap();
        assert_eq!(new.epoch, 2);
        let late = journal.append(under(&old, rows_behind(&head, 1))).unwrap_err();
        let JournalError::LeaseLost { held, current, owner, .. } = &*late else { panic!("{late:?}") };
        assert_eq!((*held, *current, owner.as_deref()), (Some(1), 2, Some("b")));
        assert!(matches!(journal.renew_lease(&old, 0, 10), Err(JournalError::LeaseLost { .. })));
        assert!(matches!(journal.release_lease(&old), Err(JournalError::LeaseLost { .. })));
        journal.append(under(&new, rows_behind(&head, 1))).unwrap();
    });
}

/// However the clock jumps, no two holders have the same epoch, and only the last may append.
#[test]
fn jumping_clock_grants_no_epoch_twice() {
    on_both(|journal| {
        let (mut lease, mut head) = open_under(journal, "t", "owner-0");
        let hour = 3_600_000_000;
        for (n, now_us) in
            [hour, -hour, 24 * hour, 0, i64::MAX, i64::MIN, 10 * 365 * 24 * hour].into_iter().enumerate()
        {
            let owner = format!("owner-{}", n + 1);
            match journal.acquire_lease("t", &terms(&owner, now_us)) {
                Ok(next) => {
                    assert_eq!(next.epoch, lease.epoch + 1);
                    journal.append(under(&lease, rows_behind(&head, 1))).unwrap_err();
                    lease = next;
                }
                Err(error) => assert!(matches!(error, JournalError::LeaseHeld { .. }), "{error:?}"),
            }
            head = journal.append(under(&lease, rows_behind(&head, 1))).unwrap().head;
        }
        assert!(lease.epoch > 2);
    });
}

#[test]
fn expired_lease_can_be_renewed_until_it_is_taken() {
    on_both(|journal| {
        let (lease, _) = open_under(journal, "t", "a");
        let renewed = journal.renew_lease(&lease, 50_000, 20).unwrap();
        assert_eq!((renewed.epoch, renewed.until_us), (1, 70_000));
        assert!(matches!(
            journal.acquire_lease("t", &terms("b", 60_000)),
            Err(JournalError::LeaseHeld { until_us: 70_000, .. })
        ));
    });
}

#[test]
fn only_the_named_dead_owner_is_displaced() {
    on_both(|journal| {
        open_under(journal, "t", "dead");
        let wrong = journal.take_over_lease("t", "somebody else", &terms("b", 1)).unwrap_err();
        assert!(matches!(wrong, JournalError::LeaseHeld { .. }), "{wrong:?}");
        assert_eq!(journal.take_over_lease("t", "dead", &terms("b", 1)).unwrap().epoch, 2);
        let raced = journal.take_over_lease("t", "dead", &terms("c", 1)).unwrap_err();
        assert!(matches!(raced, JournalError::LeaseHeld { epoch: 2, .. }), "{raced:?}");
    });
}

#[test]
fn released_task_is_free_and_keeps_its_epoch() {
    on_both(|journal| {
        let (lease, head) = open_under(journal, "t", "a");
        journal.release_lease(&lease).unwrap();
        journal.release_lease(&lease).unwrap();
        journal.append(under(&lease, rows_behind(&head, 1))).unwrap_err();
        assert_eq!(journal.task("t").unwrap().lease, None);
        let next = journal.acquire_lease("t", &terms("b", 1)).unwrap();
        assert_eq!(next.epoch, 2);
        assert_eq!(journal.task("t").unwrap().epoch, 2);
    });
}

#[test]
fn closing_ends_the_lease() {
    on_both(|journal| {
        let (lease, head) = open_under(journal, "t", "a");
        let mut last = under(&lease, rows_behind(&head, 1));
        last.close(9);
        journal.append(last).unwrap();
        journal.release_lease(&lease).unwrap();
        assert!(matches!(journal.renew_lease(&lease, 1, 1), Err(JournalError::TaskClosed { .. })));
        assert!(matches!(journal.acquire_lease("t", &terms("a", 1)), Err(JournalError::TaskClosed { .. })));
        assert_eq!(journal.task("t").unwrap().lease, None);
    });
}

#[test]
fn lease_terms_are_bounded() {
    on_both(|journal| {
        open_task(journal, "t", 1);
        let long = LeaseTerms { ttl_ms: LEASE_TTL_MS_MAX + 1, ..terms("a", 0) };
        assert!(matches!(journal.acquire_lease("t", &long), Err(JournalError::Limit { .. })));
        assert!(matches!(journal.acquire_lease("t", &terms("", 0)), Err(JournalError::BadName { .. })));
        assert!(matches!(journal.acquire_lease("x", &terms("a", 0)), Err(JournalError::UnknownTask { .. })));
        let forever = LeaseTerms { now_us: i64::MAX, ..terms("a", 0) };
        assert_eq!(journal.acquire_lease("t", &forever).unwrap().until_us, i64::MAX);
    });
}
