//! What needed a person's consent, and what was said to it. It keeps the words that an approval file would need.

use setpoint_protocol::message::{ApprovalDecision, ApprovalRequest};

/// One question for consent.
#[derive(Clone, Debug, PartialEq)]
pub struct Consent {
    /// What was asked.
    pub request: ApprovalRequest,
    /// What was said; `None` while nobody has.
    pub decision: Option<ApprovalDecision>,
}

/// All of them, in the order in which they were asked.
#[derive(Clone, Debug, Default)]
pub struct Consents {
    all: Vec<Consent>,
}

impl Consents {
    /// In the order in which they were asked.
    pub fn iter(&self) -> impl Iterator<Item = &Consent> {
        self.all.iter()
    }

    pub(super) fn asked(&mut self, request: ApprovalRequest) {
        self.all.push(Consent { request, decision: None });
    }

    pub(super) fn decided(&mut self, decision: ApprovalDecision) {
        let mut asked = self.all.iter_mut();
        if let Some(consent) = asked.find(|consent| consent.request.call_id == decision.call_id) {
            consent.decision = Some(decision);
        }
    }
}
