//! The one writer of this process: a thread that takes all queued jobs and makes them durable in one
//! commit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{JoinHandle, ThreadId};

use rusqlite::MAIN_DB;
use rusqlite::wal::CheckpointMode;

use super::connect::Db;
use super::transaction::Failure;
use crate::error::{JournalError, Result};
use crate::failpoint;
use crate::head::HeadFile;
use crate::job::Job;
use crate::limits::{GROUP_BYTES_MAX, GROUP_SUBMISSIONS_MAX, QUEUE_MAX, WAL_PAGES_MAX};
use crate::watch::Watch;

const PAGE_BYTES: u64 = 4_096;
/// Approximate number of pages that a commit touches besides the bytes of its jobs.
const PAGES_PER_COMMIT: u64 = 4;

/// The queue to the writer's thread.
pub(crate) struct Writer {
    sender: SyncSender<Message>,
    thread: Mutex<Option<JoinHandle<()>>>,
    thread_id: ThreadId,
    closed: AtomicBool,
    poison: Poison,
}

/// The failure after which nothing more is appended.
type Poison = Arc<OnceLock<Arc<JournalError>>>;

enum Message {
    Job(Box<dyn Job>),
    /// Do the queued jobs, then end.
    Stop,
}

impl Writer {
    pub(crate) fn start(db: Db, head: HeadFile, watch: Arc<Watch>) -> Result<Self> {
        let (sender, requests) = sync_channel(QUEUE_MAX);
        let poison = Poison::default();
        let path = db.faults.database();
        let work = Work { db, head, watch, poison: Arc::clone(&poison), log_pages: 0 };
        let thread = std::thread::Builder::new()
            .name("journal-writer".to_owned())
            .spawn(move || work.run(&requests))
            .map_err(|source| JournalError::io(&path, source))?;
        let thread_id = thread.thread().id();
        let thread = Mutex::new(Some(thread));
        Ok(Self { sender, thread, thread_id, closed: AtomicBool::new(false), poison })
    }

    /// Queues a job; blocks while the queue is full, except on the writer's own thread.
    pub(crate) fn send(&self, job: Box<dyn Job>) {
        if self.is_closed() {
            return refuse(job, JournalError::Closed);
        }
        if self.is_current_thread() {
            // Blocking here would wait for this thread itself.
            if let Err(job) = self.try_send(job) {
                refuse(job, JournalError::CalledFromAck);
            }
            return;
        }
        if let Err(returned) = self.sender.send(Message::Job(job)) {
            refuse_message(returned.0);
        }
    }

