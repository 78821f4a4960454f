//! The programs that may run without asking, and their options.
//!
//! `table` is the list; rules that a list of options cannot express have a function of their own. An option that is not
//! listed asks, and so does an abbreviated one.

mod git;
mod languages;
mod options;
mod remove;
mod table;
mod texts;
mod walks;

use super::plan::{GitCall, ReadTarget, Walk};
use super::word::{Word, quoted};
use super::{Reason, script};
pub use remove::RemoveOrMake;
pub(crate) use remove::judge as removes_or_makes;

/// A program with its words, and what it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) program: String,
    /// The words after the program, as bash reads them back.
    pub(crate) rendered: Vec<String>,
    pub(crate) reads: Vec<ReadTarget>,
    pub(crate) git: Option<GitCall>,
    pub(crate) is_volatile: bool,
}

/// A program's name and words.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    pub(crate) program: &'a str,
    pub(crate) words: &'a [Word],
    /// Whether its input comes from another program.
    pub(crate) is_piped: bool,
}

impl Args<'_> {
    fn refuse(&self, word: &Word) -> Reason {
        Reason::argument(self.program, word.rendered())
    }

    fn call(&self) -> Call {
        Call { program: self.program.to_owned(), ..Call::default() }
    }

    /// Returns the call with its words unchanged, for programs that read no file. A wildcard still lists a directory.
    fn as_written(&self) -> Call {
        let mut call = self.call();
        for word in self.words {
            match word.text() {
                Some(_) => call.push(word),
                None => call.read(word, Walk::No),
            }
        }
        call
    }
}

impl Call {
    fn push(&mut self, word: &Word) {
        self.rendered.push(word.rendered());
    }

    fn read(&mut self, word: &Word, walk: Walk) {
        self.reads.push(ReadTarget {
            pattern: word.pattern(),
            literal: word.text().map(str::to_owned),
            walk,
        });
        self.push(word);
    }
}

/// Judges one command against the list.
pub(crate) fn judge(command: &script::Command, is_piped: bool) -> Result<Call, Reason> {
    let Some((program, words)) = command.words.split_first() else {
        return Err(Reason::Syntax { what: "no command" });
    };
    let name = program.text().ok_or(Reason::NotLiteral { what: "the program's name" })?;
    if !program.is_quoted && is_assignment(name) {
        return Err(Reason::NotLiteral { what: "an assignment" });
    }
    let bare = bare_name(name).ok_or_else(|| Reason::UnlistedProgram { program: name.to_owned() })?;
    let args = Args { program: bare, words, is_piped };
    let found = texts::judge(&args)
        .or_else(|| languages::judge(&args))
        .or_else(|| walks::judge(&args))
        .or_else(|| (bare == "git").then(|| git::judge(&args)))
        .or_else(|| table::find(bare).map(|spec| options::judge(&args, spec)));
    let mut call = found.unwrap_or_else(|| Err(Reason::UnlistedProgram { program: name.to_owned() }))?;
    add_options(bare, &mut call, &args)?;
    call.is_volatile |= VOLATILE.contains(&bare);
    call.program = quoted(name);
    Ok(call)
}

/// First options of every `sort`: they limit its memory, and give it no place for temporary files. An input that does not
/// fit in memory fails; otherwise it could fill a disk, and leave its files there if it is stopped.
const SORT_IN_MEMORY: &[&str] = &["--buffer-size=512M", "--temporary-directory=/dev/null/none"];

/// Adds options that keep a program from writing files of its own and from showing more than it is asked to read.
fn add_options(bare: &str, call: &mut Call, args: &Args<'_>) -> Result<(), Reason> {
    match bare {
        "sort" => drop(call.rendered.splice(0..0, SORT_IN_MEMORY.iter().map(|word| (*word).to_owned()))),
        // It prints lines of `.ignore` files that it cannot parse, and such a file may be a link.
        "rg" => call.rendered.insert(0, "--no-ignore-messages".to_owned()),
        // It copies input that it cannot seek in to a temporary file.
        "tac" if call.reads.is_empty() => {
            let program = args.program.to_owned();
            return Err(Reason::Input { program });
        }
        _ => {}
    }
    Ok(())
}

/// Directories whose programs can be trusted by name.
const SYSTEM_DIRECTORIES: &[&str] =
    &["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Programs whose output changes by itself: clocks, load, processes, waiting, randomness, networks.
pub(crate) const VOLATILE: &[&str] = &[
    "curl",
    "date",
    "df",
    "dig",
    "docker",
    "free",
    "inotifywait",
    "journalctl",
    "kubectl",
    "lsof",
    "mktemp",
    "nc",
    "netstat",
    "pgrep",
    "pidof",
    "ping",
    "ps",
    "shuf",
    "sleep",
    "ss",
    "ssh",
    "systemctl",
    "tail",
    "top",
    "uptime",
    "uuidgen",
    "vmstat",
    "w",
    "wait",
    "watch",
    "wget",
    "who",
];

/// Returns the name of a program given by its name, or by its path in a directory of the system.
fn bare_name(text: &str) -> Option<&str> {
    match text.rsplit_once('/') {
        None => Some(text),
        Some((directory, name)) => SYSTEM_DIRECTORIES.contains(&directory).then_some(name),
    }
}

/// Returns whether it begins like `name=`, `name+=` or `name[`.
fn is_assignment(text: &str) -> bool {
    let name = text.split(['=', '+', '[']).next().unwrap_or_default();
    text.len() > name.len()
        && name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        && (text.contains('=') || text.contains('['))
}
