//! What R7 (GGS) writes to memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setpoint_control::MacroState;

use crate::id::{MegramId, ToolId};
use crate::message::subtask::ApproachName;
use crate::time::Timestamp;
use crate::tool::Source;

/// One immutable record of experience.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Megram {
    /// Its id.
    pub id: MegramId,
    /// Its layer.
    pub level: Level,
    /// When.
    pub created_at: Timestamp,
    /// First half of its tag pair.
    pub space: String,
    /// Second half.
    pub entity: String,
    /// What was learned.
    pub content: Insight,
    /// The state that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<MacroState>,
    /// Strength, 0 to 1.
    pub f: f64,
    /// Valence, −1 to 1.
    pub sigma: f64,
    /// Decay a day.
    pub k: f64,
    /// The language models that know all of what it is made of, by name; whoever writes it down sees to that. None for what
    /// was learnt without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_to: Vec<String>,
    /// Where the tasks that it was learnt in had read text that somebody elsewhere wrote: at most
    /// [`LESSON_SOURCES_MAX`](crate::limits::LESSON_SOURCES_MAX). The one who writes it down sees to that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Source>,
}

/// The four layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Level {
    /// Raw.
    M,
    /// Knowledge.
    K,
    /// Common sense.
    C,
    /// Thinking.
    T,
}

/// What was learned, not a tool log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Insight {
    /// The lesson, in words.
    pub lesson: String,
    /// What kind of lesson.
    pub category: InsightCategory,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Tools it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolId>,
    /// Targets it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Playbooks' approaches that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approaches: Vec<ApproachName>,
    /// The plan it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_fingerprint: Option<String>,
    /// Criteria that failed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_criteria: Vec<String>,
}

impl Insight {
    /// Creates a lesson of this kind with no other content.
    #[must_use]
    pub fn new(lesson: String, category: InsightCategory) -> Self {
        Insight {
            lesson,
            category,
            tags: Vec::new(),
            tools: Vec::new(),
            targets: Vec::new(),
            approaches: Vec::new(),
            plan_fingerprint: None,
            failed_criteria: Vec::new(),
        }
    }
}

/// What kind of lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InsightCategory {
    /// Something is so.
    Fact,
    /// Something works.
    Procedure,
    /// Something must not be done.
    Constraint,
}

/// Evidence against a rule that was applied or overridden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NegativeFeedback {
    /// The rule.
    pub rule_id: MegramId,
    /// What happened.
    pub content: Insight,
}
