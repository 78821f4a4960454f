//! What an approval is bound to: one hash over what would be done and what is there now.

use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::Stat;

use super::{Plan, Touch};
use crate::files::folder::{self, Folder};
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::tool::Limits;
use crate::walk::measure::{Bounds, Step, walk};

/// Largest file whose content goes into the digest; of a larger one, size and time of change.
const CONTENT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Entries below a folder that go into the digest; of more, their being more.
const ENTRIES_MAX: usize = 10_000;
/// Separates this digest from every other use of the hash, and its versions from each other.
const DOMAIN: &str = "setpoint approval 1";

/// The digest, hexadecimal. What is there is looked at through `held`, where it is in that folder.
pub(super) fn of(plan: &Plan, held: Option<&Folder>) -> String {
    let mut parts = Parts(blake3::Hasher::new());
    parts.add(DOMAIN.as_bytes());
    parts.add(plan.tool.as_bytes());
    parts.add(plan.command.as_bytes());
    parts.add(plan.cwd.as_os_str().as_bytes());
    let mut touches: Vec<&Touch> = plan.touches.iter().collect();
    touches.sort();
    for touch in touches {
        parts.add(if touch.is_delete { b"delete" } else { b"write" });
        parts.add(touch.path.as_os_str().as_bytes());
        parts.add(
            state(touch, held).unwrap_or_else(|error| format!("nowhere ({:?})", error.kind())).as_bytes(),
        );
    }
    let mut executed: Vec<_> = plan.executed.iter().collect();
    executed.sort();
    for file in executed {
        parts.add(b"execute");
        parts.add(file.path.as_bytes());
        parts.add(file.hash.as_bytes());
    }
    parts.0.finalize().to_hex().to_string()
}

/// What is at a path now, in one line.
fn state(touch: &Touch, held: Option<&Folder>) -> io::Result<String> {
    let spot = Spot::real(&touch.path, held)?;
    let Some(stat) = spot.look()? else { return Ok("nothing".to_owned()) };
    let kind = folder::kind(&stat);
    if kind.is_symlink() {
        return Ok(format!("link {:?}", spot.folder().link(spot.name())?));
    }
    if kind.is_dir() {
        return Ok(if touch.is_recursive { below(&touch.path) } else { "folder".to_owned() });
    }
    if !kind.is_file() || u64::try_from(stat.st_size).unwrap_or(u64::MAX) > CONTENT_BYTES_MAX {
        return Ok(from_outside(&stat));
    }
    let mode = stat.st_mode;
    let hashed = spot
        .read(&Halt::default())
        .and_then(|mut file| hash::stream(&mut file, Algorithm::Blake3, &Halt::default(), |_| {}));
    Ok(hashed.map_or_else(|_| from_outside(&stat), |hashed| format!("file {mode} {}", hashed.hex)))
}

/// A file by what can be seen without reading it.
fn from_outside(stat: &Stat) -> String {
    format!("{} {} bytes, {}.{:09}", stat.st_mode, stat.st_size, stat.st_mtime, stat.st_mtime_nsec)
}

/// The same of what a walk met.
fn outside(meta: &Metadata) -> String {
    format!("{} {} bytes, {}.{:09}", meta.mode(), meta.len(), meta.mtime(), meta.mtime_nsec())
}

/// A folder by everything below it, each seen from outside.
fn below(folder: &Path) -> String {
    let bounds = Bounds { entries_max: ENTRIES_MAX, ..Bounds::new(&Limits::default()) };
    let mut parts = Parts(blake3::Hasher::new());
    let tally = walk(folder, bounds, &Halt::default(), |entry| {
        parts.add(entry.path.as_os_str().as_bytes());
        parts.add(if entry.meta.is_dir() { "folder".to_owned() } else { outside(entry.meta) }.as_bytes());
        Step::On
    });
    match tally {
        Ok(tally) => format!("folder {} {tally:?}", parts.0.finalize().to_hex()),
        Err(error) => format!("folder ({:?})", error.kind()),
    }
}

/// Parts with their lengths, so that no two lists of parts make the same bytes.
struct Parts(blake3::Hasher);

impl Parts {
    fn add(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }
}
