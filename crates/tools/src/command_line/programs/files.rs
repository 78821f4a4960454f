//! `cp`, `mv`, `install` and `ln`: sources and a destination, which may be a directory.

use std::path::Path;

use super::options::{Flags, Order, scan};
use super::writers::{directory, targets};
use super::{Call, Judgement};
use crate::command_line::argument::{Argument, ArgumentKind};
use crate::command_line::verdict::{Reason, Target, Verdict};

const FLAGS: Flags = Flags {
    short: "aRrfinuvpdxlsLPHTbD",
    valued: "tS",
    long: "archive recursive force interactive no-clobber update verbose parents preserve no-preserve \
                dereference no-dereference reflink sparse one-file-system no-target-directory symbolic \
                relative backup link symbolic-link attributes-only remove-destination directory",
    long_valued: "target-directory suffix mode owner group",
};

pub(super) fn judge(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = match call.name {
        // Here `-m`, `-o` and `-g` take a value, and `-d` only makes directories. `-s` would run another program.
        "install" => Flags { short: "DdpvbCT", valued: "tSmog", ..FLAGS },
        _ => FLAGS,
    };
    let scan = scan(call, &flags, Order::Mixed)?;
    if call.name == "install" && scan.has_any(&["d", "directory"]) {
        return Ok(Judgement::new(Verdict::writing(targets(call, &scan.operands, false)?)));
    }
    let into = directory(&scan, &["t", "target-directory"]);
    let recursive = call.name != "ln" && scan.has_any(&["a", "r", "R", "archive", "recursive"]);
    let (sources, paths) = match (into, scan.operands.as_slice()) {
        (Some(into), sources) => (sources, inside(call, into, sources, recursive)?),
        (None, [only]) if call.name == "ln" => {
            (scan.operands.as_slice(), inside(call, &Argument::literal("."), &[only], false)?)
        }
        (None, [source, to]) if source.is_single() && !names_directory(to) => {
            (scan.operands.get(..1).unwrap_or_default(), call.state.targets(call.name, to, recursive)?)
        }
        (None, [sources @ .., to]) if !sources.is_empty() => (sources, inside(call, to, sources, recursive)?),
        _ => return Err(Reason::unknown_path(call.name)),
    };
    let deletes = if call.name == "mv" { targets(call, sources, true)? } else { Vec::new() };
    Ok(Judgement::new(Verdict::Writes { paths, deletes }))
}

/// Whether a destination is a directory by its text.
fn names_directory(to: &Argument) -> bool {
    to.text.ends_with('/')
        || matches!(to.text.as_str(), "." | "..")
        || to.text.ends_with("/.")
        || to.text.ends_with("/..")
}

/// What appears in the directory `into`.
fn inside(
    call: &Call<'_>,
    into: &Argument,
    sources: &[&Argument],
    recursive: bool,
) -> Result<Vec<Target>, Reason> {
    let mut all: Vec<Target> = Vec::new();
    for base in call.state.targets(call.name, into, false)? {
        for source in sources {
            let name = match source.kind {
                ArgumentKind::Unknown { .. } => None,
                ArgumentKind::Literal | ArgumentKind::Pattern => Path::new(&source.text).file_name(),
            };
            let target = match name {
                Some(name) => Target {
                    path: base.path.join(name),
                    pattern: base.pattern || source.kind == ArgumentKind::Pattern,
                    recursive,
                },
                // Something below, whatever its name is.
                None => Target { recursive: true, ..base.clone() },
            };
            if !all.contains(&target) {
                all.push(target);
            }
        }
    }
    Ok(all)
}
