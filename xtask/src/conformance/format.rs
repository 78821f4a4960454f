//! The vectors' inputs as in the file, and their conversion to the controller's types.
//!
//! Every struct keeps the fields it does not read, so that an input without effect is reported.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use setpoint_control::compare::TOLERANCE;
use setpoint_control::measurement::{Call, CallEnd, Criterion, Event, Merge, Outcome, Verdict};
use setpoint_control::{FailureClass, Gains, Mode, OutcomeStatus, law};

use super::{Summary, VectorFault, memory};

/// One vector with a single input.
#[derive(Debug, Deserialize)]
pub(super) struct Vector<I> {
    pub(super) id: String,
    #[serde(rename = "in")]
    pub(super) input: I,
    pub(super) expect: Value,
    #[serde(flatten)]
    pub(super) unread: UnreadFields,
}

/// A vector of several rounds.
#[derive(Debug, Deserialize)]
pub(super) struct Sequence {
    pub(super) id: String,
    pub(super) rounds: Vec<Round>,
    #[serde(flatten)]
    pub(super) unread: UnreadFields,
}

/// The gradient of a second round that differs only in the used budget.
#[derive(Debug, Deserialize)]
pub(super) struct FlatRound {
    #[serde(rename = "P")]
    pub(super) p: f64,
    pub(super) seconds_between_rounds: f64,
    pub(super) grad_l: f64,
    #[serde(flatten)]
    pub(super) unread: UnreadFields,
}

/// Numbers for the decision table.
#[derive(Debug, Deserialize)]
pub(super) struct CellInput {
    pub(super) grad_l: f64,
    #[serde(rename = "D")]
    pub(super) d: f64,
    #[serde(rename = "P")]
    pub(super) p: f64,
    #[serde(rename = "Omega")]
    pub(super) omega: f64,
    #[serde(default)]
    pub(super) worsening_count: u32,
    #[serde(default)]
    pub(super) replan_count: u32,
    #[serde(flatten)]
    pub(super) unread: UnreadFields,
}

/// The measurements of one round.
#[derive(Debug, Deserialize)]
pub(super) struct Round {
    /// Absent if a vector has only one task.
    #[serde(default)]
    pub(super) task_id: String,
    /// `replan`, `accept` or `abort`.
    #[serde(default = "replan")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) outcomes: Vec<OutcomeInput>,
    pub(super) replan_count: Option<u32>,
    pub(super) elapsed_ms: Option<f64>,
    pub(super) task_criteria_verdicts: Option<Vec<VerdictInput>>,
    #[serde(default)]
    pub(super) merge_failed: bool,
    pub(super) expect: Option<Value>,
    #[serde(flatten)]
    pub(super) unread: UnreadFields,
}

/// A sub-task's outcome.
#[derive(Debug, Deserialize)]
pub(super) struct OutcomeInput {
    #[serde(default, rename = "subtask_id")]
    _subtask_id: Option<String>,
    status: OutcomeStatus,
    criteria_verdicts: Option<Vec<VerdictInput>>,
    #[serde(default)]
    success_criteria: Vec<CriterionInput>,
    #[serde(default)]
    gap_trajectory: Vec<GapInput>,
    #[serde(default)]
    tool_calls: Vec<CallInput>,
    #[serde(default)]
    carried: bool,
    #[serde(flatten)]
    unread: UnreadFields,
}

/// A verdict on one criterion; without a mode it is verifiable.
#[derive(Debug, Deserialize)]
pub(super) struct VerdictInput {
    criterion: String,
    criterion_id: Option<String>,
    verdict: PassOrFail,
    failure_class: Option<FailureClass>,
    mode: Option<Mode>,
    #[serde(default)]
    vacuous: bool,
    #[serde(flatten)]
    unread: UnreadFields,
}

/// The criteria that failed in one attempt.
#[derive(Debug, Deserialize)]
struct GapInput {
    #[serde(rename = "attempt")]
    _attempt: u32,
    failed_criteria: Vec<FailedInput>,
    #[serde(flatten)]
    unread: UnreadFields,
}

