//! What the Auditor knows, written down so that the next process need not read the whole journal again. It is worth
//! nothing by itself: one that is missing, damaged or does not fit is made anew.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use setpoint_audit_log::Entries;
use setpoint_roles::r6_auditor::Auditor;

use super::AuditFailure;

/// The file, in the Auditor's directory.
const FILE: &str = "auditor.json";
/// The same while it is written.
const PART: &str = "auditor.json.part";
/// The form of what is written here, and the rules that made it: another program's is not taken over.
const FORMAT: u32 = 1;
/// Longest file that is read, in bytes.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize)]
struct Written<'a> {
    format: u32,
    version: &'a str,
    log: Mark,
    auditor: &'a Auditor,
}

#[derive(Deserialize)]
struct Read {
    format: u32,
    version: String,
    log: Mark,
    auditor: Auditor,
}

/// The log's last entry when it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) seq: u64,
    pub(super) hash: String,
}

/// What was written down, and where the log stood.
pub(super) struct Snapshot {
    pub(super) log: Mark,
    pub(super) auditor: Auditor,
}

fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Writes it whole, or leaves the one before. Who writes holds the Auditor's lock: a part that is there was left by a process
/// that is gone.
pub(super) fn write(dir: &Path, log: Mark, auditor: &Auditor) -> Result<(), AuditFailure> {
    let path = path(dir);
    let written = Written { format: FORMAT, version: env!("CARGO_PKG_VERSION"), log, auditor };
    let text = serde_json::to_string(&written).unwrap_or_default();
    let part = dir.join(PART);
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true).mode(0o600);
    let written = options
        .open(&part)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&part, &path));
    written.map_err(|source| AuditFailure::File { path, source })
}

/// The one that is there, if it can be read and this program made it.
pub(super) fn read(dir: &Path) -> Option<Snapshot> {
    let path = path(dir);
    let length = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
    if length > BYTES_MAX {
        return None;
    }
    let read: Read = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
    let is_ours = read.format == FORMAT && read.version == env!("CARGO_PKG_VERSION");
    is_ours.then_some(Snapshot { log: read.log, auditor: read.auditor })
}

/// Whether the log still is the one that it was written beside.
pub(super) fn fits(dir: &Path, mark: &Mark) -> bool {
    if mark.seq == 0 {
        return true;
    }
    let entry = Entries::after(dir, mark.seq - 1).ok().and_then(|mut entries| entries.next());
    matches!(entry, Some(Ok(entry)) if entry.seq == mark.seq && entry.hash.to_string() == mark.hash)
}
