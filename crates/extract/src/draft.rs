//! The answers of a model, by purpose. A draft is hostile input: roles validate it before it becomes a message.
//!
//! No draft has a field for an id that the runtime makes; one in the text is ignored like any unknown field.

mod turn;

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use setpoint_protocol::Any;
use setpoint_protocol::message::{Approach, FailureClass, Mode, VerdictWord};
use setpoint_protocol::predicate::Check;

pub use turn::TurnDraft;

use crate::class_word;
use crate::wanted::{Draft, List, Speech};

/// R1's answer: an intent, or questions, or an answer to small talk; of a long text its title.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerceiveDraft {
    /// A name for a long text, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// One sentence in the person's words and language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Where the task may act, if the person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// An absolute RFC 3339 time, if the person gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Questions about ambiguous references.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The answer to small talk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// R2's plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDraft {
    /// The sub-tasks.
    pub subtasks: Vec<SubTaskDraft>,
    /// The task's own criteria; on a replan, only additional ones count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_criteria: Vec<CriterionDraft>,
    /// On a replan: own criteria that rest on what is not so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdraw: Vec<WithdrawDraft>,
    /// In place of sub-tasks: the goal cannot be reached here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot: Option<CannotDraft>,
    /// What a person must allow, as lines of an approval file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
}

/// A criterion that R2 takes back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WithdrawDraft {
    /// The criterion's id, as R2 was shown it.
    pub criterion: String,
    /// What it rests on that is not so.
    #[serde(default)]
    pub why: String,
    /// Calls that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
}

/// R2's word that the goal cannot be reached here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CannotDraft {
    /// Why.
    #[serde(default)]
    pub why: String,
    /// Calls that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
    /// What the person would have to supply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
}

/// One sub-task of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubTaskDraft {
    /// What it is for.
    pub intent: String,
    /// What must hold of its result.
    #[serde(default)]
    pub success_criteria: Vec<CriterionDraft>,
    /// Notes for the executor, beside the intent and the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Earlier sub-tasks whose outputs it needs, by their place in this list, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<u32>,
    /// Its group: equal numbers run in parallel, a higher one waits for the lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<i64>,
    /// Tools it may use; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What a person must allow for it, where the plan does not say it as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// When it must be done, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Where a playbook's plan comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<Approach>,
}

/// A criterion: a plain sentence is read as verifiable, without a check.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CriterionDraft {
    /// A sentence.
    Plain(String),
    /// With mode and check.
    Structured {
        /// The sentence.
        criterion: String,
        /// How firmly it can be judged.
        #[serde(default)]
        mode: Mode,
        /// How code judges it. Kept as JSON here, so that a malformed check is a reason and not a lost plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        check: Option<Any>,
        /// The person's words that it rests on, as they wrote them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<String>,
        /// What it rests on that the survey did not show.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assumes: Option<String>,
    },
}

/// Written by hand, because an error inside a derived untagged enum does not say where it is.
impl<'de> Deserialize<'de> for CriterionDraft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CriterionVisitor)
    }
}

struct CriterionVisitor;

#[derive(Deserialize)]
struct StructuredDraft {
    criterion: String,
    #[serde(default)]
    mode: Option<Mode>,
    #[serde(default)]
    check: Option<Any>,
    #[serde(default)]
    asked: Option<String>,
    #[serde(default)]
    assumes: Option<String>,
}

impl<'de> Visitor<'de> for CriterionVisitor {
    type Value = CriterionDraft;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sentence, or an object with the field `criterion`")
    }

    fn visit_str<E: Error>(self, sentence: &str) -> Result<CriterionDraft, E> {
        Ok(CriterionDraft::Plain(sentence.to_owned()))
    }

    fn visit_string<E: Error>(self, sentence: String) -> Result<CriterionDraft, E> {
        Ok(CriterionDraft::Plain(sentence))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<CriterionDraft, A::Error> {
        let read = StructuredDraft::deserialize(MapAccessDeserializer::new(fields))?;
        Ok(CriterionDraft::Structured {
            criterion: read.criterion,
            mode: read.mode.unwrap_or_default(),
            check: read.check,
            asked: read.asked,
            assumes: read.assumes,
        })
    }
}

impl CriterionDraft {
    /// Returns a criterion that code judges.
    #[must_use]
    pub fn checked(criterion: String, check: &Check) -> Self {
        let check = serde_json::to_value(check).ok().map(Any);
        CriterionDraft::Structured { criterion, mode: Mode::Verifiable, check, asked: None, assumes: None }
    }
}

/// R2's report of an abandon.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportDraft {
    /// What was achieved.
    pub achieved: String,
    /// What blocked the rest.
    #[serde(default)]
    pub blocked_by: String,
    /// What a person could try next.
    #[serde(default)]
    pub next_moves: Vec<String>,
}

/// R5's words for a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleDraft {
    /// The rule, in at most two sentences.
    pub rule: String,
}

