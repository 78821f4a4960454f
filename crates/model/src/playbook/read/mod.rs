//! Parses a file's text to a [`Book`], or returns its first error with the position.

mod approach;
mod command;
mod criterion;
mod node;
mod param;
mod shell;
mod verify;

use std::collections::{BTreeMap, BTreeSet};

use toml::de::DeTable;

use super::book::{Book, Origin, Placed};
use super::error::{BrokenPlaybook, Fault, PlaybookError};
use super::goal::{Pattern, is_name};
use super::limits::{APPROACHES_MAX, EXAMPLES_MAX, PATTERNS_MAX, PROGRAMS_MAX, PROSE_CHARS_MAX};
use super::template::TextTemplate;
use node::{Fields, Node};

pub(crate) use shell::command_of;
pub(crate) use verify::verify;

/// Parses a playbook. `file` is its name in errors.
pub(crate) fn book(file: &str, text: &str, origin: Origin) -> Result<Book, BrokenPlaybook> {
    read(text, origin).map_err(|fault| fault.in_file(file, text))
}

fn read(text: &str, origin: Origin) -> Result<Book, Fault> {
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault::new(at, PlaybookError::Toml(setpoint_protocol::text::clip(error.message(), 200)))
    })?;
    let mut fields = Fields::of_root(root.get_ref());
    let name = fields.required("name")?.name()?;
    let title = fields.required("title")?.prose(PROSE_CHARS_MAX)?;
    let reads = fields.optional("reads").map(|node| node.template()).transpose()?;
    let description = fields.required("description")?.prose(PROSE_CHARS_MAX)?;
    let params = param::params(&mut fields)?;
    let patterns = patterns(&mut fields, &params)?;
    let examples = examples(&mut fields)?;
    let commands = command::commands(&mut fields)?;
    let criteria = criterion::criteria(&mut fields, &commands)?;
    let task_criteria = criterion::names(&mut fields, "task_criteria", &criteria)?;
    let next_moves = match fields.optional("next_moves") {
        Some(node) => node.list(16)?.iter().map(Node::template).collect::<Result<Vec<TextTemplate>, _>>()?,
        None => Vec::new(),
    };
    let approaches = fields
        .required("approach")?
        .list(APPROACHES_MAX)?
        .iter()
        .map(|node| approach::approach(node, &criteria, &commands))
        .collect::<Result<Vec<_>, _>>()?;
    fields.finish()?;
    let source = text.to_owned();
    let book = Book {
        name,
        title,
        description,
        reads,
        origin,
        source,
        examples,
        patterns,
        params,
        criteria,
        task_criteria,
        approaches,
        next_moves,
    };
    verify::structure(&book)?;
    Ok(book)
}

/// Reads the programs that a shell command declares.
fn programs(fields: &mut Fields<'_>) -> Result<BTreeSet<String>, Fault> {
    match fields.optional("programs") {
        Some(node) => node.list(PROGRAMS_MAX)?.iter().map(Node::text).collect(),
        None => Ok(BTreeSet::new()),
    }
}

/// Reads whether the author states that a shell command only reads. This counts only in built-in playbooks.
fn only_reads(fields: &mut Fields<'_>) -> Result<bool, Fault> {
    let Some(node) = fields.optional("only_reads") else { return Ok(false) };
    node.plain()?.as_bool().ok_or_else(|| Fault::value(node.at, "only_reads", "neither true nor false"))
}

fn examples(fields: &mut Fields<'_>) -> Result<Vec<Placed<String>>, Fault> {
    let node = fields.required("examples")?;
    let examples = node
        .list(EXAMPLES_MAX)?
        .into_iter()
        .map(|example| Ok(Placed { at: example.at, value: example.prose(PROSE_CHARS_MAX)? }))
        .collect::<Result<Vec<_>, Fault>>()?;
    if examples.len() < 2 {
        Err(Fault::value(node.at, "examples", "fewer than two goals"))
    } else {
        Ok(examples)
    }
}

/// Reads patterns: texts, or tables `{ match = "…", set = { … } }` that set some parameters.
fn patterns(
    fields: &mut Fields<'_>,
    params: &BTreeMap<String, super::goal::Param>,
) -> Result<Vec<Pattern>, Fault> {
    let mut words = BTreeMap::new();
    if let Some(node) = fields.optional("words") {
        for (key, value) in node.table()?.rest() {
            if !is_name(&key) {
                return Err(Fault::value(value.at, &key, "no name: small letters, digits, `_` and `-`"));
            }
            words.insert(key, value.prose(PROSE_CHARS_MAX)?);
        }
    }
    let node = fields.required("patterns")?;
    let patterns = node
        .list(PATTERNS_MAX)?
        .into_iter()
        .map(|node| pattern(&node, &words, params))
        .collect::<Result<Vec<_>, _>>()?;
    if patterns.is_empty() { Err(Fault::value(node.at, "patterns", "no pattern")) } else { Ok(patterns) }
}

fn pattern(
    node: &Node<'_>,
    words: &BTreeMap<String, String>,
    params: &BTreeMap<String, super::goal::Param>,
) -> Result<Pattern, Fault> {
    let (at, text, set) = if node.is_table() {
        let mut fields = node.table()?;
        let text = fields.required("match")?;
        let mut set = BTreeMap::new();
        for (name, value) in fields.required("set")?.table()?.rest() {
            let given = param::value(&value, params.get(&name), &name)?;
            set.insert(name, given);
        }
        fields.finish()?;
        (text.at, text.text()?, set)
    } else {
        (node.at, node.text()?, BTreeMap::new())
    };
    let mut pattern =
        Pattern::read(&text, words).map_err(|error| Fault::new(at, PlaybookError::Pattern(error)))?;
    for slot in pattern.slots() {
        let unknown = || PlaybookError::Unknown { kind: "parameter", name: slot.param.clone() };
        let param = params.get(&slot.param).ok_or_else(|| Fault::new(at, unknown()))?;
        if let Some(kind) = &slot.kind
            && *kind != param.kind.name()
        {
            let reason = format!("the parameter {} is a {}, not a {kind}", param.name, param.kind.name());
            return Err(Fault::value(at, "patterns", reason));
        }
    }
    pattern.set = set;
    let left_open =
        params.values().find(|param| param.default.is_none() && !pattern.always_binds(&param.name));
    match left_open {
        Some(param) => {
            let reason = format!("a goal could leave {} open, and it has no default", param.name);
            Err(Fault::value(at, "patterns", reason))
        }
        None => Ok(pattern),
    }
}

#[cfg(test)]
mod tests;
