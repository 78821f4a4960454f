//! A parsed and checked playbook, with every template parsed.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_protocol::message::ActionState;

use super::error::Offset;
use super::goal::{Param, Pattern};
use super::template::{TextTemplate, ValueTemplate};

/// The origin of a playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Part of the program.
    BuiltIn,
    /// A user's file.
    File(String),
}

/// A playbook.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    /// Sentence that says how a goal was understood.
    pub(crate) reads: Option<TextTemplate>,
    pub(crate) origin: Origin,
    /// Text of the file.
    pub(crate) source: String,
    pub(crate) examples: Vec<Placed<String>>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) params: BTreeMap<String, Param>,
    pub(crate) criteria: BTreeMap<String, CriterionForm>,
    /// Criteria of the whole task, by name.
    pub(crate) task_criteria: Vec<String>,
    pub(crate) approaches: Vec<ApproachForm>,
    /// What a person could try after a failure.
    pub(crate) next_moves: Vec<TextTemplate>,
}

/// A value with its position in the file.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) at: Offset,
    pub(crate) value: T,
}

/// A criterion with its check.
#[derive(Clone, Debug)]
pub(crate) struct CriterionForm {
    pub(crate) at: Offset,
    pub(crate) text: TextTemplate,
    /// After filling in, has the form of `setpoint_protocol::predicate::Check`.
    pub(crate) check: ValueTemplate,
    /// For a shell probe: the programs that it runs.
    pub(crate) programs: BTreeSet<String>,
    /// For a shell probe: its author states that it only reads.
    pub(crate) only_reads: bool,
}

/// One approach to the goal.
#[derive(Clone, Debug)]
pub(crate) struct ApproachForm {
    pub(crate) at: Offset,
    pub(crate) name: String,
    /// What it can and cannot do.
    pub(crate) note: String,
    /// Applies only to goals whose parameters have these values.
    pub(crate) when: BTreeMap<String, String>,
    pub(crate) steps: Vec<StepForm>,
    pub(crate) variants: Vec<VariantForm>,
    /// What follows after each directive, by name: variants of this approach, or other approaches.
    pub(crate) next: BTreeMap<ActionState, Vec<String>>,
    /// Steps whose outputs form the result, by position from 1; empty for all.
    pub(crate) result: Vec<u32>,
}

/// A variant of an approach, with other values.
#[derive(Clone, Debug)]
pub(crate) struct VariantForm {
    pub(crate) at: Offset,
    pub(crate) name: String,
    /// What is different, in a few words that are added to the sub-tasks' intents.
    pub(crate) note: TextTemplate,
    pub(crate) set: BTreeMap<String, ValueTemplate>,
}

/// A sub-task.
#[derive(Clone, Debug)]
pub(crate) struct StepForm {
    pub(crate) at: Offset,
    pub(crate) intent: TextTemplate,
    pub(crate) sequence: Option<i64>,
    /// Earlier steps whose outputs it receives, by position from 1.
    pub(crate) inputs: Vec<u32>,
    /// Criteria by name.
    pub(crate) criteria: Vec<String>,
    pub(crate) calls: Vec<CallForm>,
    pub(crate) output: ValueTemplate,
    pub(crate) on_error: OnError,
}

/// A tool call.
#[derive(Clone, Debug)]
pub(crate) struct CallForm {
    pub(crate) at: Offset,
    pub(crate) tool: String,
    pub(crate) input: ValueTemplate,
    /// For the shell: the programs that the command runs.
    pub(crate) programs: BTreeSet<String>,
    /// For the shell: its author states that it only reads.
    pub(crate) only_reads: bool,
}

/// What follows after a failed call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnError {
    /// Ends the sub-task with the call's message.
    #[default]
    GiveUp,
    /// Makes no further call and answers with the results so far, which the checks judge.
    Answer,
    /// Makes the next call.
    Continue,
}

impl CriterionForm {
    /// Returns tool and input of the probe, if there is one.
    pub(crate) fn probe(&self) -> Option<(&str, &ValueTemplate)> {
        let probe = self.check.get("on")?.get("probe")?;
        Some((probe.get("tool")?.literal()?, probe.get("input")?))
    }
}

impl Book {
    pub(crate) fn approach(&self, name: &str) -> Option<&ApproachForm> {
        self.approaches.iter().find(|approach| approach.name == name)
    }

    pub(crate) fn criterion(&self, name: &str) -> Option<&CriterionForm> {
        self.criteria.get(name)
    }
}

impl ApproachForm {
    pub(crate) fn variant(&self, name: &str) -> Option<&VariantForm> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}