    /// Queues a job, or returns it if the queue is full.
    pub(crate) fn try_send(&self, job: Box<dyn Job>) -> std::result::Result<(), Box<dyn Job>> {
        if self.is_closed() {
            refuse(job, JournalError::Closed);
            return Ok(());
        }
        match self.sender.try_send(Message::Job(job)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(Message::Job(job))) => Err(job),
            Err(TrySendError::Full(message) | TrySendError::Disconnected(message)) => {
                refuse_message(message);
                Ok(())
            }
        }
    }

    /// Refuses new jobs, lets the thread do the queued ones, and waits for its end.
    pub(crate) fn close(&self) {
        let first = !self.closed.swap(true, Ordering::SeqCst);
        if self.is_current_thread() {
            // The last handle was dropped inside an acknowledgement: the thread ends once every sender is dropped.
            return;
        }
        if first && self.sender.send(Message::Stop).is_err() {
            tracing::debug!("the journal's writer has ended already");
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the journal's writer has panicked");
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn is_current_thread(&self) -> bool {
        std::thread::current().id() == self.thread_id
    }

    pub(crate) fn poisoned_by(&self) -> Option<Arc<JournalError>> {
        self.poison.get().cloned()
    }
}

struct Work {
    db: Db,
    head: HeadFile,
    watch: Arc<Watch>,
    poison: Poison,
    /// Approximate number of pages written to the log since it was last moved into the database.
    log_pages: u64,
}

impl Work {
    fn run(mut self, requests: &Receiver<Message>) {
        let mut stopping = false;
        while !stopping {
            let Ok(first) = requests.recv() else { break };
            let mut jobs = Vec::new();
            stopping = self.fill(&mut jobs, first, requests);
            self.commit(jobs);
            self.checkpoint_if_long();
        }
        while let Ok(message) = requests.try_recv() {
            let mut jobs = Vec::new();
            self.fill(&mut jobs, message, requests);
            self.commit(jobs);
        }
        if self.poison.get().is_none()
            && let Err(error) = self.head.sync()
        {
            tracing::warn!(%error, "the head file may not survive a power loss");
        }
    }

    /// Takes queued jobs, up to the bounds of a group. Returns true if the thread was asked to stop.
    fn fill(&mut self, jobs: &mut Vec<Box<dyn Job>>, first: Message, requests: &Receiver<Message>) -> bool {
        let mut bytes = 0;
        let mut next = Some(first);
        while let Some(message) = next.take() {
            let Message::Job(job) = message else { return true };
            bytes += job.bytes();
            jobs.push(job);
            if jobs.len() < GROUP_SUBMISSIONS_MAX && bytes < GROUP_BYTES_MAX {
                next = requests.try_recv().ok();
            }
        }
        self.log_pages += PAGES_PER_COMMIT + jobs.len() as u64 + bytes as u64 / PAGE_BYTES;
        false
    }

    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        if jobs.is_empty() {
            return;
        }
        if let Some(cause) = self.poison.get() {
            let error = Arc::new(JournalError::Poisoned { cause: Arc::clone(cause) });
            return fail_all(jobs, &error);
        }
        match self.db.transact(&mut jobs) {
            Err(Failure { error: JournalError::NoSpace { .. }, in_doubt: false }) if jobs.len() > 1 => {
                // A full disk makes SQLite roll back the whole transaction, so try each job alone: some may fit.
                for job in jobs {
                    self.commit(vec![job]);
                }
            }
            Err(failure) => {
                let error = Arc::new(failure.error);
                if failure.in_doubt {
                    self.distrust(&error);
                }
                fail_all(jobs, &error);
            }
            Ok(outcomes) => {
                let mark = self.db.progress.mark;
                if let Some(mark) = mark
                    && let Err(error) = self.head.write(mark)
                {
                    tracing::warn!(%error, "the head file lags behind the journal");
                }
                failpoint::COMMIT.reach("after_sync", self.db.progress.due);
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    job.finish(outcome);
                }
                if let Some(mark) = mark {
                    self.watch.advance(mark.pos);
                }
            }
        }
    }

    /// Moves the log into the database once it is long, between two commits and after their acknowledgements.
    fn checkpoint_if_long(&mut self) {
        if self.log_pages < WAL_PAGES_MAX || self.poison.get().is_some() {
            return;
        }
        match self.db.conn.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            Ok((pages, moved)) if pages == moved => self.log_pages = 0,
            // A reader still needs a part of the log.
            Ok(_) => self.log_pages = WAL_PAGES_MAX / 2,
            Err(error) => {
                self.log_pages = WAL_PAGES_MAX / 2;
                let error = self.db.faults.of(error);
                if error.is_refusal() {
                    tracing::warn!(%error, "the journal's log grows until it can be moved into the database");
                } else {
                    self.distrust(&Arc::new(error));
                }
            }
        }
    }

    /// Stops appending, and keeps the log from being moved into the database, because the disk may hold wrong data.
    fn distrust(&self, cause: &Arc<JournalError>) {
        tracing::error!(error = %cause, "the journal takes no more rows in this process");
        if self.poison.set(Arc::clone(cause)).is_err() {
            tracing::debug!("it had already stopped taking rows");
        }
        if let Err(error) = self.db.checkpoint_on_close(false) {
            tracing::warn!(%error, "the journal's log may be moved into the database at the end");
        }
    }
}

fn fail_all(jobs: Vec<Box<dyn Job>>, error: &Arc<JournalError>) {
    for job in jobs {
        job.finish(Err(Arc::clone(error)));
    }
}

fn refuse(job: Box<dyn Job>, error: JournalError) {
    job.finish(Err(Arc::new(error)));
}

fn refuse_message(message: Message) {
    match message {
        Message::Job(job) => refuse(job, JournalError::Closed),
        Message::Stop => {}
    }
}
