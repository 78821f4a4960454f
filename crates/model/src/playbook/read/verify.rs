//! Checks that a playbook is consistent: every name exists, nothing is inserted unquoted into a shell, every check can
//! be evaluated and can fail.

use std::collections::BTreeSet;

use setpoint_protocol::record::Surroundings;

use super::shell;
use crate::playbook::book::{ApproachForm, Book, StepForm};
use crate::playbook::error::{Fault, Offset, PlaybookError, chain};
use crate::playbook::goal::{Goal, find};
use crate::playbook::plan::render;
use crate::playbook::template::{PLACES, TemplateError, TextTemplate, ValueTemplate};
use crate::playbook::values;

/// Checks what can be checked without filling in values.
pub(super) fn structure(book: &Book) -> Result<(), Fault> {
    for param in book.params.keys() {
        if PLACES.contains(&param.as_str()) {
            return Err(Fault::value(0, param, "a place has this name already"));
        }
    }
    for criterion in book.criteria.values() {
        check_placeholders(book, criterion.at, &criterion.text, None, 0)?;
        values_names(book, criterion.at, &criterion.check, 0)?;
        if let Some((tool, input)) = criterion.probe() {
            programs(book, criterion.at, tool, input, &criterion.programs)?;
        }
    }
    for template in &book.next_moves {
        check_placeholders(book, 0, template, None, 0)?;
    }
    let mut seen = BTreeSet::new();
    for approach in &book.approaches {
        let variants = approach.variants.iter().map(|variant| (variant.at, &variant.name));
        for (at, name) in std::iter::once((approach.at, &approach.name)).chain(variants) {
            if !seen.insert(name.as_str()) {
                return Err(Fault::value(at, "name", format!("{name} is given twice")));
            }
        }
    }
    for approach in &book.approaches {
        self::approach(book, approach)?;
    }
    match book.examples.iter().find(|example| matched(book, &example.value).is_none()) {
        Some(example) => Err(Fault::new(example.at, PlaybookError::Example(example.value.clone()))),
        None => Ok(()),
    }
}

/// Checks the filled-in plans of every approach for the first examples.
pub(crate) fn verify(book: &Book) -> Result<(), Fault> {
    let surroundings = Surroundings {
        cwd: "/somewhere".to_owned(),
        home: "/home/user".to_owned(),
        workspace: "/somewhere/workspace".to_owned(),
        ..Surroundings::default()
    };
    for example in &book.examples {
        let Some(given) = matched(book, &example.value) else { continue };
        let fault = |reason: String| Fault::value(example.at, "examples", reason);
        let values = values::complete(book, &given, &surroundings).map_err(|error| fault(chain(&error)))?;
        for approach in &book.approaches {
            let variants = approach.variants.iter().map(Some);
            for variant in std::iter::once(None).chain(variants) {
                let varied = match variant {
                    Some(variant) => values::varied(book, &values, variant, &surroundings)
                        .map_err(|error| Fault::value(variant.at, "set", chain(&error)))?,
                    None => values.clone(),
                };
                render::checked_criteria(book, &varied, &surroundings)?;
                render::plan(book, approach, variant, &varied, &surroundings, &render::LeftOut::default())
                    .map_err(|error| Fault::new(approach.at, PlaybookError::Template(error)))?;
            }
        }
    }
    Ok(())
}

fn matched(book: &Book, goal: &str) -> Option<std::collections::BTreeMap<String, serde_json::Value>> {
    let goal = Goal::read(goal)?;
    let matches = book.patterns.iter().filter_map(|pattern| find(pattern, &book.params, &goal));
    matches.max_by_key(|found| found.rank).map(|found| found.values)
}

