//! R4a's question about criteria that code could not judge. The embedded brain cannot judge prose and says so. It can
//! classify a failure found by a check, because the class follows from the calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use setpoint_extract::draft::{JudgeDraft, VerdictDraft};
use setpoint_machine::brief::JudgeBrief;
use setpoint_protocol::CriterionId;
use setpoint_protocol::message::{FailureClass, VerdictWord};
use setpoint_protocol::tool::{Phase, ToolRecord};

pub(crate) fn judge(brief: &JudgeBrief) -> JudgeDraft {
    let class = class_of(&brief.calls);
    let to_class: BTreeSet<&CriterionId> = brief.classify.iter().collect();
    let classed = brief.classify.iter().map(|id| VerdictDraft {
        evidence: "what failed was found by a check; its class follows from the calls".to_owned(),
        failure_class: class,
        ..not_judged(id)
    });
    let rest = brief.criteria.iter().map(|criterion| &criterion.id).filter(|id| !to_class.contains(id));
    JudgeDraft { verdicts: classed.chain(rest.map(not_judged)).collect() }
}

/// Returns the verdict on a criterion without a check.
pub(crate) fn not_judged(id: &CriterionId) -> VerdictDraft {
    VerdictDraft {
        criterion_id: id.to_string(),
        verdict: VerdictWord::Fail,
        evidence: "the embedded brain judges nothing that has no check".to_owned(),
        cites: Vec::new(),
        cannot: false,
        failure_class: None,
    }
}

/// Returns the failure class of the last attempt's calls: environmental if a call failed that way, then that of other
/// failed calls; logical if all succeeded. `None` if there were no calls, or all failed ones were refused.
fn class_of(calls: &[Arc<ToolRecord>]) -> Option<FailureClass> {
    let last = calls.iter().map(|record| record.attempt).max()?;
    let work: Vec<&Arc<ToolRecord>> =
        calls.iter().filter(|record| record.attempt == last && record.phase == Phase::Work).collect();
    let failed: Vec<&Arc<ToolRecord>> = work.iter().copied().filter(|record| !record.ok).collect();
    if failed.is_empty() {
        return (!work.is_empty()).then_some(FailureClass::Logical);
    }
    let classes: Vec<FailureClass> =
        failed.iter().filter_map(|record| record.error_kind?.failure_class()).collect();
    if classes.contains(&FailureClass::Environmental) {
        Some(FailureClass::Environmental)
    } else {
        classes.first().copied()
    }
}
