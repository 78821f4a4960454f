//! The Auditor of a data directory, as an operator asks it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use setpoint_audit::view::{
    AuditEvent, AuditVerdict, AuditedReport, FindingFilter, FindingLine, MetricsDoor, VerifyOptions,
};
use setpoint_audit::{AuditFailure, AuditPlace, Follower, Keeper, LogEntry, log};
use setpoint_journal::Journal;
use setpoint_protocol::message::{AuditQuery, Finding};
use setpoint_protocol::text::error_chain;
use setpoint_runtime::clock;
use setpoint_telemetry::serve::{Reach, ServeError, bind};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::hints::audit_hint;
use crate::error::{Error, ErrorKind};
use crate::program::Program;

type Result<T> = std::result::Result<T, Error>;

/// The Auditor. Asking changes only its own log. In an unused data directory there is nothing to audit, and no file is
/// created.
#[async_trait]
pub trait Audit: Send + Sync {
    /// Returns what it saw: a snapshot, up to the journal's end.
    async fn report(&self, query: &AuditQuery) -> Result<AuditedReport>;

    /// Returns its findings, newest first.
    async fn findings(&self, filter: &FindingFilter) -> Result<Vec<FindingLine>>;

    /// Verifies its log by itself, against checkpoints and keys, and the journal against the log.
    async fn verify(&self, against: &VerifyOptions) -> Result<AuditVerdict>;

    /// Audits until the receiver closes, or watches while another process audits. Sends only new findings, and serves
    /// the totals as metrics if `metrics` is set.
    async fn follow(&self, events: mpsc::Sender<AuditEvent>, metrics: Option<MetricsDoor>) -> Result<()>;
}

/// Interval between two looks at the journal while following.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Interval between two renderings of the metrics page.
const PAGE_EVERY: Duration = Duration::from_secs(2);
/// Rows that are read at a time.
const ROWS_AT_ONCE: u64 = 4_096;

/// The Auditor of a data directory.
pub struct OperatorAudit {
    program: Program,
}

impl OperatorAudit {
    /// Creates the Auditor of this program's data directory.
    #[must_use]
    pub fn new(program: Program) -> Self {
        OperatorAudit { program }
    }

    fn journal(&self) -> Result<Option<Journal>> {
        self.program.open_journal().map_err(Error::from)
    }

    /// Runs `work` on a thread that may block on the disk. Returns `None` if there is neither a journal nor an audit log.
    async fn blocking<T: Send + 'static>(
        &self,
        journal: Option<Journal>,
        work: impl FnOnce(&AuditPlace, Option<&Journal>) -> std::result::Result<T, AuditFailure> + Send + 'static,
    ) -> Result<Option<T>> {
        let place = self.program.audit_place();
        if journal.is_none() {
            let is_there = log::is_there(&place.dir).map_err(AuditFailure::from)?;
            if !is_there {
                return Ok(None);
            }
        }
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&place, journal.as_ref());
            if let Some(Err(error)) = journal.map(|journal| journal.close()) {
                tracing::debug!(%error, "the journal did not close");
            }
            done
        });
        match done.await {
            Ok(done) => done.map(Some).map_err(Error::from),
            Err(error) => Err(panicked(&error)),
        }
    }
}

