//! Reasons to ask a person before a command runs.

use super::{COMMAND_BYTES_MAX, COMMANDS_MAX, PIPED_MAX, WORDS_MAX};

/// Why a command asks; the text is shown to the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The text is longer than [`COMMAND_BYTES_MAX`] bytes.
    #[error("the command has {bytes} bytes; more than {COMMAND_BYTES_MAX} are not read")]
    TooLong {
        /// Length of the text, in bytes.
        bytes: usize,
    },
    /// The text has more than [`COMMANDS_MAX`] commands.
    #[error("there are more than {COMMANDS_MAX} commands in it")]
    TooManyCommands,
    /// A pipeline has more than [`PIPED_MAX`] commands.
    #[error("it runs more than {PIPED_MAX} commands at once in a pipeline")]
    TooManyPiped,
    /// The text has more than [`WORDS_MAX`] words.
    #[error("there are more than {WORDS_MAX} words in it")]
    TooManyWords,
    /// A character is invisible, or makes the text look different from what runs.
    #[error("it contains the character U+{code:04X}, which hides what runs")]
    DeceptiveCharacter {
        /// Code point of the character.
        code: u32,
    },
    /// A construct has a value that is only known when the command runs.
    #[error("it contains {what}, so what it does is only known when it runs")]
    NotLiteral {
        /// Name of the construct.
        what: &'static str,
    },
    /// The command redirects to or from a file.
    #[error("it redirects to or from a file")]
    Redirection,
    /// The syntax is not understood.
    #[error("its syntax is not understood: {what}")]
    Syntax {
        /// The part that is not understood.
        what: &'static str,
    },
    /// The program is not on the list.
    #[error("{program} is not on the list of programs that only read")]
    UnlistedProgram {
        /// Name of the program, as written.
        program: String,
    },
    /// The program's entry does not list the option or operand.
    #[error("{program} with {argument} is not known to only read")]
    UnlistedArgument {
        program: String,
        /// The argument.
        argument: String,
    },
    /// The program would store its piped input in a file of its own.
    #[error("{program} writes down what it gets from another program")]
    Input { program: String },
    /// A wildcard's matches could be taken for something other than files to read.
    #[error("what {program} gets for {argument} is only known when it runs")]
    Wildcard {
        program: String,
        /// The argument, as written.
        argument: String,
    },
}

impl Reason {
    pub(crate) fn argument(program: &str, argument: impl Into<String>) -> Self {
        Self::UnlistedArgument { program: program.to_owned(), argument: argument.into() }
    }
}
