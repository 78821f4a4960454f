//! The handle of a journal.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::ack::{Ack, NotQueued};
use crate::chain::TaskHead;
use crate::command;
use crate::cursor;
use crate::damage::{Damage, DamageKind};
use crate::entry::{
    Command, CommandScope, CommandState, KeptKinds, Lease, LeaseTerms, NewCommand, TaskFilter,
};
use crate::error::{JournalError, Result};
use crate::head::HeadState;
use crate::job::{AppendJob, CallJob, Job};
use crate::lease::{self, Displace};
use crate::limits::LIST_MAX;
use crate::memory::MemoryJournal;
use crate::options::{JournalOptions, OpenReport};
use crate::prune::{self, Prune, PruneResult};
use crate::reader;
use crate::row::Row;
use crate::rows::Rows;
use crate::sqlite::{self, SqliteJournal};
use crate::store::{Kinds, Store, View};
use crate::submission::{CommitReceipt, Submission};
use crate::task::{self, Task};
use crate::verify::{self, TaskVerification, Verification};
use crate::watch::{CommitListener, Watch};

/// An open journal. Clones are handles to the same journal.
///
/// Three kinds of methods: *appending* and every other change goes through the one writer of the process and
/// returns, or is acknowledged, once it is durable; *reading* happens in the caller's thread, in its own
/// snapshot, and never blocks the writer; *waiting* reports new rows. A call that waits for the writer
/// fails with [`JournalError::CalledFromAck`] inside an acknowledgement. Dropping the last handle closes the
/// journal.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    watch: Arc<Watch>,
    report: OpenReport,
    row_format_known: u16,
}

enum Backend {
    Memory(MemoryJournal),
    Sqlite(Box<SqliteJournal>),
}

/// Opening and closing.
impl Journal {
    /// Opens the journal in a directory; creates the directory (mode 0700) and the journal if missing.
    ///
    /// Several processes may have the same journal open. Fails without writing if the directory holds
    /// something else ([`JournalError::NotAJournal`]), a newer journal ([`JournalError::FormatTooNew`]) or
    /// one that has lost acknowledged rows ([`JournalError::LostTail`], [`JournalError::HeadMismatch`]); with
    /// [`JournalError::ReadOnly`], [`JournalError::NoSpace`], [`JournalError::Locked`],
    /// [`JournalError::CreateDir`] or [`JournalError::Io`] if the system refuses; and with
    /// [`JournalError::Damaged`] if the tables are not readable. [`Self::verify`] finds deeper damage.
    pub fn open(dir: &Path, options: &JournalOptions) -> Result<Self> {
        let (backend, report, watch) = sqlite::open(dir, options)?;
        let backend = Backend::Sqlite(Box::new(backend));
        let row_format_known = options.row_format_known;
        Ok(Self { inner: Arc::new(Inner { backend, watch, report, row_format_known }) })
    }

    /// Creates a journal without a disk that ends with its last handle. Submissions are handled in the submitter's
    /// thread.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::in_memory_with(&JournalOptions::default())
    }

    /// Like [`Self::in_memory`]; only [`JournalOptions::row_format_known`] has an effect.
    #[must_use]
    pub fn in_memory_with(options: &JournalOptions) -> Self {
        let report = OpenReport { created: true, head: HeadState::Current, loss: None };
        let backend = Backend::Memory(MemoryJournal::default());
        let row_format_known = options.row_format_known;
        let watch = Arc::new(Watch::starting_at(0));
        Self { inner: Arc::new(Inner { backend, watch, report, row_format_known }) }
    }

    /// What opening the journal found.
    #[must_use]
    pub fn open_report(&self) -> OpenReport {
        self.inner.report
    }

    /// Waits until everything submitted is durable, then closes the journal. Later calls of any handle fail
    /// with [`JournalError::Closed`]. Fails with [`JournalError::CalledFromAck`] inside an acknowledgement.
    pub fn close(&self) -> Result<()> {
        self.refuse_inside_ack()?;
        self.inner.close();
        Ok(())
    }

    /// Returns the failure after which this process appends nothing more, if there was one.
    #[must_use]
    pub fn poisoned_by(&self) -> Option<Arc<JournalError>> {
        match &self.inner.backend {
            Backend::Memory(_) => None,
            Backend::Sqlite(journal) => journal.poisoned_by(),
        }
    }
}