#[async_trait]
impl Audit for OperatorAudit {
    async fn report(&self, query: &AuditQuery) -> Result<AuditedReport> {
        let query_id = query.query_id.clone();
        let nothing = query_id.clone();
        let audited = self
            .blocking(self.journal()?, move |place, journal| {
                let now = clock::now();
                let Some(journal) = journal else {
                    let unread = "there is an audit log, but its journal is missing".to_owned();
                    let report = setpoint_audit::nothing(&query_id, now);
                    return Ok(AuditedReport {
                        report,
                        is_elsewhere: false,
                        unread: Some(unread),
                        unwritten: None,
                    });
                };
                let Some(mut keeper) = opened(place, journal)? else {
                    return setpoint_audit::look(&place.dir, journal, &query_id, now);
                };
                let read = read_on(&mut keeper);
                let unread = match &read {
                    Ok(()) => keeper.unread().map(str::to_owned),
                    // The report can be returned even if new rows cannot be read or written.
                    Err(error) => Some(told(error)),
                };
                let report = keeper.report(&query_id, clock::now());
                // Nor does the report depend on the state kept for the next run.
                let stopped = if read.is_ok() { keeper.stop(clock::now()) } else { Ok(()) };
                let unwritten = stopped.err().map(|error| told(&error));
                Ok(AuditedReport { report, is_elsewhere: false, unread, unwritten })
            })
            .await?;
        Ok(audited.unwrap_or_else(|| AuditedReport {
            report: setpoint_audit::nothing(&nothing, clock::now()),
            is_elsewhere: false,
            unread: None,
            unwritten: None,
        }))
    }

    async fn findings(&self, filter: &FindingFilter) -> Result<Vec<FindingLine>> {
        let filter = filter.clone();
        let found = self
            .blocking(self.journal()?, move |place, journal| {
                if let Some(journal) = journal
                    && let Some(mut keeper) = opened(place, journal)?
                {
                    // The findings in the log can be returned even if no new rows can be read or written now.
                    if read_on(&mut keeper).is_ok() {
                        drop(keeper.stop(clock::now()));
                    }
                }
                let mut found = Vec::new();
                for entry in log::ReverseEntries::of(&place.dir)? {
                    let entry = entry?;
                    if found.len() >= filter.limit {
                        break;
                    }
                    if let Some(LogEntry::Finding(finding)) = setpoint_audit::parse(&entry.json)
                        && is_wanted(&finding, &filter)
                    {
                        found.push(FindingLine::of(entry.seq, finding));
                    }
                }
                Ok(found)
            })
            .await?;
        Ok(found.unwrap_or_default())
    }

    async fn verify(&self, against: &VerifyOptions) -> Result<AuditVerdict> {
        let key = match &against.key {
            None => None,
            Some(text) => Some(log::PublicKey::parse(text).ok_or_else(|| {
                Error::new(ErrorKind::Usage, format!("{text:?} is not a public key"))
                    .hint("a key has 64 hexadecimal digits; `setpoint audit verify` shows the log's own")
            })?),
        };
        let log_against = log::TrustAnchors { export: against.checkpoints.clone(), key };
        let log_only = against.log_only;
        let journal = if log_only { None } else { self.journal()? };
        let verdict = self
            .blocking(journal, move |place, journal| {
                let seen = log::verify(&place.dir, &log_against)?;
                // A missing journal has none of the rows that the log notes.
                let journal = || journal.cloned().unwrap_or_else(Journal::in_memory);
                let fit = (!log_only).then(|| setpoint_audit::verify_journal(&place.dir, &journal()));
                let fit = fit.transpose()?;
                Ok(verdict(&seen, fit.as_ref(), &setpoint_audit::put_aside(&place.dir)?))
            })
            .await?;
        verdict.ok_or_else(|| {
            Error::new(ErrorKind::Usage, "there is no audit log here")
                .hint("it is created when the first task is audited; `--data-dir` names another place")
        })
    }

    async fn follow(&self, events: mpsc::Sender<AuditEvent>, metrics: Option<MetricsDoor>) -> Result<()> {
        let place = self.program.audit_place();
        let journal = self.program.made_journal()?;
        // An empty page is valid until there are metrics.
        let page = Arc::new(Mutex::new("# EOF\n".to_owned()));
        let stop = CancellationToken::new();
        let served = match metrics {
            None => None,
            Some(door) => {
                let (served, address) = serve(door, Arc::clone(&page), stop.clone()).await?;
                let note = format!("metrics at http://{address}/metrics");
                drop(events.send(AuditEvent::Note(note)).await);
                Some(served)
            }
        };
        let follower = Follower::new(place, journal);
        let done = follow(follower, &events, served.as_ref().map(|_| page)).await;
        stop.cancel();
        if let Some(served) = served {
            drop(served.await);
        }
        done
    }
}

