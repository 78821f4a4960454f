//! Decides which shell commands only read, and renders the text that runs for them.
//!
//! A command is read-only if every word of it is known before it runs and every program in it is listed with every one
//! of its options (`programs`). Anything that is not literal — a parameter, a substitution, a redirection to a file, a
//! loop, a wrapper, an unknown program or option — asks a person. A read-only command does not run as it was written: it
//! runs as [`Plan::rendered`] spells what was understood, with every word quoted, so that a misreading here cannot have an
//! effect. [`Form`]s are the exception: commands that ship with the program, compared character by character.
//!
//! Pure: nothing is run, opened or looked up. The caller resolves the paths ([`Plan::reads`]).
//!
//! Reading order: [`read`], `lex` (words), `script` (pipelines), `programs` (the list), `plan`, and `loose` (names in a
//! command that asks; never a permission).

mod form;
mod lex;
mod loose;
mod plan;
mod programs;
mod reason;
mod screen;
mod script;
mod word;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use form::{Form, FormPiece, WordKind};
pub use plan::{GitCall, Plan, ReadTarget, Search, Walk};
pub use programs::RemoveOrMake;
pub use reason::Reason;

/// Longest command that is read, in bytes.
pub const COMMAND_BYTES_MAX: usize = 32 * 1024;
/// Maximum simple commands in one text.
pub const COMMANDS_MAX: usize = 50;
/// Maximum commands of one pipeline that may run without asking: they run at once, and each may use memory.
pub const PIPED_MAX: usize = 8;
/// Maximum words in one text.
pub const WORDS_MAX: usize = 4_000;

/// The context in which a command is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Absolute path of the directory in which it starts.
    pub cwd: PathBuf,
    /// Absolute path that replaces `~`.
    pub home: PathBuf,
}

/// What is known of a command before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether it may run without a question.
    pub verdict: Verdict,
    /// Names of the programs that run, without directories, sorted, without duplicates; wrappers are replaced by what they
    /// run. `?` is a program that is only known at run time, `sh` the shell if it runs nothing else. A best effort if the
    /// command asks: for limits and records, never for permission.
    pub programs: Vec<String>,
    /// Normal form: the words of each command without redirections, quoted the same way however they were written,
    /// joined by ` | ` or ` ; `.
    pub target: String,
    /// The whole text in normal form: two commands with equal scripts do the same.
    pub script: String,
    /// Whether running it again may give another answer although nothing was changed in between.
    pub volatile: bool,
    /// Absolute paths of files of program text or rules that the command names and carries out; a name may hold wildcards, and
    /// may name nothing that exists. A best effort.
    pub executes: Vec<PathBuf>,
}

/// Whether a command may run without a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a command may only run unasked when this says so"]
pub enum Verdict {
    /// The command only reads, according to its text. The caller still resolves [`Plan::reads`].
    ReadOnly(Plan),
    /// The command removes or creates exactly these paths, and does nothing else.
    RemovesOrMakes(RemoveOrMake),
    /// The command asks, for this reason.
    Asks(Reason),
}

impl Verdict {
    /// Returns whether the command only reads.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::ReadOnly(_))
    }
}

/// Reads a command that has one of these forms; `None` if it has none.
#[must_use]
pub fn read_form(command: &str, forms: &[Form]) -> Option<Reading> {
    screen::check(command).ok()?;
    let (form, plan) = forms.iter().find_map(|form| Some((form, form.read(command)?)))?;
    let text = command.trim().to_owned();
    Some(Reading {
        verdict: Verdict::ReadOnly(plan),
        programs: form.programs.clone(),
        target: text.clone(),
        script: text,
        volatile: false,
        executes: Vec::new(),
    })
}

/// Reads a command.
#[must_use]
pub fn read(command: &str, surroundings: &Surroundings) -> Reading {
    if let Err(reason) = screen::check(command) {
        return asks(command, surroundings, reason);
    }
    let judged = lex::words(command, &surroundings.home)
        .and_then(script::parse)
        .and_then(|script| plan::judge(&script));
    match judged {
        Ok(judged) => judged,
        Err(reason) => asks(command, surroundings, reason),
    }
}

fn asks(command: &str, surroundings: &Surroundings, reason: Reason) -> Reading {
    let text = command.trim().to_owned();
    let found = loose::read(command, &surroundings.cwd);
    let target = if found.target.is_empty() { text.clone() } else { found.target };
    Reading {
        verdict: Verdict::Asks(reason),
        programs: found.programs,
        target,
        script: text,
        volatile: found.is_volatile,
        executes: found.executes,
    }
}

/// Returns every text in a command that may be a path: its words without quotes, and their parts between quotes, brackets
/// and the like, with `~` and the variables in `vars` expanded. For rules that deny; a program may still build a path that
/// is not in its words.
#[must_use]
pub fn mentions(command: &str, home: &Path, vars: &BTreeMap<String, String>) -> BTreeSet<String> {
    loose::mentions(command, home, vars)
}

/// Returns every text in a command by which one of its programs may open a place, in the form of [`mentions`]. Of a command
/// whose programs open nothing but what their words name, these are such words and redirections, and no part of a text; of
/// any other it is what it mentions, without dots that are a part of a pattern. A program may still build a path.
#[must_use]
pub fn places(command: &str, home: &Path, vars: &BTreeMap<String, String>) -> BTreeSet<String> {
    loose::places(command, home, vars)
}

/// Returns whether all programs of a command are known to open nothing but what their words name, and to use no network.
#[must_use]
pub fn is_plain(command: &str) -> bool {
    loose::is_plain(command)
}

/// Returns the words of a command, without quotes; those of here-documents and of texts in words are not among them.
#[must_use]
pub fn words(command: &str) -> Vec<String> {
    loose::shell_words(command)
}

/// Returns every simple command in a text, also those that wrappers, shells and substitutions run, in the form of
/// [`simple_command`]. Those of more than `words_max` words are left out. For rules that deny; a program may still
/// compose a command that is not in the text.
#[must_use]
pub fn commands(command: &str, words_max: usize) -> BTreeSet<String> {
    loose::commands(command, words_max)
}

/// Returns a text that is one simple command in normal form, with the number of its words: the program without
/// directories, and words that are quoted the same way however they were written. `None` if the text is more than that, as
/// with an operator or a redirection.
#[must_use]
pub fn simple_command(command: &str) -> Option<(String, usize)> {
    loose::simple_command(command)
}
