//! `find_files`: finds files by name, through the system's index if there is one.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use globset::GlobMatcher;
use unicode_normalization::UnicodeNormalization;

use super::pattern;
use crate::catalogue::prelude::*;
use crate::host::Host;
use crate::process::env::{self, Programs};
use crate::process::{self, Ending, Job};
use crate::walk::{Tally, search};

/// Paths that a call returns if it gives no limit.
pub const FIND_LIMIT_DEFAULT: usize = 200;
/// Largest limit of paths; a larger one is reduced to it.
pub const FIND_LIMIT_MAX: usize = 5_000;
/// Maximum milliseconds that the index may take; after that the folders are walked.
const INDEX_MS_MAX: u64 = 10_000;
/// Maximum bytes of the index's output that are read.
const INDEX_BYTES_MAX: usize = 8 * 1024 * 1024;

pub(crate) struct FindFiles {
    host: Host,
    index: Option<Index>,
}

/// The program that indexes file names.
#[derive(Clone, Debug)]
enum Index {
    /// macOS. It matches stems in some scripts only, so it is asked for the stem and the rest is filtered here.
    Spotlight,
    /// `plocate` or `locate`.
    Locate(&'static str),
}

impl FindFiles {
    pub(crate) fn new(host: &Host) -> Self {
        let spotlight = || host.has_program("mdfind").then_some(Index::Spotlight);
        let locate =
            || ["plocate", "locate"].into_iter().find(|name| host.has_program(name)).map(Index::Locate);
        let index = if host.os() == "macos" { spotlight() } else { locate() };
        FindFiles { host: host.clone(), index }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// A part of the file's name, or a pattern for the whole name: `invoice`, `*.pdf`. Capital and small letters are the same.
    name: String,
    /// The folder to look in, such as `~`; the working directory if not given.
    root: Option<String>,
    /// How many paths to give; 200 if not given.
    limit: Option<usize>,
}

impl Typed for FindFiles {
    type Input = Input;
    const NAME: &'static str = "find_files";
    const ABOUT: &'static str = "Finds files and folders by name anywhere below a folder, from the system's index where there \
         is one. For a place that is known, `glob` is exact.";
    const GIVES: &'static str = "paths; /paths /count";
    const CLASS: CapabilityClass = CapabilityClass::Search;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let root = place.path("root", input.root.as_deref().unwrap_or("."))?;
        Ok(Target::new(format!("{:?} below {}", folded(&input.name), show::path(&root)))
            .with("limit", input.limit.filter(|limit| *limit != FIND_LIMIT_DEFAULT)))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let root = ctx.existing("root", input.root.as_deref().unwrap_or("."))?;
        std::fs::metadata(&root).map_err(|source| ToolError::file("search", &root, source))?;
        let wanted = NameQuery::new(&input.name)?;
        let limit = input.limit.unwrap_or(FIND_LIMIT_DEFAULT).min(FIND_LIMIT_MAX);
        let indexed = self.ask_index(&wanted, &root, ctx).await;
        ctx.blocking(move |halt| {
            let known =
                indexed.map(|paths| existing(paths, &root, &wanted, halt)).filter(|paths| !paths.is_empty());
            Ok(match known {
                Some(paths) => answer(&root, paths, limit, true, Tally::new(), search::LeftOut::default()),
                None => {
                    let (paths, tally, left_out) = walk(&root, &wanted, halt);
                    answer(&root, paths, limit, false, tally, left_out)
                }
            })
        })
        .await
    }
}

/// The names to find.
struct NameQuery {
    glob: Option<GlobMatcher>,
    /// Case-folded text without wildcards: the given part of a name, or the longest literal part of the pattern.
    stem: String,
}

impl NameQuery {
    fn new(name: &str) -> Result<Self, ToolError> {
        if name.trim().is_empty() || name.contains(['/', '\0', '\n']) {
            return Err(ToolError::parameter("name", "it must be (a part of) one name, without folders"));
        }
        if !pattern::is_glob(name) {
            return Ok(NameQuery { glob: None, stem: folded(name) });
        }
        let glob = pattern::name_glob("name", &folded(name))?;
        Ok(NameQuery { glob: Some(glob), stem: folded(&literal_part(name)) })
    }

