//! The `state` file: where the newest checkpoint stands in the log, and the tree as it was there.
//!
//! With it an opening reads the entries behind the checkpoint instead of all of them. It is believed only as far as
//! it gives the root that was signed and names the place of the entry that was signed, so it needs no seal of its own.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::log::chain::Hash;
use crate::log::checkpoint::Checkpoint;
use crate::log::error::Result;
use crate::log::files::{self, Durable};
use crate::log::limits::{LINE_BYTES_MAX, STATE_BYTES_MAX};
use crate::log::line::Line;
use crate::log::lines::{Lines, Next, last_line};
use crate::log::tree::Tree;

const HEADING: &str = "setpoint audit log state 1";

/// Writes the state of a log that is `length` bytes long.
pub(crate) fn write(dir: &Path, tree: &Tree, length: u64) -> Result<()> {
    let mut text = format!("{HEADING}\n{} {length}\n", tree.size());
    for hash in tree.frontier() {
        // Writing to a string does not fail.
        let _written = writeln!(text, "{hash}");
    }
    files::replace(&dir.join(files::STATE), text.as_bytes(), Durable::No)
}

/// Where the newest checkpoint stands in this log, and the tree there; `None` where the file is not there or does
/// not fit, which costs a look at the whole log and nothing else.
pub(crate) fn look(dir: &Path, log: &mut File, newest: &Checkpoint) -> Option<(u64, Tree)> {
    let mut text = String::new();
    let file = files::open(&dir.join(files::STATE)).ok()?;
    file.take(STATE_BYTES_MAX as u64).read_to_string(&mut text).ok()?;
    let (tree, offset) = parse(&text)?;
    let fits = tree.size() == newest.size && tree.root() == newest.root;
    (fits && ends_with(log, offset, newest)?).then_some((offset, tree))
}

fn parse(text: &str) -> Option<(Tree, u64)> {
    let mut lines = text.lines();
    lines.next().filter(|heading| *heading == HEADING)?;
    let (size, offset) = lines.next()?.split_once(' ')?;
    let frontier: Option<Vec<Hash>> = lines.map(|line| Hash::parse(line.as_bytes())).collect();
    Some((Tree::at(size.parse().ok()?, frontier?)?, offset.parse().ok()?))
}

/// Whether the line that ends at this offset is the last entry that the checkpoint covers.
fn ends_with(log: &mut File, offset: u64, newest: &Checkpoint) -> Option<bool> {
    if log.metadata().ok()?.len() < offset {
        return None;
    }
    let (begin, end) = last_line(log, offset).ok()??;
    log.seek(SeekFrom::Start(begin)).ok()?;
    let mut lines = Lines::of(log, begin, LINE_BYTES_MAX);
    let Next::Line(line) = lines.next().ok()? else { return None };
    let line = Line::parse(line)?;
    Some(end == offset && line.seq == newest.size && line.hash == newest.chain)
}
