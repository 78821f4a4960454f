//! Why a command asks.

use super::{COMMAND_BYTES_MAX, COMMANDS_MAX, PIPED_MAX, WORDS_MAX};

/// Why a command asks, for the person who is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The text is longer than [`COMMAND_BYTES_MAX`].
    #[error("the command has {bytes} bytes; more than {COMMAND_BYTES_MAX} are not read")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// More than [`COMMANDS_MAX`] commands.
    #[error("there are more than {COMMANDS_MAX} commands in it")]
    TooManyCommands,
    /// More than [`PIPED_MAX`] commands in a pipeline.
    #[error("it runs more than {PIPED_MAX} commands at once in a pipeline")]
    TooManyPiped,
    /// More than [`WORDS_MAX`] words.
    #[error("there are more than {WORDS_MAX} words in it")]
    TooManyWords,
    /// A character that a person cannot see, or that makes the text look different from what runs.
    #[error("it contains the character U+{code:04X}, which hides what runs")]
    DeceptiveCharacter {
        /// Its code point.
        code: u32,
    },
    /// Something whose value is only known when the command runs, or that leads somewhere else.
    #[error("it contains {what}, so what it does is only known when it runs")]
    NotLiteral {
        /// Which construct.
        what: &'static str,
    },
    /// A redirection to or from a file.
    #[error("it redirects to or from a file")]
    Redirection,
    /// The syntax does not fit.
    #[error("its syntax is not understood: {what}")]
    Syntax {
        /// What stood in the way.
        what: &'static str,
    },
    /// The program is not on the list.
    #[error("{program} is not on the list of programs that only read")]
    UnlistedProgram {
        /// Its name as written.
        program: String,
    },
    /// An option or operand that the program's entry does not vouch for.
    #[error("{program} with {argument} is not known to only read")]
    UnlistedArgument {
        /// The program's name.
        program: String,
        /// The argument.
        argument: String,
    },
    /// A program that keeps what it gets from another one in a file of its own.
    #[error("{program} writes down what it gets from another program")]
    Input {
        /// The program's name.
        program: String,
    },
    /// A wildcard where its matches could be taken for something other than files to read.
    #[error("what {program} gets for {argument} is only known when it runs")]
    Wildcard {
        /// The program's name.
        program: String,
        /// The argument as written.
        argument: String,
    },
}

impl Reason {
    pub(crate) fn argument(program: &str, argument: impl Into<String>) -> Self {
        Self::UnlistedArgument { program: program.to_owned(), argument: argument.into() }
    }
}
