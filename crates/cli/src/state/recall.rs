//! What memory gave to the last plan, and what the plan did with it.

use serde::Serialize;
use setpoint_protocol::MegramId;
use setpoint_protocol::message::{
    Availability, DispatchManifest, Megram, MemoryReply, Potentials, RuleRef, SopKind,
};

/// The answer of memory to a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recall {
    /// Why memory could not be asked; then it gave nothing.
    pub unavailable: Option<String>,
    /// The sums of the pair that this task belongs to, and the action that follows from them.
    pub potentials: Potentials,
    /// What it gave, from prohibitions to facts.
    pub given: Vec<RecalledItem>,
    /// Best practices that the plan follows.
    pub applied: Vec<MegramId>,
    /// Rules that the plan breaks, because no plan could be made otherwise.
    pub overridden: Vec<MegramId>,
    /// Records withheld from the task's language models, because they were learnt without them.
    pub withheld: u32,
}

/// One item that memory gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecalledItem {
    /// The record's id.
    pub id: MegramId,
    /// Its kind.
    pub what: RecalledKind,
    /// Its text.
    pub text: String,
}

/// The kind of an item that memory gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecalledKind {
    /// A rule against something.
    Constraint,
    /// A call that failed.
    Avoided,
    /// A rule for something.
    BestPractice,
    /// A record of what worked.
    Worked,
    /// A record of what failed.
    Failed,
    /// A record that is neither.
    Noted,
    /// A record of what worked elsewhere and might work here.
    Hypothesis,
    /// A record of another kind of task.
    Related,
    /// A fact that the operator stated.
    Fact,
}

impl RecalledKind {
    /// Returns the words before the text.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            RecalledKind::Constraint => "must not",
            RecalledKind::Avoided => "avoids",
            RecalledKind::BestPractice => "prefers",
            RecalledKind::Worked => "worked",
            RecalledKind::Failed => "failed",
            RecalledKind::Noted => "noted",
            RecalledKind::Hypothesis => "might try",
            RecalledKind::Related => "related",
            RecalledKind::Fact => "fact",
        }
    }
}

impl Recall {
    /// Returns what a reply of memory gives.
    #[must_use]
    pub fn of(reply: MemoryReply) -> Self {
        let MemoryReply {
            availability,
            reason,
            rules,
            potentials,
            records,
            related,
            hypotheses,
            facts,
            avoided,
            withheld,
            ..
        } = reply;
        let unavailable = match availability {
            Availability::Available => None,
            Availability::Unavailable => Some(reason.unwrap_or_else(|| "it is not running".to_owned())),
        };
        let item = |id, what, text| RecalledItem { id, what, text };
        let rules = rules.into_iter().map(|rule| match rule.kind {
            SopKind::BestPractice => item(rule.id, RecalledKind::BestPractice, rule.rule),
            SopKind::Constraint => item(rule.id, RecalledKind::Constraint, rule.rule),
        });
        let avoided = avoided.into_iter().map(|call| {
            let text = format!("{} on {}: {}", call.tool, call.target, call.evidence.content.lesson);
            item(call.evidence.id, RecalledKind::Avoided, text)
        });
        let records = records.into_iter().map(|record| {
            let what = match record.sigma {
                sigma if sigma > 0.0 => RecalledKind::Worked,
                sigma if sigma < 0.0 => RecalledKind::Failed,
                _ => RecalledKind::Noted,
            };
            item(record.id, what, record.content.lesson)
        });
        let of_kind = |records: Vec<Megram>, what| {
            records.into_iter().map(move |record| item(record.id, what, record.content.lesson))
        };
        let hypotheses = of_kind(hypotheses, RecalledKind::Hypothesis);
        let related = of_kind(related, RecalledKind::Related);
        let facts = of_kind(facts, RecalledKind::Fact);
        let mut given: Vec<RecalledItem> =
            rules.chain(avoided).chain(records).chain(hypotheses).chain(related).chain(facts).collect();
        given.sort_by_key(|given| given.what);
        Recall { unavailable, potentials, given, applied: Vec::new(), overridden: Vec::new(), withheld }
    }

    /// Records which rules the plan follows and which it breaks.
    pub(super) fn planned(&mut self, manifest: &DispatchManifest) {
        let ids = |rules: &[RuleRef]| rules.iter().map(|rule| rule.id.clone()).collect();
        self.applied = ids(&manifest.applied_rules);
        self.overridden = ids(&manifest.overridden_rules);
    }

    /// Returns whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unavailable.is_none() && self.given.is_empty() && self.withheld == 0
    }
}
