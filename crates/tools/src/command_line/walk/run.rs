//! A command with all its words: which program it is, and what that program does.

use std::path::Path;

use super::{Outcome, UNKNOWN_PROGRAM, Walk};
use crate::command_line::argument::Argument;
use crate::command_line::assigned::NAMING;
use crate::command_line::insides;
use crate::command_line::lex;
use crate::command_line::programs::{self, Call, Inner, Judgement, Moves, Stdin};
use crate::command_line::state::{Directories, State};
use crate::command_line::verdict::Reason;
use crate::command_line::{NESTING_MAX, SimpleCommand};
use crate::paths::{absolute_in, is_name};

/// Directories whose programs are taken for what their names say.
pub(in crate::command_line) const SYSTEM_DIRECTORIES: &[&str] =
    &["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

impl Walk {
    pub(super) fn run(&mut self, argv: &[Argument], stdin: &Stdin, state: &mut State) -> Outcome {
        let Some((program, args)) = argv.split_first() else { return Outcome::same(state) };
        let Some(name) = program.known().and_then(program_name) else {
            self.findings.programs.insert(UNKNOWN_PROGRAM.to_owned());
            self.refuse(Reason::UnknownProgram);
            return Outcome::same(state);
        };
        if is_foreign(&program.text) {
            self.findings.programs.insert(name.to_owned());
            self.executes(program, state);
            self.refuse(Reason::ForeignProgram { program: program.text.clone() });
            return Outcome::same(state);
        }
        if insides::are_shown_by(name, args, state) {
            self.refuse(Reason::Insides);
        }
        let mut judgement = programs::judge(&Call { name, args, state, stdin });
        let is_builtin = !program.text.contains('/');
        if !is_builtin {
            // A file named like a builtin changes nothing in this shell.
            judgement.moves = Moves::Stays;
        }
        if NAMING.contains(&name) && name != "printf" {
            self.check_named(args);
        }
        let exits = is_builtin && name == "exit" && args.len() < 2 && args.iter().all(is_status);
        self.judged(name, judgement, state, stdin, exits)
    }

    /// What a builtin sets must have been seen when looking ahead; a disguised name is not.
    fn check_named(&mut self, args: &[Argument]) {
        for arg in args {
            let (name, value) = match arg.text.split_once('=') {
                Some((name, value)) => (name.strip_suffix('+').unwrap_or(name), arg.known().map(|_| value)),
                None => (arg.text.as_str(), None),
            };
            if is_name(name) && !self.assigned.covers(name, value) {
                self.refuse(Reason::Variable { name: name.to_owned() });
            }
        }
    }

    fn judged(
        &mut self,
        name: &str,
        judgement: Judgement,
        state: &mut State,
        stdin: &Stdin,
        exits: bool,
    ) -> Outcome {
        if !judgement.looked_through {
            self.findings.programs.insert(name.to_owned());
        }
        self.add(judgement.verdict);
        self.findings.volatile |= judgement.volatile;
        for file in &judgement.executes {
            self.executes(file, state);
        }
        for inner in judgement.inner {
            self.inner(name, inner, state, stdin);
        }
        if exits {
            return Outcome { success: Directories::none(), failure: Directories::none() };
        }
        let mut outcome = Outcome::same(state);
        outcome.success = match judgement.moves {
            Moves::Stays => outcome.success,
            Moves::Home => Directories::only(state.home().to_path_buf()),
            Moves::To(directory) => match state.paths(&directory) {
                paths if paths.is_empty() => Directories::Unknown,
                paths => Directories::OneOf(paths.into_iter().collect()),
            },
            Moves::Anywhere => Directories::Unknown,
        };
        outcome
    }

    fn inner(&mut self, name: &str, inner: Inner, state: &mut State, stdin: &Stdin) {
        if self.depth >= NESTING_MAX {
            self.refuse(Reason::TooDeep);
            return;
        }
        self.depth += 1;
        self.hidden += 1;
        match inner {
            Inner::Command { argv, elsewhere } => {
                self.keep(SimpleCommand { argv: argv.clone(), ..SimpleCommand::default() });
                let mut inside = state.clone();
                if elsewhere {
                    inside.directories = Directories::Unknown;
                }
                let outcome = self.run(&argv, stdin, &mut inside);
                // `command cd`, `builtin cd`
                if matches!(name, "command" | "builtin") && outcome.success != state.directories {
                    state.directories = Directories::Unknown;
                }
            }
            Inner::Script { text, plain_sh } => self.inner_text(&text, plain_sh, state),
        }
        self.hidden -= 1;
        self.depth -= 1;
    }

    /// A script that a shell of its own reads.
    fn inner_text(&mut self, text: &str, plain_sh: bool, state: &State) {
        let script = match lex::script(text, self.depth) {
            Ok(script) => script,
            Err(reason) => {
                self.findings.programs.insert(UNKNOWN_PROGRAM.to_owned());
                self.refuse(reason);
                return;
            }
        };
        if plain_sh && script.needs_bash {
            self.refuse(Reason::OnlyBash);
        }
        let mut inside = state.clone();
        // What the outer script set may or may not have reached the inner one.
        self.assigned.forget_in(&mut inside);
        let found = Walk::over(&script, inside, self.depth);
        self.findings.programs.extend(found.programs);
        self.findings.volatile |= found.volatile;
        self.add(found.verdict);
        for path in found.executes {
            self.executes_path(path);
        }
        for command in found.commands {
            self.keep(command);
        }
    }

    fn executes(&mut self, file: &Argument, state: &State) {
        for path in state.paths(file) {
            if let Ok(path) = absolute_in(&path, Path::new("/")) {
                self.executes_path(path);
            }
        }
    }

    fn executes_path(&mut self, path: std::path::PathBuf) {
        if !self.findings.executes.contains(&path) {
            self.findings.executes.push(path);
        }
    }
}

/// The last part of a program's path, where it looks like a name.
fn program_name(text: &str) -> Option<&str> {
    let name = text.rsplit('/').next()?;
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+:[@%".contains(c));
    plain.then_some(name)
}

/// Whether a program is named by a path outside the system's directories.
fn is_foreign(text: &str) -> bool {
    match text.rsplit_once('/') {
        Some((directory, _)) => !SYSTEM_DIRECTORIES.contains(&directory),
        None => false,
    }
}

fn is_status(arg: &Argument) -> bool {
    arg.known()
        .is_some_and(|text| !text.is_empty() && text.len() < 4 && text.chars().all(|c| c.is_ascii_digit()))
}
