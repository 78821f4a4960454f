//! A playbook as it is used: read, checked, with every template parsed.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_protocol::message::ActionState;

use super::error::Offset;
use super::goal::{Param, Pattern};
use super::template::{TextTemplate, ValueTemplate};

/// Where a playbook comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Part of the program.
    BuiltIn,
    /// A file of the user's.
    File(String),
}

/// A playbook.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    /// How a goal was read, in one sentence.
    pub(crate) reads: Option<TextTemplate>,
    pub(crate) origin: Origin,
    /// The file's text.
    pub(crate) source: String,
    pub(crate) examples: Vec<Placed<String>>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) params: BTreeMap<String, Param>,
    pub(crate) criteria: BTreeMap<String, CriterionForm>,
    /// Criteria of the whole task, by name.
    pub(crate) task_criteria: Vec<String>,
    pub(crate) approaches: Vec<ApproachForm>,
    /// What a person could try when it does not work.
    pub(crate) next_moves: Vec<TextTemplate>,
}

/// Something with its place in the file.
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
    /// Filled in, it has the form of `setpoint_protocol::predicate::Check`.
    pub(crate) check: ValueTemplate,
    /// For a probe that is a shell command: the programs that it runs.
    pub(crate) programs: BTreeSet<String>,
    /// The same: its author vouches that it only reads.
    pub(crate) only_reads: bool,
}

/// One way to the goal.
#[derive(Clone, Debug)]
pub(crate) struct ApproachForm {
    pub(crate) at: Offset,
    pub(crate) name: String,
    /// What it can do and what it cannot.
    pub(crate) note: String,
    /// It is meant only for goals whose parameters have these values.
    pub(crate) when: BTreeMap<String, String>,
    pub(crate) steps: Vec<StepForm>,
    pub(crate) variants: Vec<VariantForm>,
    /// After which directive what comes next, by name: variants of this approach, or other approaches.
    pub(crate) next: BTreeMap<ActionState, Vec<String>>,
    /// Whose outputs make up the result, by place from 1; none means all.
    pub(crate) result: Vec<u32>,
}

/// The same approach with other values.
#[derive(Clone, Debug)]
pub(crate) struct VariantForm {
    pub(crate) at: Offset,
    pub(crate) name: String,
    /// What is different, in a few words; it goes into the sub-tasks' intents.
    pub(crate) note: TextTemplate,
    pub(crate) set: BTreeMap<String, ValueTemplate>,
}

/// One sub-task.
#[derive(Clone, Debug)]
pub(crate) struct StepForm {
    pub(crate) at: Offset,
    pub(crate) intent: TextTemplate,
    pub(crate) sequence: Option<i64>,
    /// Earlier steps whose outputs it gets to see, by place from 1.
    pub(crate) inputs: Vec<u32>,
    /// Criteria by name.
    pub(crate) criteria: Vec<String>,
    pub(crate) calls: Vec<CallForm>,
    pub(crate) output: ValueTemplate,
    pub(crate) on_error: OnError,
}

/// One tool call.
#[derive(Clone, Debug)]
pub(crate) struct CallForm {
    pub(crate) at: Offset,
    pub(crate) tool: String,
    pub(crate) input: ValueTemplate,
    /// For the shell: the programs that the command runs.
    pub(crate) programs: BTreeSet<String>,
    /// The same: its author vouches that it only reads.
    pub(crate) only_reads: bool,
}

/// What follows a call that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnError {
    /// The sub-task is given up, with what the call said.
    #[default]
    GiveUp,
    /// No further call; the answer is made of what there is, and the checks say what it is worth.
    Answer,
    /// The next call all the same.
    Continue,
}

impl CriterionForm {
    /// The tool and the input of its probe, when it is one.
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
