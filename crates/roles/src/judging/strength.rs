//! What a pass is worth: whether a call that bears on the criterion shows it, or only the shape of something was looked at.

use setpoint_protocol::ToolId;
use setpoint_protocol::message::{Criterion, Mode, Strength};
use setpoint_protocol::predicate::{Check, CheckOn, Predicate};
use setpoint_protocol::tool::ToolCall;

use super::case::Case;

/// Words of a command that a criterion has to say to name it: the program and what it does.
const NAMING_WORDS: usize = 2;

/// What a pass by a check is worth.
pub(super) fn of_check(criterion: &Criterion, check: &Check, case: &Case<'_>) -> Strength {
    match &check.on {
        // A tool that measures what it measured before finds it again.
        CheckOn::Probe(call) if check.expect.speaks_of_the_output() && did_the_work(call, case) => {
            Strength::Form
        }
        // What an answer looks like says nothing of the world.
        CheckOn::Output => Strength::Form,
        CheckOn::Call { which: Some(which), .. }
            if is_about_the_exit_alone(&check.expect) && !names(&criterion.criterion, which) =>
        {
            Strength::Form
        }
        CheckOn::Call { .. } | CheckOn::Probe(_) => Strength::Proof,
    }
}

/// Whether the work's figures are of the very tool that the probe calls: every call of it that succeeded.
fn did_the_work(probe: &ToolCall, case: &Case<'_>) -> bool {
    let Some(probed) = case.probes.of(probe) else { return false };
    let ids: Vec<&ToolId> = probed.record.tool_ids().collect();
    let mut worked = case.work().filter(|call| call.ok).peekable();
    worked.peek().is_some() && worked.all(|call| call.tool_ids().all(|id| ids.contains(&id)))
}

/// What a pass by a model is worth.
pub(super) const fn of_judgement(criterion: &Criterion, cites_a_call: bool) -> Strength {
    match (criterion.mode, cites_a_call) {
        (Mode::Plausible, _) => Strength::Opinion,
        (Mode::Verifiable, true) => Strength::Proof,
        (Mode::Verifiable, false) => Strength::Form,
    }
}

/// Whether it looks at how a command ended, and at nothing that it printed.
fn is_about_the_exit_alone(expect: &Predicate) -> bool {
    match expect {
        Predicate::ExitCode(_) => true,
        Predicate::All(parts) | Predicate::Any(parts) => parts.iter().all(is_about_the_exit_alone),
        Predicate::Not(part) => is_about_the_exit_alone(part),
        Predicate::TestRun(_)
        | Predicate::Contains(_)
        | Predicate::Matches(_)
        | Predicate::Pointer { .. }
        | Predicate::NumberInRange { .. }
        | Predicate::Rows(_)
        | Predicate::File(_) => false,
    }
}

/// Whether a sentence names the command, by its first words.
fn names(sentence: &str, command: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let is_quote = |c: char| "`'\"“”‘’".contains(c);
        text.split(|c: char| c.is_whitespace() || is_quote(c))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (sentence, mut command) = (words(sentence), words(command));
    command.truncate(NAMING_WORDS);
    !command.is_empty() && sentence.windows(command.len()).any(|said| said == command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_by_its_first_words() {
        for sentence in ["`make check` ends with 0", "make check passes", "after 'make' 'check' all is green"]
        {
            assert!(names(sentence, "make check -j4"), "{sentence}");
        }
        for sentence in ["the checks pass", "`make` ends with 0", "makes check marks", ""] {
            assert!(!names(sentence, "make check"), "{sentence}");
        }
        assert!(names("`true` ends with 0", "true") && !names("it is true.", ""));
    }
}
