//! Small logs, and changes to their files.

use std::path::{Path, PathBuf};

use setpoint_audit::log::{AuditLog, Entries, Options, TrustAnchors, Verification, verify};

/// A log in its own directory, with an export beside it.
pub(crate) struct Made {
    root: tempfile::TempDir,
}

impl Made {
    pub(crate) fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    /// Creates a log from batches of these sizes, with a checkpoint after each.
    pub(crate) fn with(batches: &[u64]) -> Self {
        let made = Self::new();
        let mut log = made.open();
        for batch in batches {
            append(&mut log, *batch);
            log.seal(1_790_000_000_000_000).unwrap();
        }
        made
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.root.path().join("audit")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub(crate) fn export(&self) -> PathBuf {
        self.root.path().join("exported")
    }

    pub(crate) fn options(&self) -> Options {
        Options { export: Some(self.export()), ..Options::default() }
    }

    pub(crate) fn open(&self) -> AuditLog {
        AuditLog::open(&self.dir(), &self.options()).unwrap().0
    }

    /// Verifies the log without anything to compare it with.
    pub(crate) fn verify(&self) -> Verification {
        verify(&self.dir(), &TrustAnchors::default()).unwrap()
    }

    pub(crate) fn verify_with_export(&self) -> Verification {
        verify(&self.dir(), &TrustAnchors { export: Some(self.export()), key: None }).unwrap()
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.file(name), bytes).unwrap();
    }

    /// Rewrites a file by its lines, line ends included.
    pub(crate) fn edit(&self, name: &str, edit: impl FnOnce(&mut Vec<Vec<u8>>)) {
        let mut lines: Vec<Vec<u8>> =
            self.read(name).split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        edit(&mut lines);
        self.write(name, lines.concat());
    }

    pub(crate) fn entries(&self) -> Vec<String> {
        Entries::after(&self.dir(), 0).unwrap().map(|entry| entry.unwrap().json.into()).collect()
    }

    /// Copies the current directory of the log.
    pub(crate) fn copied(&self) -> Self {
        let copy = Self::new();
        copy_dir(&self.dir(), &copy.dir());
        if self.export().exists() {
            std::fs::copy(self.export(), copy.export()).unwrap();
        }
        copy
    }
}

pub(crate) fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Entries of different lengths that contain their number.
pub(crate) fn append(log: &mut AuditLog, count: u64) {
    let mut next = log.size() + 1;
    let end = next + count;
    while next < end {
        let batch: Vec<String> = (next..end.min(next + 500)).map(entry).collect();
        let _appended = log.append(&batch, 1_790_000_000_000_000).unwrap();
        next += batch.len() as u64;
    }
}

pub(crate) fn entry(seq: u64) -> String {
    format!(r#"{{"pos":{seq},"kind":"note","text":"{}"}}"#, "x".repeat((seq % 7) as usize * 9))
}

/// The findings, one line per finding.
pub(crate) fn told(seen: &Verification) -> String {
    seen.findings.iter().map(|finding| format!("{finding}\n")).collect()
}
