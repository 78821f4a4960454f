//! What each known program does with its arguments: tables where a table can say it, small functions where not.
//!
//! A program vouches for the flags it lists and for nothing else. Whatever is not listed here is opaque.

mod archives;
mod awk;
mod builtins;
mod files;
mod find;
mod flag_tables;
mod flags;
mod git;
mod options;
mod reads;
mod sed;
mod shells;
mod small;
mod test;
mod wrappers;
mod writers;

use super::argument::Argument;
use super::state::State;
use super::verdict::{Reason, Verdict};

/// A program and what it is given.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// Without directories.
    pub(super) name: &'a str,
    pub(super) args: &'a [Argument],
    pub(super) state: &'a State,
    pub(super) stdin: &'a Stdin,
}

/// Where a program's standard input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stdin {
    Inherited,
    /// A file that is read.
    File(Argument),
    /// Exactly this text.
    Text(String),
    /// A pipe, or a text that is not known.
    Unknown,
}

/// What a program does with its arguments.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// A second run may give another answer although nothing was changed in between.
    pub(super) volatile: bool,
    /// Files that it runs.
    pub(super) executes: Vec<Argument>,
    /// Commands that it runs.
    pub(super) inner: Vec<Inner>,
    /// It only passes on: the inner commands count, it does not.
    pub(super) looked_through: bool,
    pub(super) moves: Moves,
}

/// Something that a program runs.
#[derive(Debug)]
pub(super) enum Inner {
    Command {
        argv: Vec<Argument>,
        /// In another directory than the one that is known.
        elsewhere: bool,
    },
    Script {
        text: String,
        /// Read by a shell that knows less than bash.
        plain_sh: bool,
    },
}

/// What a builtin does to the directory of later commands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Moves {
    Stays,
    To(Argument),
    Home,
    Anywhere,
}

impl Judgement {
    pub(super) fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            volatile: false,
            executes: Vec::new(),
            inner: Vec::new(),
            looked_through: false,
            moves: Moves::Stays,
        }
    }

    fn read_only() -> Self {
        Self::new(Verdict::ReadOnly)
    }

    fn opaque(reason: Reason) -> Self {
        Self::new(Verdict::opaque(reason))
    }
}

impl From<Result<Judgement, Reason>> for Judgement {
    fn from(result: Result<Judgement, Reason>) -> Self {
        result.unwrap_or_else(Judgement::opaque)
    }
}

/// Judges a call of a program that comes from the system's directories.
pub(super) fn judge(call: &Call<'_>) -> Judgement {
    let found = flags::version_only(call)
        .or_else(|| builtins::judge(call))
        .or_else(|| wrappers::judge(call))
        .or_else(|| shells::judge(call))
        .or_else(|| small::judge(call))
        .or_else(|| writers::judge(call))
        .or_else(|| archives::judge(call))
        .or_else(|| flags::judge(call))
        .or_else(|| reads::judge(call));
    let mut judgement =
        found.unwrap_or_else(|| Judgement::opaque(Reason::UnlistedProgram { program: call.name.to_owned() }));
    judgement.volatile |= is_volatile(call);
    judgement
}

/// Programs whose answer changes by itself: clocks, load, processes, networks, waiting, chance.
const VOLATILE: &[&str] = &[
    "date",
    "uptime",
    "ps",
    "top",
    "htop",
    "sleep",
    "free",
    "vmstat",
    "iostat",
    "mpstat",
    "w",
    "who",
    "users",
    "last",
    "pgrep",
    "pidof",
    "pstree",
    "lsof",
    "ss",
    "netstat",
    "dmesg",
    "journalctl",
    "shuf",
    "mktemp",
    "uuidgen",
    "watch",
    "curl",
    "wget",
    "ping",
    "nc",
    "ncat",
    "dig",
    "host",
    "nslookup",
    "traceroute",
    "ssh",
    "jobs",
    "wait",
    "times",
    "nvidia-smi",
    "sar",
    "dstat",
    "systemctl",
    "docker",
    "podman",
    "kubectl",
    "http",
    "telnet",
    "inotifywait",
    "fswatch",
    "entr",
    "hwclock",
    "timedatectl",
    "chronyc",
    "ntpq",
];

fn is_volatile(call: &Call<'_>) -> bool {
    let reads_chance = call.args.iter().any(|arg| {
        matches!(
            arg.known(),
            Some("/dev/urandom" | "/dev/random" | "/proc/uptime" | "/proc/loadavg" | "/proc/stat")
        )
    });
    let follows = call.name == "tail"
        && call.args.iter().any(|arg| {
            arg.text.starts_with("--follow") || (arg.text.starts_with('-') && arg.text.contains(['f', 'F']))
        });
    VOLATILE.contains(&call.name) || reads_chance || follows
}
