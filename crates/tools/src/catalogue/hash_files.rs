//! `hash_files`: computes checksums of files and finds files with equal content.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::catalogue::prelude::*;
use crate::files::hash::{self, Algorithm};
use crate::walk::Tally;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum paths that a call may name.
pub const HASH_PATHS_MAX: usize = 1_000;
/// Maximum lines that are shown to a reader.
const LINES_MAX: usize = 200;

pub(crate) struct HashFiles;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The files, one by one.
    paths: Option<Vec<String>>,
    /// Or a folder: all files below it, hidden ones too.
    root: Option<String>,
    /// The kind of checksum; sha256 if not given.
    algorithm: Option<Algorithm>,
    /// Give only groups of files with the same content. Files of a size that no other has are not read.
    #[serde(default)]
    only_duplicates: bool,
    /// How many groups of files with the same content to give; all if not given. All are counted.
    limit: Option<usize>,
}

impl Typed for HashFiles {
    type Input = Input;
    const NAME: &'static str = "hash_files";
    const ABOUT: &'static str = "Computes checksums of the files in `paths` or of all below `root`, and groups files with the \
         same content. `only_duplicates` is fast: it reads only files that share their size.";
    const GIVES: &'static str = "/files/0/hash /duplicates";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let about = match (&input.root, &input.paths) {
            (Some(root), None) => show::path(&place.path("root", root)?),
            (None, Some(paths)) => {
                let paths: Result<BTreeSet<PathBuf>, ToolError> =
                    paths.iter().map(|path| place.path("paths", path)).collect();
                paths?.iter().map(|path| show::path(path)).collect::<Vec<_>>().join(" ")
            }
            _ => return Err(either()),
        };
        let algorithm = input.algorithm.filter(|algorithm| *algorithm != Algorithm::default());
        Ok(Target::new(about)
            .with("algorithm", algorithm.map(Algorithm::name))
            .when("only_duplicates", input.only_duplicates)
            .with("limit", input.limit))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let algorithm = input.algorithm.unwrap_or_default();
        let what = match (&input.root, &input.paths) {
            (Some(root), None) => HashScope::Below(ctx.existing("root", root)?),
            (None, Some(paths)) if paths.len() > HASH_PATHS_MAX => {
                return Err(ToolError::parameter(
                    "paths",
                    format!("there are more than {HASH_PATHS_MAX}; use `root`"),
                ));
            }
            (None, Some(paths)) => {
                let paths: Result<_, _> = paths.iter().map(|path| ctx.existing("paths", path)).collect();
                HashScope::These(paths?)
            }
            _ => return Err(either()),
        };
        let wanted = HashRequest {
            algorithm,
            only_duplicates: input.only_duplicates,
            groups: input.limit.unwrap_or(usize::MAX),
        };
        ctx.blocking(move |halt| run(&what, wanted, halt)).await
    }
}

fn either() -> ToolError {
    ToolError::parameter("root", "give either `root` or `paths`")
}

#[derive(Clone, Copy)]
struct HashRequest {
    algorithm: Algorithm,
    only_duplicates: bool,
    groups: usize,
}

enum HashScope {
    These(BTreeSet<PathBuf>),
    Below(PathBuf),
}

struct HashedFile {
    path: PathBuf,
    hash: String,
    bytes: u64,
    place: OnDisk,
}

/// Device and inode of a file, which all its names share.
type OnDisk = (u64, u64);

/// A file that was found and not read yet.
struct FoundFile {
    bytes: u64,
    place: OnDisk,
}

impl FoundFile {
    fn of(meta: &Metadata) -> Self {
        FoundFile { bytes: meta.len(), place: (meta.dev(), meta.ino()) }
    }
}

fn run(what: &HashScope, wanted: HashRequest, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let (mut files, mut tally) = gather(what, halt)?;
    let considered = files.len();
    if wanted.only_duplicates {
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        files.values().for_each(|found| *sizes.entry(found.bytes).or_default() += 1);
        files.retain(|_, found| sizes.get(&found.bytes).is_some_and(|n| *n > 1));
    }
    let mut hashed = Vec::new();
    for (path, FoundFile { place, .. }) in files {
        if halt.reached() {
            tally.complete = false;
            break;
        }
        match hash::file(&path, wanted.algorithm, halt) {
            Ok(hash::FileHash { hex, bytes }) => hashed.push(HashedFile { path, hash: hex, bytes, place }),
            Err(source)
                if matches!(what, HashScope::These(_)) && source.kind() != io::ErrorKind::Interrupted =>
            {
                return Err(ToolError::file("hash", &path, source));
            }
            Err(source) => tally.miss(&source),
        }
    }
    Ok(answer(&hashed, considered, wanted, tally))
}

