//! The result of replaying a task: its machines over its own records, and its controller under other settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::any::Any;
use crate::id::{TaskId, ToolId};
use crate::message::{EndedBy, Loss, MacroState, Urgency};

/// A task whose machines were run again over its recorded inputs, without a model, a tool or a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayReport {
    /// The task.
    pub task_id: TaskId,
    /// Records in its journal.
    pub records: u64,
    /// Records that came out as they are stored.
    pub replayed: u64,
    /// Steps that these belong to: one input each, with all that it caused.
    pub steps: u64,
    /// Asks that the machines started in them: models, tools, timers, people, memory.
    pub asks: u64,
    /// Questions of the approval gate whose rule was decided again from the recorded facts.
    #[serde(default)]
    pub rules: u64,
    /// Pieces of prompts that its records name and the journal does not have. A replay does not need them, but what the
    /// models were asked cannot be shown.
    #[serde(default, skip_serializing_if = "is_none_missing")]
    pub fragments_missing: u64,
    /// Whether they were compared byte by byte. A task of another version of the machines' logic is compared by kind and
    /// addressee only.
    pub is_exact: bool,
    /// The version of the logic that made the task.
    pub logic_version: u32,
    /// Whether the task has ended.
    pub is_closed: bool,
    /// The first place where journal and machines disagree, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergencePlace>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_missing(missing: &u64) -> bool {
    *missing == 0
}

/// The workspace of a fork, made of the one that the other task has now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopiedWorkspace {
    /// Where it is.
    pub workspace: String,
    /// Files, folders and links that were copied.
    pub entries: u64,
    /// What was left out: links that lead out of the workspace, and what is neither file nor folder.
    pub left_out: u64,
    /// Some of it, by its path in the workspace.
    pub left_out_named: Vec<String>,
}

/// Where a journal and its machines disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DivergencePlace {
    /// The record.
    pub seq: u64,
    /// What differs.
    pub reason: String,
}

/// A task's controller, run again over what it was told, under other settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rerun {
    /// The task.
    pub task_id: TaskId,
    /// The settings that were tried, each with the recorded value beside it.
    pub settings: Vec<TriedSetting>,
    /// Its decisions, in order.
    pub rounds: Vec<RerunRound>,
    /// The first decision that is another one; none when all of them are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parting: Option<Parting>,
    /// What else a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One setting that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedSetting {
    /// Its bare name, such as `delta`.
    pub name: String,
    /// Its value in the journal.
    pub recorded: Any,
    /// Its value that was tried.
    pub tried: Any,
}

/// One decision of the controller, as it was made and as it would have been.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RerunRound {
    /// Which decision, from 1.
    pub round: u32,
    /// The record that was decided on.
    pub seq: u64,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Decided>,
    /// What would have been. Unknown after the first decision that is another one: what was measured then belongs to the
    /// plans that were really made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Decided>,
}

/// A decision of the controller: a direction, or an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decided {
    /// The loss.
    pub loss: Loss,
    /// ∇L.
    pub grad_l: f64,
    /// The direction, or how it ends.
    pub decision: MacroState,
    /// The rule that ends it, where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<EndedBy>,
    /// How firmly it is worded, where it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urgency: Option<Urgency>,
    /// Tools that the next plan may not use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_tools: Vec<ToolId>,
    /// Targets that the next plan may not use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_targets: Vec<String>,
    /// Why, with the numbers.
    pub rationale: String,
}

/// Where a controller under other settings first decides otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parting {
    /// Which decision, from 1.
    pub round: u32,
    /// In which way.
    pub kind: PartingKind,
}

/// In which way two decisions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartingKind {
    /// Another direction.
    Direction,
    /// The same direction, with other things blocked or in other words.
    Manner,
    /// It would have ended where it went on.
    Ends,
    /// It would have gone on where it ended.
    GoesOn,
    /// It would have ended in another way.
    OtherEnd,
}

impl Decided {
    /// Returns whether the decision ends the task.
    #[must_use]
    pub const fn is_end(&self) -> bool {
        self.ended_by.is_some()
    }

    /// Returns how another decision differs; `None` if it is the same apart from its numbers.
    #[must_use]
    pub fn parts_from(&self, other: &Decided) -> Option<PartingKind> {
        match (self.is_end(), other.is_end()) {
            (false, true) => Some(PartingKind::Ends),
            (true, false) => Some(PartingKind::GoesOn),
            (true, true) => {
                let is_same = self.decision == other.decision && self.ended_by == other.ended_by;
                (!is_same).then_some(PartingKind::OtherEnd)
            }
            (false, false) if self.decision != other.decision => Some(PartingKind::Direction),
            (false, false) => {
                let manner =
                    |one: &Decided| (one.urgency, one.blocked_tools.clone(), one.blocked_targets.clone());
                (manner(self) != manner(other)).then_some(PartingKind::Manner)
            }
        }
    }
}
