//! `git`: subcommands that only look, without the flags that write a file or start another program.
//!
//! What the repository's own configuration starts (a pager on a terminal, `diff.external`, a file system monitor) is not
//! decided here: whoever runs commands has to keep `.git/config` from being written.

use super::options::{Flags, Order, Scan, scan};
use super::{Call, Judgement};
use crate::command_line::argument::Argument;
use crate::command_line::verdict::Reason;

/// Subcommands that change nothing with any flag that is not in [`REFUSED`].
const LOOKING: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "blame",
    "annotate",
    "describe",
    "shortlog",
    "cat-file",
    "diff-tree",
    "diff-index",
    "diff-files",
    "show-ref",
    "for-each-ref",
    "merge-base",
    "name-rev",
    "count-objects",
    "check-ignore",
    "check-attr",
    "check-mailmap",
    "grep",
    "whatchanged",
    "cherry",
    "range-diff",
    "var",
    "version",
    "show-branch",
];

/// Long flags, and so whatever abbreviates them, that write or start something.
const REFUSED: &[&str] = &[
    "output",
    "output-directory",
    "ext-diff",
    "textconv",
    "open-files-in-pager",
    "show-signature",
    "filters",
    "exec",
    "upload-pack",
    "paginate",
];

pub(super) fn judge(call: &Call<'_>) -> Result<Judgement, Reason> {
    let mut args = call.args;
    loop {
        let Some((first, rest)) = args.split_first() else { return Ok(Judgement::read_only()) };
        match first.known().ok_or_else(|| Reason::unknown_argument(call.name))? {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => args = rest,
            "-C" => {
                let (directory, rest) =
                    rest.split_first().ok_or_else(|| Reason::unknown_argument(call.name))?;
                if !directory.is_single() {
                    return Err(Reason::unknown_argument(call.name));
                }
                args = rest;
            }
            flag if flag.starts_with('-') => return Err(Reason::unlisted_argument(call.name, flag)),
            subcommand => return judge_subcommand(&Call { args: rest, ..*call }, subcommand),
        }
    }
}

fn judge_subcommand(call: &Call<'_>, subcommand: &str) -> Result<Judgement, Reason> {
    if LOOKING.contains(&subcommand) {
        return looking(call, subcommand);
    }
    let refused = || Reason::unlisted_argument(call.name, subcommand);
    let (first, rest) = match call.args.split_first() {
        Some((first, rest)) => (first.known(), rest),
        None => (None, call.args),
    };
    let inner = Call { args: rest, ..*call };
    match (subcommand, first) {
        ("branch", _) => branch(call),
        ("tag", _) => tag(call),
        ("config", _) => config(call),
        ("remote", _) if call.args.is_empty() => Ok(Judgement::read_only()),
        ("remote", Some("-v" | "--verbose")) if rest.is_empty() => Ok(Judgement::read_only()),
        ("remote", Some("get-url"))
        | ("stash" | "notes" | "worktree", Some("list"))
        | ("notes", Some("show")) => looking(&inner, subcommand),
        ("stash", Some("show")) | ("reflog", Some("show")) => looking(&inner, subcommand),
        ("reflog", None) if call.args.is_empty() => Ok(Judgement::read_only()),
        // A word after flags may still be another action.
        ("reflog", Some(_)) if call.args.iter().all(|arg| arg.text.starts_with('-')) => {
            looking(call, subcommand)
        }
        ("symbolic-ref", Some(_)) => {
            let flags = Flags { short: "q", long: "short quiet", ..Flags::NONE };
            match scan(call, &flags, Order::Mixed)?.operands.as_slice() {
                [only] if only.is_single() => Ok(Judgement::read_only()),
                _ => Err(refused()),
            }
        }
        _ => Err(refused()),
    }
}

fn looking(call: &Call<'_>, subcommand: &str) -> Result<Judgement, Reason> {
    for arg in call.args {
        if arg.may_be_option() {
            return Err(Reason::unknown_argument(call.name));
        }
        let Some(text) = arg.known() else { continue };
        if text == "--" {
            break;
        }
        let refused = match text.strip_prefix("--") {
            Some(long) => is_refused(long),
            None => subcommand == "grep" && text.starts_with('-') && text.contains('O'),
        };
        // These placeholders start the program that checks signatures.
        if refused || text.contains("%G") || text.contains("%(signature") {
            return Err(Reason::unlisted_argument(call.name, text));
        }
    }
    Ok(Judgement::read_only())
}

fn is_refused(long: &str) -> bool {
    let name = long.split_once('=').map_or(long, |(name, _)| name);
    // `--text` is a flag of its own.
    name != "text" && REFUSED.iter().any(|refused| refused.starts_with(name) || name.starts_with("output"))
}

const LISTING: Flags = Flags {
    short: "arvi",
    valued: "",
    long: "list all remotes verbose show-current color no-color column no-column ignore-case contains \
                no-contains merged no-merged points-at sort format abbrev no-abbrev",
    long_valued: "",
};

/// With these, an operand is a pattern or a commit, never a new name.
const SELECTING: &[&str] = &["list", "contains", "no-contains", "merged", "no-merged", "points-at"];

fn branch(call: &Call<'_>) -> Result<Judgement, Reason> {
    let scan = scan(call, &LISTING, Order::Mixed)?;
    only_listing(call, &scan, SELECTING)
}

fn tag(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags { short: "lin#", ..LISTING };
    let scan = scan(call, &flags, Order::Mixed)?;
    let selecting: Vec<&str> = SELECTING.iter().copied().chain(["l"]).collect();
    only_listing(call, &scan, &selecting)
}

fn only_listing(call: &Call<'_>, scan: &Scan<'_>, selecting: &[&str]) -> Result<Judgement, Reason> {
    match scan.operands.first() {
        Some(operand) if !scan.has_any(selecting) => Err(Reason::unlisted_argument(call.name, &operand.text)),
        _ => Ok(Judgement::read_only()),
    }
}

fn config(call: &Call<'_>) -> Result<Judgement, Reason> {
    let flags = Flags {
        short: "lz",
        valued: "f",
        long: "list get get-all get-regexp get-urlmatch global local system worktree show-origin show-scope \
                name-only null bool int path type includes default",
        long_valued: "file blob",
    };
    let scan = scan(call, &flags, Order::Mixed)?;
    let gets = scan.has_any(&["list", "l", "get", "get-all", "get-regexp", "get-urlmatch"])
        || matches!(scan.operands.first().and_then(|first: &&Argument| first.known()), Some("get" | "list"));
    match scan.operands.as_slice() {
        [only] if only.known().is_some_and(|text| text.contains('.')) => Ok(Judgement::read_only()),
        operands
            if gets && !operands.iter().any(|operand| matches!(operand.known(), Some("set" | "unset"))) =>
        {
            Ok(Judgement::read_only())
        }
        _ => Err(Reason::unlisted_argument(call.name, "config")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_of_refused_flags_are_refused() {
        for name in [
            "output",
            "outp",
            "o",
            "output=x",
            "ext-diff",
            "ext",
            "textconv",
            "textc",
            "open-files",
            "show-sig",
        ] {
            assert!(is_refused(name), "{name}");
        }
        for name in
            ["oneline", "stat", "text", "name-only", "no-ext-diff", "no-textconv", "porcelain", "format=%H"]
        {
            assert!(!is_refused(name), "{name}");
        }
    }
}
