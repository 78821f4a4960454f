//! The write-ahead log stays short, and the acknowledged rows are in the files.

use std::fs;

use setpoint_journal::limits::WAL_PAGES_MAX;
use setpoint_journal::{Submission, TaskHead};

use crate::common::{noise, open, opening, quick_dir, row};

#[test]
fn the_log_is_moved_into_the_database_before_it_grows_long() {
    let dir = quick_dir();
    let journal = open(&dir);
    let mut head = TaskHead::start("t").unwrap();
    let mut longest = 0;
    for seq in 1..=800 {
        let mut submission = Submission::new(&head);
        submission.push(row(seq, "k", &noise(seq, 50_000))).unwrap();
        if seq == 1 {
            submission.open(opening("")).unwrap();
        }
        head = journal.append(submission).unwrap().head;
        longest = longest.max(fs::metadata(dir.path().join("journal.db-wal")).unwrap().len());
    }
    let bound = WAL_PAGES_MAX * 4_096;
    assert!(longest > bound / 2 && longest < 2 * bound, "{longest} bytes");
    assert!(fs::metadata(dir.path().join("journal.db")).unwrap().len() > 3 * bound);
    assert!(journal.verify().unwrap().is_sound());
}
