//! Requests for consent and their decisions, with the text that an approval file would need.

use setpoint_protocol::message::{ApprovalDecision, ApprovalRequest, PlanDecision};
use setpoint_protocol::tool::ApprovalNeed;

/// The name recorded for a refusal because there is no person to ask.
pub const HEADLESS: &str = "headless";

/// One request for consent.
#[derive(Clone, Debug, PartialEq)]
pub struct Consent {
    pub request: ApprovalRequest,
    /// The decision; `None` while it is open.
    pub decision: Option<ApprovalDecision>,
}

/// All requests, in order.
#[derive(Clone, Debug, Default)]
pub struct Consents {
    all: Vec<Consent>,
    /// Lines of an approval file that the person allowed for the task.
    allowed: Vec<String>,
    /// What plans said that a person must allow.
    needed: Vec<String>,
}

impl Consents {
    /// Returns the requests, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Consent> {
        self.all.iter()
    }

    /// Returns what was refused because there was no person to ask, without duplicates.
    #[must_use]
    pub fn refused_unasked(&self) -> Vec<&ApprovalNeed> {
        let is_refused_so =
            |consent: &&Consent| consent.decision.as_ref().is_some_and(|decision| decision.by == HEADLESS);
        let mut needs: Vec<&ApprovalNeed> = Vec::new();
        for consent in self.all.iter().filter(is_refused_so) {
            if !needs.iter().any(|need| need.digest == consent.request.need.digest) {
                needs.push(&consent.request.need);
            }
        }
        needs
    }

    /// Returns what the person allowed for the task, as lines of an approval file.
    #[must_use]
    pub fn allowed(&self) -> &[String] {
        &self.allowed
    }

    /// Returns whether the person has decided on this need of a plan.
    #[must_use]
    pub fn is_settled(&self, need: &String) -> bool {
        self.needed.contains(need) || self.allowed.contains(need)
    }

    pub(super) fn plan_decided(&mut self, decision: PlanDecision, needs: Vec<String>) {
        self.allowed.extend(decision.allows);
        self.needed.extend(needs);
    }

    pub(super) fn asked(&mut self, request: ApprovalRequest) {
        self.all.push(Consent { request, decision: None });
    }

    pub(super) fn decided(&mut self, decision: ApprovalDecision) {
        let mut asked = self.all.iter_mut();
        self.allowed.extend(decision.allows.iter().cloned());
        if let Some(consent) = asked.find(|consent| consent.request.call_id == decision.call_id) {
            consent.decision = Some(decision);
        }
    }
}