fn approach(book: &Book, approach: &ApproachForm) -> Result<(), Fault> {
    let at = approach.at;
    for variant in &approach.variants {
        check_placeholders(book, variant.at, &variant.note, None, 0)?;
        for (name, value) in &variant.set {
            if !book.params.contains_key(name) {
                return Err(unknown(variant.at, "parameter", name));
            }
            values_names(book, variant.at, value, 0)?;
        }
    }
    let next = approach.next.values().flatten();
    for name in next {
        let is_variant = book.approaches.iter().any(|approach| approach.variant(name).is_some());
        if !is_variant && book.approach(name).is_none() {
            return Err(unknown(at, "variant or approach", name));
        }
    }
    if let Some(name) = approach.when.keys().find(|name| !book.params.contains_key(*name)) {
        return Err(unknown(at, "parameter", name));
    }
    if approach.result.iter().any(|place| *place as usize > approach.steps.len()) {
        return Err(Fault::value(at, "result", "there is no such step"));
    }
    for (i, step) in approach.steps.iter().enumerate() {
        if step.inputs.iter().any(|place| *place as usize > i) {
            return Err(Fault::value(step.at, "inputs", "only earlier steps can be named"));
        }
        self::step(book, step)?;
    }
    Ok(())
}

fn step(book: &Book, step: &StepForm) -> Result<(), Fault> {
    check_placeholders(book, step.at, &step.intent, None, 0)?;
    for (i, call) in step.calls.iter().enumerate() {
        values_names(book, call.at, &call.input, i)?;
        programs(book, call.at, &call.tool, &call.input, &call.programs)?;
    }
    values_names(book, step.at, &step.output, step.calls.len())
}

/// Checks that a shell command inserts nothing unquoted and declares the programs that it runs.
fn programs(
    book: &Book,
    at: Offset,
    tool: &str,
    input: &ValueTemplate,
    programs: &BTreeSet<String>,
) -> Result<(), Fault> {
    let missing = |key: &str| Fault::new(at, PlaybookError::Missing(key.to_owned()));
    if tool != shell::SHELL {
        return match programs.is_empty() {
            true => Ok(()),
            false => Err(Fault::value(at, "programs", "only the shell runs programs")),
        };
    }
    let command = shell::command_of(input).ok_or_else(|| missing("command"))?;
    if let Some(reason) = shell::refusal(book, command) {
        return Err(Fault::new(at, PlaybookError::Unquoted(reason)));
    }
    if programs.is_empty() {
        return Err(missing("programs"));
    }
    match shell::undeclared(command, programs) {
        Some(program) => Err(unknown(at, "program in the command", program)),
        None => Ok(()),
    }
}

fn values_names(book: &Book, at: Offset, value: &ValueTemplate, calls: usize) -> Result<(), Fault> {
    let mut result = Ok(());
    value.for_each_text(&mut |template, index| {
        if result.is_ok() {
            result = check_placeholders(book, at, template, index, calls);
        }
    });
    result
}

/// Checks that every placeholder names a parameter, a place, the number of its repetition, or one of the first `calls`
/// calls.
fn check_placeholders(
    book: &Book,
    at: Offset,
    template: &TextTemplate,
    index: Option<&str>,
    calls: usize,
) -> Result<(), Fault> {
    use crate::playbook::template::Source;
    for slot in template.slots() {
        let wrong = match &slot.source {
            Source::Named(name) => {
                let known = book.params.contains_key(name)
                    || PLACES.contains(&name.as_str())
                    || index.is_some_and(|index| index == name);
                (!known).then(|| TemplateError::UnknownName(name.clone()))
            }
            Source::Result { .. } | Source::Printed { .. } => {
                slot.source.call().filter(|call| *call > calls).map(TemplateError::UnknownCall)
            }
        };
        if let Some(error) = wrong {
            return Err(Fault::new(at, PlaybookError::Template(error)));
        }
    }
    Ok(())
}

fn unknown(at: Offset, kind: &'static str, name: &str) -> Fault {
    Fault::new(at, PlaybookError::Unknown { kind, name: name.to_owned() })
}
