//! A log on a disk that fails on demand.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use setpoint_own_files::own::{self, Access};

use crate::log::append_file::{AppendFile, Medium};
use crate::log::audit_log::AuditLog;
use crate::log::error::LogError;
use crate::log::open::Options;
use crate::log::reader::Entries;
use crate::log::verify::{TrustAnchors, verify};

/// The failures to produce.
#[derive(Debug, Default)]
struct Faults {
    /// Bytes of free space.
    room: Option<usize>,
    cut: bool,
    sync: bool,
}

#[derive(Debug)]
struct FailingDisk {
    file: File,
    faults: Arc<Mutex<Faults>>,
}

impl Medium for FailingDisk {
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.faults.lock().unwrap().room {
            Some(room) if room < bytes.len() => {
                self.file.write_all(&bytes[..room])?;
                Err(ErrorKind::StorageFull.into())
            }
            _ => self.file.append(bytes),
        }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        if self.faults.lock().unwrap().cut { Err(ErrorKind::Other.into()) } else { self.file.cut(length) }
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.faults.lock().unwrap().sync { Err(ErrorKind::Other.into()) } else { self.file.sync() }
    }
}

/// Creates a log with three entries whose disk fails as configured.
fn log(dir: &Path) -> (AuditLog, Arc<Mutex<Faults>>) {
    let faults = Arc::new(Mutex::new(Faults::default()));
    let (mut log, _) = AuditLog::open(dir, &Options::default()).unwrap();
    log.log = failing(&log.log, &faults);
    assert_eq!(log.append(&["1", "2", "3"], 0).unwrap().seq, 3);
    (log, faults)
}

/// Opens the same file on a disk that fails.
fn failing(file: &AppendFile, faults: &Arc<Mutex<Faults>>) -> AppendFile {
    let (path, length) = (&file.path, file.length);
    let file = own::open(path, Access::Append).unwrap();
    AppendFile::at(path, FailingDisk { file, faults: Arc::clone(faults) }, length)
}

fn entries(dir: &Path) -> Vec<String> {
    Entries::after(dir, 0).unwrap().map(|entry| entry.unwrap().json.into()).collect()
}

#[test]
fn a_batch_can_be_appended_again_after_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, faults) = log(dir.path());
    // A write that fails at any byte of the line leaves nothing.
    for room in 0..138 {
        faults.lock().unwrap().room = Some(room);
        let error = log.append(&["4", "5"], 0).unwrap_err();
        assert!(matches!(error, LogError::NoSpace { .. }), "{error}");
        assert_eq!((log.size(), entries(dir.path()).len()), (3, 3));
    }
    faults.lock().unwrap().room = None;
    assert_eq!(log.append(&["4", "5"], 0).unwrap().seq, 5);
    log.seal(0).unwrap();
    assert_eq!(entries(dir.path()), ["1", "2", "3", "4", "5"]);
    let seen = verify(dir.path(), &TrustAnchors::default()).unwrap();
    assert!(seen.is_sound() && seen.sealed == 5, "{seen:?}");
}

#[test]
fn a_write_that_cannot_be_taken_back_ends_the_writing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, faults) = log(dir.path());
    *faults.lock().unwrap() = Faults { room: Some(60), cut: true, sync: false };
    assert!(matches!(log.append(&["4"], 0), Err(LogError::NoSpace { .. })));
    *faults.lock().unwrap() = Faults::default();
    assert!(matches!(log.append(&["4"], 0), Err(LogError::Poisoned { .. })));
    assert!(matches!(log.seal(0), Err(LogError::Poisoned { .. })));
    let path = log.log.path.clone();
    drop(log);
    let torn = std::fs::metadata(&path).unwrap().len();
    let (mut log, _) = AuditLog::open(dir.path(), &Options::default()).unwrap();
    assert_eq!((log.size(), torn - std::fs::metadata(&path).unwrap().len()), (3, 60));
    assert_eq!(log.append(&["4"], 0).unwrap().seq, 4);
    assert_eq!(entries(dir.path()), ["1", "2", "3", "4"]);
}

/// What was not synced is not signed: a later sync can succeed although data of the earlier one was lost.
#[test]
fn nothing_is_signed_after_a_failed_sync() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, faults) = log(dir.path());
    faults.lock().unwrap().sync = true;
    assert!(matches!(log.seal(0), Err(LogError::Io { .. })));
    faults.lock().unwrap().sync = false;
    assert!(matches!(log.seal(0), Err(LogError::Poisoned { .. })));
    assert_eq!(log.checkpoint(), None);
    assert_eq!(verify(dir.path(), &TrustAnchors::default()).unwrap().checkpoints, 0);
}

#[test]
fn a_failed_checkpoint_loses_no_entry_and_is_retried() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = log(dir.path());
    let faults = Arc::new(Mutex::new(Faults { room: Some(100), ..Faults::default() }));
    log.seals.file = failing(&log.seals.file, &faults);
    let many = vec!["[]"; 1_000];
    let appended = log.append(&many, 0).unwrap();
    assert!(matches!(appended.sealing, Some(Err(LogError::NoSpace { .. }))), "{appended:?}");
    assert_eq!((appended.seq, log.unsealed()), (1_003, 1_003));
    faults.lock().unwrap().room = None;
    let appended = log.append(&["[]"], 0).unwrap();
    assert!(matches!(&appended.sealing, Some(Ok(sealed)) if sealed.exported.is_ok()), "{appended:?}");
    assert_eq!((log.checkpoint().unwrap().size, log.unsealed()), (1_004, 0));
    let seen = verify(dir.path(), &TrustAnchors::default()).unwrap();
    assert!(seen.is_sound() && seen.sealed == 1_004, "{seen:?}");
}
