//! Going through folders: bounded, in one order on every machine, never through a link, never into Setpoint's own house.
//!
//! [`measure`] sees everything, because a size or a checksum that leaves something out is wrong. [`search`] leaves out what
//! nobody looks for: hidden, ignored and cached files.

pub(crate) mod measure;
pub(crate) mod search;

use std::path::Path;

use serde_json::Value;

use crate::answer::Gaps;
use crate::error::ToolError;
use crate::house::Refusal;
use crate::show;

/// What a walk could not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Files and folders looked at.
    pub(crate) entries: u64,
    /// Files and folders that may not be read.
    pub(crate) unreadable: u64,
    /// Whether everything was looked at; false when a limit ended the walk.
    pub(crate) complete: bool,
    /// Folders that are other file systems, which were not entered.
    pub(crate) mounts: u64,
    /// Folders and files of Setpoint's own, which were not looked at.
    pub(crate) closed: u64,
    /// Files and folders that a search leaves out: hidden, ignored and cached ones.
    pub(crate) skipped: u64,
    /// Symbolic links that were met and not followed.
    pub(crate) links: u64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Tally { entries: 0, unreadable: 0, complete: true, mounts: 0, closed: 0, skipped: 0, links: 0 }
    }

    /// Counts a file that was not read.
    pub(crate) fn miss(&mut self, error: &std::io::Error) {
        match Refusal::of(error) {
            Some(_) => self.closed += 1,
            None => self.unreadable += 1,
        }
    }

    /// For tools that make one thing of all that is below `root`.
    ///
    /// # Errors
    /// Something may not be read.
    pub(crate) fn nothing_missed(&self, root: &Path) -> Result<(), ToolError> {
        if self.unreadable == 0 {
            return Ok(());
        }
        let missed = show::count(self.unreadable, "file or folder", "files or folders");
        Err(ToolError::unfit(root, format!("{missed} in it could not be read, so nothing was made")))
    }

    /// Says in the facts of a tool that there were links, where there were any.
    pub(crate) fn tell_links(self, facts: &mut Value) {
        if self.links > 0 {
            facts["not_followed"] = self.links.into();
        }
    }

    /// For the end of a text.
    pub(crate) fn gaps(self) -> Gaps {
        Gaps { unreadable: self.unreadable, closed: self.closed, complete: self.complete }
    }
}
