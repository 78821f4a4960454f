//! What the text of a command proves about its effect, and how the effects of several commands add up.

use std::path::PathBuf;

/// The effect of a command, as far as its text alone proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a command may only run unasked when this says so"]
pub enum Verdict {
    /// Every program in it is known, and known to change nothing with these arguments.
    ReadOnly,
    /// It writes, and everything it touches can be named.
    Writes {
        /// What it creates or changes, in order of appearance, without repetition.
        paths: Vec<Target>,
        /// What it removes, in order of appearance, without repetition.
        deletes: Vec<Target>,
    },
    /// Nothing is proved. Whoever decides has to treat it as able to do anything.
    Opaque {
        /// The first thing that could not be proved harmless or named.
        reason: Reason,
    },
}

impl Verdict {
    /// Whether the command provably changes nothing.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::ReadOnly)
    }

    pub(super) fn opaque(reason: Reason) -> Self {
        Self::Opaque { reason }
    }

    pub(super) fn writing(paths: Vec<Target>) -> Self {
        Self::Writes { paths, deletes: Vec::new() }
    }

    /// Both effects together: the first opaque one wins, else what is written adds up.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Opaque { reason }, _) | (_, Self::Opaque { reason }) => Self::Opaque { reason },
            (Self::ReadOnly, other) => other,
            (this, Self::ReadOnly) => this,
            (
                Self::Writes { mut paths, mut deletes },
                Self::Writes { paths: more_paths, deletes: more_deletes },
            ) => {
                add_new(&mut paths, more_paths);
                add_new(&mut deletes, more_deletes);
                Self::Writes { paths, deletes }
            }
        }
    }
}

fn add_new(into: &mut Vec<Target>, more: Vec<Target>) {
    for target in more {
        if !into.contains(&target) {
            into.push(target);
        }
    }
}

/// Something that a command writes or removes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Absolute and folded.
    pub path: PathBuf,
    /// The path holds `*`, `?` or `[`: it stands for whatever it matches at the time.
    pub pattern: bool,
    /// What lies below the path is touched too.
    pub recursive: bool,
}

/// Why nothing is proved about a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The text is longer than [`super::COMMAND_BYTES_MAX`].
    #[error("the command has {bytes} bytes, more than {} are not read", super::COMMAND_BYTES_MAX)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// More than [`super::COMMANDS_MAX`] commands in one text.
    #[error("there are more than {} commands in it", super::COMMANDS_MAX)]
    TooManyCommands,
    /// More words and operators than [`super::WORDS_MAX`].
    #[error("there are more than {} words in it", super::WORDS_MAX)]
    TooManyWords,
    /// Deeper nesting than [`super::NESTING_MAX`].
    #[error("it is nested more than {} levels deep", super::NESTING_MAX)]
    TooDeep,
    /// A character that a person cannot see, or that makes the text look different from what runs.
    #[error("it holds the character U+{code:04X}, which hides what runs")]
    DeceptiveCharacter {
        /// Its code point.
        code: u32,
    },
    /// The shell's grammar does not fit, or fits only in a way that shells disagree on.
    #[error("its syntax is not understood: {what}")]
    Syntax {
        /// What stood in the way.
        what: &'static str,
    },
    /// `sh -c` with a text that only bash reads as meant.
    #[error("it gives sh a text that only bash reads this way")]
    OnlyBash,
    /// The word that names the program is only known when the command runs.
    #[error("which program runs is only known when it runs")]
    UnknownProgram,
    /// The program has no entry in the tables.
    #[error("what {program} does is not known")]
    UnlistedProgram {
        /// Its name, without directories.
        program: String,
    },
    /// The program is given by a path outside the system's directories.
    #[error("{program} is a file of unknown content")]
    ForeignProgram {
        /// The path as written.
        program: String,
    },
    /// A flag or operand that the program's entry does not vouch for.
    #[error("{program} with {argument} is not known to be harmless")]
    UnlistedArgument {
        /// The program's name.
        program: String,
        /// The argument.
        argument: String,
    },
    /// An argument only known at run time stands where it could be a flag.
    #[error("an argument of {program} is only known when it runs")]
    UnknownArgument {
        /// The program's name.
        program: String,
    },
    /// A path that is written or removed is only known at run time.
    #[error("which path {program} changes is only known when it runs")]
    UnknownPath {
        /// The program's name.
        program: String,
    },
    /// The program runs text or code that is not read here.
    #[error("{program} runs code that is not read here")]
    RunsCode {
        /// The program's name.
        program: String,
    },
    /// A variable that changes what later programs do.
    #[error("it sets {name}, which changes what programs do")]
    Variable {
        /// The variable's name.
        name: String,
    },
    /// Arithmetic on a value that is only known at run time, which the shell evaluates as an expression.
    #[error("it computes with a value that could hold a command")]
    Arithmetic,
    /// It defines a function, which can take the place of a program.
    #[error("it defines a function")]
    Function,
    /// A redirection to or from something that is no file.
    #[error("it opens a network connection")]
    Network,
    /// It shows the environment or the memory of processes.
    #[error("it shows the inside of other processes, where keys are")]
    Insides,
    /// `PATH` has an entry that the command's own directory controls, or the shell reads a file at its start.
    #[error("{name} lets files of the working directory take the place of programs")]
    SearchPath {
        /// The variable.
        name: &'static str,
    },
}

impl Reason {
    pub(super) fn syntax(what: &'static str) -> Self {
        Self::Syntax { what }
    }

    pub(super) fn unlisted_argument(program: &str, argument: &str) -> Self {
        Self::UnlistedArgument { program: program.to_owned(), argument: argument.to_owned() }
    }

    pub(super) fn unknown_argument(program: &str) -> Self {
        Self::UnknownArgument { program: program.to_owned() }
    }

    pub(super) fn unknown_path(program: &str) -> Self {
        Self::UnknownPath { program: program.to_owned() }
    }

    pub(super) fn runs_code(program: &str) -> Self {
        Self::RunsCode { program: program.to_owned() }
    }
}
