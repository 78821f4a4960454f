//! R6 on real journals: what it notes, where it continues, and how changes to journal or log show.

mod damage;
mod following;

use std::path::{Path, PathBuf};

use setpoint_audit::view::AuditEvent;
use setpoint_audit::{AuditPlace, Follower, Keeper, LogEntry, log, look, parse, verify_journal};
use setpoint_journal::{Journal, JournalOptions, NewRow, Submission, TaskHead, TaskOpening};
use setpoint_protocol::message::{AuditReport, Finding, FindingKind};
use setpoint_protocol::{TaskId, Timestamp};

const NOW: Timestamp = Timestamp::from_micros(1_790_000_000_000_000);

/// A data directory with a journal and an Auditor.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.path("journal"), &JournalOptions::default()).unwrap()
    }

    fn place(&self) -> AuditPlace {
        AuditPlace { dir: self.path("audit"), key: None, export: Some(self.path("exported")) }
    }

    /// Waits for the lock: a test that starts a process also has it for a moment, between its fork and its exec.
    fn keeper(&self, journal: &Journal) -> Keeper {
        let open = || {
            std::thread::yield_now();
            Keeper::open(&self.place(), journal, NOW).unwrap()
        };
        std::iter::repeat_with(open).take(100_000).flatten().next().unwrap()
    }

    /// Every entry of the log.
    fn entries(&self) -> Vec<LogEntry> {
        let entries = log::Entries::after(&self.path("audit"), 0).unwrap();
        entries.filter_map(|entry| parse(&entry.unwrap().json)).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let finding = |entry| match entry {
            LogEntry::Finding(finding) => Some(finding),
            _ => None,
        };
        self.entries().into_iter().filter_map(finding).collect()
    }

    /// Checks that the log notes every row up to `last` once and in order, is sound, and fits the journal.
    #[track_caller]
    fn notes_everything(&self, journal: &Journal, last: u64) {
        let mut noted = 0;
        for entry in self.entries() {
            if let LogEntry::Rows { after, to, count, .. } = entry {
                assert_eq!((after, to), (noted, noted + count));
                noted = to;
            }
        }
        assert_eq!(noted, last);
        let fit = verify_journal(&self.path("audit"), journal).unwrap();
        assert_eq!((fit.rows, fit.misfits.as_slice(), fit.not_noted), (last, [].as_slice(), 0));
        let seen = log::verify(&self.path("audit"), &log::TrustAnchors::default()).unwrap();
        assert!(seen.is_sound(), "{:?}", seen.findings);
    }
}

/// The rows of a task that was cancelled at once, with one that is a finding if wanted.
fn rows(is_odd: bool) -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let mut rows = vec![
        ("runtime", "-", "Opened", r#"{"controller":{},"budgets":{},"models":{"brain":"b","tool":"t"}}"#),
        ("user", "perceiver", "UserInput", r#"{"raw_input":"count"}"#),
        ("perceiver", "planner", "TaskSpec", r#"{"intent":"count","raw_input":"count"}"#),
        ("user", "goal_gradient_solver", "CancelRequest", "{}"),
        (
            "goal_gradient_solver",
            "user",
            "FinalResult",
            r#"{"loss":{"D":1.0,"P":0.5,"Omega":0.0,"L":0.75},"grad_l":0.0,"replans":0,"directive":"abandon","ended_by":"cancelled"}"#,
        ),
    ];
    if is_odd {
        rows.insert(3, ("executor", "user", "AbandonNotice", "{}"));
        rows.remove(4);
    }
    rows
}

/// The finding in every odd task: a message that no route allows.
const ODD: FindingKind = FindingKind::BoundaryViolation;

/// Appends a task.
fn task(journal: &Journal, n: u64, is_odd: bool) {
    task_of(journal, n, &rows(is_odd), true);
}

fn task_of(
    journal: &Journal,
    n: u64,
    rows: &[(&'static str, &'static str, &'static str, &'static str)],
    is_closed: bool,
) {
    let task = TaskId::mint("count", n);
    let mut submission = Submission::new(&TaskHead::start(task.as_str()).unwrap());
    let opening = TaskOpening {
        opened_at_us: NOW.as_micros(),
        logic_version: 1,
        title: "count".to_owned(),
        lease: None,
    };
    submission.open(opening).unwrap();
    for ((from, to, kind, body), seq) in rows.iter().zip(1..) {
        submission.push(row(seq, from, to, kind, body)).unwrap();
    }
    if is_closed {
        submission.close(NOW.as_micros());
    }
    journal.append(submission).unwrap();
}

fn row(seq: u64, from: &'static str, to: &'static str, kind: &'static str, body: &str) -> NewRow {
    NewRow {
        seq,
        at_us: NOW.as_micros(),
        clock_ms: 0,
        from: from.into(),
        to: to.into(),
        kind: kind.into(),
        cause: None,
        format: 1,
        body: body.as_bytes().to_vec(),
    }
}

/// Reads to the end of the journal.
fn catch_up(keeper: &mut Keeper) -> Vec<Finding> {
    let mut findings = Vec::new();
    loop {
        let caught = keeper.catch_up(7, NOW).unwrap();
        findings.extend(caught.findings);
        if !caught.is_behind {
            return findings;
        }
    }
}

fn later(ms: u64) -> Timestamp {
    NOW.plus_millis(ms)
}

/// A report without what depends on the time of asking.
fn told(report: AuditReport) -> AuditReport {
    AuditReport { trigger: String::new(), at: NOW, ..report }
}

fn seen(home: &Home, journal: &Journal) -> AuditReport {
    told(look(&home.path("audit"), journal, "q", NOW).unwrap().report)
}

fn file(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