/// Appending.
impl Journal {
    /// Appends a submission; calls `ack` exactly once, when the submission is durable or refused.
    ///
    /// Blocks while [`crate::limits::QUEUE_MAX`] requests wait. Inside an acknowledgement it does not block:
    /// a full queue fails with [`JournalError::CalledFromAck`] there. Submissions of one thread are handled in order.
    pub fn submit<A>(&self, submission: Submission, ack: A)
    where
        A: FnOnce(std::result::Result<CommitReceipt, Arc<JournalError>>) + Send + 'static,
    {
        self.execute(Box::new(AppendJob::new(submission, self.inner.row_format_known, Box::new(ack))));
    }

    /// Like [`Self::submit`], but never blocks: if the queue is full, returns the submission and the acknowledgement.
    pub fn try_submit(&self, submission: Submission, ack: Ack) -> std::result::Result<(), Box<NotQueued>> {
        let job = Box::new(AppendJob::new(submission, self.inner.row_format_known, ack));
        let Backend::Sqlite(journal) = &self.inner.backend else {
            self.execute(job);
            return Ok(());
        };
        match journal.try_execute(job) {
            Ok(()) => Ok(()),
            Err(job) => match job.into_submission() {
                Some((submission, ack)) => Err(Box::new(NotQueued { submission, ack })),
                None => Ok(()),
            },
        }
    }

    /// Appends a submission and waits until it is durable.
    pub fn append(&self, submission: Submission) -> std::result::Result<CommitReceipt, Arc<JournalError>> {
        self.refuse_inside_ack().map_err(Arc::new)?;
        let (sender, receiver) = sync_channel(1);
        self.submit(submission, move |result| {
            if sender.send(result).is_err() {
                tracing::debug!("no caller waits for the acknowledgement any more");
            }
        });
        receiver.recv().unwrap_or_else(|_| Err(Arc::new(JournalError::Closed)))
    }
}

/// Leases. An owner is a text that only the caller interprets; the journal compares it for equality.
impl Journal {
    /// Leases a task that is free, whose lease has expired, or that this owner already holds. Fails with
    /// [`JournalError::LeaseHeld`], [`JournalError::UnknownTask`] or [`JournalError::TaskClosed`].
    pub fn acquire_lease(&self, task: &str, terms: &LeaseTerms) -> Result<Lease> {
        self.lease(task, terms, Displace::Expired)
    }

    /// Leases a task from an owner that the caller knows to be dead, before its lease has expired. Fails with
    /// [`JournalError::LeaseHeld`] if another owner holds it by then.
    pub fn take_over_lease(&self, task: &str, dead_owner: &str, terms: &LeaseTerms) -> Result<Lease> {
        self.lease(task, terms, Displace::Owner(dead_owner.to_owned()))
    }

    /// Renews a lease, even an expired one, unless another owner has taken the task since. Fails with
    /// [`JournalError::LeaseLost`] or [`JournalError::TaskClosed`]. `now_us` is in microseconds since 1970
    /// (UTC).
    pub fn renew_lease(&self, lease: &Lease, now_us: i64, ttl_ms: u64) -> Result<Lease> {
        let lease = lease.clone();
        self.write(move |store| lease::renew(store, &lease, now_us, ttl_ms))
    }

    /// Releases a lease. Fails with [`JournalError::LeaseLost`] if another owner has taken the task since.
    pub fn release_lease(&self, lease: &Lease) -> Result<()> {
        let lease = lease.clone();
        self.write(move |store| lease::release(store, &lease))
    }