#[derive(Debug, Deserialize)]
struct FailedInput {
    criterion: Option<String>,
    criterion_id: Option<String>,
    /// The verdict's class counts, not the attempt's.
    #[serde(rename = "failure_class")]
    _failure_class: Option<FailureClass>,
    #[serde(flatten)]
    unread: UnreadFields,
}

/// A tool call. If the file does not say whether it succeeded, it has the result of its sub-task: in a failing one
/// every such (tool, target) is a failing pair.
#[derive(Debug, Deserialize)]
struct CallInput {
    tool: String,
    target: String,
    ok: Option<bool>,
    error_kind: Option<String>,
    #[serde(flatten)]
    unread: UnreadFields,
}

/// A criterion: a text, or an object that contains it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum CriterionInput {
    Text(String),
    Object { id: Option<String>, criterion: String },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PassOrFail {
    Pass,
    Fail,
}

/// Fields that were not read.
pub(super) type UnreadFields = BTreeMap<String, Value>;

/// Fields that describe a vector, and fields of the contracts that the arithmetic does not use.
const WITHOUT_EFFECT: &[&str] = &[
    "why",
    "note",
    "alt",
    "conventions",
    "intent",
    "summary",
    "output",
    "failure_reason",
    "fingerprint",
    "evidence",
    "cites",
    "judged_by",
    "input",
    "call_id",
];

/// Reads one value of the file.
pub(super) fn read<T: DeserializeOwned>(at: &str, value: &Value) -> Result<T, VectorFault> {
    T::deserialize(value).map_err(|source| VectorFault::Shape { at: at.to_owned(), source })
}

/// Returns the reference settings with the file's settings applied. An unknown setting counts as a failed vector.
pub(super) fn gains(settings: Option<&Value>, summary: &mut Summary) -> Result<Gains, VectorFault> {
    let mut gains = Gains::default();
    let Some(settings) = settings else { return Ok(gains) };
    for (name, value) in super::object("hyperparameters", settings)? {
        let at = format!("hyperparameters.{name}");
        match name.as_str() {
            "alpha" => gains.alpha = read(&at, value)?,
            "beta" => gains.beta = read(&at, value)?,
            "lambda" => gains.lambda = read(&at, value)?,
            "w1" => gains.w1 = read(&at, value)?,
            "w2" => gains.w2 = read(&at, value)?,
            "epsilon" => gains.epsilon = read(&at, value)?,
            "delta" => gains.delta = read(&at, value)?,
            "rho" => gains.rho = read(&at, value)?,
            "theta" => gains.theta = read(&at, value)?,
            "time_budget_ms" => gains.time_budget_ms = read(&at, value)?,
            "max_replans" => gains.max_replans = read(&at, value)?,
            "law2_kill" => gains.law2_rounds = read(&at, value)?,
            other => match memory::setting(other) {
                Some(built_in) => {
                    let wanted: f64 = read(&at, value)?;
                    let is_other = (wanted - built_in).abs() > TOLERANCE;
                    let difference = is_other.then(|| format!("expected {wanted}, built in is {built_in}"));
                    summary.add("hyperparameters", other, difference.into_iter().collect());
                }
                None => {
                    summary.add(
                        "hyperparameters",
                        other,
                        vec!["a setting that is not known here".to_owned()],
                    );
                }
            },
        }
    }
    law::governing(&gains).map_err(VectorFault::Settings)?;
    Ok(gains)
}

/// Reports the fields that were not read, except those without effect, as differences.
pub(super) fn unread(at: &str, fields: &UnreadFields) -> impl Iterator<Item = String> {
    let at = at.to_owned();
    let matter = fields.keys().filter(|name| !WITHOUT_EFFECT.contains(&name.as_str()));
    matter.map(move |name| format!("{at}{name}: an input that is not known here"))
}

impl Round {
    /// Returns the event for the controller; `None` for an abort, or an unknown kind.
    pub(super) fn event(&self) -> Option<Event> {
        let outcomes = self.outcomes.iter().map(OutcomeInput::outcome).collect();
        match self.kind.as_str() {
            "accept" => Some(Event::Accepted { outcomes, unproven: false }),
            "replan" => Some(Event::Rejected { outcomes, merge: self.merge() }),
            _ => None,
        }
    }

