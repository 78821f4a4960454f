//! Groups words into pipelines.

use super::lex::Lexeme;
use super::word::Word;
use super::{COMMANDS_MAX, PIPED_MAX, Reason};

/// Pipelines in order, each with the operator before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) pipelines: Vec<Pipeline>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pipeline {
    /// Operator before it: `&&`, `||` or `;`; empty for the first.
    pub(crate) joint: &'static str,
    pub(crate) commands: Vec<Command>,
}

/// A program with its arguments and redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<Word>,
    pub(crate) redirections: Vec<&'static str>,
}

pub(crate) fn parse(lexemes: Vec<Lexeme>) -> Result<Script, Reason> {
    let mut pipelines: Vec<Pipeline> = Vec::new();
    let mut commands: Vec<Command> = Vec::new();
    let mut command = Command::default();
    // Operator before the next command. A line end after an operator does not count as one.
    let mut joint = "";
    let mut is_continued = false;
    let mut count = 0;
    for lexeme in lexemes {
        match lexeme {
            Lexeme::Word(word) => command.words.push(word),
            Lexeme::Redirection(redirection) => command.redirections.push(redirection),
            Lexeme::Operator(operator) => {
                let ended = std::mem::take(&mut command);
                if ended.words.is_empty() {
                    let is_blank = ended.redirections.is_empty() && operator == ";" && commands.is_empty();
                    if is_blank || (is_continued && operator == ";" && ended.redirections.is_empty()) {
                        continue;
                    }
                    return Err(Reason::Syntax { what: "an operator without a command before it" });
                }
                count += 1;
                if count > COMMANDS_MAX {
                    return Err(Reason::TooManyCommands);
                }
                commands.push(ended);
                if operator == "|" && commands.len() >= PIPED_MAX {
                    return Err(Reason::TooManyPiped);
                }
                is_continued = operator != ";";
                if operator != "|" {
                    pipelines.push(Pipeline { joint, commands: std::mem::take(&mut commands) });
                    joint = operator;
                }
            }
        }
    }
    if command.words.is_empty() {
        if is_continued || !command.redirections.is_empty() || pipelines.is_empty() {
            return Err(Reason::Syntax { what: "no command" });
        }
        return Ok(Script { pipelines });
    }
    commands.push(command);
    pipelines.push(Pipeline { joint, commands });
    Ok(Script { pipelines })
}
