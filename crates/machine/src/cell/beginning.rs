//! Records the prompts of a conversation: the beginning shared with the previous prompt is recorded once.

use setpoint_protocol::CallId;
use setpoint_protocol::record::{FragmentHash, PromptStart};

/// Minimum number of shared fragments for a reference; shorter prompts are recorded whole.
const COUNT_MIN: usize = 16;

/// The last prompt of a machine.
#[derive(Debug, Default)]
pub(super) struct LastPrompt {
    call: Option<CallId>,
    fragments: Vec<FragmentHash>,
}

impl LastPrompt {
    /// Returns what to record of the next prompt: where its beginning is recorded, and the fragments that follow.
    pub(super) fn next(
        &mut self,
        call: CallId,
        fragments: &[FragmentHash],
    ) -> (Option<PromptStart>, Vec<FragmentHash>) {
        let same = self.fragments.iter().zip(fragments).take_while(|(one, other)| one == other).count();
        let before = self.call.replace(call).filter(|_| same >= COUNT_MIN);
        self.fragments = fragments.to_vec();
        let start = before.zip(u32::try_from(same).ok()).map(|(call, count)| PromptStart { call, count });
        let recorded = if start.is_some() { same } else { 0 };
        (start, fragments.iter().skip(recorded).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_prompt_is_recorded_by_what_it_adds() {
        let hashes = |range: std::ops::Range<usize>| -> Vec<FragmentHash> {
            range.map(|n| FragmentHash::of(&n.to_string())).collect()
        };
        let call = |n: u32| format!("r3.1/{n}").parse::<CallId>().unwrap();
        let mut last = LastPrompt::default();
        assert_eq!(last.next(call(1), &hashes(0..20)), (None, hashes(0..20)));
        let start = PromptStart { call: call(1), count: 20 };
        assert_eq!(last.next(call(2), &hashes(0..23)), (Some(start), hashes(20..23)));
        // A fragment in the middle was left out, so everything after it is recorded again.
        let mut cut = hashes(0..26);
        cut.remove(18);
        let start = PromptStart { call: call(2), count: 18 };
        assert_eq!(last.next(call(3), &cut), (Some(start), hashes(19..26)));
        // A prompt with a short shared beginning is recorded whole.
        let other: Vec<FragmentHash> = hashes(0..3).into_iter().chain(hashes(90..120)).collect();
        assert_eq!(last.next(call(4), &other), (None, other.clone()));
    }
}
