//! The handle of a journal.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::ack::{Ack, NotQueued};
use crate::chain::TaskHead;
use crate::command::{self, Command, CommandState, NewCommand};
use crate::cursor;
use crate::damage::{Damage, DamageKind};
use crate::error::{JournalError, Result};
use crate::head::HeadState;
use crate::job::{AppendJob, CallJob, Job};
use crate::lease::{self, Displace, Lease, LeaseTerms};
use crate::limits::LIST_MAX;
use crate::memory::MemoryJournal;
use crate::options::{JournalOptions, OpenReport};
use crate::prune::{self, KeptKinds, Prune, Pruned};
use crate::reader::{self, Rows};
use crate::row::Row;
use crate::sqlite::{self, SqliteJournal};
use crate::store::Kinds;
use crate::store::{CommandScope, Store, View};
use crate::submission::{Committed, Submission};
use crate::task::{self, Task, TaskFilter};
use crate::verify::{self, TaskVerification, Verification};
use crate::watch::{CommitListener, Watch};

/// An open journal. Clones are handles of the same one.
///
/// Three kinds of methods: *appending* and every other change goes through the one writer of the process and
/// returns, or is acknowledged, once it is durable; *reading* happens in the caller's thread, in its own
/// snapshot, and never holds the writer up; *waiting* tells of new rows. A call that waits for the writer
/// fails with [`JournalError::CalledFromAck`] inside an acknowledgement. The last handle that is dropped
/// closes the journal.
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
    /// Opens the journal in a directory; makes the directory (mode 0700) and the journal where there is none.
    ///
    /// Several processes may have the same journal open. Fails, and writes nothing, where the directory holds
    /// something else ([`JournalError::NotAJournal`]), a newer journal ([`JournalError::FormatTooNew`]) or
    /// one that has lost acknowledged rows ([`JournalError::LostTail`], [`JournalError::HeadMismatch`]); with
    /// [`JournalError::ReadOnly`], [`JournalError::NoSpace`], [`JournalError::Locked`],
    /// [`JournalError::CreateDir`] or [`JournalError::Io`] where the system refuses; and with
    /// [`JournalError::Damaged`] where the tables are not readable. What lies deeper, [`Self::verify`] finds.
    pub fn open(dir: &Path, options: &JournalOptions) -> Result<Self> {
        let (backend, report, watch) = sqlite::open(dir, options)?;
        let backend = Backend::Sqlite(Box::new(backend));
        let row_format_known = options.row_format_known;
        Ok(Self { inner: Arc::new(Inner { backend, watch, report, row_format_known }) })
    }

    /// A journal that ends with its last handle: same rules, no disk. What is submitted is done in the
    /// submitter's thread.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::in_memory_with(&JournalOptions::default())
    }

    /// Like [`Self::in_memory`]; of the options, [`JournalOptions::row_format_known`] counts.
    #[must_use]
    pub fn in_memory_with(options: &JournalOptions) -> Self {
        let report = OpenReport { created: true, head: HeadState::Current, loss: None };
        let backend = Backend::Memory(MemoryJournal::default());
        let row_format_known = options.row_format_known;
        let watch = Arc::new(Watch::starting_at(0));
        Self { inner: Arc::new(Inner { backend, watch, report, row_format_known }) }
    }

    /// What the opening found.
    #[must_use]
    pub fn open_report(&self) -> OpenReport {
        self.inner.report
    }

    /// Lets everything that was submitted become durable, then ends. What any handle does afterwards fails
    /// with [`JournalError::Closed`]. Fails with [`JournalError::CalledFromAck`] inside an acknowledgement.
    pub fn close(&self) -> Result<()> {
        self.refuse_inside_ack()?;
        self.inner.close();
        Ok(())
    }

    /// The failure after which this process appends nothing more, if there was one.
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
    /// Appends a submission; `ack` is called exactly once, when it is durable or refused.
    ///
    /// Blocks while [`crate::limits::QUEUE_MAX`] requests wait. Inside an acknowledgement it does not block:
    /// a full queue is [`JournalError::CalledFromAck`] there. Submissions of one thread are done in order.
    pub fn submit<A>(&self, submission: Submission, ack: A)
    where
        A: FnOnce(std::result::Result<Committed, Arc<JournalError>>) + Send + 'static,
    {
        self.execute(Box::new(AppendJob::new(submission, self.inner.row_format_known, Box::new(ack))));
    }

    /// Like [`Self::submit`], but never blocks: when the queue is full, both come back.
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
    pub fn append(&self, submission: Submission) -> std::result::Result<Committed, Arc<JournalError>> {
        self.refuse_inside_ack().map_err(Arc::new)?;
        let (sender, receiver) = sync_channel(1);
        self.submit(submission, move |result| {
            if sender.send(result).is_err() {
                tracing::debug!("nobody waits for the acknowledgement any more");
            }
        });
        receiver.recv().unwrap_or_else(|_| Err(Arc::new(JournalError::Closed)))
    }
}

