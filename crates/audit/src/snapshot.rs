//! The Auditor's stored state, so that the next process does not read the whole journal again.
//!
//! The log notes its digest, so only a state that the Auditor wrote is used. One that is missing, changed or does
//! not fit is rebuilt from the journal.

use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use setpoint_own_files::own::{self, Access};
use setpoint_roles::r6_auditor::Auditor;

use super::entry::{LogEntry, parse};
use crate::log::{Entries, LogError, replace};

/// The file in the Auditor's directory: a heading on the first line, the state on the second.
pub(super) const FILE: &str = "auditor.json";
/// The format and the rules that made the state. A state of another version is not used.
const FORMAT: u32 = 1;
/// Maximum length of the file, in bytes.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Heading {
    format: u32,
    version: String,
    log: Mark,
}

/// The log entry that notes the state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// A stored state, and the number of the log entry that notes it.
pub(super) struct Snapshot {
    pub(super) seq: u64,
    /// Whether the state includes every finding that the log holds up to that entry.
    pub(super) is_settled: bool,
    pub(super) auditor: Auditor,
}

/// Returns the digest of a state, as the log notes it.
pub(super) fn digest(known: &str) -> String {
    blake3::hash(known.as_bytes()).to_hex().to_string()
}

/// Writes the state whole, or keeps the previous one. The caller holds the Auditor's lock, so an existing draft was
/// left by a process that has ended.
pub(super) fn write(dir: &Path, log: Mark, known: &str) -> Result<(), LogError> {
    let path = dir.join(FILE);
    let heading = Heading { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), log };
    let text = format!("{}\n{}", serde_json::to_string(&heading).unwrap_or_default(), known);
    // A link in its place is an error: replacing it would hide that somebody put it there.
    let replaced = own::check(&path).and_then(|_| replace(&path, text.as_bytes()));
    replaced.map_err(|error| LogError::io(&path, error))
}

/// Returns the stored state, if this version wrote it and the log notes its digest.
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
    let is_settled = settled_if_noted(dir, &heading.log, known)?;
    Some(Snapshot { seq: heading.log.seq, is_settled, auditor: serde_json::from_str(known).ok()? })
}

/// Returns whether the noted state is settled; `None` if the entry notes another state.
fn settled_if_noted(dir: &Path, mark: &Mark, known: &str) -> Option<bool> {
    let entry = Entries::after(dir, mark.seq.checked_sub(1)?).ok()?.next()?.ok()?;
    if entry.seq != mark.seq || entry.hash.to_string() != mark.hash {
        return None;
    }
    match parse(&entry.json)? {
        LogEntry::Known { digest: noted, is_settled } => (noted == digest(known)).then_some(is_settled),
        _ => None,
    }
}
