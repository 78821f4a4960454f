//! The parts of a repair call: why the previous answer was unusable, and the answer itself.

use setpoint_machine::Prompt;
use setpoint_machine::brief::Repair;

/// Maximum characters of the problems of an unusable answer.
const ERROR_CHARS_MAX: usize = 500;
/// Maximum characters of the problems of a judge's answer, which are listed by criterion.
const PROBLEMS_CHARS_MAX: usize = 2_100;
/// Maximum characters of a judge's unusable answer.
const VERDICTS_CHARS_MAX: usize = 4_000;

/// Shows an unusable reply, at most `chars_max` characters of it.
pub(crate) fn last_reply(prompt: Prompt, repair: Option<&Repair>, chars_max: usize) -> Prompt {
    let Some(Repair { error, previous }) = repair else { return prompt };
    let error = format!("Your last reply could not be used: {error}. It is shown below; reply again.");
    prompt.task("repair", error, ERROR_CHARS_MAX).data("last_reply", previous, chars_max)
}

/// Shows a judge's unusable answer.
pub(crate) fn answer_before(prompt: Prompt, repair: Option<&Repair>) -> Prompt {
    let Some(Repair { error, previous }) = repair else { return prompt };
    let error = format!("The answer before could not be used: {error}. Answer again, whole.");
    prompt.data("the answer before", previous, VERDICTS_CHARS_MAX).task("repair", error, PROBLEMS_CHARS_MAX)
}
