//! Groups and inputs: what runs when, and whose output reaches whom.

use std::collections::BTreeSet;

use setpoint_machine::draft::SubTaskDraft;

use super::ValidSubTask;
use super::refusal::Reasons;

/// Gives the planned sub-tasks (`None`: left out, its output is there already) their groups and inputs.
///
/// Groups are 1..n in the order of the numbers that the model wrote, whatever these are; none written is 1. An
/// input must be another sub-task of a lower group: which of two contradicting statements was meant is not for
/// code to guess.
pub(super) fn arrange(planned: &mut [Option<ValidSubTask>], drafts: &[SubTaskDraft], reasons: &mut Reasons) {
    let written = |draft: &SubTaskDraft| draft.sequence.unwrap_or(1);
    let present = || planned.iter().zip(drafts).filter(|(subtask, _)| subtask.is_some());
    let groups: BTreeSet<i64> = present().map(|(_, draft)| written(draft)).collect();
    // Where each place of the draft stands once those left out are gone.
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut next = 0;
    for subtask in planned.iter() {
        places.push(subtask.is_some().then_some(next));
        next += usize::from(subtask.is_some());
    }
    for (i, (subtask, draft)) in planned.iter_mut().zip(drafts).enumerate() {
        let Some(subtask) = subtask else { continue };
        let before = groups.range(..written(draft)).count();
        subtask.sequence = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
        let mut inputs = BTreeSet::new();
        for &input in &draft.inputs {
            let place = usize::try_from(input).ok().and_then(|place| place.checked_sub(1));
            let source = place.and_then(|place| Some((drafts.get(place)?, *places.get(place)?)));
            match source {
                None => reasons.add(&format!("sub-task {}", i + 1), format!("needs the output of sub-task {input}, which does not exist")),
                Some((_, None)) => {}
                Some((source, Some(place))) if written(source) < written(draft) => {
                    inputs.insert(place);
                }
                Some(_) => reasons.add(
                    &format!("sub-task {}", i + 1),
                    format!("needs the output of sub-task {input}, which does not run before it; give it a higher `sequence`"),
                ),
            }
        }
        subtask.inputs = inputs.into_iter().collect();
    }
}
