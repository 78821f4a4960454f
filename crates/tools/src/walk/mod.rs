//! Walks folders: bounded, in the same order on every machine, never through a link, never into Setpoint's own house.
//!
//! [`measure`] sees everything, because a size or a checksum that leaves something out is wrong. [`search`] skips what
//! people do not search for: hidden, ignored and cached files.

pub(crate) mod measure;
pub(crate) mod search;

use std::path::Path;

use serde_json::Value;

use crate::answer::Gaps;
use crate::error::ToolError;
use crate::house::Refusal;
use crate::show;

/// What a walk visited and skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Files and folders that were visited.
    pub(crate) entries: u64,
    /// Files and folders that could not be read.
    pub(crate) unreadable: u64,
    /// Whether everything was visited; false if a limit ended the walk.
    pub(crate) complete: bool,
    /// Folders of other file systems, which were not entered.
    pub(crate) mounts: u64,
    /// Folders and files of Setpoint's own, which were skipped.
    pub(crate) closed: u64,
    /// Files and folders that a search skips: hidden, ignored and cached ones.
    pub(crate) skipped: u64,
    /// Symbolic links that were not followed.
    pub(crate) links: u64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Tally { entries: 0, unreadable: 0, complete: true, mounts: 0, closed: 0, skipped: 0, links: 0 }
    }

    /// Counts a file that could not be read.
    pub(crate) fn miss(&mut self, error: &std::io::Error) {
        match Refusal::of(error) {
            Some(_) => self.closed += 1,
            // The halt, not the file, ended the reading.
            None if error.kind() == std::io::ErrorKind::Interrupted => self.complete = false,
            None => self.unreadable += 1,
        }
    }

    /// Adds what another walk could not read.
    pub(crate) fn add_missed(&mut self, other: Tally) {
        self.unreadable += other.unreadable;
        self.closed += other.closed;
        self.complete &= other.complete;
    }

    /// Fails if something was missed, for tools whose result must cover everything below `root`.
    ///
    /// # Errors
    /// Something could not be read.
    pub(crate) fn nothing_missed(&self, root: &Path) -> Result<(), ToolError> {
        if self.unreadable == 0 {
            return Ok(());
        }
        let missed = show::count(self.unreadable, "file or folder", "files or folders");
        Err(ToolError::unfit(root, format!("{missed} in it could not be read, so nothing was made")))
    }

    /// Adds the number of links to a tool's facts, if there were any.
    pub(crate) fn tell_links(self, facts: &mut Value) {
        if self.links > 0 {
            facts["not_followed"] = self.links.into();
        }
    }

    /// Returns the gaps to report at the end of a text.
    pub(crate) fn gaps(self) -> Gaps {
        Gaps { unreadable: self.unreadable, closed: self.closed, complete: self.complete }
    }
}
