//! R6 beside a running organisation.

use std::path::PathBuf;

use setpoint_audit::{AuditPlace, Keeper, LogEntry, log, look, parse, verify_journal};
use setpoint_journal::{Journal, JournalOptions};
use setpoint_model::playbook::{Library, Playbook};
use setpoint_protocol::Timestamp;
use setpoint_runtime::{Models, NewTask};

use crate::support::{new_task, organisation_of};

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

    /// Returns the number of findings in the log. Checks that the log has every row of the journal once and is
    /// consistent with itself and the journal.
    #[track_caller]
    fn findings(&self, journal: &Journal) -> usize {
        let (mut noted, mut findings) = (0, 0);
        for entry in log::Entries::after(&self.path("audit"), 0).unwrap() {
            match parse(&entry.unwrap().json) {
                Some(LogEntry::Rows { after, to, count, .. }) => {
                    assert_eq!((after, to), (noted, noted + count));
                    noted = to;
                }
                Some(LogEntry::Finding(_)) => findings += 1,
                _ => {}
            }
        }
        let last = journal.last_pos().unwrap();
        assert_eq!(noted, last);
        let fit = verify_journal(&self.path("audit"), journal).unwrap();
        assert_eq!((fit.rows, fit.misfits.as_slice(), fit.not_noted), (last, [].as_slice(), 0));
        let seen = log::verify(&self.path("audit"), &log::TrustAnchors::default()).unwrap();
        assert!(seen.is_sound(), "{:?}", seen.findings);
        findings
    }
}

fn brain() -> Models {
    Models::one(std::sync::Arc::new(Playbook::new(std::sync::Arc::new(Library::load(None)))))
}

fn goal(home: &Home, suffix: u64) -> NewTask {
    let folder = home.path("files");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a"), "one").unwrap();
    let raw_input = format!("find the three largest files under {}", folder.display());
    NewTask { raw_input, suffix, ..new_task() }
}

#[tokio::test(flavor = "multi_thread")]
async fn sound_tasks_are_audited_completely_without_a_finding() {
    let home = Home::new();
    let journal = home.journal();
    let organisation = organisation_of(&journal, brain());
    organisation.audit(home.place());
    for n in 0..5 {
        let task = organisation.start(goal(&home, n)).await.unwrap();
        organisation.ended(&task).await;
    }
    organisation.shutdown().await;
    let journal = home.journal();
    assert_eq!(home.findings(&journal), 0);
    let report = look(&home.path("audit"), &journal, "q", NOW).unwrap().report;
    assert_eq!((report.lifetime.tasks, report.lifetime.accepted), (5, 5));
    assert_eq!(report.lifetime.findings, []);
    assert_eq!(report.false_claims.len(), 1);
    assert!(report.tool_health.iter().any(|tool| tool.calls >= 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_run_without_the_auditor_and_it_catches_up_later() {
    let home = Home::new();
    let journal = home.journal();
    // A file in place of its directory: the Auditor cannot work.
    std::fs::write(home.path("audit"), "a file").unwrap();
    let organisation = organisation_of(&journal, brain());
    organisation.audit(home.place());
    let task = organisation.start(goal(&home, 1)).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!(result.directive, setpoint_protocol::message::EndState::Accept);
    organisation.shutdown().await;
    std::fs::remove_file(home.path("audit")).unwrap();

    let journal = home.journal();
    // A test that starts a process also holds this one's lock for a moment, between fork and exec.
    let mut open = || {
        std::thread::yield_now();
        Keeper::open(&home.place(), &journal, NOW).unwrap()
    };
    let mut keeper = std::iter::repeat_with(&mut open).take(100_000).flatten().next().unwrap();
    let mut findings = Vec::new();
    loop {
        let caught = keeper.catch_up(7, NOW).unwrap();
        findings.extend(caught.findings);
        if !caught.is_behind {
            break;
        }
    }
    assert_eq!(findings, []);
    keeper.stop(NOW).unwrap();
    assert_eq!(home.findings(&journal), 0);
}