/// Reads and sends what is new until the receiver closes.
async fn follow(
    mut follower: Follower,
    events: &mpsc::Sender<AuditEvent>,
    page: Option<Arc<Mutex<String>>>,
) -> Result<()> {
    let mut page_at: Option<Instant> = None;
    while !events.is_closed() {
        let is_page_due = page.is_some() && page_at.is_none_or(|at| at.elapsed() >= PAGE_EVERY);
        let looked = tokio::task::spawn_blocking(move || {
            let looked = follower.look(clock::now());
            let report = is_page_due.then(|| follower.report("metrics", clock::now()));
            (follower, looked, report)
        });
        let (back, looked, report) = looked.await.map_err(|error| panicked(&error))?;
        follower = back;
        let (news, is_behind) = looked?;
        if let (Some(page), Some(report)) = (&page, report) {
            page_at = Some(Instant::now());
            match report {
                Ok(report) => {
                    let text = setpoint_telemetry::prometheus::render(&report);
                    *page.lock().unwrap_or_else(PoisonError::into_inner) = text;
                }
                Err(error) => {
                    let error = error_chain(&error);
                    tracing::warn!(error, "the metrics page is out of date");
                }
            }
        }
        for event in news {
            drop(events.send(event).await);
        }
        if !is_behind {
            drop(tokio::time::timeout(LOOK_EVERY, events.closed()).await);
        }
    }
    let stopped = tokio::task::spawn_blocking(move || follower.stop(clock::now())).await;
    stopped.map_err(|error| panicked(&error))?.map_err(Error::from)
}

fn panicked(error: &JoinError) -> Error {
    Error::new(ErrorKind::Internal, format!("the Auditor failed: {error}"))
        .hint("`setpoint doctor` checks the journal")
}

/// Serves the page with its current content.
async fn serve(
    door: MetricsDoor,
    page: Arc<Mutex<String>>,
    stop: CancellationToken,
) -> Result<(JoinHandle<()>, SocketAddr)> {
    let reach = if door.is_public { Reach::Anybody } else { Reach::ThisMachine };
    let failed = |error: &dyn std::error::Error, hint: &str| {
        Error::new(ErrorKind::Configuration, error_chain(error)).hint(hint)
    };
    let listener = bind(door.address, reach).await.map_err(|error| {
        let hint = match &error {
            ServeError::NotLoopback { .. } => {
                "serve them on 127.0.0.1, or let others read them with --metrics-public"
            }
            ServeError::Bind { .. } => "name an address of this machine and an unused port",
        };
        failed(&error, hint)
    })?;
    let address = listener.local_addr().map_err(|error| failed(&error, "name another address"))?;
    let source = move || page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((tokio::spawn(setpoint_telemetry::serve::serve(listener, source, stop)), address))
}

/// Describes a failure, with its hint.
fn told(failure: &AuditFailure) -> String {
    format!("{} ({})", error_chain(failure), audit_hint(failure))
}

/// Takes the right to audit; `None` if another process has it.
fn opened(place: &AuditPlace, journal: &Journal) -> std::result::Result<Option<Keeper>, AuditFailure> {
    Keeper::open(place, journal, clock::now())
}

/// Reads to the journal's end, and checks for missed rows.
fn read_on(keeper: &mut Keeper) -> std::result::Result<(), AuditFailure> {
    while keeper.catch_up(ROWS_AT_ONCE, clock::now())?.is_behind {}
    keeper.missed(clock::now()).map(drop)
}

fn is_wanted(finding: &Finding, filter: &FindingFilter) -> bool {
    filter.kind.is_none_or(|kind| finding.kind == kind)
        && filter.role.is_none_or(|role| finding.accountable == role)
        && filter.severity.is_none_or(|severity| finding.kind.severity() >= severity)
        && filter.since.is_none_or(|since| finding.at >= since)
        && filter.task.as_ref().is_none_or(|prefix| {
            finding.task_id.as_ref().is_some_and(|task| task.as_str().starts_with(prefix.as_str()))
        })
}

