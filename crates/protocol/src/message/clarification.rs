//! R1 asks what an ambiguous reference means; the person answers or declines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::CallId;

/// All questions of one round, in one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClarificationRequest {
    /// The ask that the answer names.
    pub call_id: CallId,
    /// Which round, from 1.
    pub round: u32,
    /// The questions.
    pub questions: Vec<String>,
}

/// Answers in the order of the questions. An empty list, or only empty texts: go ahead with what you have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClarificationAnswer {
    /// The ask that is answered.
    pub call_id: CallId,
    /// One text a question.
    pub answers: Vec<String>,
}

/// A question with its answer, as it travels on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clarification {
    /// What was asked.
    pub question: String,
    /// What was answered; empty when the person let it go.
    pub answer: String,
}
