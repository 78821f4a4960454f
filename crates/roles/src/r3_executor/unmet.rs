//! Claims of R3's model that a criterion cannot hold here: matched with the criteria and the calls, and left to R4a
//! to judge.

use std::sync::Arc;

use setpoint_extract::draft::UnmetDraft;
use setpoint_protocol::CallId;
use setpoint_protocol::message::{Criterion, Unmet};
use setpoint_protocol::tool::{Phase, ToolRecord};

use crate::evidence::call_ids;
use crate::line::one_line;

/// Maximum characters of a claim's reason and of its needs.
const WHY_CHARS_MAX: usize = 600;
/// At most this many calls per claim.
const SEEN_MAX: usize = 8;

/// Returns the claims about criteria of the sub-task, one each. Calls that were not made or gave no result are left
/// out.
pub(super) fn claims(
    drafts: &[UnmetDraft],
    criteria: &[Criterion],
    records: &[Arc<ToolRecord>],
) -> Vec<Unmet> {
    let of = |criterion: &Criterion| drafts.iter().find(|draft| is_about(draft, criterion));
    let claim = |criterion: &Criterion| {
        let draft = of(criterion)?;
        let has_run = |id: &CallId| {
            records.iter().any(|call| call.call_id == *id && call.phase == Phase::Work && call.shows_a_lack())
        };
        let mut seen: Vec<CallId> = Vec::new();
        for id in draft.seen.iter().flat_map(|words| call_ids(words)).filter(has_run) {
            if seen.len() < SEEN_MAX && !seen.contains(&id) {
                seen.push(id);
            }
        }
        Some(Unmet {
            criterion_id: criterion.id.clone(),
            why: one_line(&draft.why, WHY_CHARS_MAX),
            seen,
            needs: draft
                .needs
                .as_deref()
                .map(|needs| one_line(needs, WHY_CHARS_MAX))
                .filter(|needs| !needs.is_empty()),
        })
    };
    criteria.iter().filter_map(claim).collect()
}

/// Returns whether a claim is about the criterion; a model may give its id or its sentence.
fn is_about(draft: &UnmetDraft, criterion: &Criterion) -> bool {
    let named = draft.criterion.trim();
    named == criterion.id.as_str() || named == criterion.criterion
}
