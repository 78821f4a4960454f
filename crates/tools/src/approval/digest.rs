//! The digest that binds an approval: one hash over the planned effect and the current state of what it touches.

use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::Stat;

use setpoint_protocol::gate::Facts;

use super::{Plan, Touch};
use crate::files::folder::{self, Folder};
use crate::files::hash::{self, Algorithm};
use crate::files::spot::Spot;
use crate::halt::Halt;
use crate::walk::measure::{Bounds, Step, walk};

/// Largest file whose content is hashed; a larger one contributes its size and modification time.
const CONTENT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Maximum entries below a folder that are hashed; beyond that, only that there are more.
const ENTRIES_MAX: usize = 10_000;
/// Domain separator: keeps this digest apart from other uses of the hash, and its versions apart from each other.
const DOMAIN: &str = "setpoint approval 1";

/// Keeps the digest of a scope apart from that of a plan.
const SCOPE_DOMAIN: &str = "setpoint approval for a task 1";

/// Returns a digest in hexadecimal over the command and the paths that need consent, whatever is there.
pub(super) fn scope<'p>(plan: &Plan, asking: impl Iterator<Item = &'p Touch>) -> String {
    let mut parts = Parts(blake3::Hasher::new());
    parts.add(SCOPE_DOMAIN.as_bytes());
    parts.add_action(plan);
    let mut asking: Vec<&Touch> = asking.collect();
    asking.sort();
    asking.into_iter().for_each(|touch| parts.add_touch(touch));
    parts.add_executed(plan);
    parts.0.finalize().to_hex().to_string()
}

/// Returns the digest in hexadecimal. Paths in the folder `held` are examined through it.
pub(super) fn of(plan: &Plan, facts: &Facts, held: Option<&Folder>) -> String {
    let mut parts = Parts(blake3::Hasher::new());
    parts.add(DOMAIN.as_bytes());
    parts.add_action(plan);
    let mut touches: Vec<&Touch> = plan.touches.iter().collect();
    touches.sort();
    for touch in touches {
        parts.add_touch(touch);
        parts.add(
            state(touch, held).unwrap_or_else(|error| format!("nowhere ({:?})", error.kind())).as_bytes(),
        );
    }
    parts.add_executed(plan);
    // What was allowed before the task read a key, or before it was known to contain one, was allowed without knowing of it.
    if plan.can_send() {
        for (secrets, how) in [(&facts.secrets, "after reading"), (&facts.contains, "containing")] {
            for secret in secrets {
                parts.add(how.as_bytes());
                parts.add(secret.to_string().as_bytes());
            }
        }
    }
    if let Some(content) = &plan.content {
        parts.add(b"content");
        parts.add(content.as_bytes());
    }
    parts.0.finalize().to_hex().to_string()
}

/// Describes the current state of a path in one line.
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

/// Describes a file without reading it.
fn from_outside(stat: &Stat) -> String {
    format!("{} {} bytes, {}.{:09}", stat.st_mode, stat.st_size, stat.st_mtime, stat.st_mtime_nsec)
}

/// Describes an entry of a walk without reading it.
fn outside(meta: &Metadata) -> String {
    format!("{} {} bytes, {}.{:09}", meta.mode(), meta.len(), meta.mtime(), meta.mtime_nsec())
}

/// Describes a folder by the metadata of everything below it.
fn below(folder: &Path) -> String {
    let bounds = Bounds { entries_max: ENTRIES_MAX, ..Bounds::new(&Halt::default()) };
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

/// A hasher that prefixes each part with its length, so that no two lists of parts hash the same bytes.
struct Parts(blake3::Hasher);

impl Parts {
    fn add(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn add_action(&mut self, plan: &Plan) {
        self.add(plan.tool.as_bytes());
        self.add(plan.command.as_bytes());
        self.add(plan.cwd.as_os_str().as_bytes());
    }

    fn add_touch(&mut self, touch: &Touch) {
        self.add(if touch.is_delete { b"delete" } else { b"write" });
        self.add(touch.path.as_os_str().as_bytes());
    }

    fn add_executed(&mut self, plan: &Plan) {
        let mut executed: Vec<_> = plan.executed.iter().collect();
        executed.sort();
        for file in executed {
            self.add(b"execute");
            self.add(file.path.as_bytes());
            self.add(file.hash.as_bytes());
        }
    }
}
