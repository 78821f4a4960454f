//! One transaction for a group of jobs: each can fail alone, and the rest become durable together.

use std::sync::Arc;

use super::connect::Db;
use crate::error::{JournalError, Result};
use crate::failpoint;
use crate::head::Mark;
use crate::job::{Job, Outcome};
use crate::store::View;

/// What the transaction has appended so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    /// The last position given out, in this transaction or before.
    pub(crate) last_pos: u64,
    /// Rows appended.
    pub(crate) rows: u64,
    /// The last row appended.
    pub(crate) mark: Option<Mark>,
    /// Whether a failpoint is due in this commit.
    pub(crate) due: bool,
}

/// A failed transaction: none of its jobs counts as done.
pub(crate) struct Failure {
    pub(crate) error: JournalError,
    /// Whether the state of the disk is unknown.
    pub(crate) in_doubt: bool,
}

impl Db {
    /// Runs the jobs and commits their changes. On `Ok`, jobs with a good outcome are durable.
    pub(crate) fn transact(
        &mut self,
        jobs: &mut [Box<dyn Job>],
    ) -> std::result::Result<Vec<Outcome>, Failure> {
        let outcomes = match self.begin().and_then(|()| self.run_all(jobs)) {
            Ok(outcomes) => outcomes,
            Err(error) => return Err(self.abandon(error)),
        };
        if outcomes.iter().all(Outcome::is_err) {
            return match self.roll_back() {
                Ok(()) => Ok(outcomes),
                Err(error) => Err(Failure { error, in_doubt: true }),
            };
        }
        self.progress.due = failpoint::COMMIT.count(self.progress.rows);
        failpoint::COMMIT.reach("before", self.progress.due);
        if let Err(error) = self.execute("COMMIT") {
            let in_doubt = !error.is_refusal();
            let failure = self.abandon(error);
            return Err(Failure { in_doubt: in_doubt || failure.in_doubt, ..failure });
        }
        failpoint::reach_torn(self.progress.due, &self.faults.database());
        failpoint::COMMIT.reach("after_write", self.progress.due);
        Ok(outcomes)
    }

    fn begin(&mut self) -> Result<()> {
        let seen = self.progress.last_pos;
        self.progress = Progress { last_pos: seen, ..Progress::default() };
        self.execute("BEGIN IMMEDIATE")?;
        let last_pos = self.last_pos()?;
        if last_pos < seen {
            // The journal was truncated or replaced while this process used it.
            return Err(JournalError::LostTail {
                path: self.faults.dir().to_owned(),
                head_pos: seen,
                last_pos,
            });
        }
        self.progress = Progress { last_pos, ..Progress::default() };
        Ok(())
    }

    /// Runs the jobs without savepoints: nearly all jobs that fail are refused by the journal's rules, before they
    /// change anything. If the database failed, or the job had changed something, runs all of them again with savepoints;
    /// SQLite does not count the changes of a failed statement, so the count alone is not enough. An `Err` ends the whole
    /// transaction.
    fn run_all(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs.iter_mut() {
            let changes = self.conn.total_changes();
            let result = job.run(self);
            let outcome = self.survived(result)?;
            if let Err(error) = &outcome
                && (error.concerns_database() || self.conn.total_changes() != changes)
            {
                return self.run_apart(jobs);
            }
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    /// Starts again, and runs each job in a savepoint, so that a failed one can be undone alone.
    fn run_apart(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Outcome>> {
        self.roll_back()?;
        self.begin()?;
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            let before = self.progress;
            self.execute("SAVEPOINT job")?;
            let result = job.run(self);
            let outcome = self.survived(result)?;
            if outcome.is_err() {
                self.progress = before;
                self.execute("ROLLBACK TO job")?;
            }
            self.execute("RELEASE job")?;
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    /// Returns the outcome of a job; fails if its error ended the whole transaction.
    fn survived(&self, result: Result<()>) -> Result<Outcome> {
        match result {
            Ok(()) => Ok(Ok(())),
            Err(error) if error.leaves_doubt() || self.conn.is_autocommit() => Err(error),
            Err(error) => Ok(Err(Arc::new(error))),
        }
    }

    fn abandon(&mut self, error: JournalError) -> Failure {
        let in_doubt = error.leaves_doubt();
        match self.roll_back() {
            Ok(()) => Failure { error, in_doubt },
            Err(_) => Failure { error, in_doubt: true },
        }
    }

    fn roll_back(&mut self) -> Result<()> {
        let seen = self.progress.last_pos - self.progress.rows;
        self.progress = Progress { last_pos: seen, ..Progress::default() };
        // SQLite rolls back by itself after some errors.
        if self.conn.is_autocommit() { Ok(()) } else { self.execute("ROLLBACK") }
    }
}
