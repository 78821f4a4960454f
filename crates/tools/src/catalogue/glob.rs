//! `glob`: finds files whose paths match a pattern.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use globset::GlobMatcher;

use super::pattern;
use crate::catalogue::prelude::*;
use crate::walk::search;

/// Paths that a call returns if it gives no limit.
pub const GLOB_LIMIT_DEFAULT: usize = 1_000;
/// Largest limit of paths; a larger one is reduced to it.
pub const GLOB_LIMIT_MAX: usize = 10_000;
/// Maximum paths that are shown to a reader.
const LINES_MAX: usize = 300;

pub(crate) struct Glob;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The pattern, below `root`: `*.csv` at any depth, `src/**/*.rs`, `data/{a,b}/*`. An absolute pattern or one that begins
    /// with `~` brings its own root.
    pattern: String,
    /// The folder to look in; the working directory if not given.
    root: Option<String>,
    /// How many paths to give; 1000 if not given.
    limit: Option<usize>,
    /// Hidden, ignored and cached files too.
    #[serde(default)]
    hidden: bool,
}

impl Typed for Glob {
    type Input = Input;
    const NAME: &'static str = "glob";
    const ABOUT: &'static str = "Finds files and folders by a pattern over their paths. Leaves out hidden, ignored and cached \
         ones unless `hidden` is set.";
    const GIVES: &'static str = "paths; /paths /count";
    const CLASS: CapabilityClass = CapabilityClass::Search;
    const EFFECT: Effect = Effect::ReadOnly;
    const CORE: bool = true;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let wanted = GlobQuery::read(input, place)?;
        Ok(Target::new(show::path(&wanted.root.join(&wanted.pattern)))
            .with("limit", input.limit.filter(|limit| *limit != GLOB_LIMIT_DEFAULT))
            .when("hidden", input.hidden))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let wanted = GlobQuery::read(&input, &ctx.place())?;
        let glob = pattern::path_glob("pattern", &wanted.pattern)?;
        let limit = input.limit.unwrap_or(GLOB_LIMIT_DEFAULT).min(GLOB_LIMIT_MAX);
        ctx.blocking(move |halt| find(&wanted.root, &glob, limit, input.hidden, halt)).await
    }
}

/// A root and a pattern below it.
struct GlobQuery {
    root: PathBuf,
    pattern: String,
}

impl GlobQuery {
    /// The literal folders at the beginning of an absolute pattern become its root.
    fn read(input: &Input, place: &Place) -> Result<Self, ToolError> {
        let text = input.pattern.as_str();
        if !text.starts_with(['/', '~', '$']) {
            let root = input.root.as_deref().unwrap_or(".");
            return Ok(GlobQuery { root: place.path("root", root)?, pattern: text.to_owned() });
        }
        let is_plain = |part: &&str| !pattern::is_glob(part);
        let plain: Vec<&str> = text.split('/').take_while(is_plain).collect();
        let parts: Vec<&str> = text.split('/').skip(plain.len()).collect();
        // If nothing is a wildcard, the last name is the pattern.
        let (root, pattern) = match (parts.is_empty(), plain.split_last()) {
            (true, Some((last, folders))) => (folders.join("/"), (*last).to_owned()),
            _ => (plain.join("/"), parts.join("/")),
        };
        let root = if root.is_empty() { "/" } else { &root };
        // A pattern without a slash would match at any depth; this one names its folder.
        let pattern = if pattern.contains('/') { pattern } else { format!("./{pattern}") };
        Ok(GlobQuery { root: place.path("pattern", root)?, pattern })
    }
}

fn find(
    root: &Path,
    glob: &GlobMatcher,
    limit: usize,
    hidden: bool,
    halt: &Halt,
) -> Result<ToolAnswer, ToolError> {
    halt.rooms().check(root)?;
    std::fs::metadata(root).map_err(|source| ToolError::file("search", root, source))?;
    let mut paths = Vec::new();
    let mut count: u64 = 0;
    let mut seen = BTreeSet::new();
    let tally = search::walk(root, search::Bounds::new(halt, hidden), halt, |entry| {
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        seen.insert(entry.path().to_path_buf());
        if glob.is_match(below) {
            count += 1;
            if paths.len() < limit {
                paths.push(show::path(entry.path()));
            }
        }
        ControlFlow::Continue(())
    });
    paths.sort_unstable();
    let complete = tally.complete && count == paths.len() as u64;
    let found = show::count(count, "match", "matches");
    let mut text = format!("{found} below {}", show::path_line(root));
    text.push_str(&answer::listing(paths.iter().map(|path| show::line(path)), LINES_MAX));
    if count == 0 && !hidden {
        text.push_str("\n(hidden, ignored and cached files were left out; `hidden` searches them too)");
    }
    let mut facts = json!({
        "paths": paths, "count": count, "complete": complete, "unreadable": tally.unreadable,
    });
    if tally.skipped > 0 {
        let left_out = search::LeftOut::look(root, &seen, halt, |entry| {
            let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
            if glob.is_match(below) { vec![show::path(entry.path())] } else { Vec::new() }
        });
        text.push_str(&left_out.tell(&mut facts));
    }
    Ok(answer::walked(text, facts, tally.gaps()))
}
