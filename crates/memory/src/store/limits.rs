//! The limits of the store.

/// Longest space or entity, in bytes.
pub const TAG_BYTES_MAX: usize = 4_096;
/// Longest record, in bytes of its JSON.
pub const RECORD_BYTES_MAX: usize = 1 << 20;
/// Maximum events in one batch.
pub const BATCH_MAX: usize = 8_192;
/// Maximum records, rules or pairs in one listing.
pub const LIST_MAX: usize = 10_000;
/// Default time to wait for another process's lock, in milliseconds.
pub const LOCK_WAIT_MS: u64 = 5_000;
/// Largest count of distinct tasks of a tool.
pub const TASKS_COUNTED_MAX: u32 = 1_000;
/// Maximum lessons, the newest ones, that a rule is made from.
pub const LESSONS_MAX: usize = 8;
/// Maximum records of a pair, the newest ones, that are searched for lessons.
pub const LESSONS_LOOKED_AT_MAX: usize = 256;
/// Maximum pairs of a tool that are searched for calls to avoid, the youngest pairs first.
pub const AVOIDED_PAIRS_MAX: usize = 256;
/// Maximum spaces of tools in one listing.
pub const TOOLS_MAX: usize = 256;
