//! The Auditor's log: entries that are only appended, chained to each other, and sealed with signatures.
//!
//! Stores one JSON value per entry and does not know what it means. Never reads a clock, never rewrites or deletes
//! what was sealed, never replaces a signing key, never repairs anything without reporting it, and never claims
//! more than a verification has shown.
//!
//! Reading order: [`AuditLog`] is for the one writer, [`Entries`] for readers; a [`Checkpoint`] is what is signed;
//! [`verify`] checks everything, [`LogDamage`] is what it finds and [`Claims`] what it proves. [`LogError`] names
//! every failure, [`limits`] every bound.
//!
//! On disk a log is one directory:
//!
//! | file | holds |
//! |---|---|
//! | `log` | one line per entry: number, hash, JSON. The hash is BLAKE3 of 0x00, the number, the hash before and the JSON |
//! | `checkpoints` | one line per checkpoint: size, hash of the last entry, time, key, hash of the checkpoint before, Ed25519 signature; in older ones also the root of a Merkle tree, see `docs/decisions/0017` |
//! | `key` | the signing key, unless the operator named another file |
//! | `log.aside-1` … | damaged logs that were put aside |
//!
//! `checkpoints` is copied to an export of the operator's choice. A verification proves most if compared with it.

mod append_file;
mod audit_log;
mod checkpoint;
mod damage;
mod error;
mod export;
#[cfg(test)]
mod failing_disk;
mod files;
mod hex;
mod key;
pub mod limits;
mod line;
mod lines;
mod open;
mod reader;
mod seals;
mod verify;

pub(crate) use files::replace;

pub use audit_log::{AppendResult, AuditLog, SealedLog};
pub use checkpoint::Checkpoint;
pub use damage::{DamageKind, LogDamage, LogFile};
pub use error::{LogError, Result};
pub use hex::{Hash, Hex, PublicKey};
pub use line::Entry;
pub use open::{OnDamage, Options};
pub use reader::{Entries, ReverseEntries, is_there};
pub use verify::{Claims, TrustAnchors, Verification, verify, verify_streams};
