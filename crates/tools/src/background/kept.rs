//! What is written down of each process, so that a task that goes on after a restart learns what became of it.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use setpoint_own_files::own::{self, Access};
use setpoint_own_files::whole::Draft;
use setpoint_protocol::text::clip;
use setpoint_scrub::Scrub;

use crate::process::{CapturedOutput, Ending};

/// Maximum bytes of output that are kept of a process.
const OUTPUT_BYTES_MAX: usize = 16 * 1024;
/// Maximum characters of its command.
const COMMAND_CHARS_MAX: usize = 4_000;
/// Maximum bytes of a file that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Only its owner may read it.
const MODE: u32 = 0o600;

/// The folder of what a task kept running.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Removed from what is written down. The output comes without them.
    keys: Scrub,
}

/// A process that this or an earlier process kept running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptProcess {
    pub(crate) command: String,
    /// The last output that was written down.
    pub(crate) output: String,
    /// How it ended, in words; `None` if it still ran then.
    pub(crate) ending: Option<String>,
}

impl Folder {
    /// The folder below that of what is kept for a task.
    pub(crate) fn of(kept: &Path, keys: &Scrub) -> Self {
        Folder { path: kept.join("background"), keys: keys.clone() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.json"))
    }

    pub(super) fn write(
        &self,
        name: &str,
        command: &str,
        output: &CapturedOutput,
        ending: Option<Ending>,
    ) -> io::Result<()> {
        own::create_dir(&self.path)?;
        let kept = KeptProcess {
            command: clip(&self.keys.text(command.to_owned()), COMMAND_CHARS_MAX),
            output: output.text(OUTPUT_BYTES_MAX),
            ending: ending.map(|ending| ending.to_string()),
        };
        let mut draft = Draft::with_mode(&self.file(name), MODE)?;
        draft.write_all(serde_json::to_string(&kept)?.as_bytes())?;
        draft.finish()
    }

    /// Returns what is known of a process; `None` if nothing is. The name is one that a process can have.
    pub(crate) fn read(&self, name: &str) -> Option<KeptProcess> {
        let number = name.strip_prefix('p')?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut text = String::new();
        let file = own::open(&self.file(name), Access::Read).ok()?;
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Returns the names of all.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect()
    }
}
