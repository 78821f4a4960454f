//! Groups and inputs: the order of sub-tasks, and which outputs each receives.

use std::collections::BTreeSet;

use setpoint_extract::draft::SubTaskDraft;

use super::ValidSubTask;
use super::refusal::Reasons;

/// Assigns groups and inputs to the planned sub-tasks (`None`: left out, because its output is already known).
///
/// Groups are 1..n in the order of the model's numbers, whatever these are; a missing number is 1. An input must be
/// another sub-task of a lower group: code does not guess which of two contradicting statements was meant.
pub(super) fn arrange(planned: &mut [Option<ValidSubTask>], drafts: &[SubTaskDraft], reasons: &mut Reasons) {
    let written = |draft: &SubTaskDraft| draft.sequence.unwrap_or(1);
    let present = || planned.iter().zip(drafts).filter(|(subtask, _)| subtask.is_some());
    let groups: BTreeSet<i64> = present().map(|(_, draft)| written(draft)).collect();
    // Maps each place of the draft to its index without those left out.
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