fn verdict(
    seen: &log::Verification,
    fit: Option<&setpoint_audit::JournalFit>,
    aside: &[PathBuf],
) -> AuditVerdict {
    let claims = seen.claims();
    let told = |path: &PathBuf| {
        let path = path.display();
        format!("{path} is a damaged log that was set aside; move it away after checking it")
    };
    let fits = fit.is_none_or(|fit| fit.misfits.is_empty());
    let misfit = |one: &setpoint_audit::JournalMisfit| {
        let by =
            one.entry.map_or_else(|| "not noted yet".to_owned(), |entry| format!("noted by entry {entry}"));
        format!("journal, rows {} to {}, {by}: {}", one.after + 1, one.to, one.what)
    };
    let mut proves = claims.proves;
    if let Some(fit) = fit.filter(|fit| fits && fit.rows > 0) {
        proves.push(format!(
            "The {} rows of the journal that the log notes are those that the Auditor read.",
            fit.rows
        ));
    }
    let mut cannot_prove = claims.cannot_prove;
    if let Some(pruned) = fit.map(|fit| fit.pruned).filter(|pruned| *pruned > 0) {
        cannot_prove.push(format!("The contents of {pruned} of these rows: their tasks were pruned."));
    }
    AuditVerdict {
        is_sound: seen.is_sound() && fits && aside.is_empty(),
        entries: seen.entries,
        sealed: seen.sealed,
        checkpoints: seen.checkpoints,
        sealed_by_export: seen.exported.map(|_| seen.sealed_by_export),
        key: seen.key.map(|key| key.to_string()),
        log: seen.findings.iter().map(ToString::to_string).chain(aside.iter().map(told)).collect(),
        rows: fit.map(|fit| fit.rows),
        rows_pruned: fit.map_or(0, |fit| fit.pruned),
        rows_not_noted: fit.map(|fit| fit.not_noted),
        journal: fit.iter().flat_map(|fit| &fit.misfits).map(misfit).collect(),
        left_out: seen.left_out + fit.map_or(0, |fit| fit.left_out),
        proves,
        cannot_prove,
    }
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::message::{FindingKind, Severity};
    use setpoint_protocol::{RoleId, Timestamp};

    use super::*;

    #[test]
    fn findings_are_filtered_by_what_they_are() {
        let finding = Finding {
            kind: FindingKind::ConvergenceFailure,
            accountable: RoleId::GoalGradientSolver,
            at: Timestamp::from_micros(7),
            task_id: Some("try-the-trial-0000000000007f3a".parse().unwrap()),
            records: Vec::new(),
            text: "replans lead nowhere".to_owned(),
        };
        let all =
            || FindingFilter { kind: None, task: None, role: None, severity: None, since: None, limit: 9 };
        for (is_kept, filter) in [
            (true, all()),
            (true, FindingFilter { kind: Some(FindingKind::ConvergenceFailure), ..all() }),
            (false, FindingFilter { kind: Some(FindingKind::AuditLogDamaged), ..all() }),
            (true, FindingFilter { task: Some("try-the".to_owned()), ..all() }),
            (false, FindingFilter { task: Some("nobody".to_owned()), ..all() }),
            (true, FindingFilter { role: Some(RoleId::GoalGradientSolver), ..all() }),
            (false, FindingFilter { role: Some(RoleId::Operator), ..all() }),
            (true, FindingFilter { severity: Some(Severity::Warning), ..all() }),
            (false, FindingFilter { severity: Some(Severity::Violation), ..all() }),
            (true, FindingFilter { since: Some(finding.at), ..all() }),
            (false, FindingFilter { since: Some(Timestamp::from_micros(8)), ..all() }),
        ] {
            assert_eq!(is_wanted(&finding, &filter), is_kept, "{filter:?}");
        }
    }
}