    fn lease(&self, task: &str, terms: &LeaseTerms, displace: Displace) -> Result<Lease> {
        terms.check_limits()?;
        let (task, terms) = (task.to_owned(), terms.clone());
        self.write(move |store| lease::acquire(store, &task, &terms, &displace))
    }
}

/// Commands.
impl Journal {
    /// Sends a command to the owner of a task, and returns the command's number. Fails with
    /// [`JournalError::UnknownTask`], [`JournalError::TaskClosed`] or [`JournalError::CommandsFull`].
    pub fn push_command(&self, task: &str, command: NewCommand) -> Result<u64> {
        command.check_limits()?;
        let task = task.to_owned();
        self.write(move |store| command::push(store, &task, &command))
    }

    /// Returns the pending commands of a task, in order of arrival. A command is pending until a submission takes it
    /// ([`Submission::take_command`]).
    pub fn waiting_commands(&self, task: &str) -> Result<Vec<Command>> {
        self.read(|view| match view.find(task)? {
            None => Err(JournalError::UnknownTask { task: task.to_owned() }),
            Some((tid, _)) => view.pending(CommandScope::Task(tid), 0, LIST_MAX),
        })
    }

    /// Returns the pending commands of all tasks with numbers above `after_id`; at most `limit` and [`LIST_MAX`].
    pub fn pending_commands(&self, after_id: u64, limit: usize) -> Result<Vec<Command>> {
        self.read(|view| view.pending(CommandScope::All, after_id, limit.min(LIST_MAX)))
    }

    /// Returns the state of a command; `None` if no command has this number.
    pub fn command_state(&self, id: u64) -> Result<Option<CommandState>> {
        self.read(|view| Ok(view.command(id)?.map(|entry| entry.state)))
    }
}

/// Cursors.
impl Journal {
    /// Returns the position of a cursor; 0 if it was never moved.
    pub fn cursor(&self, name: &str) -> Result<u64> {
        self.read(|view| Ok(view.cursor(name)?.unwrap_or(0)))
    }

    /// Moves a cursor forward. Fails with [`JournalError::CursorBackwards`] or
    /// [`JournalError::CursorBeyondEnd`].
    pub fn advance_cursor(&self, name: &str, pos: u64) -> Result<()> {
        let name = name.to_owned();
        self.write(move |store| cursor::advance(store, &name, pos))
    }

    /// Sets a cursor to any position up to the last row, for a reader that starts again. Fails with
    /// [`JournalError::CursorBeyondEnd`].
    pub fn rewind_cursor(&self, name: &str, pos: u64) -> Result<()> {
        let name = name.to_owned();
        self.write(move |store| cursor::rewind(store, &name, pos))
    }
}

/// Reading. Every returned row continues its task's chain; one that does not fails with
/// [`JournalError::Damaged`], one of a newer format with [`JournalError::RowFormatTooNew`]. The rows before it are
/// returned first.
impl Journal {
    /// Iterates over a task's rows from `from_seq` on, read page by page.
    #[must_use]
    pub fn rows(&self, task: &str, from_seq: u64) -> Rows {
        Rows::new(self.clone(), task, from_seq)
    }

    /// Reads one page of a task's rows from `from_seq` on: at most `limit`, [`crate::limits::PAGE_ROWS_MAX`] and
    /// about [`crate::limits::PAGE_BYTES_MAX`]. Empty only after the task's last row.
    pub fn read_rows(&self, task: &str, from_seq: u64, limit: usize) -> Result<Vec<Row>> {
        let known = self.inner.row_format_known;
        self.read(|view| reader::of_task(view, task, from_seq, limit, known))
    }

    /// Reads one page of the rows of all tasks after `pos`, in commit order, with the bounds of
    /// [`Self::read_rows`]. Empty only at the end.
    pub fn rows_after(&self, pos: u64, limit: usize) -> Result<Vec<Row>> {
        let known = self.inner.row_format_known;
        self.read(|view| reader::after(view, pos, limit, known))
    }

