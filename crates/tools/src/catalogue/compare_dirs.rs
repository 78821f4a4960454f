//! `compare_dirs`: compares two folders by content.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::catalogue::prelude::*;
use crate::files::open;
use crate::walk::Tally;
use crate::walk::measure::{Bounds, Step, walk};

/// Maximum lines of each list that are shown to a reader.
const LINES_MAX: usize = 100;

pub(crate) struct CompareDirs;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// One folder.
    left: String,
    /// The other.
    right: String,
    /// How many differences to give, in the order of their paths; all if not given. All are counted.
    limit: Option<usize>,
}

impl Typed for CompareDirs {
    type Input = Input;
    const NAME: &'static str = "compare_dirs";
    const ABOUT: &'static str = "Compares two folders, hidden files too, by content: what is only in one of them, what differs, \
         and how much is the same.";
    const GIVES: &'static str = "/identical /only_left /only_right /different";
    const CLASS: CapabilityClass = CapabilityClass::Read;
    const EFFECT: Effect = Effect::ReadOnly;

    fn target(&self, input: &Input, place: &Place) -> Result<Target, ToolError> {
        let left = place.path("left", &input.left)?;
        let right = place.path("right", &input.right)?;
        Ok(Target::new(format!("{} and {}", show::path(&left), show::path(&right)))
            .with("limit", input.limit))
    }

    async fn run(&self, input: Input, ctx: &ToolCtx) -> Result<ToolAnswer, ToolError> {
        let left = ctx.existing("left", &input.left)?;
        let right = ctx.existing("right", &input.right)?;
        let limit = input.limit.unwrap_or(usize::MAX);
        ctx.blocking(move |halt| compare(&left, &right, limit, halt)).await
    }
}

/// The kind of an entry, without reading its content.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    File { bytes: u64 },
    Link { target: Option<PathBuf> },
    Other,
}

type Tree = BTreeMap<PathBuf, Kind>;

#[derive(Default)]
struct DirsComparison {
    only_left: Vec<PathBuf>,
    only_right: Vec<PathBuf>,
    different: Vec<PathBuf>,
    same: u64,
}

fn compare(left: &Path, right: &Path, limit: usize, halt: &Halt) -> Result<ToolAnswer, ToolError> {
    let (left_tree, mut tally) = tree(left, halt)?;
    let (right_tree, right_tally) = tree(right, halt)?;
    tally.add_missed(right_tally);
    let mut compared =
        DirsComparison { only_left: missing(&left_tree, &right_tree), ..DirsComparison::default() };
    compared.only_right = missing(&right_tree, &left_tree);
    for (path, one) in &left_tree {
        let Some(other) = right_tree.get(path) else { continue };
        if halt.reached() {
            tally.complete = false;
            break;
        }
        match (one, other) {
            (Kind::Folder, Kind::Folder) => continue,
            (Kind::File { bytes: a }, Kind::File { bytes: b }) if a == b => {
                match same_content(&left.join(path), &right.join(path), halt) {
                    Ok(true) => compared.same += 1,
                    Ok(false) => compared.different.push(path.clone()),
                    Err(error) => tally.miss(&error),
                }
            }
            (one, other) if one == other && *one != Kind::Other => compared.same += 1,
            _ => compared.different.push(path.clone()),
        }
    }
    Ok(answer(left, right, limit, &compared, tally))
}

fn tree(root: &Path, halt: &Halt) -> Result<(Tree, Tally), ToolError> {
    let failed = |source| ToolError::file("compare", root, source);
    if !std::fs::metadata(root).map_err(failed)?.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
    }
    let mut tree = Tree::new();
    let tally = walk(root, Bounds::new(halt), halt, |entry| {
        let kind = if entry.meta.is_dir() {
            Kind::Folder
        } else if entry.meta.is_file() {
            Kind::File { bytes: entry.meta.len() }
        } else if entry.meta.is_symlink() {
            Kind::Link { target: std::fs::read_link(entry.path).ok() }
        } else {
            Kind::Other
        };
        if let Ok(below) = entry.path.strip_prefix(root)
            && entry.depth > 0
        {
            tree.insert(below.to_path_buf(), kind);
        }
        Step::On
    });
    Ok((tree, tally.map_err(failed)?))
}

/// Returns what `here` has and `there` lacks: files, links and empty folders.
fn missing(here: &Tree, there: &Tree) -> Vec<PathBuf> {
    let is_empty = |path: &Path| {
        let mut below = here.range::<Path, _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded));
        below.next().is_none_or(|(next, _)| !next.starts_with(path))
    };
    here.iter()
        .filter(|(path, kind)| !there.contains_key(*path) && (**kind != Kind::Folder || is_empty(path)))
        .map(|(path, _)| path.clone())
        .collect()
}

fn same_content(one: &Path, other: &Path, halt: &Halt) -> io::Result<bool> {
    let (mut one, mut other) = (open::regular(one, halt)?, open::regular(other, halt)?);
    let mut blocks = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        if halt.reached() {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let got = (fill(&mut one, &mut blocks.0)?, fill(&mut other, &mut blocks.1)?);
        if blocks.0.get(..got.0) != blocks.1.get(..got.1) {
            return Ok(false);
        }
        if got.0 == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the block is full or the file ends.
fn fill(file: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = block.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn answer(left: &Path, right: &Path, limit: usize, compared: &DirsComparison, tally: Tally) -> ToolAnswer {
    let lists = [
        ("only in left", &compared.only_left),
        ("only in right", &compared.only_right),
        ("different", &compared.different),
    ];
    let is_equal = lists.iter().all(|(_, list)| list.is_empty());
    // Unreadable files may differ.
    let identical = is_equal && tally.complete && tally.unreadable == 0 && tally.closed == 0;
    let mut text = format!("left is {}, right is {}: ", show::path_line(left), show::path_line(right));
    text.push_str(match (identical, is_equal) {
        (true, _) => "identical",
        (false, true) => "no difference found, but not everything could be compared",
        (false, false) => "they differ",
    });
    text.push_str(&format!("; {} the same", compared.same));
    for (title, list) in lists {
        if !list.is_empty() {
            text.push_str(&format!("\n{title} ({}):", list.len()));
            text.push_str(&answer::listing(
                list.iter().map(|path| format!("  {}", show::path_line(path))),
                LINES_MAX,
            ));
        }
    }
    let mut differences: Vec<(&str, &PathBuf)> =
        lists.iter().flat_map(|(what, list)| list.iter().map(move |path| (*what, path))).collect();
    differences.sort_by(|one, other| one.1.as_os_str().cmp(other.1.as_os_str()));
    let count = differences.len();
    differences.truncate(limit);
    let names = |what: &str| {
        let of_it = differences.iter().filter(|(kind, _)| *kind == what);
        of_it.map(|(_, path)| show::path(path)).collect::<Vec<_>>()
    };
    let facts = json!({
        "only_left": names("only in left"),
        "only_right": names("only in right"),
        "different": names("different"),
        "differences": differences.iter().map(|(what, path)| {
            json!({ "path": show::path(path), "what": what })
        }).collect::<Vec<_>>(),
        "difference_count": count,
        "same": compared.same,
        "identical": identical,
        "unreadable": tally.unreadable,
        "complete": tally.complete,
    });
    answer::walked(text, facts, tally.gaps())
}