/// R5's words for what a task taught.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InsightDraft {
    /// What a later task should know.
    pub lesson: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// R3's answer, when it is one JSON value. Other text is a completed output as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecuteDraft {
    /// How R3 sees it.
    pub status: StatusDraft,
    /// The result.
    #[serde(default)]
    pub output: Any,
    /// What R3 doubts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<String>,
    /// Why it is not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Criteria that cannot hold here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<UnmetDraft>,
}

/// A criterion that cannot hold here, as R3 says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnmetDraft {
    /// The criterion's id.
    pub criterion: String,
    /// Why it cannot hold.
    #[serde(default)]
    pub why: String,
    /// Calls that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
    /// What would have to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// How R3 sees its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusDraft {
    /// Done.
    Completed,
    /// Done, with a doubt.
    Uncertain,
    /// Not possible.
    Failed,
}

/// R4a's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeDraft {
    /// One verdict a criterion, by id.
    pub verdicts: Vec<VerdictDraft>,
}

/// One judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictDraft {
    /// The criterion's id.
    pub criterion_id: String,
    /// Pass or fail.
    pub verdict: VerdictWord,
    /// What was seen.
    #[serde(default)]
    pub evidence: String,
    /// Call ids, or `output`.
    #[serde(default)]
    pub cites: Vec<String>,
    /// Whether it fails because something that it rests on is missing here, so that no further work could make it hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cannot: bool,
    /// Why it failed. A word that is no class, such as `none` beside a pass, is none.
    #[serde(default, deserialize_with = "class", skip_serializing_if = "Option::is_none")]
    pub failure_class: Option<FailureClass>,
}

/// R4b's answer. It holds no long text: the merged output is put together by code from the sub-tasks' outputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergeDraft {
    /// One verdict a criterion, by id.
    #[serde(default)]
    pub verdicts: Vec<VerdictDraft>,
    /// What was done, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whose outputs make up the result, by place from 1, in order; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_of: Vec<u32>,
    /// Whose outputs are wrong, by place from 1, where a criterion fails and that can be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_fault: Vec<u32>,
}

fn class<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<FailureClass>, D::Error> {
    let written = Option::<String>::deserialize(deserializer)?;
    Ok(written.as_deref().and_then(class_word).map(|word| match word {
        "logical" => FailureClass::Logical,
        _ => FailureClass::Environmental,
    }))
}

impl Draft for PerceiveDraft {
    const FIELDS: &'static [&'static str] = &["title", "intent", "scope", "deadline", "questions", "answer"];
    const NAMES: &'static [&'static str] = Self::FIELDS;

    fn is_said(&self) -> bool {
        *self != Self::default()
    }
}

impl Draft for PlanDraft {
    const FIELDS: &'static [&'static str] = &["subtasks", "task_criteria", "withdraw", "cannot", "allow"];
    const NAMES: &'static [&'static str] = &[
        "subtasks",
        "task_criteria",
        "intent",
        "success_criteria",
        "context",
        "inputs",
        "sequence",
        "tools",
        "deadline",
        "approach",
        "playbook",
        "params",
        "criterion",
        "mode",
        "check",
        "asked",
        "assumes",
        "withdraw",
        "cannot",
        "why",
        "seen",
        "needs",
        "allow",
    ];
    const LIST: Option<List> = Some(List { field: "subtasks", key: "intent" });
}

impl Draft for ReportDraft {
    const FIELDS: &'static [&'static str] = &["achieved", "blocked_by", "next_moves"];
    const NAMES: &'static [&'static str] = Self::FIELDS;
}

impl Draft for RuleDraft {
    const FIELDS: &'static [&'static str] = &["rule"];
    const NAMES: &'static [&'static str] = Self::FIELDS;
}

impl Draft for InsightDraft {
    const FIELDS: &'static [&'static str] = &["lesson", "tags"];
    const NAMES: &'static [&'static str] = Self::FIELDS;
}

impl Draft for ExecuteDraft {
    const FIELDS: &'static [&'static str] = &["status", "output", "uncertainty", "reason", "unmet"];
    const NAMES: &'static [&'static str] =
        &["status", "output", "uncertainty", "reason", "unmet", "criterion", "why", "seen", "needs"];
    const SPEECH: Speech = Speech::Turn;
}

/// What R4a and R4b give.
const VERDICTS: List = List { field: "verdicts", key: "criterion_id" };

impl Draft for JudgeDraft {
    const FIELDS: &'static [&'static str] = &["verdicts"];
    const NAMES: &'static [&'static str] =
        &["verdicts", "criterion_id", "verdict", "evidence", "cites", "cannot", "failure_class"];
    const LIST: Option<List> = Some(VERDICTS);
}

impl Draft for MergeDraft {
    const FIELDS: &'static [&'static str] = &["verdicts", "summary", "output_of", "at_fault"];
    const NAMES: &'static [&'static str] = &[
        "verdicts",
        "criterion_id",
        "verdict",
        "evidence",
        "cites",
        "cannot",
        "failure_class",
        "summary",
        "output_of",
        "at_fault",
    ];
    const LIST: Option<List> = Some(VERDICTS);

    fn is_said(&self) -> bool {
        *self != Self::default()
    }
}
