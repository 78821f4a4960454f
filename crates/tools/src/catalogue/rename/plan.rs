//! Which file would get which name, and which cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::ToolError;
use crate::halt::Halt;
use crate::show;
use crate::tool::Limits;
use crate::walk::Tally;
use crate::walk::measure::{Bounds, Step, walk};

/// Longest file name in bytes on the file systems of today.
const NAME_BYTES_MAX: usize = 255;

/// One file and its new path, in the same folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rename {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
}

/// A file that cannot get its new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) from: PathBuf,
    pub(super) to: String,
    pub(super) reason: &'static str,
}

/// What would happen.
#[derive(Debug)]
pub(super) struct Renames {
    /// Files that get a new name, by path.
    pub(super) list: Vec<Rename>,
    pub(super) conflicts: Vec<Conflict>,
    /// Files whose names hold the text in capitals where it has small letters, or the other way round: they keep their names.
    pub(super) other_case: u64,
    /// Entries that were looked at, folders too.
    pub(super) entries: u64,
    pub(super) tally: Tally,
}

impl Renames {
    /// Every file and link in `dir` whose name the change is about. Folders keep their names, and version control folders
    /// their content.
    pub(super) fn plan(
        dir: &Path,
        change: &Change<'_>,
        recursive: bool,
        limits: &Limits,
        halt: &Halt,
    ) -> Result<Self, ToolError> {
        let failed = |source| ToolError::file("list", dir, source);
        if !std::fs::metadata(dir).map_err(failed)?.is_dir() {
            return Err(failed(std::io::Error::from(std::io::ErrorKind::NotADirectory)));
        }
        let mut wanted: Vec<(PathBuf, String)> = Vec::new();
        let mut conflicts = Vec::new();
        let lower = Lowered::new(change);
        let (mut other_case, mut entries) = (0, 0);
        let tally = walk(dir, Bounds::new(limits), halt, |entry| {
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

/// What becomes of a text in a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'t> {
    pub(super) find: &'t str,
    pub(super) replace: &'t str,
    /// An ending such as `.txt` is looked for in the whole name, too.
    pub(super) anywhere: bool,
}

impl Change<'_> {
    /// The new name, where this one is meant. What is nothing but an ending has none.
    fn of(&self, name: &str) -> Option<String> {
        if self.anywhere || !is_ending(self.find) {
            return name.contains(self.find).then(|| name.replace(self.find, self.replace));
        }
        let stem = name.strip_suffix(self.find).filter(|stem| !stem.is_empty())?;
        Some(format!("{stem}{}", self.replace))
    }
}

/// A change with its text in small letters.
struct Lowered {
    find: String,
    anywhere: bool,
}

impl Lowered {
    fn new(change: &Change<'_>) -> Self {
        Lowered { find: change.find.to_lowercase(), anywhere: change.anywhere }
    }

    /// Whether a name would be meant in small letters.
    fn means(&self, name: &str) -> bool {
        Change { find: &self.find, replace: "", anywhere: self.anywhere }.of(&name.to_lowercase()).is_some()
    }
}

/// Whether a text is what a name ends in, `.txt`: such a one becomes another at the end of names alone.
fn is_ending(find: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    find.strip_prefix('.').is_some_and(|rest| rest.split('.').all(is_part))
}

/// The same name to a file system that does not tell capital letters from small ones.
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_spelling = one.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase();
    match (std::fs::symlink_metadata(one), std::fs::symlink_metadata(other)) {
        (Ok(one), Ok(other)) => is_spelling && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}
