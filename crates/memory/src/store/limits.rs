//! Every bound of the store, by name.

/// Longest space or entity, in bytes.
pub const TAG_BYTES_MAX: usize = 4_096;
/// Longest record, in bytes of its JSON.
pub const RECORD_BYTES_MAX: usize = 1 << 20;
/// Most events in one batch.
pub const BATCH_MAX: usize = 8_192;
/// Most records, rules or pairs in one listing.
pub const LIST_MAX: usize = 10_000;
/// How long to wait for another process's lock unless told otherwise, in milliseconds.
pub const LOCK_WAIT_MS: u64 = 5_000;
/// Distinct tasks that a tool's count goes up to.
pub const TASKS_COUNTED_MAX: u32 = 1_000;
/// Newest lessons that a rule is made of.
pub const LESSONS_MAX: usize = 8;
/// Newest records of a pair among which these are looked for.
pub const LESSONS_LOOKED_AT_MAX: usize = 256;
/// Pairs of a tool that are looked at for calls to avoid: those that were seen first last.
pub const AVOIDED_PAIRS_MAX: usize = 256;
/// Spaces of tools in one listing.
pub const TOOLS_MAX: usize = 256;
