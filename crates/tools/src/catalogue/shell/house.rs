//! Rejects commands whose text names Setpoint's own house, even if a person would allow them.
//!
//! A program can compose a path that its text does not show. Only a sandbox prevents that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use setpoint_command_line::mentions;

use super::matching;
use crate::error::ToolError;
use crate::halt::Halt;
use crate::house::House;
use crate::show;
use crate::tool::ToolCtx;

/// Programs that copy, move or change everything below a directory.
const TAKING_ALL: &str = "chgrp chmod chown cp mv rsync tar zip";
/// Programs that remove it.
const REMOVING: &str = "rm shred";

/// What a command's text is interpreted against.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    house: Arc<House>,
    cwd: PathBuf,
    home: PathBuf,
    vars: BTreeMap<String, String>,
}

impl Surroundings {
    pub(super) fn new(cwd: &Path, ctx: &ToolCtx) -> Self {
        let place = ctx.place();
        let mut vars = place.known_variables();
        // If environment variables name the house, a command may use them too.
        let more =
            ["SETPOINT_DATA_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
        vars.extend(more.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))));
        vars.insert("PWD".to_owned(), cwd.to_string_lossy().into_owned());
        Surroundings {
            house: Arc::clone(&ctx.house),
            cwd: cwd.to_path_buf(),
            home: place.surroundings.home,
            vars,
        }
    }

    /// Rejects a command whose text names a place of the house, or a directory above it that the command would remove,
    /// move or copy.
    pub(super) fn check(&self, command: &str) -> Result<(), ToolError> {
        let rooms = self.house.rooms();
        if rooms.is_empty() {
            return Ok(());
        }
        rooms.check(&self.cwd)?;
        let mentioned = mentions(command, &self.home, &self.vars);
        let mut bases = BTreeSet::from([self.cwd.clone()]);
        for text in &mentioned {
            for path in self.paths(text, &self.cwd) {
                rooms.check(&path)?;
                if rooms.is_below(&path) && path.is_dir() {
                    self.check_above(&path, &mentioned)?;
                    bases.insert(path);
                }
            }
        }
        // Covers `cd` to a directory above, followed by a name relative to it.
        for base in bases.iter().filter(|base| **base != self.cwd) {
            for text in &mentioned {
                self.paths(text, base).iter().try_for_each(|path| rooms.check(path))?;
            }
        }
        Ok(())
    }

    fn check_above(&self, above: &Path, mentioned: &BTreeSet<String>) -> Result<(), ToolError> {
        let runs = |list: &str| list.split(' ').any(|name| mentioned.contains(name));
        let real = std::fs::canonicalize(above).unwrap_or_else(|_| above.to_path_buf());
        let is_home_or_above = self.home.starts_with(&real);
        let refused = runs(REMOVING) || (runs(TAKING_ALL) && !is_home_or_above);
        if refused { Err(ToolError::HouseBelow { path: show::path(&real) }) } else { Ok(()) }
    }

    fn paths(&self, text: &str, base: &Path) -> Vec<PathBuf> {
        if text.contains(['*', '?']) {
            return matching::paths(text, base, &Halt::default()).unwrap_or_default();
        }
        vec![base.join(text)]
    }
}
