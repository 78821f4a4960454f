//! Every bound of the log, by name. Reaching one is a typed outcome, never a silent cut.

/// Longest entry, in bytes.
pub const ENTRY_BYTES_MAX: usize = 64 << 10;
/// Most entries in one batch.
pub const BATCH_ENTRIES_MAX: usize = 4_096;
/// Most bytes of entries in one batch.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// After this many entries a checkpoint is due; it is made at the end of the batch that reaches them.
pub const CHECKPOINT_ENTRIES: u64 = 1_000;
/// So many entries without a checkpoint no writer leaves whose checkpoints can be written: more are taken for
/// checkpoints that were removed.
pub const UNSEALED_MAX: u64 = CHECKPOINT_ENTRIES + BATCH_ENTRIES_MAX as u64;

/// Longest line of the log without its end, in bytes: number, hash, entry and two spaces.
pub const LINE_BYTES_MAX: usize = 20 + 1 + 64 + 1 + ENTRY_BYTES_MAX;
/// Longest line of a list of checkpoints without its end, in bytes.
pub const CHECKPOINT_BYTES_MAX: usize = 1_024;
/// Most checkpoints that a verification looks at: a thousand million entries' worth.
pub const CHECKPOINTS_MAX: usize = 1_000_000;
/// Longest key file, in bytes.
pub const KEY_FILE_BYTES_MAX: usize = 512;

/// Most findings that one verification names.
pub const FINDINGS_MAX: usize = 100;
/// Most logs put aside in one directory.
pub const ASIDE_MAX: u32 = 1_000;