    /// Reads one page of the rows of these kinds after `pos`, in commit order, with the bounds of [`Self::read_rows`].
    /// Empty if there are no more. Each row is checked against the one before it in its task; rows of other kinds are
    /// not read.
    pub fn rows_of_kinds_after(&self, pos: u64, kinds: Kinds<'_>, limit: usize) -> Result<Vec<Row>> {
        let known = self.inner.row_format_known;
        self.read(|view| reader::of_kinds_after(view, pos, kinds, limit, known))
    }

    /// Returns the position of the first row after `pos`, readable or not; `None` at the end. Where
    /// [`Self::rows_after`] fails because rows are missing, a reader that can do without them continues there.
    pub fn next_pos(&self, pos: u64) -> Result<Option<u64>> {
        self.read(|view| view.next_pos(pos))
    }

    /// Returns the position of the last row of any process; 0 if there are no rows.
    pub fn last_pos(&self) -> Result<u64> {
        self.read(|view| view.last_pos())
    }

    /// Returns the bytes with this hash, if they are stored.
    pub fn fragment(&self, hash: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        self.read(|view| view.fragment(hash))
    }

    /// Returns a task by its id. Fails with [`JournalError::UnknownTask`].
    pub fn task(&self, id: &str) -> Result<Task> {
        self.read(|view| match view.find(id)? {
            None => Err(JournalError::UnknownTask { task: id.to_owned() }),
            Some((tid, _)) => task::read(view, tid),
        })
    }

    /// Returns a task's head, to append after it; the start of a task that does not exist yet.
    pub fn head(&self, id: &str) -> Result<TaskHead> {
        let start = TaskHead::start(id)?;
        self.read(|view| {
            Ok(match view.find(id)? {
                None => start,
                Some((_, state)) => TaskHead::at(Arc::clone(start.task()), state.seq, state.chain),
            })
        })
    }

    /// Lists tasks that pass the filter, newest first; at most `limit` and [`LIST_MAX`].
    pub fn list_tasks(&self, filter: TaskFilter, limit: usize) -> Result<Vec<Task>> {
        self.read(|view| task::list(view, filter, limit))
    }

    /// Returns the id equal to `part`, or the only one that begins or ends with it. Fails with
    /// [`JournalError::Ambiguous`] or [`JournalError::NotFound`].
    pub fn resolve(&self, part: &str) -> Result<String> {
        self.read(|view| task::resolve(view, part))
    }
}

/// Pruning.
impl Journal {
    /// Lists tasks that were closed before `before_us` and not pruned, oldest first; at most [`LIST_MAX`]. `before_us` is
    /// in microseconds since 1970 (UTC).
    pub fn prunable(&self, before_us: i64) -> Result<Vec<Task>> {
        self.read(|view| prune::prunable(view, before_us, LIST_MAX))
    }

    /// Returns how many rows of a task a pruning would empty, and the bytes that their bodies take in the database.
    /// Fails with [`JournalError::UnknownTask`].
    pub fn content(&self, task: &str, kept: &KeptKinds) -> Result<(u64, u64)> {
        self.read(|view| match view.find(task)? {
            None => Err(JournalError::UnknownTask { task: task.to_owned() }),
            Some((tid, _)) => view.content(tid, kept),
        })
    }

    /// Removes the bodies of closed tasks' rows, and deletes the fragments that no row names afterwards. The rows keep
    /// their positions, numbers and chains; rows of the stream `system` name the tasks. All of it becomes durable, or
    /// nothing. Fails with [`JournalError::PruneOvertaken`], [`JournalError::PruneBeside`], [`JournalError::PruneOpen`] or
    /// [`JournalError::UnknownTask`]. [`Self::compact`] returns the free space to the disk.
    pub fn prune(&self, prune: Prune) -> Result<PruneResult> {
        self.write(move |store| prune::apply(store, &prune))
    }

