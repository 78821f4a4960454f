//! What needed a person's consent, and what was said to it. It keeps the words that an approval file would need.

use setpoint_protocol::message::{ApprovalDecision, ApprovalRequest};

/// The name recorded for a refusal where there is no person to ask.
pub const HEADLESS: &str = "headless";

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

    /// The digests of what was refused because there was no person to ask, each once.
    #[must_use]
    pub fn refused_unasked(&self) -> Vec<&str> {
        let is_refused_so =
            |consent: &&Consent| consent.decision.as_ref().is_some_and(|decision| decision.by == HEADLESS);
        let mut digests: Vec<&str> = Vec::new();
        for consent in self.all.iter().filter(is_refused_so) {
            if !digests.contains(&consent.request.need.digest.as_str()) {
                digests.push(&consent.request.need.digest);
            }
        }
        digests
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
