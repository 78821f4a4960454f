//! `disk_usage`: reports how many bytes of files are below a folder, where, and in which files.
//!
//! Sizes are apparent sizes of regular files, counted once per name, as `find -type f -printf %s` reports them: a file
//! with two hard links counts twice, and the facts say how much that is. Folders themselves, links and other file
//! systems do not count.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::catalogue::prelude::*;
use crate::walk::Tally;
use crate::walk::measure::{Bounds, Step, walk};

/// Folder levels that are listed separately if the call gives no depth.
pub const USAGE_DEPTH_DEFAULT: usize = 1;
/// Folders, and files, that a call returns if it gives no limit.
pub const USAGE_LIMIT_DEFAULT: usize = 20;
/// Largest limit of folders, and of files; a larger one is reduced to it.
pub const USAGE_LIMIT_MAX: usize = 1_000;
/// Bytes per block in `st_blocks`.
const BLOCK_BYTES: u64 = 512;
/// Folders that are measured separately; the rest, on the deepest levels, count with their parents.
const FOLDERS_MAX: usize = 100_000;
/// Maximum bytes of the list of folders; the others are counted.
const LIST_BYTES_MAX: usize = 96 * 1024;

pub(crate) struct DiskUsage;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The folder.
    path: String,
    /// How many levels of folders to measure one by one; 1 if not given.
    depth: Option<usize>,
    /// How many folders to give, the largest first; 20 if not given.
    limit: Option<usize>,
    /// How many of the largest files to give; as many as folders if not given.
    files: Option<usize>,
}

impl Typed for DiskUsage {
    type Input = Input;
    const NAME: &'static str = "disk_usage";
    const ABOUT: &'static str = "Measures how long the files of a folder are and what they take on the disk, which folders below it \
         take most, and which files are the largest. Hidden files count; other file systems do not.";
    const GIVES: &'static str = "/total_bytes /files /largest_files";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let path = place.path("path", &input.path)?;
        Ok(Target::new(show::path(&path))
            .with("depth", input.depth.filter(|depth| *depth != USAGE_DEPTH_DEFAULT))
            .with("limit", input.limit.filter(|limit| *limit != USAGE_LIMIT_DEFAULT))
            .with("files", input.files))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let path = ctx.existing("path", &input.path)?;
        let limit = input.limit.unwrap_or(USAGE_LIMIT_DEFAULT).min(USAGE_LIMIT_MAX);
        let wanted = UsageRequest {
            depth: input.depth.unwrap_or(USAGE_DEPTH_DEFAULT),
            folders: limit,
            files: input.files.unwrap_or(limit).min(USAGE_LIMIT_MAX),
        };
        ctx.blocking(move |halt| measure(&path, wanted, halt)).await
    }
}

#[derive(Clone, Copy)]
struct UsageRequest {
    depth: usize,
    folders: usize,
    files: usize,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    /// Total apparent size of its files.
    bytes: u64,
    /// Space on the disk: blocks of files, folders and links, each counted once.
    disk: u64,
    files: u64,
}

#[derive(Default)]
struct MeasuredUsage {
    total: Sum,
    folders: BTreeMap<PathBuf, Sum>,
    /// The largest files so far, smallest first.
    largest: BTreeSet<(u64, Reverse<OsString>)>,
    /// The size of the largest file that is not in `largest`, and how many others have that size.
    next: (u64, u64),
    /// Files with several names, by device and inode.
    linked: BTreeSet<(u64, u64)>,
    /// Files with several names whose blocks were counted.
    counted: BTreeSet<(u64, u64)>,
    /// Files with several names, per folder that they are below.
    linked_below: BTreeSet<(PathBuf, u64, u64)>,
    /// Bytes that were counted under more than one name.
    linked_bytes: u64,
}

fn measure(root: &Path, wanted: UsageRequest, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let mut measured = MeasuredUsage::default();
    let tally = walk(root, Bounds::new(halt).on_one_file_system(), halt, |entry| {
        if entry.meta.is_dir() {
            let is_apart =
                entry.depth > 0 && entry.depth <= wanted.depth && measured.folders.len() < FOLDERS_MAX;
            if is_apart {
                measured.folders.insert(entry.path.to_path_buf(), Sum::default());
            }
        } else if entry.meta.is_file() {
            measured.add(root, entry.path, entry.meta, wanted);
        }
        measured.add_blocks(root, entry.path, entry.meta);
        Step::On
    });
    let tally = tally.map_err(|source| ToolError::file("measure", root, source))?;
    Ok(measured.answer(root, wanted, tally))
}

impl MeasuredUsage {
    fn add(&mut self, root: &Path, path: &Path, meta: &std::fs::Metadata, wanted: UsageRequest) {
        let bytes = meta.len();
        self.total.add(bytes);
        if meta.nlink() > 1 && !self.linked.insert((meta.dev(), meta.ino())) {
            self.linked_bytes = self.linked_bytes.saturating_add(bytes);
        }
        for folder in folders_above(root, path) {
            if let Some(sum) = self.folders.get_mut(folder) {
                sum.add(bytes);
            }
        }
        self.largest.insert((bytes, Reverse(path.as_os_str().to_owned())));
        if self.largest.len() > wanted.files
            && let Some((bytes, _)) = self.largest.pop_first()
        {
            let (largest, count) = self.next;
            self.next = match bytes.cmp(&largest) {
                Ordering::Less => self.next,
                Ordering::Equal => (largest, count + 1),
                Ordering::Greater => (bytes, 1),
            };
        }
    }