    /// Returns the position of the row that records the last pruning; 0 if there was none. A fragment stored before it
    /// may have been deleted.
    pub fn last_pruning(&self) -> Result<u64> {
        self.read(|view| view.last_pruning())
    }

    /// Rewrites the database without its free pages, and returns how many bytes that freed. Fails with
    /// [`JournalError::NoSpace`] if the copy does not fit on the disk, and with [`JournalError::Locked`]; the journal is
    /// then unchanged.
    pub fn compact(&self) -> Result<u64> {
        match &self.inner.backend {
            Backend::Memory(_) => Ok(0),
            Backend::Sqlite(journal) => journal.compact(),
        }
    }
}

/// Checking.
impl Journal {
    /// Checks every chain, number, entry and fragment, the head file, and SQLite's own structure. The report holds
    /// the damages; an error means that the check itself failed.
    pub fn verify(&self) -> Result<Verification> {
        let head = match &self.inner.backend {
            Backend::Memory(_) => None,
            Backend::Sqlite(journal) => Some(journal.head()?),
        };
        let mut report = self.read(|view| verify::all(view, head))?;
        // Opening has repaired the head file; that it was wrong is still reported.
        match self.inner.report.head {
            HeadState::Damaged { .. } => report.add(Damage::head(None, DamageKind::HeadUnreadable)),
            HeadState::Absent => report.add(Damage::head(None, DamageKind::HeadAbsent)),
            HeadState::Current | HeadState::Behind { .. } => {}
        }
        Ok(report)
    }

    /// Checks one task from its first row to its last, and returns its head. Fails with
    /// [`JournalError::Damaged`] at the first damage, and with the errors of reading.
    pub fn verify_task(&self, task: &str) -> Result<TaskVerification> {
        let known = self.inner.row_format_known;
        self.read(|view| verify::task(view, task, known))
    }
}

/// Waiting.
impl Journal {
    /// Waits until this process has appended a row after `pos`, the journal is closed or the time is up, and
    /// returns the last position that this process knows. Rows of other processes do not wake it: a reader
    /// that needs them reads again when the time is up.
    #[must_use]
    pub fn wait_for_rows(&self, pos: u64, timeout: Duration) -> u64 {
        self.inner.watch.wait_after(pos, timeout)
    }

    /// Calls `listener` with the last position after every commit of this process, on the writer's thread and after
    /// the acknowledgements. The listener must be short; it may read.
    pub fn on_commit(&self, listener: impl Fn(u64) + Send + Sync + 'static) -> CommitListener {
        self.inner.watch.listen(Arc::new(listener))
    }
}

impl Journal {
    fn read<T>(&self, work: impl FnOnce(&dyn View) -> Result<T>) -> Result<T> {
        match &self.inner.backend {
            Backend::Memory(journal) => journal.read(work),
            Backend::Sqlite(journal) => journal.read(work),
        }
    }

    fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut dyn Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.refuse_inside_ack()?;
        let (job, reply) = CallJob::new(work);
        self.execute(Box::new(job));
        reply.wait()
    }

    fn execute(&self, job: Box<dyn Job>) {
        match &self.inner.backend {
            Backend::Memory(journal) => journal.execute(job, &self.inner.watch),
            Backend::Sqlite(journal) => journal.execute(job),
        }
    }

    fn refuse_inside_ack(&self) -> Result<()> {
        let inside = match &self.inner.backend {
            Backend::Memory(journal) => journal.called_from_ack(),
            Backend::Sqlite(journal) => journal.called_from_ack(),
        };
        if inside { Err(JournalError::CalledFromAck) } else { Ok(()) }
    }
}

impl Inner {
    fn close(&self) {
        match &self.backend {
            Backend::Memory(journal) => journal.close(),
            Backend::Sqlite(journal) => journal.close(),
        }
        self.watch.close();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let backend = match &self.inner.backend {
            Backend::Memory(_) => "memory",
            Backend::Sqlite(_) => "sqlite",
        };
        out.debug_struct("Journal").field("backend", &backend).finish_non_exhaustive()
    }
}
