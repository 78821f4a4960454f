//! Decides which shell commands only read, and renders those as they run.
//!
//! A command is read-only when every word of it is known before it runs and every program in it vouches for every one of
//! its options (`programs`). Anything that is not literal — a parameter, a substitution, a redirection to a file, a loop, a
//! wrapper, an unknown program or option — asks a person. A read-only command does not run as it was written: it runs as
//! [`Plan::rendered`] spells what was understood, with every word quoted, so that a misreading here cannot become an
//! effect there. [`Form`]s are the exception: commands that ship with the program, compared letter by letter.
//!
//! Pure: nothing is run, opened or looked up. Where the paths lead is for the caller to find out ([`Plan::reads`]).
//!
//! Reading order: [`read`], `lex` (words), `script` (pipelines), `programs` (the list), `plan`, and `loose` (names for what
//! asks; never a permission).

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
pub use plan::{GitCall, Plan, Read, Search, Walk};
pub use programs::RemoveOrMake;
pub use reason::Reason;

/// Longest command that is read, in bytes.
pub const COMMAND_BYTES_MAX: usize = 32 * 1024;
/// Most simple commands in one text.
pub const COMMANDS_MAX: usize = 50;
/// Commands of one pipeline that may run unasked, because they run at once and each may take memory.
pub const PIPED_MAX: usize = 8;
/// Most words in one text.
pub const WORDS_MAX: usize = 4_000;

/// What a command is read against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// The directory it starts in; absolute.
    pub cwd: PathBuf,
    /// What `~` stands for; absolute.
    pub home: PathBuf,
}

/// What is known of a command before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether it may run without a question.
    pub verdict: Verdict,
    /// The programs that run, by name without directories, sorted, without repetition; wrappers looked through. `?` stands
    /// for one that is only known at run time, `sh` for the shell where it runs nothing else. A best effort where the
    /// command asks: for limits and records, never for permission.
    pub programs: Vec<String>,
    /// The normal form: the words of each command without redirections, quoted the same way however they were written,
    /// joined by ` | ` or ` ; `.
    pub target: String,
    /// The whole text in normal form: two that are equal do the same.
    pub script: String,
    /// Run again, it may answer differently although nothing was changed in between.
    pub volatile: bool,
    /// Files of program text that the command names and runs, absolute.
    pub executes: Vec<PathBuf>,
}

/// Whether a command may run without a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a command may only run unasked when this says so"]
pub enum Verdict {
    /// Its text only reads. The caller still resolves [`Plan::reads`].
    ReadOnly(Plan),
    /// It makes or removes exactly these, and nothing else.
    RemovesOrMakes(RemoveOrMake),
    /// It asks.
    Asks(Reason),
}

impl Verdict {
    /// Whether the command only reads.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::ReadOnly(_))
    }
}

/// The reading of a command that is one of these forms.
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

/// Every text in a command that may be a path: its words without quotes, what stands between quotes, brackets and the like,
/// `~` and the variables in `vars` filled in. For rules that deny; a program may still compose a path that no word shows.
#[must_use]
pub fn mentions(command: &str, home: &Path, vars: &BTreeMap<String, String>) -> BTreeSet<String> {
    loose::mentions(command, home, vars)
}
