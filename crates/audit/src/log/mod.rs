//! The Auditor's own log: entries that are only ever appended, chained to each other, and sealed with signatures.
//!
//! It stores bytes, one JSON value an entry; it never knows what they mean. It never reads a clock, never
//! rewrites or deletes what was sealed, never replaces a signing key, never repairs anything without saying so, and
//! never claims more than a verification has shown.
//!
//! Reading order: [`AuditLog`] is the log for its one writer, [`Entries`] for its readers; [`Checkpoint`] is what is
//! signed; [`verify`] looks at everything, [`LogDamage`] is what it finds and [`Claims`] what it proves. [`LogError`]
//! names everything that can go wrong, [`limits`] everything that is bounded.
//!
//! On disk a log is one directory:
//!
//! | file | holds |
//! |---|---|
//! | `log` | a line an entry: number, hash, JSON. The hash is blake3 of 0x00, the number, the hash before and the JSON |
//! | `checkpoints` | a line a checkpoint: size, root of the Merkle tree (RFC 6962 with blake3), hash of the last entry, time, key, hash of the checkpoint before, Ed25519 signature |
//! | `key` | the signing key, unless it lies somewhere else |
//! | `state` | the newest checkpoint's place in the log, so that opening need not read all of it |
//! | `log.aside-1` … | logs that were damaged and put aside |
//!
//! `checkpoints` is copied to an export of the operator's choice, which is what a verification is worth most against.

mod append_file;
mod audit_log;
mod chain;
mod checkpoint;
mod damage;
mod error;
mod export;
#[cfg(test)]
mod failing_disk;
mod files;
mod key;
pub mod limits;
mod line;
mod lines;
mod open;
mod reader;
mod seals;
mod state;
mod tree;
mod verify;

pub use audit_log::{Appended, AuditLog, Sealed, Sealing};
pub use chain::Hash;
pub use checkpoint::{Checkpoint, PublicKey};
pub use damage::{DamageKind, LogDamage, LogFile};
pub use error::{LogError, Result};
pub use export::{ExportError, Exported};
pub use line::{Entry, LineFault};
pub use open::{Aside, OnDamage, OpenReport, Options};
pub use reader::{Backwards, Entries, is_there};
pub use verify::{Against, Claims, Verification, verify, verify_streams};