    fn has(&self, name: &OsStr) -> bool {
        let name = folded(&name.to_string_lossy());
        match &self.glob {
            Some(glob) => glob.is_match(&name),
            None => name.contains(&self.stem),
        }
    }
}

impl FindFiles {
    /// Returns the paths from the index, or `None` if there is no index or its answer is unusable.
    async fn ask_index(&self, wanted: &NameQuery, root: &Path, ctx: &ToolCtx) -> Option<Vec<PathBuf>> {
        // The index treats a backslash as an escape.
        if wanted.stem.is_empty() || wanted.stem.contains('\\') {
            return None;
        }
        let (program, args) = match self.index.as_ref()? {
            Index::Spotlight => {
                let stem =
                    wanted.stem.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&wanted.stem);
                (
                    "mdfind",
                    ["-0", "-onlyin"]
                        .map(OsString::from)
                        .into_iter()
                        .chain([root.into(), "-name".into(), stem.into()])
                        .collect(),
                )
            }
            Index::Locate(program) => {
                let flags = ["-i", "-b", "-0", "--"].map(OsString::from);
                (*program, flags.into_iter().chain([OsString::from(&wanted.stem)]).collect::<Vec<_>>())
            }
        };
        let job = Job {
            program: self.host.program(program, ctx).ok()?.path().to_path_buf(),
            args,
            cwd: PathBuf::from("/"),
            env: env::for_task(self.host.env(), &ctx.surroundings, Programs::System),
            ms_max: INDEX_MS_MAX,
            output_bytes_max: INDEX_BYTES_MAX,
            is_bounded: false,
            watch: None,
        };
        let ended = process::run(job, &self.host, &ctx.cancel).await.ok()?;
        if ended.ending != Ending::Exit(0) {
            return None;
        }
        let listed = ended.stdout.whole()?;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Some(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
    }
}

/// Keeps the paths that exist, are below the root, match and are not Setpoint's own: an index may be days old.
fn existing(paths: Vec<PathBuf>, root: &Path, wanted: &NameQuery, halt: &Halt) -> BTreeSet<PathBuf> {
    let real_root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let is_wanted = |path: &PathBuf| {
        (path.starts_with(root) || path.starts_with(&real_root))
            && path.file_name().is_some_and(|name| wanted.has(name))
            && std::fs::symlink_metadata(path).is_ok()
            && halt.rooms().refuse(path).is_none()
    };
    paths.into_iter().filter(is_wanted).collect()
}

fn walk(root: &Path, wanted: &NameQuery, halt: &Halt) -> (BTreeSet<PathBuf>, Tally, search::LeftOut) {
    let (mut paths, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let tally = search::walk(root, search::Bounds::new(halt, false), halt, |entry| {
        seen.insert(entry.path().to_path_buf());
        if wanted.has(entry.file_name()) {
            paths.insert(entry.path().to_path_buf());
        }
        ControlFlow::Continue(())
    });
    let mut left_out = search::LeftOut::default();
    if tally.skipped > 0 {
        left_out = search::LeftOut::look(root, &seen, halt, |entry| {
            if wanted.has(entry.file_name()) { vec![show::path(entry.path())] } else { Vec::new() }
        });
    }
    (paths, tally, left_out)
}

fn answer(
    root: &Path,
    paths: BTreeSet<PathBuf>,
    limit: usize,
    indexed: bool,
    tally: Tally,
    left_out: search::LeftOut,
) -> ToolAnswer {
    let count = paths.len();
    let paths: Vec<String> = paths.iter().take(limit).map(|path| show::path(path)).collect();
    let mut text =
        format!("{} below {}", show::count(count as u64, "match", "matches"), show::path_line(root));
    if indexed {
        text.push_str(" (from the system's index, which may lag behind)");
    }
    text.push_str(&answer::listing(paths.iter().map(|path| show::line(path)), limit));
    if count > paths.len() {
        text.push_str(&format!("\n… {} more", count - paths.len()));
    }
    let mut facts = json!({
        "paths": paths, "count": count, "complete": tally.complete && count <= limit, "indexed": indexed,
        "unreadable": tally.unreadable,
    });
    text.push_str(&left_out.tell(&mut facts));
    answer::walked(text, facts, tally.gaps())
}

/// Returns the longest text that every match of the pattern contains: outside of wildcards, classes and alternatives.
fn literal_part(glob: &str) -> String {
    let mut parts = vec![String::new()];
    let mut inside: Option<char> = None;
    for c in glob.chars() {
        match (inside, c) {
            (Some(end), c) if c == end => inside = None,
            (Some(_), _) => {}
            (None, '[') => inside = Some(']'),
            (None, '{') => inside = Some('}'),
            (None, '*' | '?') => {}
            (None, c) => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
                continue;
            }
        }
        parts.push(String::new());
    }
    parts.into_iter().max_by_key(String::len).unwrap_or_default()
}

/// Normalises names that look the same: file systems differ in how they store `é`.
fn folded(name: &str) -> String {
    name.nfc().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_asked_for_the_longest_literal() {
        for (glob, part) in [
            ("*.pdf", ".pdf"),
            ("{photo,image}-*.png", ".png"),
            ("[abc]x?report*", "report"),
            ("*", ""),
            ("[]", ""),
        ] {
            assert_eq!(literal_part(glob), part, "{glob}");
        }
    }

    #[test]
    fn names_match_in_any_case_and_normalisation() {
        let part = NameQuery::new("CAFÉ").unwrap();
        assert!(part.has(OsStr::new("my café.txt")) && part.has(OsStr::new("Cafe\u{301} menu")));
        assert!(!part.has(OsStr::new("cafe.txt")));
        let glob = NameQuery::new("*.PDF").unwrap();
        assert!(glob.has(OsStr::new("a.pdf")) && !glob.has(OsStr::new("a.pdf.txt")));
        assert!(
            NameQuery::new("a/b").is_err() && NameQuery::new(" ").is_err() && NameQuery::new("[").is_err()
        );
    }
}