/// Leases. An owner is a text that the caller understands; the journal only compares it.
impl Journal {
    /// Leases a task that is free, whose lease has run out, or that this owner holds already. Fails with
    /// [`JournalError::LeaseHeld`], [`JournalError::UnknownTask`] or [`JournalError::TaskClosed`].
    pub fn acquire_lease(&self, task: &str, terms: &LeaseTerms) -> Result<Lease> {
        self.lease(task, terms, Displace::Expired)
    }

    /// Leases a task from an owner that the caller knows to be dead, before its lease has run out. Fails with
    /// [`JournalError::LeaseHeld`] where somebody else holds it by now.
    pub fn take_over_lease(&self, task: &str, dead_owner: &str, terms: &LeaseTerms) -> Result<Lease> {
        self.lease(task, terms, Displace::Owner(dead_owner.to_owned()))
    }

    /// Prolongs a lease, also one that has run out, as long as nobody has taken the task since. Fails with
    /// [`JournalError::LeaseLost`] or [`JournalError::TaskClosed`]. `now_us` is in microseconds since 1970
    /// (UTC).
    pub fn renew_lease(&self, lease: &Lease, now_us: i64, ttl_ms: u64) -> Result<Lease> {
        let lease = lease.clone();
        self.write(move |store| lease::renew(store, &lease, now_us, ttl_ms))
    }

    /// Gives a task back. Fails with [`JournalError::LeaseLost`] where somebody has taken it since.
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
    /// Leaves a command for whoever owns the task. Fails with [`JournalError::UnknownTask`],
    /// [`JournalError::TaskClosed`] or [`JournalError::CommandsFull`].
    pub fn push_command(&self, task: &str, command: NewCommand) -> Result<u64> {
        command.check_limits()?;
        let task = task.to_owned();
        self.write(move |store| command::push(store, &task, &command))
    }

    /// The commands that wait for a task, in order of arrival. They wait until a submission takes them
    /// ([`Submission::take_command`]).
    pub fn waiting_commands(&self, task: &str) -> Result<Vec<Command>> {
        self.read(|view| match view.find(task)? {
            None => Err(JournalError::UnknownTask { task: task.to_owned() }),
            Some((tid, _)) => view.pending(CommandScope::Task(tid), 0, LIST_MAX),
        })
    }

    /// The commands that wait for any task, with numbers above `after_id`; at most `limit` and [`LIST_MAX`].
    pub fn pending_commands(&self, after_id: u64, limit: usize) -> Result<Vec<Command>> {
        self.read(|view| view.pending(CommandScope::All, after_id, limit.min(LIST_MAX)))
    }

    /// What became of a command; `None` if there never was one with this number.
    pub fn command_state(&self, id: u64) -> Result<Option<CommandState>> {
        self.read(|view| Ok(view.command(id)?.map(|entry| entry.state)))
    }
}

/// Cursors.
impl Journal {
    /// Where a cursor stands; 0 for one that was never moved.
    pub fn cursor(&self, name: &str) -> Result<u64> {
        self.read(|view| Ok(view.cursor(name)?.unwrap_or(0)))
    }

