//! From arguments to a [`CommandLine`], or to a [`Refusal`] that says what is wrong with them.

mod complete;
mod refusal;
pub(crate) mod values;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

pub(crate) use self::complete::script;
pub use self::complete::{NamedTask, complete};
pub use self::refusal::Refusal;
use crate::command::{Command, Grammar};
use crate::options::Options;

/// A whole command line.
#[derive(Debug)]
pub struct CommandLine {
    /// The options that hold for every command.
    pub options: Options,
    /// The command with its arguments.
    pub command: Command,
}

/// Reads the arguments, the program's name first. They need not be UTF-8.
///
/// # Errors
/// A [`Refusal`] when they ask for nothing that the program does, or only for its help or version.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, Refusal> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let matches =
        grammar().try_get_matches_from(&arguments).map_err(|error| Refusal::of(&error, &arguments))?;
    let grammar = Grammar::from_arg_matches(&matches).map_err(|error| Refusal::of(&error, &arguments))?;
    let Grammar { mut options, command } = grammar;
    let Some(mut command) = command else { return Err(Refusal::bare(options.is_json)) };
    if given(&arguments, "--set") > options.set.len() {
        return Err(Refusal::apart("--set", options.is_json));
    }
    command.settle(&mut options);
    Ok(CommandLine { options, command })
}

/// How often an option is given. Those before the command are not seen when some stand after it, too.
fn given(arguments: &[OsString], option: &str) -> usize {
    let is_option = |argument: &&OsString| {
        let text = argument.to_string_lossy();
        text == option || text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    };
    arguments.iter().take_while(|argument| *argument != "--").filter(is_option).count()
}

/// Returns the whole command line as clap knows it, for completions and manual pages.
pub fn grammar() -> clap::Command {
    Grammar::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_consistent() {
        grammar().debug_assert();
    }
}
