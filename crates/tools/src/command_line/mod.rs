//! Reads a shell command: which programs it runs, on what, and what that provably does to the world.
//!
//! A pure function of its text and [`Surroundings`]: nothing is run, opened or looked up, so the answer is the same
//! everywhere and always. It never guesses: what it does not understand completely is [`Verdict::Opaque`].
//!
//! The text is read as bash reads it with `bash -c`, without start-up files; where [`Reading::needs_bash`] is false, every
//! POSIX shell reads it the same way. Two things are taken for granted and have to be kept so by whoever runs commands:
//! a bare program name leads to the system's program of that name, and the configuration files of programs (`.git/config`,
//! `~/.ripgreprc`) are not under the control of whoever wrote the command.
//!
//! Reading order: [`read`], then `lex` (words and quoting), `grammar`, `walk`, and `programs` with its tables.

mod argument;
mod assigned;
mod expand;
mod grammar;
mod insides;
mod lex;
mod normal;
mod programs;
mod screen;
mod state;
mod variables;
mod verdict;
mod walk;

use std::path::{Path, PathBuf};

pub use argument::{Argument, ArgumentKind};
pub use verdict::{Reason, Target, Verdict};

pub use crate::paths::Surroundings;
use state::State;
use walk::{Findings, Walk};

/// Longest command that is read, in bytes.
pub const COMMAND_BYTES_MAX: usize = 32 * 1024;

/// Most simple commands in one text, inner ones included.
pub const COMMANDS_MAX: usize = 50;

/// Most words and operators in one script.
pub const WORDS_MAX: usize = 4000;

/// Deepest nesting of substitutions, and of commands that run commands.
pub const NESTING_MAX: usize = 8;

/// What a command is, as far as its text tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Every simple command in order of appearance: also those in substitutions, branches and behind wrappers, the wrapper
    /// first. At most [`COMMANDS_MAX`].
    pub commands: Vec<SimpleCommand>,
    /// The programs that run, by name without directories, sorted, without repetition, wrappers looked through. Never
    /// empty: `?` stands for one that is only known at run time or not understood, `sh` for the shell itself where it runs
    /// nothing else.
    pub programs: Vec<String>,
    /// The normal form: the words of each command without redirections, quoted the same way however they were written,
    /// joined by ` | ` or ` ; `. The trimmed text itself where that cannot be had.
    pub target: String,
    /// The whole text in normal form, redirections and operators with it: two that are equal do the same. Blanks, comments
    /// and ways of quoting leave no trace. The trimmed text itself where that cannot be had.
    pub script: String,
    /// What it does.
    pub verdict: Verdict,
    /// Run again, it may answer differently although nothing was changed in between.
    pub volatile: bool,
    /// Files of program text that it runs, absolute, as far as they are known.
    pub executes: Vec<PathBuf>,
    /// Other shells than bash read it differently or not at all.
    pub needs_bash: bool,
}

impl Reading {
    /// The ids under which plans and limits know these programs: `shell/` and the name.
    #[must_use]
    pub fn tool_ids(&self) -> Vec<String> {
        self.programs.iter().map(|program| format!("shell/{program}")).collect()
    }
}

/// A command without operators: assignments, words, redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The assignments before the program, in order.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments; empty where there are only assignments or redirections.
    pub argv: Vec<Argument>,
    /// In order.
    pub redirections: Vec<Redirection>,
}

/// `name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, without an index.
    pub name: String,
    /// What it is set to.
    pub value: Argument,
}

/// A redirection of one file descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The descriptor, where it is written.
    pub fd: Option<i32>,
    /// What is done with it.
    pub kind: RedirectionKind,
    /// The file, the descriptor, or the text.
    pub target: Argument,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`, `>&file`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadAndWrite,
    /// `>&` and `<&` with a number or a dash
    Duplicate,
    /// `<<`
    HereDocument,
    /// `<<<`
    HereString,
}

/// Reads `command`.
#[must_use]
pub fn read(command: &str, surroundings: &Surroundings) -> Reading {
    if let Err(reason) = screen::check(command) {
        return unread(command, reason);
    }
    let script = match lex::script(command, 0) {
        Ok(script) => script,
        Err(reason) => return unread(command, reason),
    };
    let mut state = State::new(surroundings);
    state.set("_", state::Value::Unknown);
    let Findings { commands, mut programs, mut verdict, volatile, executes, target } =
        Walk::over(&script, state, 0);
    if let Some(name) = replaced_programs(surroundings) {
        verdict = verdict.and(Verdict::opaque(Reason::SearchPath { name }));
    }
    if programs.is_empty() {
        programs.insert("sh".to_owned());
    }
    let target = if target.is_empty() { command.trim().to_owned() } else { target };
    Reading {
        commands,
        programs: programs.into_iter().collect(),
        target,
        script: normal::script(&script),
        verdict,
        volatile,
        executes,
        needs_bash: script.needs_bash,
    }
}

fn unread(command: &str, reason: Reason) -> Reading {
    Reading {
        commands: Vec::new(),
        programs: vec![walk::UNKNOWN_PROGRAM.to_owned()],
        target: command.trim().to_owned(),
        script: command.trim().to_owned(),
        verdict: Verdict::opaque(reason),
        volatile: true,
        executes: Vec::new(),
        needs_bash: true,
    }
}

/// The variable through which files of the working directory take the place of programs.
fn replaced_programs(surroundings: &Surroundings) -> Option<&'static str> {
    let vars = &surroundings.vars;
    let controlled = |entry: &str| {
        !entry.starts_with('/')
            || (Path::new(entry).starts_with(&surroundings.cwd) && !walk::SYSTEM_DIRECTORIES.contains(&entry))
    };
    if let Some(path) = vars.get("PATH")
        && path.split(':').any(controlled)
    {
        return Some("PATH");
    }
    if vars.keys().any(|name| name.starts_with("BASH_FUNC_")) {
        return Some("BASH_FUNC_");
    }
    ["BASH_ENV", "ENV", "LD_PRELOAD"]
        .into_iter()
        .find(|name| vars.get(*name).is_some_and(|value| !value.is_empty()))
}
