//! What must hold for a result to count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::CriterionId;
use crate::predicate::Check;

/// One falsifiable statement about the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    /// Its id, from the runtime.
    pub id: CriterionId,
    /// The statement.
    pub criterion: String,
    /// How firmly it can be judged.
    pub mode: Mode,
    /// How code judges it, where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

/// How firmly a criterion can be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// From evidence alone; a failure weighs 1.
    #[default]
    Verifiable,
    /// By judgement; a failure weighs by how many of its attempts failed.
    Plausible,
}
