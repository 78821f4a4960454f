//! The measurement of one round: the controller's only input.
//!
//! The role builds it from the messages that it receives. A measurement is checked before any arithmetic uses
//! it, so a number that is not finite never reaches the decision table (SPEC 6.2).

use std::collections::BTreeSet;

/// Maximum outcomes in one measurement.
pub const OUTCOMES_MAX: usize = 1_024;
/// Maximum criteria in one measurement, those without a verdict and those of the task included.
pub const CRITERIA_MAX: usize = 16_384;
/// Maximum attempts in one outcome's gap trajectory.
pub const ATTEMPTS_MAX: usize = 1_024;
/// Maximum tool calls in one measurement.
pub const CALLS_MAX: usize = 65_536;
/// Maximum tools in one call: the programs of one shell pipeline.
pub const TOOLS_PER_CALL_MAX: usize = 256;

/// One round of a task, or the event that ends it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Milliseconds since the `TaskSpec`, on a monotonic clock, without the time spent waiting for the
    /// user. Finite, 0 or more.
    pub elapsed_ms: f64,
    /// The event of the round.
    pub event: Event,
}

/// The event of a round.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// R4b accepted the merged result (`OutcomeSummary`).
    Accepted {
        /// The round's outcomes, carried ones included.
        outcomes: Vec<Outcome>,
        /// Whether no pass proves that the work achieved it (SPEC 4.3).
        unproven: bool,
    },
    /// R4b asks for a replan (`ReplanRequest`).
    Rejected {
        /// The round's outcomes, carried ones included.
        outcomes: Vec<Outcome>,
        /// R4b's finding about the merged result.
        merge: Merge,
    },
    /// A role or the runtime failed (`TaskFault`).
    Fault {
        /// Kind of the failure.
        kind: FaultKind,
        /// Whether another round may help. The caller sets it to false before there is a `TaskSpec`.
        retryable: bool,
    },
    /// The user cancelled (`CancelRequest`).
    Cancelled,
}

/// R4b's finding about the merged result of a round that it did not accept.
#[derive(Debug, Clone, PartialEq)]
pub enum Merge {
    /// A sub-task failed, so nothing was merged.
    NotReached,
    /// The merged result was verified against the task criteria and rejected.
    Rejected(Vec<Criterion>),
    /// All sub-tasks matched, but the merge could not be judged.
    Unjudged,
}

/// The end of one sub-task.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Matched or failed, as R4a decided.
    pub status: OutcomeStatus,
    /// The criteria that have a verdict. Ids are unique within an outcome.
    pub criteria: Vec<Criterion>,
    /// Number of criteria without a verdict: all of them after a crash or a skip.
    pub unjudged: u32,
    /// Per attempt, the ids of the criteria that failed in it.
    pub gap_trajectory: Vec<Vec<String>>,
    /// The Executor's own calls over all attempts, in order; probes are not among them.
    pub calls: Vec<Call>,
    /// Whether it was kept from an earlier round: it counts in the loss, but this round did not achieve it.
    pub carried: bool,
    /// Whether it failed because a model's service was away: then only its failed calls are blocked.
    pub outage: bool,
}

// The documentation of the four types with `serde` is also the description in the JSON Schema of the messages.

/// Whether a sub-task matched its criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OutcomeStatus {
    /// Every criterion passed.
    Matched,
    /// At least one did not, or nothing could be judged.
    Failed,
}

/// One judged criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// Id assigned by the runtime.
    pub id: String,
    /// How firmly it can be judged.
    pub mode: Mode,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether its check already passed before the work. A vacuous pass is left out of the loss; a vacuous
    /// fail means that the work broke it, and counts.
    pub vacuous: bool,
}

/// How firmly a criterion can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Mode {
    /// From evidence alone; a failure weighs 1.
    #[default]
    Verifiable,
    /// By judgement; a failure weighs by how many of its attempts failed.
    Plausible,
}

/// A verdict on one criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The criterion holds.
    Pass,
    /// The criterion does not hold; with the class of the failure, if known.
    Fail(Option<FailureClass>),
}

/// Why a criterion failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum FailureClass {
    /// It ran and the result is wrong.
    Logical,
    /// Network, permission, missing path or tool, rate limit, time-out.
    Environmental,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Tools that it used: one, or each program of a shell pipeline.
    pub tools: Vec<String>,
    /// Target of the call, in normal form.
    pub target: String,
    /// Result of the call.
    pub end: CallEnd,
}

/// The result of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// It never ran: consent was refused (`error_kind = consent`).
    Refused,
}

/// What kind of end a fault asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum FaultKind {
    /// Something failed.
    Fault,
    /// A hard budget is reached.
    Budget,
    /// A deadline, or the watchdog, is reached.
    Deadline,
    /// A person refused.
    Consent,
    /// The goal cannot be reached here, and calls show it. `hints` says what the person would have to supply.
    Infeasible,
}

