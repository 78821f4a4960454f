//! A task's asks that are open, and its approvals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use setpoint_protocol::message::ApprovalWord;
use setpoint_protocol::record::Purpose;
use setpoint_protocol::{CallId, Instance, RoleId, Timestamp};

use super::super::body::{ApprovalRequest, Decision, Question};

/// Open asks and grants.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Asks {
    #[serde(with = "as_pairs")]
    pub(super) open: BTreeMap<CallId, UnansweredAsk>,
    /// Unanswered questions to people; for an approval, the digest to be allowed, and what an approval for the whole task
    /// covers beside it.
    #[serde(with = "as_pairs")]
    people: BTreeMap<CallId, Option<(String, Option<String>)>>,
    /// Whether R3's tool calls succeeded; only R3's calls are judged.
    #[serde(with = "as_pairs")]
    pub(super) came: BTreeMap<CallId, bool>,
    grants: BTreeMap<String, Grant>,
    /// Model answers that may still prove unusable: a repeated question follows in the same step.
    pub(super) said: Vec<RecordedAnswer>,
    /// Questions of R3's model in the current attempt, by instance.
    pub(super) executing: BTreeMap<u16, u32>,
    /// Plan calls of the round.
    pub(super) planning: u32,
    /// Calls of language models. Steps of the embedded brain do not count.
    pub(super) attempts: u64,
    /// Tokens of all answers, inherited ones included.
    pub(super) tokens: u64,
    pub(super) has_overrun_calls: bool,
    pub(super) has_overrun_tokens: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UnansweredAsk {
    pub(super) seq: u64,
    /// When the current attempt began.
    pub(super) at: Timestamp,
    /// Number of recorded attempts.
    pub(super) attempts: u64,
    pub(super) what: AskKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum AskKind {
    Model(Purpose),
    Tool { tool: String, grant: Option<String> },
    Timer,
    Survey,
}

/// An approval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Grant {
    is_for_task: bool,
    /// Number of uses left.
    left: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecordedAnswer {
    pub(super) seq: u64,
    pub(super) role: RoleId,
    pub(super) model: String,
    pub(super) purpose: Purpose,
    pub(super) wished_for_tools: bool,
}

impl Asks {
    pub(super) fn on_question(&mut self, question: &Question) {
        self.people.insert(question.call_id, None);
    }

    pub(super) fn on_approval_request(&mut self, request: ApprovalRequest) {
        self.people.insert(request.call_id, Some((request.need.digest, request.need.scope)));
    }

    pub(super) fn on_reply(&mut self, question: &Question) {
        self.people.remove(&question.call_id);
    }

    /// Grants exactly what was asked for, and nothing else.
    pub(super) fn on_decision(&mut self, decision: &Decision) {
        let asked = self.people.remove(&decision.call_id).flatten();
        let Some((_, scope)) = asked.filter(|(digest, _)| *digest == decision.digest) else { return };
        match decision.decision {
            ApprovalWord::Never => {}
            word @ (ApprovalWord::Once | ApprovalWord::ForTask) => {
                let grant = self.grants.entry(decision.digest.clone()).or_default();
                grant.is_for_task |= word == ApprovalWord::ForTask;
                grant.left += 1;
                if let Some(scope) = scope.filter(|_| word == ApprovalWord::ForTask) {
                    self.grants.insert(scope, Grant { is_for_task: true, left: 0 });
                }
            }
        }
    }

    pub(super) fn waits_for_a_person(&self) -> bool {
        !self.people.is_empty()
    }

    pub(super) fn runs_a_tool(&self) -> bool {
        self.open.values().any(|open| matches!(open.what, AskKind::Tool { .. }))
    }

    /// Returns the oldest open ask, in words. Timers do not count.
    pub(super) fn oldest_under_way(&self) -> Option<(CallId, String)> {
        let under_way = self.open.iter().filter(|(_, open)| open.what != AskKind::Timer);
        let (call, open) = under_way.min_by_key(|(_, open)| open.seq)?;
        let what = match &open.what {
            AskKind::Model(purpose) => format!("a question to a model ({})", purpose.name()),
            AskKind::Tool { tool, .. } => format!("a call of {tool}"),
            AskKind::Survey => "a survey".to_owned(),
            AskKind::Timer => return None,
        };
        Some((*call, what))
    }

    /// Returns whether R3's tool call succeeded; `None` if it never ran.
    pub(super) fn has_succeeded(&self, call: CallId) -> Option<bool> {
        self.came.get(&call).copied()
    }

    /// Resets the round's plan calls.
    pub(super) fn planned(&mut self) {
        self.planning = 0;
    }

    /// Ends this instance's attempt.
    pub(super) fn executed(&mut self, instance: Instance) {
        self.executing.remove(&instance.0);
    }

    pub(super) fn use_grant(&mut self, digest: &str) -> bool {
        match self.grants.get_mut(digest) {
            Some(grant) if grant.is_for_task => true,
            Some(grant) if grant.left > 0 => {
                grant.left -= 1;
                true
            }
            _ => false,
        }
    }
}

/// Serialises maps as pairs, because JSON keys can only be text.
mod as_pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K, V, S>(map: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error>
    where
        K: Serialize,
        V: Serialize,
        S: Serializer,
    {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?.into_iter().collect())
    }
}
