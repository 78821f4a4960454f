//! Plans which files are renamed to what, and which cannot be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::apply::is_spelling;
use crate::error::ToolError;
use crate::halt::Halt;
use crate::show;
use crate::walk::Tally;
use crate::walk::measure::{Bounds, Step, walk};

/// Longest file name on common file systems, in bytes.
const NAME_BYTES_MAX: usize = 255;

/// One file and its new path, in the same folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rename {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
}

/// A file that cannot get its new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) from: PathBuf,
    pub(super) to: String,
    pub(super) reason: &'static str,
}

/// The planned renames.
#[derive(Debug)]
pub(super) struct Renames {
    /// Files that are renamed, by path.
    pub(super) list: Vec<Rename>,
    pub(super) conflicts: Vec<Conflict>,
    /// Files whose names contain the text in another case; they keep their names.
    pub(super) other_case: u64,
    /// Entries that were visited, folders included.
    pub(super) entries: u64,
    pub(super) tally: Tally,
}

impl Renames {
    /// Plans renames for the files and links in `dir` whose names the change matches. Folders keep their names, and
    /// version control folders are skipped.
    pub(super) fn plan(
        dir: &Path,
        change: &Change<'_>,
        recursive: bool,
        halt: &Halt,
    ) -> Result<Self, ToolError> {
        let failed = |source| ToolError::file("list", dir, source);
        if !std::fs::metadata(dir).map_err(failed)?.is_dir() {
            return Err(failed(std::io::Error::from(std::io::ErrorKind::NotADirectory)));
        }
        let mut wanted: Vec<(PathBuf, String)> = Vec::new();
        let mut conflicts = Vec::new();
        let lower = LowerCaseChange::new(change);
        let (mut other_case, mut entries) = (0, 0);
        let tally = walk(dir, Bounds::new(halt), halt, |entry| {
            entries += u64::from(entry.depth > 0);
            if entry.meta.is_dir() {
                let is_history = entry.path.file_name().is_some_and(|name| name == ".git");
                return if entry.depth == 0 || (recursive && !is_history) { Step::On } else { Step::Over };
            }
            let Some(name) = entry.path.file_name() else { return Step::On };
            match name.to_str() {
                Some(name) => {
                    let new = change.of(name);
                    other_case += u64::from(new.is_none() && lower.means(name));
                    let new = new.filter(|new| new != name);
                    wanted.extend(new.map(|new| (entry.path.to_path_buf(), new)));
                }
                None if change.of(&name.to_string_lossy()).is_some() => conflicts.push(Conflict {
                    from: entry.path.to_path_buf(),
                    to: show::name(name),
                    reason: "its name is not UTF-8",
                }),
                _ => {}
            }
            Step::On
        });
        let tally = tally.map_err(failed)?;
        let mut renames = Renames { list: Vec::new(), conflicts, other_case, entries, tally };
        renames.sort_out(wanted);
        Ok(renames)
    }

    fn sort_out(&mut self, wanted: Vec<(PathBuf, String)>) {
        let leaving: BTreeSet<PathBuf> = wanted.iter().map(|(from, _)| from.clone()).collect();
        let mut arriving: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for (from, name) in &wanted {
            *arriving.entry(from.with_file_name(name)).or_default() += 1;
        }
        for (from, name) in wanted {
            let to = from.with_file_name(&name);
            let reason = if name.is_empty() || name == "." || name == ".." {
                Some("nothing of the name is left")
            } else if name.len() > NAME_BYTES_MAX {
                Some("the new name is too long")
            } else if arriving.get(&to).is_some_and(|n| *n > 1) {
                Some("several files would get this name")
            } else if !leaving.contains(&to)
                && std::fs::symlink_metadata(&to).is_ok()
                && !is_same_file(&from, &to)
            {
                Some("something has this name already")
            } else {
                None
            };
            match reason {
                Some(reason) => self.conflicts.push(Conflict { from, to: name, reason }),
                None => self.list.push(Rename { from, to }),
            }
        }
        self.list.sort_unstable_by(|one, other| one.from.cmp(&other.from));
        self.conflicts.sort_unstable_by(|one, other| one.from.cmp(&other.from));
    }
}

/// The change to make in each name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'t> {
    pub(super) find: &'t str,
    pub(super) replace: &'t str,
    /// Whether a file extension such as `.txt` is also searched inside names.
    pub(super) anywhere: bool,
}

impl Change<'_> {
    /// Returns the new name, or `None` if the change does not match, or matches the whole name as an extension.
    fn of(&self, name: &str) -> Option<String> {
        if self.anywhere || !is_ending(self.find) {
            return name.contains(self.find).then(|| name.replace(self.find, self.replace));
        }
        let stem = name.strip_suffix(self.find).filter(|stem| !stem.is_empty())?;
        Some(format!("{stem}{}", self.replace))
    }
}

/// A change whose text is in lower case.
struct LowerCaseChange {
    find: String,
    anywhere: bool,
}

impl LowerCaseChange {
    fn new(change: &Change<'_>) -> Self {
        LowerCaseChange { find: change.find.to_lowercase(), anywhere: change.anywhere }
    }

    /// Returns whether the change would match the lower-case name.
    fn means(&self, name: &str) -> bool {
        Change { find: &self.find, replace: "", anywhere: self.anywhere }.of(&name.to_lowercase()).is_some()
    }
}

/// Returns whether a text looks like a file extension, `.txt`: it is replaced only at the end of names.
fn is_ending(find: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    find.strip_prefix('.').is_some_and(|rest| rest.split('.').all(is_part))
}

/// Returns whether a case-insensitive file system takes both paths for the same file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (std::fs::symlink_metadata(one), std::fs::symlink_metadata(other)) {
        (Ok(left), Ok(right)) => {
            is_spelling(one, other) && (left.dev(), left.ino()) == (right.dev(), right.ino())
        }
        _ => false,
    }
}