/// Why a measurement was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeasurementError {
    /// A number is NaN or infinite.
    #[error("use {name} = {value}: it must be a finite number")]
    NotFinite {
        /// Name of the number.
        name: &'static str,
        /// The refused value.
        value: f64,
    },
    /// A time is negative.
    #[error("use {name} = {value}: it must be 0 or more")]
    Negative {
        /// Name of the number.
        name: &'static str,
        /// The refused value.
        value: f64,
    },
    /// A count is above its limit.
    #[error("use {count} {what}: at most {max} are allowed")]
    TooMany {
        /// What was counted.
        what: &'static str,
        /// The count.
        count: usize,
        /// The limit.
        max: usize,
    },
    /// Two criteria of one outcome have the same id, so it is not clear which verdict counts.
    #[error("use two verdicts for the criterion {id:?} of one sub-task")]
    DuplicateCriterion {
        /// The repeated id.
        id: String,
    },
}

impl Measurement {
    /// Checks numbers, limits and ids.
    ///
    /// # Errors
    /// [`MeasurementError`] for the first problem found.
    pub fn validate(&self) -> Result<(), MeasurementError> {
        finite("elapsed_ms", self.elapsed_ms)?;
        if self.elapsed_ms < 0.0 {
            return Err(MeasurementError::Negative { name: "elapsed_ms", value: self.elapsed_ms });
        }
        let task_criteria = match &self.event {
            Event::Rejected { merge: Merge::Rejected(criteria), .. } => criteria.as_slice(),
            Event::Rejected { .. } | Event::Accepted { .. } | Event::Fault { .. } | Event::Cancelled => &[],
        };
        let outcomes = self.outcomes();
        limit("outcomes", outcomes.len(), OUTCOMES_MAX)?;
        let criteria = outcomes.iter().fold(task_criteria.len(), |sum, outcome| {
            let unjudged = usize::try_from(outcome.unjudged).unwrap_or(usize::MAX);
            sum.saturating_add(outcome.criteria.len()).saturating_add(unjudged)
        });
        limit("criteria", criteria, CRITERIA_MAX)?;
        limit("tool calls", outcomes.iter().map(|outcome| outcome.calls.len()).sum(), CALLS_MAX)?;
        unique_ids(task_criteria)?;
        outcomes.iter().try_for_each(Outcome::validate)
    }

    /// Returns the round's outcomes; empty for a fault or a cancel.
    #[must_use]
    pub fn outcomes(&self) -> &[Outcome] {
        match &self.event {
            Event::Accepted { outcomes, .. } | Event::Rejected { outcomes, .. } => outcomes,
            Event::Fault { .. } | Event::Cancelled => &[],
        }
    }
}

impl Outcome {
    /// Creates an outcome without criteria, attempts or calls, not carried, and without an outage.
    #[must_use]
    pub fn new(status: OutcomeStatus) -> Self {
        Self {
            status,
            criteria: Vec::new(),
            unjudged: 0,
            gap_trajectory: Vec::new(),
            calls: Vec::new(),
            carried: false,
            outage: false,
        }
    }

    /// Returns whether a failing sub-task was refused consent for a call (SPEC 6.2, before the table).
    pub(crate) fn was_refused_consent(&self) -> bool {
        self.status == OutcomeStatus::Failed && self.calls.iter().any(|call| call.end == CallEnd::Refused)
    }

    fn validate(&self) -> Result<(), MeasurementError> {
        limit("attempts", self.gap_trajectory.len(), ATTEMPTS_MAX)?;
        for attempt in &self.gap_trajectory {
            limit("failed criteria of an attempt", attempt.len(), CRITERIA_MAX)?;
        }
        for call in &self.calls {
            limit("tools of a call", call.tools.len(), TOOLS_PER_CALL_MAX)?;
        }
        unique_ids(&self.criteria)
    }
}

pub(crate) fn finite(name: &'static str, value: f64) -> Result<(), MeasurementError> {
    if value.is_finite() { Ok(()) } else { Err(MeasurementError::NotFinite { name, value }) }
}

fn limit(what: &'static str, count: usize, max: usize) -> Result<(), MeasurementError> {
    if count <= max { Ok(()) } else { Err(MeasurementError::TooMany { what, count, max }) }
}

fn unique_ids(criteria: &[Criterion]) -> Result<(), MeasurementError> {
    let mut seen = BTreeSet::new();
    match criteria.iter().find(|criterion| !seen.insert(criterion.id.as_str())) {
        None => Ok(()),
        Some(repeated) => Err(MeasurementError::DuplicateCriterion { id: repeated.id.clone() }),
    }
}
