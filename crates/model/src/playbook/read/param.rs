//! The parameters of a playbook: `[params.<name>]`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::node::{Fields, Node};
use crate::playbook::error::{Fault, PlaybookError};
use crate::playbook::goal::{Choice, Param, ParamDefault, ParamKind, PathRequirement, fold, is_name};
use crate::playbook::limits::{CHOICES_MAX, PARAMS_MAX, PROSE_CHARS_MAX};
use crate::playbook::template::{PLACES, Source, TextTemplate};

/// Largest number of a parameter, unless the playbook sets another limit.
const NUMBER_MAX: u64 = 1_000_000;

pub(super) fn params(fields: &mut Fields<'_>) -> Result<BTreeMap<String, Param>, Fault> {
    let mut params = BTreeMap::new();
    let Some(node) = fields.optional("params") else { return Ok(params) };
    let entries = node.table()?.rest();
    if entries.len() > PARAMS_MAX {
        let error = PlaybookError::Limit { key: "params".into(), max: PARAMS_MAX, limit: "PARAMS_MAX" };
        return Err(Fault::new(node.at, error));
    }
    let mut places = BTreeMap::new();
    for (name, node) in entries {
        if !is_name(&name) || PLACES.contains(&name.as_str()) {
            return Err(Fault::value(node.at, &name, "no name for a parameter"));
        }
        places.insert(name.clone(), node.at);
        params.insert(name.clone(), param(name, &node)?);
    }
    made_from_fixed_ones(&params, &places)?;
    Ok(params)
}

fn param(name: String, node: &Node<'_>) -> Result<Param, Fault> {
    let mut fields = node.table()?;
    let kind = kind(&mut fields)?;
    let description = fields.required("description")?.prose(PROSE_CHARS_MAX)?;
    let default = fields.optional("default");
    fields.finish()?;
    let default = default.map(|node| self::default(&node, &kind, &name)).transpose()?;
    Ok(Param { name, kind, description, default })
}

fn kind(fields: &mut Fields<'_>) -> Result<ParamKind, Fault> {
    let node = fields.required("type")?;
    Ok(match node.text()?.as_str() {
        "path" => ParamKind::Path(PathRequirement::Anything),
        "file" => ParamKind::Path(PathRequirement::File),
        "directory" => ParamKind::Path(PathRequirement::Directory),
        "file_or_directory" => ParamKind::Path(PathRequirement::FileOrDirectory),
        "text" => ParamKind::Text,
        "text_or_nothing" => ParamKind::TextOrNothing,
        "pattern" => ParamKind::Pattern,
        "glob" => ParamKind::Glob,
        "size" => ParamKind::Size,
        "number" => {
            let bound = |node: Option<Node<'_>>, otherwise| match node {
                Some(node) => u64::try_from(node.integer()?)
                    .map_err(|_| Fault::value(node.at, "min/max", "it is less than zero")),
                None => Ok(otherwise),
            };
            let min = bound(fields.optional("min"), 0)?;
            let max = bound(fields.optional("max"), NUMBER_MAX)?;
            if min > max {
                return Err(Fault::value(node.at, "min", "it is more than max"));
            }
            ParamKind::Number { min, max }
        }
        "choice" => {
            let node = fields.required("values")?;
            let mut choices = Vec::new();
            for (value, words) in node.table()?.rest() {
                let mut known = vec![fold(&value)];
                for word in words.list(CHOICES_MAX)? {
                    known.push(fold(&word.prose(PROSE_CHARS_MAX)?));
                }
                choices.push(Choice { value, words: known });
            }
            if choices.is_empty() || choices.len() > CHOICES_MAX {
                return Err(Fault::value(
                    node.at,
                    "values",
                    format!("not between 1 and {CHOICES_MAX} values"),
                ));
            }
            ParamKind::Choice(choices)
        }
        other => {
            let reason = format!(
                "{:?} is not one of path, file, directory, file_or_directory, number, size, text, text_or_nothing, glob, \
                 pattern, choice",
                setpoint_protocol::text::clip(other, 40)
            );
            return Err(Fault::value(node.at, "type", reason));
        }
    })
}

fn default(node: &Node<'_>, kind: &ParamKind, name: &str) -> Result<ParamDefault, Fault> {
    let plain = node.plain()?;
    if let Value::String(text) = &plain
        && text.contains('{')
    {
        return node.template().map(ParamDefault::Made);
    }
    match kind.refusal(&plain).or_else(|| wrong_type(kind, &plain)) {
        Some(reason) => Err(Fault::value(node.at, name, reason)),
        None => Ok(ParamDefault::Fixed(plain)),
    }
}

/// Returns a value that a pattern or a variant sets for a parameter.
pub(super) fn value(node: &Node<'_>, param: Option<&Param>, name: &str) -> Result<Value, Fault> {
    let Some(param) = param else {
        let error = PlaybookError::Unknown { kind: "parameter", name: name.to_owned() };
        return Err(Fault::new(node.at, error));
    };
    let value = node.plain()?;
    match param.kind.refusal(&value).or_else(|| wrong_type(&param.kind, &value)) {
        Some(reason) => Err(Fault::value(node.at, name, reason)),
        None => Ok(value),
    }
}

fn wrong_type(kind: &ParamKind, value: &Value) -> Option<String> {
    let fits = match kind {
        ParamKind::Number { .. } | ParamKind::Size => value.is_u64(),
        ParamKind::Path(_)
        | ParamKind::Text
        | ParamKind::TextOrNothing
        | ParamKind::Pattern
        | ParamKind::Glob
        | ParamKind::Choice(_) => value.is_string(),
    };
    (!fits).then(|| format!("it is not a {}", kind.name()))
}

/// Checks that a default depends only on places and on parameters without templates: then the order does not matter.
fn made_from_fixed_ones(params: &BTreeMap<String, Param>, at: &BTreeMap<String, usize>) -> Result<(), Fault> {
    let made: BTreeSet<&str> = params
        .values()
        .filter(|param| matches!(param.default, Some(ParamDefault::Made(_))))
        .map(|param| param.name.as_str())
        .collect();
    for param in params.values() {
        let Some(ParamDefault::Made(template)) = &param.default else { continue };
        let at = at.get(&param.name).copied().unwrap_or_default();
        for name in names_in(template, at)? {
            let known = PLACES.contains(&name) || params.contains_key(name);
            if !known {
                return Err(Fault::new(
                    at,
                    PlaybookError::Unknown { kind: "parameter", name: name.to_owned() },
                ));
            }
            if made.contains(name) {
                return Err(Fault::value(
                    at,
                    &param.name,
                    format!("its default uses {name}, whose default uses a parameter too"),
                ));
            }
        }
    }
    Ok(())
}

fn names_in(template: &TextTemplate, at: usize) -> Result<Vec<&str>, Fault> {
    template
        .slots()
        .map(|slot| match &slot.source {
            Source::Named(name) => Ok(name.as_str()),
            Source::Result { .. } | Source::Printed { .. } => {
                Err(Fault::value(at, "default", "there are no results of calls yet"))
            }
        })
        .collect()
}
