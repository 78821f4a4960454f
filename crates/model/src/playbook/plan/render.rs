//! Turns an approach with its values into a plan.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use setpoint_extract::draft::{CriterionDraft, PlanDraft, SubTaskDraft};
use setpoint_machine::brief::PlanBrief;
use setpoint_protocol::limits::CRITERION_CHARS_MAX;
use setpoint_protocol::message::{Approach, Mode};
use setpoint_protocol::predicate::{Check, CheckOn};
use setpoint_protocol::record::Surroundings;
use setpoint_protocol::text::clip;
use setpoint_protocol::{Any, ToolId};

use super::distinct;
use super::order::Candidate;
use crate::playbook::book::{ApproachForm, Book, CriterionForm, StepForm, VariantForm};
use crate::playbook::error::{Fault, PlaybookError};
use crate::playbook::template::{Scope, TemplateError};

/// The parts of an approach that its plan leaves out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Steps that are already done, by position from 1.
    pub(crate) steps: BTreeSet<usize>,
    /// Criteria whose probes may not be made.
    pub(crate) criteria: BTreeSet<String>,
}

/// Returns the plan of an approach, without the parts left out and without task criteria.
pub(crate) fn plan(
    book: &Book,
    approach: &ApproachForm,
    variant: Option<&VariantForm>,
    values: &BTreeMap<String, Value>,
    surroundings: &Surroundings,
    left_out: &LeftOut,
) -> Result<PlanDraft, TemplateError> {
    let scope = Scope::new(values, surroundings);
    let mut subtasks = Vec::new();
    // Position of each step of the playbook in this plan.
    let mut places: BTreeMap<u32, u32> = BTreeMap::new();
    for (place, step) in (1..).zip(&approach.steps).filter(|(place, _)| !left_out.steps.contains(place)) {
        let mut intent = step.intent.text(&scope)?;
        if let Some(variant) = variant {
            intent = format!("{intent} ({})", variant.note.text(&scope)?);
        }
        let criteria = step.criteria.iter().filter(|name| !left_out.criteria.contains(*name));
        let criteria = criteria.filter_map(|name| book.criterion(name));
        let params = match variant {
            Some(variant) => json!({"step": place, "variant": variant.name, "values": values}),
            None => json!({"step": place, "values": values}),
        };
        subtasks.push(SubTaskDraft {
            intent,
            success_criteria: criteria.map(|form| criterion(form, &scope)).collect::<Result<_, _>>()?,
            context: Some(format!("{}: {}", book.title, approach.note)),
            inputs: step.inputs.iter().filter_map(|input| places.get(input).copied()).collect(),
            sequence: Some(step.sequence.unwrap_or_else(|| i64::try_from(place).unwrap_or(i64::MAX))),
            tools: distinct(step.calls.iter().map(|call| call.tool.as_str())),
            allow: Vec::new(),
            deadline: None,
            approach: Some(Approach {
                playbook: book.name.clone(),
                approach: approach.name.clone(),
                params: Any(params),
            }),
        });
        if let (Ok(step), Ok(here)) = (u32::try_from(place), u32::try_from(subtasks.len())) {
            places.insert(step, here);
        }
    }
    Ok(PlanDraft { subtasks, ..PlanDraft::default() })
}

/// Returns the criteria of the whole task.
pub(crate) fn task_criteria(
    book: &Book,
    values: &BTreeMap<String, Value>,
    surroundings: &Surroundings,
    out_of_reach: &BTreeSet<String>,
) -> Result<Vec<CriterionDraft>, TemplateError> {
    let scope = Scope::new(values, surroundings);
    let names = book.task_criteria.iter().filter(|name| !out_of_reach.contains(*name));
    let forms = names.filter_map(|name| book.criterion(name));
    forms.map(|form| criterion(form, &scope)).collect()
}

/// Returns the steps of a candidate, by position from 1, whose outcomes of an earlier round are kept.
///
/// An outcome does not name its step, but its filled-in criteria identify it.
pub(super) fn kept_steps(
    book: &Book,
    candidate: &Candidate<'_>,
    values: &BTreeMap<String, Value>,
    brief: &PlanBrief,
) -> BTreeSet<usize> {
    let planned_before = brief
        .previous
        .iter()
        .flat_map(|plan| &plan.approaches)
        .any(|tried| tried.approach == candidate.approach.name);
    if !planned_before {
        return BTreeSet::new();
    }
    let scope = Scope::new(values, &brief.surroundings);
    let mut kept = BTreeSet::new();
    let mut outcomes: Vec<Vec<&str>> = brief
        .kept
        .iter()
        .map(|outcome| {
            outcome.success_criteria.iter().map(|criterion| criterion.criterion.as_str()).collect()
        })
        .collect();
    for (place, step) in (1..).zip(&candidate.approach.steps) {
        let texts = criteria_texts(book, step, &scope);
        let is_of = |outcome: &Vec<&str>| {
            !outcome.is_empty() && outcome.iter().all(|text| texts.iter().any(|wanted| wanted == text))
        };
        if let Some(found) = outcomes.iter().position(is_of) {
            outcomes.remove(found);
            kept.insert(place);
        }
    }
    // A plan needs at least one sub-task. If every step is kept, the whole was refused, so all are done again.
    if kept.len() == candidate.approach.steps.len() { BTreeSet::new() } else { kept }
}

/// Checks that every criterion of the playbook, filled in, is a check that can be evaluated and can fail.
pub(crate) fn checked_criteria(
    book: &Book,
    values: &BTreeMap<String, Value>,
    surroundings: &Surroundings,
) -> Result<(), Fault> {
    let scope = Scope::new(values, surroundings);
    for (name, form) in &book.criteria {
        let broken =
            |reason: String| Fault::new(form.at, PlaybookError::Check { criterion: name.clone(), reason });
        let value = form.check.value(&scope).map_err(|error| broken(error.to_string()))?;
        let check: Check = serde_json::from_value(value).map_err(|error| broken(error.to_string()))?;
        if matches!(&check.on, CheckOn::Call { tool, which: None } if ToolId::of_name(tool).tool() == "shell")
        {
            return Err(broken("give `which`, the command: another one would show nothing of it".to_owned()));
        }
        check.expect.validate().map_err(|source| {
            Fault::new(form.at, PlaybookError::Predicate { criterion: name.clone(), source })
        })?;
        if !check.expect.says_more_than_exit_code() {
            return Err(Fault::new(form.at, PlaybookError::SaysNothing(name.clone())));
        }
    }
    Ok(())
}

fn criteria_texts(book: &Book, step: &StepForm, scope: &Scope<'_>) -> Vec<String> {
    let forms = step.criteria.iter().filter_map(|name| book.criterion(name));
    forms.filter_map(|form| Some(clip(&form.text.text(scope).ok()?, CRITERION_CHARS_MAX))).collect()
}

fn criterion(form: &CriterionForm, scope: &Scope<'_>) -> Result<CriterionDraft, TemplateError> {
    Ok(CriterionDraft::Structured {
        criterion: clip(&form.text.text(scope)?, CRITERION_CHARS_MAX),
        mode: Mode::Verifiable,
        check: Some(Any(form.check.value(scope)?)),
        asked: None,
        assumes: None,
    })
}
