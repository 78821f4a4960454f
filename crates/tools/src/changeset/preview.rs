//! What a person sees of a command's changes before allowing them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use setpoint_sandbox::changes::{ChangeKind, Entry};

use super::{ChangeSet, Kept};
use crate::approval::Gate;
use crate::approval::preview::{self, PREVIEW_BYTES_MAX};
use crate::show;

/// Maximum changes that are listed.
const LISTED_MAX: usize = 40;
/// Maximum files whose new content is shown, as far as the bytes of a preview allow.
const CONTENTS_MAX: usize = 40;
/// Maximum bytes of a preview; what is left out is counted.
const BYTES_MAX: usize = 24 * 1024;

impl ChangeSet {
    /// Returns the list of changes, then the contents as differences; what other programs obey comes first.
    pub(crate) fn preview(&self, gate: &Gate) -> String {
        let mut list: Vec<&Kept> = self.list.iter().collect();
        list.sort_by_cached_key(|kept| !gate.is_obeyed(&kept.path()));
        let mut lines: Vec<String> = list.iter().take(LISTED_MAX).map(|kept| kept.line()).collect();
        if let Some(more @ 1..) = self.list.len().checked_sub(LISTED_MAX) {
            lines.push(format!("[{more} more changes]"));
        }
        let mut text = lines.join("\n");
        let is_file = |kept: &&Kept| {
            let has_content = matches!(kept.change.kind, ChangeKind::Created | ChangeKind::Changed);
            matches!(kept.change.entry, Entry::File(_)) && has_content
        };
        // What was there before matters more than what is new.
        let mut files: Vec<&Kept> = list.iter().copied().filter(is_file).collect();
        files.sort_by_cached_key(|kept| {
            (!gate.is_obeyed(&kept.path()), kept.change.kind != ChangeKind::Changed)
        });
        for (n, kept) in files.iter().enumerate() {
            let shown = if n < CONTENTS_MAX { kept.content() } else { String::new() };
            if shown.is_empty() || text.len() + shown.len() > BYTES_MAX {
                text.push_str(&format!("\n[the content of {} more files is not shown]", files.len() - n));
                break;
            }
            text.push_str(&format!("\n\n{}\n{shown}", show::path_line(&kept.change.path)));
        }
        text
    }
}

impl Kept {
    fn line(&self) -> String {
        let verb = match self.change.kind {
            ChangeKind::Created => "make",
            ChangeKind::Changed => "change",
            ChangeKind::Removed => "remove",
            ChangeKind::Permissions => "change the permissions of",
        };
        let (what, size) = match self.change.entry {
            Entry::File(bytes) => ("", format!(" ({})", show::amount(bytes))),
            Entry::Folder => ("folder ", String::new()),
            Entry::Link => {
                let is_removed = self.change.kind == ChangeKind::Removed;
                let target = std::fs::read_link(if is_removed { self.path() } else { self.at.clone() });
                ("link ", target.map_or_else(|_| String::new(), |to| format!(" -> {}", show::path_line(&to))))
            }
            Entry::Other => ("special file ", String::new()),
        };
        format!("{verb} {what}{}{size}{}", show::path_line(&self.change.path), self.modes())
    }

    /// Returns the permissions before and after, if they differ.
    fn modes(&self) -> String {
        const MODE: u32 = 0o7777;
        let mode = |path: &Path| path.symlink_metadata().map(|found| found.mode() & MODE);
        match (self.change.kind, mode(&self.path()), mode(&self.at)) {
            (ChangeKind::Changed | ChangeKind::Permissions, Ok(old), Ok(new)) if old != new => {
                format!(", mode {old:04o} -> {new:04o}")
            }
            _ => String::new(),
        }
    }

    fn content(&self) -> String {
        let nothing = || Ok(Vec::new());
        let (old, new) = match self.change.kind {
            ChangeKind::Created => (nothing(), read(&self.at)),
            ChangeKind::Changed => (read(&self.path()), read(&self.at)),
            ChangeKind::Removed => (read(&self.path()), nothing()),
            ChangeKind::Permissions => return String::new(),
        };
        match (old, new) {
            (Ok(old), Ok(new)) => preview::diff(&old, &new),
            _ => "[no preview: it cannot be read]".to_owned(),
        }
    }
}

/// Reads a file, one byte past the limit of previews at most.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = crate::files::open::regular(path, &crate::halt::Halt::default())?;
    File::take(file, PREVIEW_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