/// Returns the regular files with their sizes.
fn gather(what: &HashScope, halt: &Halt) -> Result<(BTreeMap<PathBuf, FoundFile>, Tally), ToolError> {
    let mut files = BTreeMap::new();
    let tally = match what {
        HashScope::These(paths) => {
            for path in paths {
                let meta = std::fs::metadata(path).map_err(|source| ToolError::file("hash", path, source))?;
                files.insert(path.clone(), FoundFile::of(&meta));
            }
            Tally::new()
        }
        HashScope::Below(root) => walk(root, Bounds::new(halt), halt, |entry| {
            if entry.meta.is_file() {
                files.insert(entry.path.to_path_buf(), FoundFile::of(entry.meta));
            }
            Step::On
        })
        .map_err(|source| ToolError::file("hash", root, source))?,
    };
    Ok((files, tally))
}

fn answer(hashed: &[HashedFile], considered: usize, wanted: HashRequest, tally: Tally) -> ToolAnswer {
    let mut by_content: BTreeMap<(&str, u64), Vec<&Path>> = BTreeMap::new();
    let mut copies: BTreeMap<&str, BTreeSet<OnDisk>> = BTreeMap::new();
    for file in hashed {
        by_content.entry((&file.hash, file.bytes)).or_default().push(&file.path);
        copies.entry(&file.hash).or_default().insert(file.place);
    }
    by_content.values_mut().for_each(|paths| paths.sort_unstable_by_key(|path| path.as_os_str()));
    let mut groups: Vec<_> = by_content.into_iter().filter(|(_, paths)| paths.len() > 1).collect();
    // The bytes that removing duplicates would save: several names of one file count as one copy.
    let waste = |hash: &str, bytes: u64| {
        let copies = copies.get(hash).map_or(0, |places| places.len() as u64);
        bytes.saturating_mul(copies.saturating_sub(1))
    };
    let wasted = groups.iter().fold(0_u64, |sum, ((hash, bytes), _)| sum.saturating_add(waste(hash, *bytes)));
    // Groups that take most space first; ties are broken by the first path.
    groups.sort_by_key(|((hash, bytes), paths)| {
        (std::cmp::Reverse(waste(hash, *bytes)), paths.first().map(|path| path.as_os_str().to_owned()))
    });

    let files = show::count(considered as u64, "file", "files");
    let mut text =
        format!("{files}, {} of equal content", show::count(groups.len() as u64, "group", "groups"));
    if !wanted.only_duplicates {
        let lines = hashed.iter().map(|file| format!("{}  {}", file.hash, show::path_line(&file.path)));
        text.push_str(&answer::listing(lines, LINES_MAX));
    }
    let lines: Vec<String> = groups
        .iter()
        .flat_map(|((_, bytes), paths)| {
            let head = format!("{} times {}:", paths.len(), show::amount(*bytes));
            std::iter::once(head).chain(paths.iter().map(|path| format!("  {}", show::path_line(path))))
        })
        .collect();
    text.push_str(&answer::listing(lines.into_iter(), LINES_MAX));

    let listed = if wanted.only_duplicates { &[] } else { hashed };
    let facts = json!({
        "algorithm": wanted.algorithm.name(),
        "files": listed.iter().map(|file| {
            json!({ "path": show::path(&file.path), "hash": file.hash, "bytes": file.bytes })
        }).collect::<Vec<_>>(),
        "duplicates": groups.iter().take(wanted.groups).map(|((hash, bytes), paths)| {
            json!({ "hash": hash, "bytes": bytes, "paths": paths.iter().map(|path| show::path(path)).collect::<Vec<_>>() })
        }).collect::<Vec<_>>(),
        "count": considered,
        "groups": groups.len(),
        "duplicate_files": groups.iter().map(|(_, paths)| paths.len()).sum::<usize>(),
        "wasted_bytes": wasted,
        "links": tally.links,
        "unreadable": tally.unreadable,
        "complete": tally.complete,
    });
    answer::walked(text, facts, tally.gaps())
}