    /// Reports every field of the round that was not read.
    pub(super) fn unread(&self) -> Vec<String> {
        let mut names: Vec<String> = unread("", &self.unread).collect();
        let verdicts = self.task_criteria_verdicts.iter().flatten();
        names.extend(verdicts.flat_map(|verdict| unread("task_criteria_verdicts.", &verdict.unread)));
        names.extend(self.outcomes.iter().flat_map(OutcomeInput::unread));
        names
    }

    fn merge(&self) -> Merge {
        match &self.task_criteria_verdicts {
            Some(verdicts) => Merge::Rejected(verdicts.iter().map(VerdictInput::criterion).collect()),
            None if self.merge_failed => Merge::Unjudged,
            None => Merge::NotReached,
        }
    }
}

impl OutcomeInput {
    fn outcome(&self) -> Outcome {
        let verdicts = self.criteria_verdicts.as_deref().unwrap_or_default();
        let judged: BTreeSet<&str> = verdicts.iter().map(VerdictInput::id).collect();
        let unjudged = self.success_criteria.iter().filter(|criterion| !criterion.is_in(&judged)).count();
        let failing = self.status == OutcomeStatus::Failed;
        Outcome {
            status: self.status,
            criteria: verdicts.iter().map(VerdictInput::criterion).collect(),
            unjudged: u32::try_from(unjudged).unwrap_or(u32::MAX),
            gap_trajectory: self.gap_trajectory.iter().map(GapInput::ids).collect(),
            calls: self.tool_calls.iter().map(|call| call.call(failing)).collect(),
            carried: self.carried,
            outage: false,
        }
    }

    fn unread(&self) -> Vec<String> {
        let verdicts = self.criteria_verdicts.iter().flatten();
        let failed = self.gap_trajectory.iter().flat_map(|gap| &gap.failed_criteria);
        unread("outcomes.", &self.unread)
            .chain(verdicts.flat_map(|verdict| unread("outcomes.criteria_verdicts.", &verdict.unread)))
            .chain(self.gap_trajectory.iter().flat_map(|gap| unread("outcomes.gap_trajectory.", &gap.unread)))
            .chain(failed.flat_map(|failed| unread("outcomes.gap_trajectory.", &failed.unread)))
            .chain(self.tool_calls.iter().flat_map(|call| unread("outcomes.tool_calls.", &call.unread)))
            .collect()
    }
}

impl VerdictInput {
    fn id(&self) -> &str {
        self.criterion_id.as_deref().unwrap_or(&self.criterion)
    }

    fn criterion(&self) -> Criterion {
        Criterion {
            id: self.id().to_owned(),
            mode: self.mode.unwrap_or_default(),
            verdict: match self.verdict {
                PassOrFail::Pass => Verdict::Pass,
                PassOrFail::Fail => Verdict::Fail(self.failure_class),
            },
            vacuous: self.vacuous,
        }
    }
}

impl GapInput {
    fn ids(&self) -> Vec<String> {
        let id = |failed: &FailedInput| failed.criterion_id.clone().or_else(|| failed.criterion.clone());
        self.failed_criteria.iter().filter_map(id).collect()
    }
}

impl CallInput {
    fn call(&self, failing: bool) -> Call {
        let end = match (self.error_kind.as_deref(), self.ok.unwrap_or(!failing)) {
            (Some("consent"), _) => CallEnd::Refused,
            (_, true) => CallEnd::Ok,
            (_, false) => CallEnd::Failed,
        };
        Call { tools: vec![self.tool.clone()], target: self.target.clone(), end }
    }
}

impl CriterionInput {
    fn is_in(&self, judged: &BTreeSet<&str>) -> bool {
        match self {
            Self::Text(text) => judged.contains(text.as_str()),
            Self::Object { id, criterion } => judged.contains(id.as_deref().unwrap_or(criterion)),
        }
    }
}

fn replan() -> String {
    "replan".to_owned()
}
