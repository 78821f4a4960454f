//! Shell commands that are defined once in a playbook and used by name: `[commands.<name>]`.

use std::collections::{BTreeMap, BTreeSet};

use super::node::{Fields, Node};
use super::shell::SHELL;
use crate::playbook::error::{Fault, PlaybookError};
use crate::playbook::goal::is_name;
use crate::playbook::limits::COMMANDS_MAX;
use crate::playbook::template::{TextTemplate, ValueTemplate};

/// A command with its author's statements about it.
#[derive(Clone, Debug)]
pub(super) struct Command {
    /// Input of the tool that runs it.
    input: ValueTemplate,
    pub(super) programs: BTreeSet<String>,
    pub(super) only_reads: bool,
}

/// Commands by name.
pub(super) type Commands = BTreeMap<String, Command>;

pub(super) fn commands(fields: &mut Fields<'_>) -> Result<Commands, Fault> {
    let mut commands = Commands::new();
    let Some(node) = fields.optional("commands") else { return Ok(commands) };
    let entries = node.table()?.rest();
    if entries.len() > COMMANDS_MAX {
        let error = PlaybookError::Limit { key: "commands".into(), max: COMMANDS_MAX, limit: "COMMANDS_MAX" };
        return Err(Fault::new(node.at, error));
    }
    for (name, node) in entries {
        if !is_name(&name) {
            return Err(Fault::value(node.at, &name, "no name for a command"));
        }
        let mut fields = node.table()?;
        let run = fields.required("run")?.command()?;
        let programs = super::programs(&mut fields)?;
        let only_reads = super::only_reads(&mut fields)?;
        fields.finish()?;
        let input = ValueTemplate::Table(vec![("command".to_owned(), ValueTemplate::Text(run))]);
        commands.insert(name, Command { input, programs, only_reads });
    }
    Ok(commands)
}

/// Returns the command that a table names under `command`, if it has that key.
pub(super) fn named<'c>(
    fields: &mut Fields<'_>,
    commands: &'c Commands,
) -> Result<Option<&'c Command>, Fault> {
    let Some(node) = fields.optional("command") else { return Ok(None) };
    let name = node.name()?;
    let unknown = || Fault::new(node.at, PlaybookError::Unknown { kind: "command", name: name.clone() });
    commands.get(&name).ok_or_else(unknown).map(Some)
}

impl Command {
    /// Returns the command as the input of a call.
    pub(super) fn input(&self) -> ValueTemplate {
        self.input.clone()
    }

    /// Returns the command as the source of a check.
    pub(super) fn probe(&self) -> ValueTemplate {
        let call = vec![
            ("tool".to_owned(), ValueTemplate::Text(TextTemplate::fixed(SHELL))),
            ("input".to_owned(), self.input()),
        ];
        ValueTemplate::Table(vec![("probe".to_owned(), ValueTemplate::Table(call))])
    }
}

/// Returns whether a table has this key and no other.
pub(super) fn names_one(node: &Node<'_>) -> bool {
    node.is_table() && node.table().is_ok_and(|mut fields| fields.optional("command").is_some())
}