    /// Moves a cursor forward. Fails with [`JournalError::CursorBackwards`] or
    /// [`JournalError::CursorBeyondEnd`].
    pub fn advance_cursor(&self, name: &str, pos: u64) -> Result<()> {
        let name = name.to_owned();
        self.write(move |store| cursor::advance(store, &name, pos))
    }

    /// Puts a cursor anywhere up to the last row, for a reader that starts again. Fails with
    /// [`JournalError::CursorBeyondEnd`].
    pub fn rewind_cursor(&self, name: &str, pos: u64) -> Result<()> {
        let name = name.to_owned();
        self.write(move |store| cursor::rewind(store, &name, pos))
    }
}

/// Reading. Every row that comes out continues its task's chain; one that does not is
/// [`JournalError::Damaged`], one of a newer format [`JournalError::RowFormatTooNew`]. Rows before it are
/// given out first.
impl Journal {
    /// A task's rows from `from_seq` on, read page by page.
    #[must_use]
    pub fn rows(&self, task: &str, from_seq: u64) -> Rows {
        Rows::new(self.clone(), task, from_seq)
    }

    /// One page of a task's rows from `from_seq` on: at most `limit`, [`crate::limits::PAGE_ROWS_MAX`] and
    /// about [`crate::limits::PAGE_BYTES_MAX`]. Empty only behind the task's last row.
    pub fn read_rows(&self, task: &str, from_seq: u64, limit: usize) -> Result<Vec<Row>> {
        let known = self.inner.row_format_known;
        self.read(|view| reader::of_task(view, task, from_seq, limit, known))
    }

    /// One page of the rows of all tasks behind `pos`, in commit order, with the bounds of
    /// [`Self::read_rows`]. Empty only at the end.
    pub fn rows_after(&self, pos: u64, limit: usize) -> Result<Vec<Row>> {
        let known = self.inner.row_format_known;
        self.read(|view| reader::after(view, pos, limit, known))
    }

    /// One page of the rows of these kinds behind `pos`, in commit order, with the bounds of [`Self::read_rows`]. Empty
    /// when there is none any more. Each row fits the one before it in its task; rows between them are not looked at.
    pub fn rows_of_kinds_after(&self, pos: u64, kinds: Kinds<'_>, limit: usize) -> Result<Vec<Row>> {
        let known = self.inner.row_format_known;
        self.read(|view| reader::of_kinds_after(view, pos, kinds, limit, known))
    }

    /// Position of the first row behind `pos`, whether or not it can be given out: where [`Self::rows_after`] fails, what
    /// lies before it is missing, and whoever can do without it goes on there. `None` at the end.
    pub fn next_pos(&self, pos: u64) -> Result<Option<u64>> {
        self.read(|view| view.next_pos(pos))
    }

    /// Position of the last row of any process; 0 for none.
    pub fn last_pos(&self) -> Result<u64> {
        self.read(|view| view.last_pos())
    }

    /// The bytes with this hash, if they are stored.
    pub fn fragment(&self, hash: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        self.read(|view| view.fragment(hash))
    }

    /// A task by its id. Fails with [`JournalError::UnknownTask`].
    pub fn task(&self, id: &str) -> Result<Task> {
        self.read(|view| match view.find(id)? {
            None => Err(JournalError::UnknownTask { task: id.to_owned() }),
            Some((tid, _)) => task::read(view, tid),
        })
    }

    /// Where a task stands, to go on from there; the start of a task that does not exist yet.
    pub fn head(&self, id: &str) -> Result<TaskHead> {
        let start = TaskHead::start(id)?;
        self.read(|view| {
            Ok(match view.find(id)? {
                None => start,
                Some((_, state)) => TaskHead::at(Arc::clone(start.task()), state.seq, state.chain),
            })
        })
    }

    /// Tasks that pass the filter, newest first; at most `limit` and [`LIST_MAX`].
    pub fn list_tasks(&self, filter: TaskFilter, limit: usize) -> Result<Vec<Task>> {
        self.read(|view| task::list(view, filter, limit))
    }

