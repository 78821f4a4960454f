//! Read-only calls made to measure. Equal probes are made once, however many checks look at them.

use std::sync::Arc;

use setpoint_machine::Effects;
use setpoint_protocol::capability::RunProbe;
use setpoint_protocol::limits::{CRITERIA_MAX, SUBTASKS_MAX};
use setpoint_protocol::message::Criterion;
use setpoint_protocol::predicate::CheckOn;
use setpoint_protocol::record::Answer;
use setpoint_protocol::tool::{Phase, ToolCall, ToolRecord};
use setpoint_protocol::topology::{Has, Receives};
use setpoint_protocol::{Any, CallId, ToolId};

use super::called::ExaminedCall;
use crate::answer::tool_answer_of;

/// At most this many probes per set: one per criterion of the largest plan, the task's own included.
const PROBES_MAX: usize = CRITERIA_MAX * (SUBTASKS_MAX + 1);

/// A set of probes that are asked together.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    all: Vec<Probe>,
}

/// An answered probe.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeAnswer {
    /// Record of the call.
    pub record: Arc<ToolRecord>,
    /// Its output: complete if this role asked, otherwise what the record keeps.
    pub text: String,
    /// Its facts, with the same limit.
    pub facts: Option<Any>,
}

#[derive(Clone, Debug)]
struct Probe {
    call: ToolCall,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Asked(CallId, Box<ExaminedCall>),
    Answered(Box<ProbeAnswer>),
}

impl Probes {
    /// Asks every probe that the checks of `criteria` look at. Equal calls are made once, at most `PROBES_MAX` in
    /// all; a plan with more criteria is never dispatched.
    pub fn ask<'c, R>(
        criteria: impl IntoIterator<Item = &'c Criterion>,
        phase: Phase,
        attempt: u32,
        fx: &mut Effects<'_, R>,
    ) -> Self
    where
        R: Receives + Has<RunProbe>,
    {
        Self::ask_calls(&calls(criteria), phase, attempt, fx)
    }

    /// Asks the given probes.
    pub fn ask_calls<R>(calls: &[&ToolCall], phase: Phase, attempt: u32, fx: &mut Effects<'_, R>) -> Self
    where
        R: Receives + Has<RunProbe>,
    {
        let ctx = fx.ctx;
        let mut ask = |call: &ToolCall| {
            let called = ExaminedCall::read(call.clone(), attempt, phase, ctx);
            Probe { call: call.clone(), state: State::Asked(fx.probe(call.clone(), phase), Box::new(called)) }
        };
        Probes { all: calls.iter().map(|call| ask(call)).collect() }
    }

    /// Asks one more, if there is one.
    #[must_use]
    pub fn and<R>(
        mut self,
        more: Option<ToolCall>,
        phase: Phase,
        attempt: u32,
        fx: &mut Effects<'_, R>,
    ) -> Self
    where
        R: Receives + Has<RunProbe>,
    {
        let more: Vec<&ToolCall> = more.iter().collect();
        self.all.extend(Self::ask_calls(&more, phase, attempt, fx).all);
        self
    }

    /// Collects the same probes from the records that another role made after `attempt`. A probe without a record
    /// counts as not made.
    pub fn among<'c>(
        criteria: impl IntoIterator<Item = &'c Criterion>,
        attempt: u32,
        records: &[Arc<ToolRecord>],
    ) -> Self {
        let is_after = |record: &&Arc<ToolRecord>| record.phase == Phase::After && record.attempt == attempt;
        let found = |call: &ToolCall| {
            let record = records.iter().filter(is_after).find(|record| is_of(record, call))?.clone();
            let (text, facts) = (record.evidence.clone(), record.facts.clone());
            let probed = Box::new(ProbeAnswer { record, text, facts });
            Some(Probe { call: call.clone(), state: State::Answered(probed) })
        };
        Probes { all: calls(criteria).into_iter().filter_map(found).collect() }
    }

    /// Stores an answer; ignores one that is not for an open probe of this set.
    pub fn take(&mut self, id: CallId, answer: &Answer) {
        for probe in &mut self.all {
            if let State::Asked(asked, called) = &probe.state
                && *asked == id
            {
                let probed = match tool_answer_of(answer) {
                    Some(tool) => ProbeAnswer {
                        record: called.answered(id, tool).into(),
                        text: tool.text.clone(),
                        facts: tool.facts.clone(),
                    },
                    None => ProbeAnswer {
                        record: called.interrupted(id, false).into(),
                        text: String::new(),
                        facts: None,
                    },
                };
                probe.state = State::Answered(Box::new(probed));
            }
        }
    }

    /// Returns whether every probe has been answered; true for an empty set.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.all.iter().all(|probe| probe.probed().is_some())
    }

    /// Returns the result of this call; `None` until it is answered.
    #[must_use]
    pub fn of(&self, call: &ToolCall) -> Option<&ProbeAnswer> {
        self.all.iter().find(|probe| probe.call == *call)?.probed()
    }

    /// Returns the records in the order in which the probes were requested.
    pub fn records(&self) -> impl Iterator<Item = &Arc<ToolRecord>> {
        self.all.iter().filter_map(|probe| Some(&probe.probed()?.record))
    }
}

impl Probe {
    fn probed(&self) -> Option<&ProbeAnswer> {
        match &self.state {
            State::Asked(..) => None,
            State::Answered(probed) => Some(probed),
        }
    }
}

/// Returns whether `record` is a record of `call`.
#[must_use]
pub fn is_of(record: &ToolRecord, call: &ToolCall) -> bool {
    record.tool.tool() == ToolId::of_name(&call.tool).tool() && record.input == call.input
}

/// Returns the probes of `criteria` that the baseline has no record of.
pub fn unmeasured<'c>(
    criteria: impl IntoIterator<Item = &'c Criterion>,
    baseline: &[Arc<ToolRecord>],
) -> Vec<&'c ToolCall> {
    let mut calls = calls(criteria);
    calls.retain(|call| !baseline.iter().any(|record| is_of(record, call)));
    calls
}

/// Returns the records of a baseline that the checks of `criteria` look at.
pub fn baseline_of<'c>(
    criteria: impl IntoIterator<Item = &'c Criterion>,
    baseline: &[Arc<ToolRecord>],
) -> Vec<Arc<ToolRecord>> {
    let record = |call: &ToolCall| baseline.iter().find(|record| is_of(record, call)).cloned();
    calls(criteria).into_iter().filter_map(record).collect()
}

/// Returns the distinct calls that the checks of `criteria` look at.
fn calls<'c>(criteria: impl IntoIterator<Item = &'c Criterion>) -> Vec<&'c ToolCall> {
    let mut calls: Vec<&ToolCall> = Vec::new();
    for call in criteria.into_iter().filter_map(probe_of) {
        if calls.len() < PROBES_MAX && !calls.contains(&call) {
            calls.push(call);
        }
    }
    calls
}

/// Returns the probe that a criterion's check looks at.
fn probe_of(criterion: &Criterion) -> Option<&ToolCall> {
    match &criterion.check.as_ref()?.on {
        CheckOn::Probe(call) => Some(call),
        CheckOn::Output | CheckOn::Call { .. } => None,
    }
}
