//! Programs that change nothing as long as they are given only these flags, and at most so many operands.

use super::flag_tables::ENTRIES;
use super::options::{Flags, Order, scan};
use super::{Call, Judgement};
use crate::command_line::verdict::Reason;

/// A program and what it may be given.
pub(super) struct Entry {
    pub(super) names: &'static [&'static str],
    pub(super) flags: Flags,
    pub(super) operands_max: usize,
}

/// No limit on operands.
pub(super) const ANY: usize = usize::MAX;

pub(super) fn judge(call: &Call<'_>) -> Option<Judgement> {
    let entry = ENTRIES.iter().find(|entry| entry.names.contains(&call.name))?;
    Some(judge_entry(call, entry).into())
}

fn judge_entry(call: &Call<'_>, entry: &Entry) -> Result<Judgement, Reason> {
    let scan = scan(call, &entry.flags, Order::Mixed)?;
    match scan.operands.get(entry.operands_max) {
        Some(extra) => Err(Reason::unlisted_argument(call.name, &extra.text)),
        None if entry.operands_max != ANY && scan.operands.iter().any(|operand| !operand.is_single()) => {
            Err(Reason::unknown_argument(call.name))
        }
        None => Ok(Judgement::read_only()),
    }
}

/// Programs that are only known to be harmless when asked who they are.
const TELLING_VERSION: &[&str] = &[
    "python", "python3", "node", "gcc", "g++", "cc", "c++", "clang", "clang++", "make", "cmake", "perl",
    "bash", "java", "curl", "wget", "tar", "docker", "psql", "sqlite3", "rsync", "zip", "unzip", "vim",
    "nano", "tmux", "ffmpeg", "pandoc", "dpkg", "nginx", "ninja", "ld", "git", "sed", "awk", "gawk", "find",
    "xargs", "rg", "fd",
];

/// A call that only asks for the version.
pub(super) fn version_only(call: &Call<'_>) -> Option<Judgement> {
    let [only] = call.args else { return None };
    let asks = matches!(only.known()?, "--version")
        || (matches!(call.name, "python" | "python3") && matches!(only.known()?, "-V" | "-VV"))
        || (matches!(call.name, "node" | "perl") && only.known()? == "-v")
        || (call.name == "java" && only.known()? == "-version");
    (asks && TELLING_VERSION.contains(&call.name)).then(Judgement::read_only)
}
