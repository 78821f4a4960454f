//! What the Auditor knows, written down so that the next process need not read the journal again. The log notes its digest,
//! so it is what the Auditor wrote or nothing at all: one that is missing, changed or does not fit is made anew.

use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use setpoint_own_files::own::{self, Access};
use setpoint_roles::r6_auditor::Auditor;

use super::entry::{LogEntry, parse};
use crate::log::{Entries, LogError, replace};

/// The file, in the Auditor's directory: a line that says what it is, and one with what is known.
pub(super) const FILE: &str = "auditor.json";
/// The form of what is written here, and the rules that made it: another program's is not taken over.
const FORMAT: u32 = 1;
/// Longest file that is read, in bytes.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Heading {
    format: u32,
    version: String,
    log: Mark,
}

/// The log's entry that notes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// What was written down, and where the log notes it.
pub(super) struct Snapshot {
    pub(super) seq: u64,
    /// Whether what the log says before that is known.
    pub(super) is_settled: bool,
    pub(super) auditor: Auditor,
}

/// What the log notes of it.
pub(super) fn digest(known: &str) -> String {
    blake3::hash(known.as_bytes()).to_hex().to_string()
}

/// Writes it whole, or leaves the one before. The caller holds the Auditor's lock: a draft that is there was left by a process
/// that has ended.
pub(super) fn write(dir: &Path, log: Mark, known: &str) -> Result<(), LogError> {
    let path = dir.join(FILE);
    let heading = Heading { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), log };
    let text = format!("{}\n{}", serde_json::to_string(&heading).unwrap_or_default(), known);
    // A link that was put there is not replaced in silence.
    let replaced = own::check(&path).and_then(|_| replace(&path, text.as_bytes()));
    replaced.map_err(|error| LogError::io(&path, error))
}

/// The one that is there, if this program made it and the log notes it as it is.
pub(super) fn read(dir: &Path) -> Option<Snapshot> {
    let path = dir.join(FILE);
    let mut text = String::new();
    let file = own::open(&path, Access::Read).ok()?;
    if file.metadata().ok()?.len() > BYTES_MAX {
        return None;
    }
    file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    let (heading, known) = text.split_once('\n')?;
    let heading: Heading = serde_json::from_str(heading).ok()?;
    let is_ours = heading.format == FORMAT && heading.version == env!("CARGO_PKG_VERSION");
    if !is_ours {
        return None;
    }
    let is_settled = noted(dir, &heading.log, known)?;
    Some(Snapshot { seq: heading.log.seq, is_settled, auditor: serde_json::from_str(known).ok()? })
}

/// What the log notes of it, where it is what the log notes: whether it is settled.
fn noted(dir: &Path, mark: &Mark, known: &str) -> Option<bool> {
    let entry = Entries::after(dir, mark.seq.checked_sub(1)?).ok()?.next()?.ok()?;
    if entry.seq != mark.seq || entry.hash.to_string() != mark.hash {
        return None;
    }
    match parse(&entry.json)? {
        LogEntry::Known { digest: noted, is_settled } => (noted == digest(known)).then_some(is_settled),
        _ => None,
    }
}
