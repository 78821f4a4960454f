//! One line of an approval file.

use std::path::{Path, PathBuf};

use globset::GlobMatcher;
use setpoint_protocol::tool::ApprovalNeed;

/// What a line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Allow,
    Deny,
}

/// What a line is about.
#[derive(Clone, Debug)]
pub(super) enum About {
    /// A path and everything below it.
    Below(PathBuf),
    /// Paths that match. The folder is the part of the pattern that is none.
    Matching { folder: PathBuf, glob: GlobMatcher },
    /// This command, by its text or by the digest of the need.
    Command(String),
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// From 1.
    pub(super) line: usize,
    pub(super) word: Word,
    pub(super) about: About,
}

impl Rule {
    /// Whether the line names this very need. The words of a command are meant where the person stands: elsewhere the same
    /// words may run something else, so that only a denial names them there.
    pub(super) fn names(&self, need: &ApprovalNeed) -> bool {
        match &self.about {
            About::Command(text) => {
                let is_meant = need.cwd.is_none() || self.word == Word::Deny;
                (is_meant && *text == need.command.trim()) || text.eq_ignore_ascii_case(&need.digest)
            }
            About::Below(_) | About::Matching { .. } => false,
        }
    }

    /// Whether a touched path lies in what the line is about, with everything below it.
    pub(super) fn covers(&self, path: &Path) -> bool {
        match &self.about {
            About::Below(folder) => path.starts_with(folder),
            About::Matching { glob, .. } => glob.is_match(path),
            About::Command(_) => false,
        }
    }

    /// Whether touching a path may touch what the line is about: the path lies in it, or it lies below the path.
    pub(super) fn touches(&self, path: &Path) -> bool {
        let is_above = match &self.about {
            About::Below(folder) | About::Matching { folder, .. } => folder.starts_with(path),
            About::Command(_) => false,
        };
        is_above || self.holds(path)
    }

    /// Whether a path is what the line is about, or lies below it.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.covers(above))
    }
}
