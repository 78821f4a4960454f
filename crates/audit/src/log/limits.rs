//! The bounds of the log. Reaching one is a typed outcome, never a silent cut.

/// Maximum length of an entry, in bytes.
pub const ENTRY_BYTES_MAX: usize = 64 << 10;
/// Maximum entries per batch.
pub const BATCH_ENTRIES_MAX: usize = 4_096;
/// Maximum bytes of entries per batch.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// Entries after which a checkpoint is due. It is made at the end of the batch that reaches them.
pub const CHECKPOINT_ENTRIES: u64 = 1_000;
/// Maximum entries without a checkpoint. A writer that can write its checkpoints leaves fewer, so more mean that
/// checkpoints were removed.
pub const UNSEALED_MAX: u64 = CHECKPOINT_ENTRIES + BATCH_ENTRIES_MAX as u64;

/// Maximum length of a line of the log without its end, in bytes: number, hash, entry and two spaces.
pub const LINE_BYTES_MAX: usize = 20 + 1 + 64 + 1 + ENTRY_BYTES_MAX;
/// Maximum length of a checkpoint's line without its end, in bytes.
pub const CHECKPOINT_BYTES_MAX: usize = 1_024;
/// Maximum checkpoints per verification: enough for a thousand million entries.
pub const CHECKPOINTS_MAX: usize = 1_000_000;
/// Maximum length of the key file, in bytes.
pub const KEY_FILE_BYTES_MAX: usize = 512;

/// Maximum findings per verification.
pub const FINDINGS_MAX: usize = 100;
/// Maximum logs put aside per directory.
pub const ASIDE_MAX: u32 = 1_000;
