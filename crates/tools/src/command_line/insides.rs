//! Which commands show the inside of other processes: environments and memory, where keys lie. They change nothing, and
//! yet they are nothing to be run unasked.
//!
//! What is put together at run time cannot be seen in a text; what the system keeps closed ([`crate::processes`] says
//! what that is) does not rest on this alone.

use super::argument::{Argument, ArgumentKind};
use super::state::{Directories, State};
use crate::processes::{Leads, leads};

/// Stands for what is not known; no command holds it ([`super::screen`]).
const UNKNOWN: char = '\u{fffd}';

/// Programs that show no content of the files that they are given.
const NAMING: &[&str] = &[
    "[",
    "basename",
    "cd",
    "dirname",
    "echo",
    "ls",
    "mountpoint",
    "namei",
    "printf",
    "pushd",
    "pwd",
    "readlink",
    "realpath",
    "stat",
    "test",
];

/// Programs that go through everything below a folder and show what is in it, or start others on it.
const SEARCHING: &[&str] = &["ag", "diff", "egrep", "fgrep", "find", "grep", "rg", "rgrep", "tar"];

/// Programs whose first operand is a pattern.
const MATCHING: &[&str] = &["egrep", "fgrep", "grep", "rg"];

/// Whether a program with these arguments shows the inside of a process, or may.
pub(super) fn are_shown_by(name: &str, args: &[Argument], state: &State) -> bool {
    if NAMING.contains(&name) {
        return false;
    }
    if name == "ps" {
        return shows_environments(args);
    }
    let skipped = if MATCHING.contains(&name) { pattern_at(args) } else { None };
    let starts_others = |arg: &Argument| arg.text.starts_with("-exec") || arg.text.starts_with("-ok");
    let below = match name {
        "find" if !args.iter().any(starts_others) => Below::Proc,
        _ if SEARCHING.contains(&name) => Below::Everything,
        _ => Below::Nothing,
    };
    let mut rest = args.iter().enumerate().filter(|(at, _)| Some(*at) != skipped).map(|(_, arg)| arg);
    is_in_proc(state) || rest.any(|arg| is_inside(arg, below, state))
}

/// Whether a word leads there that is opened, looped over or put into a variable.
pub(super) fn are_named_by(word: &Argument, state: &State) -> bool {
    is_inside(word, Below::Nothing, state)
}

/// What a program shows of what is below the folders that it is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Nothing,
    /// Names, which matter below `/proc` alone: others are started on them.
    Proc,
    Everything,
}

fn is_inside(arg: &Argument, below: Below, state: &State) -> bool {
    if matches!(arg.kind, ArgumentKind::Unknown { .. }) {
        return unknown(&arg.text);
    }
    let is_pattern = arg.kind == ArgumentKind::Pattern;
    let leads_inside = |path: &str| match leads(&closed(path, is_pattern), UNKNOWN) {
        Leads::Inside => true,
        Leads::Everything => {
            below == Below::Everything || (below == Below::Proc && path.starts_with("/proc"))
        }
        Leads::Elsewhere => false,
    };
    let is_option = arg.text.starts_with('-');
    let mut paths = state.paths(arg).into_iter();
    (!is_option && paths.any(|path| leads_inside(&path.to_string_lossy()))) || mentioned(&arg.text)
}

/// The path without wildcards that the shell does not see as such: the program gets them as they are.
fn closed(path: &str, is_pattern: bool) -> String {
    if is_pattern { path.to_owned() } else { path.replace(['*', '?', '['], "_") }
}

/// The text of a word with unknown parts: what stands after a folder `proc`, or is called as an environment is.
fn unknown(text: &str) -> bool {
    let bare: String = text
        .chars()
        .filter(|c| !matches!(c, '"' | '\'' | '\\'))
        .map(|c| if c == '$' { UNKNOWN } else { c })
        .collect();
    let parts: Vec<&str> = bare.split('/').collect();
    let below_proc = parts.iter().enumerate().any(|(at, part)| {
        let rest = parts.get(at..).unwrap_or_default().join("/");
        *part == "proc" && leads(&format!("/{rest}"), UNKNOWN) == Leads::Inside
    });
    below_proc || (parts.len() > 1 && parts.last().is_some_and(|last| ["environ", "mem"].contains(last)))
}

/// A path in the middle of a word: in a program for awk, behind `--file=`.
fn mentioned(text: &str) -> bool {
    text.match_indices("/proc").any(|(at, _)| {
        let (before, path) = text.split_at_checked(at).unwrap_or_default();
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "_.~-)}".contains(c));
        let ends = |c: char| c.is_whitespace() || "\"'`;|&<>(),".contains(c);
        begins && path.split(ends).next().is_some_and(|path| leads(path, UNKNOWN) == Leads::Inside)
    })
}

fn is_in_proc(state: &State) -> bool {
    match &state.directories {
        Directories::OneOf(paths) => paths.iter().any(|path| path.starts_with("/proc")),
        Directories::Unknown => false,
    }
}

/// Where the pattern is that `grep` is given: its first operand, when no option took that place.
fn pattern_at(args: &[Argument]) -> Option<usize> {
    let at = args.iter().position(|arg| !arg.text.starts_with('-'))?;
    let may_take = |arg: &Argument| match arg.text.strip_prefix("--") {
        Some(long) => long.starts_with(['r', 'f']),
        None => arg.text.contains(['e', 'f']),
    };
    (!args.iter().take(at).any(may_take)).then_some(at)
}

/// `ps e`, in whatever cluster of letters without a dash; the values of options are none.
fn shows_environments(args: &[Argument]) -> bool {
    let mut is_value = false;
    args.iter().any(|arg| {
        let text = arg.text.as_str();
        let shows = !is_value
            && (text.contains("environ")
                || (!text.starts_with('-')
                    && text.contains('e')
                    && text.chars().all(|c| c.is_ascii_alphabetic()))
                || (text.starts_with('-') && !text.starts_with("--") && text.contains('E')));
        is_value = !is_value
            && text.ends_with(['o', 'O', 'p', 'q', 'C', 'u', 'U', 'g', 'G', 't', 's', 'k'])
            && !text.contains(',');
        shows
    })
}
