//! A model's verdicts on some criteria, with at most one repair.

use std::collections::{BTreeMap, BTreeSet};

use setpoint_extract::draft::VerdictDraft;
use setpoint_extract::{Draft, ExtractError, extract};
use setpoint_machine::brief::Repair;
use setpoint_protocol::CriterionId;
use setpoint_protocol::message::{Criterion, VerdictWord};
use setpoint_protocol::record::{Answer, ModelFailure};
use setpoint_protocol::text::{clip, head_and_tail};

use super::case::Case;
use super::settle::{
    EVIDENCE_CHARS_MAX, SettledVerdict, lacks_a_citation, settle, settle_impossible, unjudged,
};
use crate::answer::reply_of;

/// Maximum characters of the problems listed in a repair call.
const PROBLEMS_CHARS_MAX: usize = 2_000;
/// Maximum characters of an unusable answer that the repair call quotes.
const PREVIOUS_CHARS_MAX: usize = 4_000;
/// Reason for a criterion that stays unjudged although the judge answered.
const NO_VERDICT: &str = "the judge gave no usable verdict";

/// How a failure without a class gets one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoClass {
    /// The holder of the hearing asks in a separate call.
    AskedLater,
    /// The repair call asks for it.
    AskedInRepair,
}

/// A hearing of some criteria: one answer and at most one repair.
#[derive(Clone, Debug)]
pub struct Hearing {
    criteria: Vec<Criterion>,
    given: BTreeMap<CriterionId, VerdictDraft>,
    /// Criteria that may be found impossible here: a finding claims so and cites calls that ran.
    claimed: BTreeSet<CriterionId>,
    no_class: NoClass,
    repaired: bool,
    why_unjudged: String,
    /// Whether the judge's service was unavailable at the last call.
    outage: bool,
}

impl Hearing {
    /// Opens a hearing of these criteria.
    #[must_use]
    pub fn of(criteria: Vec<Criterion>, no_class: NoClass) -> Self {
        Hearing {
            criteria,
            given: BTreeMap::new(),
            claimed: BTreeSet::new(),
            no_class,
            repaired: false,
            why_unjudged: NO_VERDICT.to_owned(),
            outage: false,
        }
    }

    /// Allows these criteria to be found impossible here.
    #[must_use]
    pub fn with_claims(mut self, claimed: BTreeSet<CriterionId>) -> Self {
        self.claimed = claimed;
        self
    }

