//! Combines outputs by code; a model only selects them.

use serde_json::{Value, json};
use setpoint_protocol::Any;
use setpoint_protocol::message::{ManifestEntry, OutcomeStatus, SubTaskOutcome};

/// Returns one output as it is; several as a list of `{intent, output}` in the given order, those of failed sub-tasks
/// marked with `"status": "failed"`; none as `null`.
pub(super) fn merged(parts: &[(&ManifestEntry, &SubTaskOutcome)]) -> Any {
    match parts {
        [] => Any::NULL,
        [(_, outcome)] => outcome.output.clone(),
        parts => {
            let part = |(entry, outcome): &(&ManifestEntry, &SubTaskOutcome)| match outcome.status {
                OutcomeStatus::Matched => json!({ "intent": entry.intent, "output": outcome.output.0 }),
                OutcomeStatus::Failed => {
                    json!({ "intent": entry.intent, "output": outcome.output.0, "status": "failed" })
                }
            };
            Any(Value::Array(parts.iter().map(part).collect()))
        }
    }
}

/// Converts the places (from 1) that a model picked out of `count` to indexes; no pick means all.
pub(super) fn picks(named: &[u32], count: usize) -> (Vec<usize>, bool) {
    let (mut picks, is_sound) = places(named, count);
    if picks.is_empty() {
        picks = (0..count).collect();
    }
    (picks, is_sound)
}

/// Converts the places (from 1) that a model names out of `count` to indexes. Leaves out places that do not exist and
/// duplicates, and returns whether there were any.
pub(super) fn places(places: &[u32], count: usize) -> (Vec<usize>, bool) {
    let mut picks = Vec::new();
    let mut is_sound = true;
    for place in places {
        let index = usize::try_from(*place).ok().and_then(|place| place.checked_sub(1));
        match index.filter(|index| *index < count && !picks.contains(index)) {
            Some(index) => picks.push(index),
            None => is_sound = false,
        }
    }
    (picks, is_sound)
}

#[cfg(test)]
mod tests {
    use super::picks;

    #[test]
    fn only_existing_places_are_picked() {
        assert_eq!(picks(&[], 2), (vec![0, 1], true));
        assert_eq!(picks(&[2], 2), (vec![1], true));
        assert_eq!(picks(&[2, 1], 2), (vec![1, 0], true));
        assert_eq!(picks(&[0, 2, 2, 3, u32::MAX], 2), (vec![1], false));
        assert_eq!(picks(&[9], 2), (vec![0, 1], false));
        assert_eq!(picks(&[1], 0), (vec![], false));
    }
}
