//! Every bound of the journal, by name. Reaching one returns a typed error; nothing is cut silently.

/// Longest task id, in bytes.
pub const TASK_ID_BYTES_MAX: usize = 200;
/// Longest address (`from`, `to`), in bytes.
pub const ADDRESS_BYTES_MAX: usize = 256;
/// Longest kind of a row or a command, in bytes.
pub const KIND_BYTES_MAX: usize = 64;
/// Longest body of a row, in bytes.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// Longest title of a task, in bytes.
pub const TITLE_BYTES_MAX: usize = 1_024;
/// Longest fragment, in bytes.
pub const FRAGMENT_BYTES_MAX: usize = 16 << 20;
/// Maximum rows in one submission.
pub const ROWS_PER_SUBMISSION_MAX: usize = 4_096;
/// Maximum fragments in one submission.
pub const FRAGMENTS_PER_SUBMISSION_MAX: usize = 1_024;
/// Maximum bytes (bodies, addresses, kinds, fragments) in one submission.
pub const SUBMISSION_BYTES_MAX: usize = 64 << 20;

/// Maximum commands pending for one task.
pub const COMMANDS_PER_TASK_MAX: usize = 64;
/// Longest body of a command, in bytes.
pub const COMMAND_BODY_BYTES_MAX: usize = 1 << 20;
/// Longest name of a cursor, in bytes.
pub const CURSOR_NAME_BYTES_MAX: usize = 128;
/// Longest owner text of a lease, in bytes.
pub const OWNER_BYTES_MAX: usize = 512;
/// Longest lease, in milliseconds: one day.
pub const LEASE_TTL_MS_MAX: u64 = 86_400_000;

/// Maximum requests queued for the writer; a submitter that finds the queue full blocks until there is room.
pub const QUEUE_MAX: usize = 1_024;
/// Maximum requests in one commit.
pub const GROUP_SUBMISSIONS_MAX: usize = 512;
/// A commit takes no further request once it holds this many bytes.
pub const GROUP_BYTES_MAX: usize = 64 << 20;
/// Pages of write-ahead log after which the writer moves them into the database, between two commits (8 MiB:
/// the work of a checkpoint is spread over hundreds of commits, and a crash leaves little to recover).
pub const WAL_PAGES_MAX: u64 = 2_048;
/// Default time that an open or a commit waits for another process's lock, in milliseconds.
pub const LOCK_WAIT_MS: u64 = 5_000;

/// Maximum rows in one page of reading.
pub const PAGE_ROWS_MAX: usize = 1_000;
/// A page of reading takes no further row once it holds this many bytes.
pub const PAGE_BYTES_MAX: usize = 8 << 20;
/// Maximum idle read connections kept open.
pub const READERS_IDLE_MAX: usize = 8;
/// Maximum tasks or commands in one listing.
pub const LIST_MAX: usize = 10_000;
/// Maximum ids named if a prefix is ambiguous.
pub const MATCHES_MAX: usize = 10;
/// Maximum damages named by one verification.
pub const DAMAGES_MAX: usize = 1_000;

/// Highest position, sequence number, clock reading or epoch: the maximum of SQLite's integers.
pub const COUNT_MAX: u64 = i64::MAX as u64;
