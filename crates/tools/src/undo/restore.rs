//! Puts states back, through folders that are held open, and only where everything is still as it was planned.

use std::io;
use std::path::Path;

use rustix::fs::AtFlags;
use setpoint_own_files::own::{self, Access};

use super::note::State;
use super::plan::{FOLDER_GONE, Step, Undoing};
use crate::catalogue::rename::{Rename, apply as rename};
use crate::files::draft::{Draft, unused_name};
use crate::files::folder::Folder;
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;
use crate::halt::Halt;

impl Undoing {
    /// Puts everything back. What cannot be put back any more is left alone and joins [`Undoing::left`].
    pub fn apply(&mut self) {
        let steps = std::mem::take(&mut self.steps);
        let together =
            |one: &Step, next: &Step| matches!((one, next), (Step::Back { .. }, Step::Back { .. }));
        for part in steps.chunk_by(together) {
            if let [Step::Put { path, was, now }] = part {
                // What a path holds after a step that failed is not what this one was planned with.
                if let Err(error) = self.put(path, was, now) {
                    self.left.entry(path.clone()).or_insert_with(|| error.to_string());
                }
                continue;
            }
            if let Err(why) = back(part) {
                // All of them keep the names that they have.
                let names = part.iter().filter_map(renamed).map(|rename| (rename.from, why.clone()));
                self.left.extend(names);
            }
        }
        self.steps = steps;
    }

    fn put(&self, path: &Path, was: &State, now: &State) -> io::Result<()> {
        let spot = Spot::real(path, None)?;
        if !spot.has_folder() {
            return Err(io::Error::other(FOLDER_GONE));
        }
        if !State::at(&spot)?.is(now) {
            return Err(io::Error::other("it was changed just now by somebody else"));
        }
        let (folder, name) = (spot.folder(), spot.name());
        match (now, was) {
            (State::Folder { .. }, State::Nothing) => {
                Ok(rustix::fs::unlinkat(folder.descriptor(), name, AtFlags::REMOVEDIR)?)
            }
            (_, State::Nothing) => folder.remove(name),
            (_, State::Folder { mode }) => {
                let (inner, _) = folder.make(name)?;
                mode.map_or(Ok(()), |mode| inner.set_mode(mode))
            }
            (_, State::Link(target)) => {
                let hidden = unused_name();
                folder.make_link(&target.0, hidden.as_ref())?;
                folder.rename(hidden.as_ref(), name)
            }
            (_, State::File { hash, mode }) => self.put_file(&spot, hash, *mode),
            (_, State::Lost(why)) => Err(io::Error::other(why.clone())),
        }
    }

    fn put_file(&self, spot: &Spot, hash: &str, mode: u32) -> io::Result<()> {
        let mut kept = own::open(&self.contents.join(hash), Access::Read)?;
        let mut draft = Draft::beside(spot)?;
        let mut failed = None;
        let file = draft.file();
        let hashed = hash::stream(&mut kept, Algorithm::Blake3, &Halt::default(), |block| {
            if failed.is_none() {
                failed = io::Write::write_all(file, block).err();
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if hashed.hex != hash {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "what was kept of it is damaged"));
        }
        match spot.look()? {
            Some(old) => draft.commit_over(&old)?,
            None => draft.commit_new()?,
        }
        spot.folder().set_mode_of(spot.name(), mode)
    }
}

/// Gives files their old names, all or none.
fn back(part: &[Step]) -> Result<(), String> {
    let list: Vec<Rename> = part.iter().filter_map(renamed).collect();
    let held = Folder::open(Path::new("/")).map_err(|error| error.to_string())?;
    rename(&list, &held).map_err(|error| setpoint_protocol::text::error_chain(&error))
}

fn renamed(step: &Step) -> Option<Rename> {
    match step {
        Step::Back { from, to } => Some(Rename { from: from.clone(), to: to.clone() }),
        Step::Put { .. } => None,
    }
}
