//! What a line `deny path` is about: where its path led when the file was read, and where it leads now.
//!
//! A link that is made or changed later must not open what the line denies, so the path is followed again each time.

use std::path::{Path, PathBuf};

use globset::GlobMatcher;

use super::parse::matcher;
use crate::approval::resolve::{Way, way};
use crate::halt::Halt;
use crate::walk::measure::{Bounds, Step, walk};

/// The path of a line, as it is written.
#[derive(Clone, Debug)]
pub(super) struct DeniedPath {
    /// Absolute, up to the first name with a sign of patterns.
    folder: PathBuf,
    /// The rest; empty if it has no such sign.
    pattern: PathBuf,
    first: Place,
}

/// Where it leads at one time.
#[derive(Clone, Debug)]
struct Place {
    way: Way,
    glob: Option<GlobMatcher>,
}

impl DeniedPath {
    /// Follows the path for the first time.
    ///
    /// # Errors
    /// If the pattern is malformed.
    pub(super) fn new(folder: PathBuf, pattern: PathBuf) -> Result<Self, globset::Error> {
        let first = Place::new(way(&folder), &pattern)?;
        Ok(DeniedPath { folder, pattern, first })
    }

    /// Returns where it leads: where it did when the file was read, and where it does now.
    pub(super) fn places(&self) -> Places {
        let mut places = vec![self.first.clone()];
        let now = way(&self.folder);
        if now != self.first.way {
            // The pattern was read once before, so it can be read.
            places.extend(Place::new(now, &self.pattern));
        }
        if !self.pattern.as_os_str().is_empty() {
            // A pattern may also be the very name of something.
            places.push(Place { way: way(&self.folder.join(&self.pattern)), glob: None });
        }
        Places(places)
    }
}

/// All places that a line is about.
#[derive(Debug)]
pub(super) struct Places(Vec<Place>);

impl Places {
    /// Returns whether changing or deleting what is at a path may affect the line's subject: either is below the other, or
    /// the line's path leads over it.
    pub(super) fn touches(&self, path: &Path) -> bool {
        self.0.iter().any(|place| {
            let is_passed = place.way.passed.iter().any(|passed| passed.starts_with(path));
            is_passed || place.holds(path) || place.may_be_below(path)
        })
    }

    /// Returns whether a path is the line's subject or below it.
    pub(super) fn holds(&self, path: &Path) -> bool {
        self.0.iter().any(|place| place.holds(path))
    }
}

impl Place {
    fn new(way: Way, pattern: &Path) -> Result<Self, globset::Error> {
        let glob = if pattern.as_os_str().is_empty() { None } else { Some(matcher(&way.end, pattern)?) };
        Ok(Place { way, glob })
    }

    fn holds(&self, path: &Path) -> bool {
        match &self.glob {
            Some(glob) => path.ancestors().any(|above| glob.is_match(above)),
            None => path.starts_with(&self.way.end),
        }
    }

    /// Returns whether something that matches is in this folder, or may be: there is too much in it to know.
    fn may_be_below(&self, path: &Path) -> bool {
        let Some(glob) = &self.glob else { return false };
        if !path.starts_with(&self.way.end) || !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return false;
        }
        let all = walk(path, Bounds::new(&Halt::default()), &Halt::default(), |entry| {
            if glob.is_match(entry.path) { Step::End } else { Step::On }
        });
        !all.is_ok_and(|tally| tally.complete && tally.unreadable == 0)
    }
}
