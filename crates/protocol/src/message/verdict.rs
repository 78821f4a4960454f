//! The verdict on one criterion, judged on its own evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::{FailureClass, Mode};

use crate::id::{CallId, CriterionId};

/// The judgement of one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The criterion.
    pub criterion_id: CriterionId,
    /// Its statement.
    pub criterion: String,
    /// Its mode.
    pub mode: Mode,
    /// The judgement.
    pub verdict: VerdictWord,
    /// What a failure came to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// Why a failure failed; none when it could not be told, or for a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
    /// What was seen.
    pub evidence: String,
    /// What the judgement rests on.
    pub cites: Vec<Cite>,
    /// Who judged.
    pub judged_by: JudgedBy,
    /// What a pass is worth. A failure proves nothing less for resting on little.
    #[serde(default, skip_serializing_if = "Strength::is_proof")]
    pub strength: Strength,
    /// Whether the check was already green before any work: then it proves nothing.
    #[serde(default)]
    pub vacuous: bool,
    /// Whether the check says nothing of what it looked at, so that it can never hold there: then a replan may give another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unevaluable: bool,
    /// Whether a pass rests on nothing but tests or files that the work made in this task, or on tests that it changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub self_made: bool,
}

impl Verdict {
    /// Returns whether the judgement shows that the work did it, if it is a pass: a call proves it, it did not hold
    /// before, and the work did not make the evidence.
    #[must_use]
    pub fn shows_it(&self) -> bool {
        self.strength.is_proof() && !self.vacuous && !self.self_made
    }
}

/// Pass or fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// The criterion holds.
    Pass,
    /// It does not, or it could not be shown.
    Fail,
}

/// What a failure came to: they are told apart wherever a person looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// The evidence says otherwise.
    Refuted,
    /// There is no evidence for it.
    NotShown,
    /// It is shown that it cannot hold here: something that it rests on is missing.
    Cannot,
}

impl Shown {
    /// Returns the words that a person reads.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Shown::Refuted => "refuted",
            Shown::NotShown => "not shown",
            Shown::Cannot => "cannot hold here",
        }
    }
}

/// What a pass is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A call that bears on the criterion shows it. Where nothing is said, as in verdicts of earlier versions, this is meant.
    #[default]
    Proof,
    /// Only the shape of the output was looked at, or how a command ended that the criterion does not name.
    Form,
    /// A judgement of taste.
    Opinion,
}

impl Strength {
    /// Returns whether the strength is proof: a call shows that the criterion holds.
    #[must_use]
    pub const fn is_proof(&self) -> bool {
        matches!(self, Strength::Proof)
    }
}

/// Who judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// Code, by a check.
    Check,
    /// A model, with cited evidence.
    Model,
}

/// What a verdict rests on: a call, or the output itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Cite {
    /// The output.
    Output(OutputWord),
    /// A call.
    Call(CallId),
}

/// The word `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputWord {
    /// The word.
    Output,
}

impl Cite {
    /// The citation of the output itself.
    pub const OUTPUT: Cite = Cite::Output(OutputWord::Output);

    /// Returns the cited call; `None` if the output is cited.
    #[must_use]
    pub const fn call(&self) -> Option<CallId> {
        match self {
            Cite::Output(_) => None,
            Cite::Call(call) => Some(*call),
        }
    }
}
