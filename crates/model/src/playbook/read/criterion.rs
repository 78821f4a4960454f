//! The criteria of a playbook: `[criteria.<name>]`, each with the check that judges it.

use std::collections::BTreeMap;

use super::command::{self, Command, Commands};
use super::node::Fields;
use crate::playbook::book::CriterionForm;
use crate::playbook::error::{Fault, PlaybookError};
use crate::playbook::goal::is_name;
use crate::playbook::limits::CRITERIA_MAX;
use crate::playbook::template::ValueTemplate;

pub(super) fn criteria(
    fields: &mut Fields<'_>,
    commands: &Commands,
) -> Result<BTreeMap<String, CriterionForm>, Fault> {
    let node = fields.required("criteria")?;
    let entries = node.table()?.rest();
    if entries.len() > CRITERIA_MAX {
        let error = PlaybookError::Limit { key: "criteria".into(), max: CRITERIA_MAX, limit: "CRITERIA_MAX" };
        return Err(Fault::new(node.at, error));
    }
    let mut criteria = BTreeMap::new();
    for (name, node) in entries {
        if !is_name(&name) {
            return Err(Fault::value(node.at, &name, "no name for a criterion"));
        }
        let mut fields = node.table()?;
        let text = fields.required("text")?.template()?;
        let on = fields.required("on")?;
        let expect = fields.required("expect")?.value_template()?;
        let mut programs = super::programs(&mut fields)?;
        let mut only_reads = super::only_reads(&mut fields)?;
        fields.finish()?;
        let on = if command::names_one(&on) {
            let mut of = on.table()?;
            let named = command::named(&mut of, commands)?;
            of.finish()?;
            programs.extend(named.into_iter().flat_map(|command| command.programs.iter().cloned()));
            only_reads |= named.is_some_and(|command| command.only_reads);
            named.map_or(ValueTemplate::Plain(serde_json::Value::Null), Command::probe)
        } else {
            on.value_template()?
        };
        let check = ValueTemplate::Table(vec![("on".to_owned(), on), ("expect".to_owned(), expect)]);
        criteria.insert(name, CriterionForm { at: node.at, text, check, programs, only_reads });
    }
    Ok(criteria)
}

/// Reads a list of criteria by name, at least one.
pub(super) fn names(
    fields: &mut Fields<'_>,
    key: &str,
    criteria: &BTreeMap<String, CriterionForm>,
) -> Result<Vec<String>, Fault> {
    let node = fields.required(key)?;
    let names = node.names(CRITERIA_MAX)?;
    if names.is_empty() {
        return Err(Fault::value(node.at, key, "no criterion"));
    }
    names
        .into_iter()
        .map(|(at, name)| match criteria.contains_key(&name) {
            true => Ok(name),
            false => Err(Fault::new(at, PlaybookError::Unknown { kind: "criterion", name })),
        })
        .collect()
}