    /// The id that this is, or the only one that starts with it or ends in it. Fails with [`JournalError::Ambiguous`] or
    /// [`JournalError::NotFound`].
    pub fn resolve(&self, part: &str) -> Result<String> {
        self.read(|view| task::resolve(view, part))
    }
}

/// Pruning.
impl Journal {
    /// Tasks that were closed before this time and were not pruned, oldest first; at most [`LIST_MAX`]. `before_us` is in
    /// microseconds since 1970 (UTC).
    pub fn prunable(&self, before_us: i64) -> Result<Vec<Task>> {
        self.read(|view| prune::prunable(view, before_us, LIST_MAX))
    }

    /// Rows of a task that a pruning would empty, and the bytes that their bodies take in the database. Fails with
    /// [`JournalError::UnknownTask`].
    pub fn content(&self, task: &str, kept: &KeptKinds) -> Result<(u64, u64)> {
        self.read(|view| match view.find(task)? {
            None => Err(JournalError::UnknownTask { task: task.to_owned() }),
            Some((tid, _)) => view.content(tid, kept),
        })
    }

    /// Takes the bodies of closed tasks' rows away, and deletes the fragments that no row names then. The rows keep their
    /// places, numbers and chains; rows of the stream `system` name the tasks. All of it becomes durable, or nothing. Fails
    /// with [`JournalError::PruneOvertaken`], [`JournalError::PruneBeside`], [`JournalError::PruneOpen`] or
    /// [`JournalError::UnknownTask`]. [`Self::compact`] gives the room back to the disk.
    pub fn prune(&self, prune: Prune) -> Result<Pruned> {
        self.write(move |store| prune::apply(store, &prune))
    }

    /// Position of the row that records the last pruning; 0 for none. Who has stored a fragment before it cannot rely on it.
    pub fn last_pruning(&self) -> Result<u64> {
        self.read(|view| view.last_pruning())
    }

    /// Gives room that nothing takes any more back to the disk, and returns how many bytes: the database is written anew.
    /// Fails with [`JournalError::NoSpace`] where there is no room for the copy, and with [`JournalError::Locked`]; the
    /// journal is then as it was.
    pub fn compact(&self) -> Result<u64> {
        match &self.inner.backend {
            Backend::Memory(_) => Ok(0),
            Backend::Sqlite(journal) => journal.compact(),
        }
    }
}

/// Checking.
impl Journal {
    /// Checks everything the journal says about itself: every chain, every number, every entry, every
    /// fragment, the head file, and SQLite's own structure. What is wrong is in the report; an error means
    /// that it could not be checked.
    pub fn verify(&self) -> Result<Verification> {
        let head = match &self.inner.backend {
            Backend::Memory(_) => None,
            Backend::Sqlite(journal) => Some(journal.head()?),
        };
        let mut report = self.read(|view| verify::all(view, head))?;
        // Opening has put the head file right; that it was wrong is still a finding.
        match self.inner.report.head {
            HeadState::Damaged { .. } => report.add(Damage::head(None, DamageKind::HeadUnreadable)),
            HeadState::Absent => report.add(Damage::head(None, DamageKind::HeadAbsent)),
            HeadState::Current | HeadState::Behind { .. } => {}
        }
        Ok(report)
    }

    /// Checks one task from its first row to its last, and says where it stands. Fails with
    /// [`JournalError::Damaged`] at the first damage, and like reading.
    pub fn verify_task(&self, task: &str) -> Result<TaskVerification> {
        let known = self.inner.row_format_known;
        self.read(|view| verify::task(view, task, known))
    }
}

/// Waiting.
impl Journal {
    /// Waits until this process has appended a row behind `pos`, the journal is closed or the time is up, and
    /// says how far this process knows the journal to go. Rows of other processes do not wake it: a reader
    /// that wants them looks again when the time is up.
    #[must_use]
    pub fn wait_for_rows(&self, pos: u64, timeout: Duration) -> u64 {
        self.inner.watch.wait_behind(pos, timeout)
    }

    /// Calls back with the last position after every commit of this process, on the writer's thread and after
    /// the acknowledgements. It must be short; it may read.
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
