//! The fast loop of one sub-task: what is known, and what is waited for.

use setpoint_protocol::CallId;
use setpoint_protocol::message::{ExecutionResult, GapPoint, SubTask};

use crate::evidence::Probes;
use crate::judging::{Case, Hearing, Run};

/// The loop and its state.
#[derive(Debug)]
pub(super) struct FastLoop {
    pub(super) subtask: SubTask,
    /// The attempt whose result is waited for or judged, from 1.
    pub(super) attempt: u32,
    /// What failed in each attempt so far.
    pub(super) trajectory: Vec<GapPoint>,
    pub(super) stage: Stage,
}

/// What is waited for.
#[derive(Debug)]
pub(super) enum Stage {
    /// The result of the attempt.
    Waiting,
    /// The model's verdicts.
    Judging(CallId, Attempt),
    /// The model's word on why some criteria failed.
    Classifying(CallId, Attempt),
    /// Nothing more.
    Concluded,
}

/// An attempt that is judged.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) result: ExecutionResult,
    /// What R3 measured after it.
    pub(super) probes: Probes,
    /// The criteria without a check.
    pub(super) hearing: Hearing,
}

impl FastLoop {
    /// With the rubric, before the first attempt.
    pub(super) fn open(subtask: SubTask) -> Self {
        FastLoop { subtask, attempt: 1, trajectory: Vec::new(), stage: Stage::Waiting }
    }

    /// What is judged.
    pub(super) fn case<'a>(&'a self, attempt: &'a Attempt) -> Case<'a> {
        self.case_of(&attempt.result, &attempt.probes)
    }

    /// The same, while the hearing changes.
    pub(super) fn case_of<'a>(&'a self, result: &'a ExecutionResult, probes: &'a Probes) -> Case<'a> {
        let run = Run { intent: &self.subtask.intent, calls: &result.tool_calls, attempt: self.attempt };
        Case { runs: vec![run], output: &result.output, probes }
    }
}