    /// Counts the blocks of an entry as `du` does: a file with several names once.
    fn add_blocks(&mut self, root: &Path, path: &Path, meta: &std::fs::Metadata) {
        let disk = meta.blocks().saturating_mul(BLOCK_BYTES);
        let (device, number) = (meta.dev(), meta.ino());
        let has_names = !meta.is_dir() && meta.nlink() > 1;
        if !has_names || self.counted.insert((device, number)) {
            self.total.disk = self.total.disk.saturating_add(disk);
        }
        for folder in std::iter::once(path).chain(folders_above(root, path)) {
            let Some(sum) = self.folders.get_mut(folder) else { continue };
            if !has_names || self.linked_below.insert((folder.to_path_buf(), device, number)) {
                sum.disk = sum.disk.saturating_add(disk);
            }
        }
    }

    fn answer(self, root: &Path, wanted: UsageRequest, tally: Tally) -> ToolAnswer {
        let folders_total = self.folders.len();
        let mut folders: Vec<(PathBuf, Sum)> = self.folders.into_iter().collect();
        folders
            .sort_by(|one, other| (other.1.disk, one.0.as_os_str()).cmp(&(one.1.disk, other.0.as_os_str())));
        let is_as_large = |(_, sum): &&(PathBuf, Sum)| {
            wanted.folders > 0 && folders.get(wanted.folders - 1).is_some_and(|last| last.1.disk == sum.disk)
        };
        let folders_as_large = folders.iter().skip(wanted.folders).take_while(is_as_large).count();
        folders.truncate(wanted.folders);
        let largest: Vec<(u64, PathBuf)> = self
            .largest
            .into_iter()
            .rev()
            .map(|(bytes, Reverse(path))| (bytes, PathBuf::from(path)))
            .collect();

        let files_as_large = match largest.last() {
            Some((bytes, _)) if *bytes == self.next.0 => self.next.1,
            _ => 0,
        };

        let files = show::count(self.total.files, "file", "files");
        let mut text = format!(
            "{}: {} in {files}, {} on disk",
            show::path_line(root),
            show::amount(self.total.bytes),
            show::amount(self.total.disk)
        );
        let lines = folders.iter().map(|(path, sum)| {
            let files = show::count(sum.files, "file", "files");
            let disk = show::amount(sum.disk);
            format!("{:>12}  {}/  ({files}, {disk} on disk)", show::amount(sum.bytes), show::path_line(path))
        });
        text.push_str(&answer::listing(lines, wanted.folders));
        if folders_total > folders.len() {
            text.push_str(&format!("\n… {} more folders", folders_total - folders.len()));
        }
        if !largest.is_empty() {
            text.push_str("\nlargest files:");
            let lines = largest
                .iter()
                .map(|(bytes, path)| format!("{:>12}  {}", show::amount(*bytes), show::path_line(path)));
            text.push_str(&answer::listing(lines, wanted.files));
        }
        if self.linked_bytes > 0 {
            text.push_str(&format!(
                "\n{} of it are further names of files that were counted already",
                show::amount(self.linked_bytes)
            ));
        }
        if tally.mounts > 0 {
            text.push_str(&format!(
                "\n{} on other file systems left out",
                show::count(tally.mounts, "folder", "folders")
            ));
        }
        let directories = folders.iter().map(|(path, sum)| {
            json!({ "path": show::path(path), "bytes": sum.bytes, "disk_bytes": sum.disk, "files": sum.files })
        });
        let facts = json!({
            "path": show::path(root),
            "total_bytes": self.total.bytes,
            "disk_bytes": self.total.disk,
            "directory_count": folders_total,
            "files": self.total.files,
            "directories": answer::first(directories, USAGE_LIMIT_MAX, LIST_BYTES_MAX),
            "largest_files": largest.iter().map(|(bytes, path)| {
                json!({ "path": show::path(path), "bytes": bytes })
            }).collect::<Vec<_>>(),
            "files_as_large": files_as_large,
            "folders_as_large": folders_as_large,
            "linked_bytes": self.linked_bytes,
            "unique_bytes": self.total.bytes.saturating_sub(self.linked_bytes),
            "links": tally.links,
            "other_file_systems": tally.mounts,
            "unreadable": tally.unreadable,
            "complete": tally.complete,
        });
        answer::walked(text, facts, tally.gaps())
    }
}

/// Returns the folders between `root` and `path`, both excluded.
fn folders_above<'p>(root: &'p Path, path: &'p Path) -> impl Iterator<Item = &'p Path> {
    path.ancestors().skip(1).take_while(move |folder| *folder != root && folder.starts_with(root))
}

impl Sum {
    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.files += 1;
    }
}