    /// Returns the criteria under judgement.
    #[must_use]
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }

    /// Takes the answer to a question about the criteria; returns the repair if the judge should be asked again. `hear`
    /// passes on the verdicts of a draft.
    pub(crate) fn take<D: Draft>(
        &mut self,
        answer: &Answer,
        hear: impl FnOnce(&mut Self, D) -> Option<String>,
    ) -> Option<Repair> {
        let (error, text) = match reply_of(answer) {
            Err(failure) => (self.unanswered(failure), String::new()),
            Ok(reply) => {
                let text = reply.text();
                let error = match extract::<D>(&text) {
                    Ok(draft) => hear(self, draft),
                    Err(error) => self.unreadable(&error),
                };
                (error, text)
            }
        };
        error.map(|error| Repair { error, previous: head_and_tail(&text, PREVIOUS_CHARS_MAX) })
    }

    /// Takes verdicts; returns what is wrong with them if the judge should be asked again. `more` lists other
    /// problems of the answer. A criterion with exactly one verdict is judged; one with none or several is not.
    pub fn hear(
        &mut self,
        drafts: Vec<VerdictDraft>,
        mut more: Vec<String>,
        case: &Case<'_>,
    ) -> Option<String> {
        self.why_unjudged = NO_VERDICT.to_owned();
        self.outage = false;
        let mut by_id: BTreeMap<String, Vec<VerdictDraft>> = BTreeMap::new();
        for mut draft in drafts {
            draft.evidence = clip(draft.evidence.trim(), EVIDENCE_CHARS_MAX);
            by_id.entry(draft.criterion_id.trim().to_owned()).or_default().push(draft);
        }
        for criterion in &self.criteria {
            let mut verdicts = by_id.remove(criterion.id.as_str()).unwrap_or_default();
            match (verdicts.pop(), verdicts.len()) {
                (Some(draft), 0) => {
                    more.extend(self.flaw(criterion, &draft, case));
                    self.given.insert(criterion.id.clone(), draft);
                }
                (None, _) => more.push(format!("{} has no verdict", criterion.id)),
                (Some(_), others) => {
                    more.push(format!("{} has {} verdicts instead of one", criterion.id, others + 1));
                    self.given.remove(&criterion.id);
                }
            }
        }
        if !by_id.is_empty() {
            more.push(format!("{} ids name no criterion that was asked for", by_id.len()));
        }
        if more.is_empty() { None } else { self.repair(&more.join("; ")) }
    }

    /// Takes an unreadable answer; returns why the judge should be asked again, if it should.
    fn unreadable(&mut self, error: &ExtractError) -> Option<String> {
        self.why_unjudged = NO_VERDICT.to_owned();
        self.outage = false;
        self.repair(&format!("failed to {error}"))
    }

    /// Takes a failed call; returns the reason if another try may help.
    fn unanswered(&mut self, failure: Option<&ModelFailure>) -> Option<String> {
        let reason = failure.map_or("the call was interrupted", |failure| failure.reason.as_str());
        self.why_unjudged = format!("the judge did not answer: {}", clip(reason, 300));
        let may_help = failure.is_none_or(|failure| failure.kind.retryable());
        self.outage = failure.is_some_and(|failure| failure.kind.retryable());
        if may_help { self.repair("there was no answer") } else { None }
    }

    /// Returns whether the criterion is under judgement.
    #[must_use]
    pub fn hears(&self, criterion: &CriterionId) -> bool {
        self.criteria.iter().any(|heard| heard.id == *criterion)
    }

    /// Returns whether any criterion has a verdict.
    #[must_use]
    pub fn has_judged(&self) -> bool {
        !self.given.is_empty()
    }

    /// Returns whether the criterion has no verdict because the judge's service was unavailable.
    #[must_use]
    pub fn missed(&self, criterion: &CriterionId) -> bool {
        self.outage && self.hears(criterion) && !self.given.contains_key(criterion)
    }

    /// Returns whether the judge gave a verdict on the criterion.
    pub(crate) fn has_verdict_on(&self, criterion: &CriterionId) -> bool {
        self.given.contains_key(criterion)
    }

    /// Returns the verdict on one of its criteria, as far as the evidence supports it.
    #[must_use]
    pub fn verdict(&self, criterion: &Criterion, case: &Case<'_>) -> SettledVerdict {
        // The sentence may say more than the plan's.
        let heard = self.criteria.iter().find(|heard| heard.id == criterion.id);
        let criterion = heard.unwrap_or(criterion);
        match self.given.get(&criterion.id) {
            Some(draft) if draft.cannot && self.claimed.contains(&criterion.id) => {
                settle_impossible(criterion, draft, case)
            }
            Some(draft) => settle(criterion, draft, case),
            None => unjudged(criterion, &self.why_unjudged),
        }
    }

    fn flaw(&self, criterion: &Criterion, draft: &VerdictDraft, case: &Case<'_>) -> Option<String> {
        if lacks_a_citation(criterion, draft, case) {
            return Some(format!("{} passes but cites no call that shows it", criterion.id));
        }
        let wanted = self.no_class == NoClass::AskedInRepair
            && draft.verdict == VerdictWord::Fail
            && settle(criterion, draft, case).class_wanted;
        wanted.then(|| format!("{} fails without a failure_class", criterion.id))
    }

    fn repair(&mut self, error: &str) -> Option<String> {
        if self.repaired {
            return None;
        }
        self.repaired = true;
        Some(clip(error, PROBLEMS_CHARS_MAX))
    }
}
