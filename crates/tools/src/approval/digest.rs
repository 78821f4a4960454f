//! What an approval is bound to: one hash over what would be done and what is there now.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{Plan, Touch};
use crate::files::hash::{self, Algorithm};
use crate::halt::Halt;
use crate::tool::Limits;
use crate::walk::measure::{Bounds, Step, walk};

/// Largest file whose content goes into the digest; of a larger one, size and time of change.
const CONTENT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Entries below a folder that go into the digest; of more, their being more.
const ENTRIES_MAX: usize = 10_000;
/// Separates this digest from every other use of the hash, and its versions from each other.
const DOMAIN: &str = "setpoint approval 1";

/// The digest, hexadecimal.
pub(super) fn of(plan: &Plan) -> String {
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
        parts.add(state(touch).as_bytes());
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
fn state(touch: &Touch) -> String {
    let path = &touch.path;
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) => return format!("nothing ({:?})", error.kind()),
    };
    if meta.is_symlink() {
        return format!("link {:?}", std::fs::read_link(path).ok());
    }
    if meta.is_dir() {
        return if touch.is_recursive { below(path) } else { "folder".to_owned() };
    }
    if !meta.is_file() || meta.len() > CONTENT_BYTES_MAX {
        return outside(&meta);
    }
    match hash::file(path, Algorithm::Blake3, &Halt::default()) {
        Ok(hashed) => format!("file {} {}", meta.mode(), hashed.hex),
        Err(_) => outside(&meta),
    }
}

/// A file by what can be seen without reading it.
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
