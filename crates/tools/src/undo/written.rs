//! Whether a task wrote a file, by what all tasks have noted for an undo.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::keep::LOG;
use crate::approval::resolve;
use crate::files::open;
use crate::halt::Halt;

/// Maximum bytes of all logs that are searched; beyond it every file counts as written by a task.
const LOG_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// What tasks have written, of this data directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// The folder with what tasks changed, one folder for each.
    all: Option<PathBuf>,
    /// What the present task created, also by commands whose changes are not kept.
    created: BTreeSet<PathBuf>,
}

impl Written {
    /// `kept` is the folder of what is kept for the present task.
    pub(crate) fn new(kept: Option<&Path>, created: &BTreeSet<PathBuf>) -> Self {
        Written { all: kept.and_then(Path::parent).map(Path::to_path_buf), created: created.clone() }
    }

    /// Returns whether a task has written what is at this path, a link on the way to it, or a folder around it. What cannot
    /// be told counts as written.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let passed = resolve::way(path).passed;
        passed.iter().any(|place| self.created.contains(place)) || self.is_noted(&passed)
    }

    fn is_noted(&self, places: &[PathBuf]) -> bool {
        let Some(all) = &self.all else { return false };
        let quoted = |place: &PathBuf| serde_json::to_string(place.to_str()?).ok();
        let Some(places) = places.iter().map(quoted).collect::<Option<Vec<String>>>() else { return true };
        let tasks = match std::fs::read_dir(all) {
            Ok(tasks) => tasks,
            // No task has changed anything yet.
            Err(error) => return error.kind() != std::io::ErrorKind::NotFound,
        };
        let mut room = LOG_BYTES_MAX;
        for task in tasks {
            let Ok(task) = task else { return true };
            let file = match open::regular(&task.path().join(LOG), &Halt::default()) {
                Ok(file) => file,
                Err(error) if is_absent(&error) => continue,
                Err(_) => return true,
            };
            let mut log = Vec::new();
            let read = file.take(room + 1).read_to_end(&mut log).map_or(u64::MAX, |bytes| bytes as u64);
            let log = String::from_utf8_lossy(&log);
            if read > room || places.iter().any(|place| log.contains(place.as_str())) {
                return true;
            }
            room -= read;
        }
        false
    }
}

/// A task without changes has no log, and a stray file is not a task.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
