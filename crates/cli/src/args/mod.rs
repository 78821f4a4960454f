//! Parsing of arguments into a [`CommandLine`], or into a [`Refusal`] that says what is wrong with them.

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

/// Parses the arguments, of which the first is the program's name. They need not be UTF-8.
///
/// # Errors
/// A [`Refusal`] if they name no valid command, or only ask for help or the version.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<CommandLine, Refusal> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let matches =
        grammar().try_get_matches_from(&arguments).map_err(|error| Refusal::of(&error, &arguments))?;
    let grammar = Grammar::from_arg_matches(&matches).map_err(|error| Refusal::of(&error, &arguments))?;
    let Grammar { mut options, command } = grammar;
    let Some(mut command) = command else { return Err(Refusal::bare(options.is_json)) };
    if given(&arguments, "--set") > options.set.len() {
        return Err(Refusal::on_both_sides("--set", options.is_json));
    }
    command.settle(&mut options);
    Ok(CommandLine { options, command })
}

/// Counts how often an option is given. Clap ignores those before the command if there are also some after
/// it.
fn given(arguments: &[OsString], option: &str) -> usize {
    let is_option = |argument: &&OsString| {
        let text = argument.to_string_lossy();
        text == option || text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    };
    arguments.iter().take_while(|argument| *argument != "--").filter(is_option).count()
}

/// Returns the grammar of the whole command line, for completions and manual pages.
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
