//! What is printed when the arguments lead to no command.

use std::ffi::{OsStr, OsString};

use clap::error::ErrorKind as ClapKind;
use setpoint_app::{Error, ErrorKind};

use super::grammar;
use crate::exit::Exit;
use crate::io::Io;
use crate::report;

/// Options whose value is a path, which need not be UTF-8.
const PATH_OPTIONS: [&str; 8] =
    ["--data-dir", "--file", "--approve", "--output", "-o", "--record", "--replay", "--skills"];

/// Why the arguments lead to no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They ask for help or the version: its text.
    Said(String),
    /// There is no command: the help, and an error that one is needed.
    Bare {
        /// The help.
        help: String,
        /// Whether machine output was asked for.
        is_json: bool,
    },
    /// The arguments are wrong.
    Wrong {
        /// What is wrong with them.
        error: Error,
        /// Whether machine output was asked for.
        is_json: bool,
    },
}

impl Refusal {
    /// Prints it and returns the exit code.
    pub fn report(&self, io: &mut Io) -> Exit {
        match self {
            Refusal::Said(text) => match io.out.write_text(text) {
                Ok(()) => Exit::DONE,
                Err(error) => report::error(io, &error, false),
            },
            Refusal::Bare { help, is_json } => {
                let error = Error::new(
                    ErrorKind::Usage,
                    "no command was given, and there is no interactive session yet",
                )
                .hint("start with `setpoint run GOAL`");
                if !is_json {
                    // If stderr cannot be written to, nothing else can report it.
                    drop(io.err.write_text(help));
                }
                report::error(io, &error, *is_json)
            }
            Refusal::Wrong { error, is_json } => report::error(io, error, *is_json),
        }
    }

    pub(super) fn bare(is_json: bool) -> Refusal {
        Refusal::Bare { help: format!("{}\n", grammar().render_help()), is_json }
    }

    pub(super) fn of(error: &clap::Error, arguments: &[OsString]) -> Refusal {
        let is_json = asks_for_json(arguments);
        match error.kind() {
            ClapKind::DisplayHelp | ClapKind::DisplayVersion => Refusal::Said(error.to_string()),
            ClapKind::InvalidUtf8 => Refusal::Wrong { error: not_utf8(arguments), is_json },
            _ => Refusal::Wrong { error: wrong(error, arguments), is_json },
        }
    }
}

impl Refusal {
    /// Refuses an option on both sides of the command, because one side would be ignored.
    pub(super) fn on_both_sides(option: &str, is_json: bool) -> Refusal {
        let message = format!("{option} is given both before and after the command");
        let error = Error::new(ErrorKind::Usage, message)
            .hint(format!("put every {option} on the same side of the command"));
        Refusal::Wrong { error, is_json }
    }
}

/// Returns whether `--json` comes before a `--`. The arguments could not be parsed, so only their words are
/// searched.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

/// Names the first argument that is not UTF-8, unless it is a path.
fn not_utf8(arguments: &[OsString]) -> Error {
    let before = std::iter::once(OsStr::new("")).chain(arguments.iter().map(OsString::as_os_str));
    let is_path = |option: &OsStr, argument: &OsStr| {
        PATH_OPTIONS.iter().any(|name| {
            option == *name || argument.as_encoded_bytes().starts_with(format!("{name}=").as_bytes())
        })
    };
    let culprit = before
        .zip(arguments)
        .find(|(option, argument)| argument.to_str().is_none() && !is_path(option, argument))
        .map_or_else(String::new, |(_, argument)| format!(" {:?}", argument.to_string_lossy()));
    let hint = match name_of(arguments).as_str() {
        "setpoint run" => "write the goal to a file in UTF-8 and use `--file FILE`",
        "setpoint memory remember" => "write the fact to a file in UTF-8 and give that on stdin with `-`",
        _ => "write it in UTF-8: ids and names are always UTF-8",
    };
    Error::new(ErrorKind::Usage, format!("the argument{culprit} is not UTF-8")).hint(hint)
}

/// Returns the message and the tips of a usage error, without clap's layout.
fn wrong(error: &clap::Error, arguments: &[OsString]) -> Error {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    let mut said = Error::new(ErrorKind::Usage, message.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    for tip in text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")) {
        said = said.hint(tip);
    }
    if error.kind() == ClapKind::DisplayHelpOnMissingArgumentOrSubcommand {
        said = Error::new(ErrorKind::Usage, "a sub-command is missing");
    }
    said.hint(format!("see `{} --help`", name_of(arguments)))
}

/// Returns the name of the command in the arguments, as far as it is recognised.
fn name_of(arguments: &[OsString]) -> String {
    let mut name = "setpoint".to_owned();
    let mut command = grammar();
    for argument in arguments.iter().skip(1).take_while(|argument| *argument != "--") {
        if let Some(found) = command.find_subcommand(argument).cloned() {
            name = format!("{name} {}", found.get_name());
            command = found;
        }
    }
    name
}
