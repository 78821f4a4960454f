//! Helpers of the journal's tests: small rows, small tasks, both backends.

use std::path::Path;

use setpoint_journal::{
    CommitReceipt, Journal, JournalError, JournalOptions, NewRow, Row, Submission, TaskHead, TaskOpening,
};
use tempfile::TempDir;

/// Runs a test over a journal on disk and one in memory, which must behave alike.
pub(crate) fn on_both(test: impl Fn(&Journal)) {
    test(&Journal::in_memory());
    let dir = TempDir::new().unwrap();
    let journal = open(&dir);
    test(&journal);
    journal.close().unwrap();
    let journal = open(&dir);
    let report = journal.verify().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
}

/// Returns a directory in memory if possible: a real disk would only slow down tests that open many journals.
pub(crate) fn quick_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { TempDir::new_in(memory).unwrap() } else { TempDir::new().unwrap() }
}

pub(crate) fn open(dir: &TempDir) -> Journal {
    Journal::open(dir.path(), &JournalOptions::default()).unwrap()
}

pub(crate) fn row(seq: u64, kind: &str, body: &[u8]) -> NewRow {
    NewRow {
        seq,
        at_us: 1_700_000_000_000_000 + i64::try_from(seq).unwrap(),
        clock_ms: seq * 10,
        from: "user".into(),
        to: "perceiver:0".into(),
        kind: kind.to_owned().into(),
        cause: seq.checked_sub(1).filter(|cause| *cause > 0),
        format: 1,
        body: body.to_vec(),
    }
}

pub(crate) fn opening(title: &str) -> TaskOpening {
    TaskOpening {
        opened_at_us: 1_700_000_000_000_000,
        logic_version: 3,
        title: title.to_owned(),
        lease: None,
    }
}

/// Returns a submission of `count` rows after `head`.
pub(crate) fn rows_behind(head: &TaskHead, count: u64) -> Submission {
    let mut submission = Submission::new(head);
    for n in 1..=count {
        let seq = head.seq() + n;
        let body = format!("{{\"task\":\"{}\",\"seq\":{seq}}}", head.task());
        submission.push(row(seq, "record", body.as_bytes())).unwrap();
    }
    submission
}

/// Returns bytes that do not shrink when deflated.
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

/// Returns the first submission of a new task.
pub(crate) fn first_rows(task: &str, count: u64) -> Submission {
    let mut submission = rows_behind(&TaskHead::start(task).unwrap(), count);
    submission.open(opening(&format!("title of {task}"))).unwrap();
    submission
}

/// Opens a task with `count` rows.
pub(crate) fn open_task(journal: &Journal, task: &str, count: u64) -> CommitReceipt {
    journal.append(first_rows(task, count)).unwrap()
}

/// Reads all rows of the journal by cursor.
pub(crate) fn all_rows(journal: &Journal) -> Result<Vec<Row>, JournalError> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let page = journal.rows_after(rows.last().map_or(0, |row| row.pos), 100)?;
        if page.is_empty() {
            return Ok(rows);
        }
        rows.extend(page);
    }
}

/// Formats an error as a person sees it, with its causes.
pub(crate) fn text(error: &JournalError) -> String {
    let mut out = format!("failed to {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        out.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    out
}
