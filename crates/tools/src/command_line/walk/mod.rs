//! Walks through a script in the order of its text and gathers what every command in it is and does.
//!
//! Nothing is run and nothing is chosen: both branches of an `if` count, a loop's body counts once, and what is only known
//! at run time is unknown.

mod arithmetic;
mod compound;
mod conditions;
mod redirections;
mod run;
mod simple;
mod substitutions;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::assigned::AssignedNames;
use super::lex::Script;
use super::state::{Directories, State};
use super::verdict::{Reason, Verdict};
use super::{COMMANDS_MAX, SimpleCommand};

pub(super) use run::SYSTEM_DIRECTORIES;

/// Stands for a program whose name is not known.
pub(super) const UNKNOWN_PROGRAM: &str = "?";

/// What was found in a command.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) programs: BTreeSet<String>,
    pub(super) verdict: Verdict,
    pub(super) volatile: bool,
    pub(super) executes: Vec<PathBuf>,
    /// The normal form so far.
    pub(super) target: String,
}

/// One walk over one script and what it contains.
pub(super) struct Walk {
    pub(super) findings: Findings,
    assigned: AssignedNames,
    /// What joins the next command to the target.
    joint: &'static str,
    /// Greater than zero inside what is already part of a shown word.
    hidden: usize,
    depth: usize,
    /// The words of each script on the way whose substitutions were gone through.
    visited: Vec<BTreeSet<usize>>,
    /// A loop was found that changes the directory: no loop is taken to start in a known one.
    loops_move: bool,
}

/// Where later commands may run, depending on how this one ends.
#[derive(Clone, Debug)]
struct Outcome {
    success: Directories,
    failure: Directories,
}

impl Outcome {
    fn same(state: &State) -> Self {
        Self { success: state.directories.clone(), failure: state.directories.clone() }
    }
}

/// Whether a command certainly runs once its script does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certainty {
    Always,
    /// In a branch, a loop or after `&&`.
    Perhaps,
}

impl Walk {
    /// Walks through `script`, which starts in `state`.
    pub(super) fn over(script: &Script, mut state: State, depth: usize) -> Findings {
        let assigned = AssignedNames::of(script);
        assigned.forget_in(&mut state);
        let findings = Findings {
            commands: Vec::new(),
            programs: BTreeSet::new(),
            verdict: Verdict::ReadOnly,
            volatile: false,
            executes: Vec::new(),
            target: String::new(),
        };
        let mut walk =
            Self { findings, assigned, joint: "", hidden: 0, depth, visited: Vec::new(), loops_move: false };
        walk.script(script, &mut state, Certainty::Always);
        walk.findings
    }

    fn script(&mut self, script: &Script, state: &mut State, certainty: Certainty) {
        self.visited.push(BTreeSet::new());
        for list in &script.program.complete_commands {
            self.list(script, list, state, certainty);
        }
        let visited = self.visited.pop().unwrap_or_default();
        // Whatever the grammar did with a word: nothing that runs in it may have been passed over.
        let missed = script
            .lexemes
            .iter()
            .enumerate()
            .any(|(index, lexeme)| lexeme.has_substitutions() && !visited.contains(&index));
        if missed {
            self.refuse(Reason::syntax("a substitution in an unusual place"));
        }
    }

    fn add(&mut self, effect: Verdict) {
        let before = std::mem::replace(&mut self.findings.verdict, Verdict::ReadOnly);
        self.findings.verdict = before.and(effect);
    }

    fn refuse(&mut self, reason: Reason) {
        self.add(Verdict::opaque(reason));
    }

    fn check(&mut self, result: Result<(), Reason>) {
        if let Err(reason) = result {
            self.refuse(reason);
        }
    }

    /// Keeps a command, up to the limit.
    fn keep(&mut self, command: SimpleCommand) {
        if self.findings.commands.len() < COMMANDS_MAX {
            self.findings.commands.push(command);
        } else {
            self.refuse(Reason::TooManyCommands);
        }
    }

    fn show(&mut self, text: &str) {
        if self.hidden > 0 || text.is_empty() {
            return;
        }
        if !self.findings.target.is_empty() {
            self.findings.target.push_str(self.joint);
        }
        self.findings.target.push_str(text);
        self.joint = " ; ";
    }
}
