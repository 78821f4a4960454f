//! Renders the goal and the machine as text.

use setpoint_protocol::limits::INTENT_CHARS_MAX;
use setpoint_protocol::message::TaskSpec;
use setpoint_protocol::record::Surroundings;

use crate::line::one_line;

/// Maximum length of the goal with what belongs to it, in characters.
pub(super) const GOAL_CHARS_MAX: usize = 8_000;
/// Maximum length of a single line within a fragment, in characters.
pub(super) const LINE_CHARS_MAX: usize = 400;

pub(super) fn goal(spec: &TaskSpec) -> String {
    let mut text = String::new();
    if !is_typed(spec) {
        text.push_str(&format!("The goal, with what it refers to: {}", spec.intent));
    }
    if let Some(scope) = &spec.constraints.scope {
        text.push_str(&format!("\nWhere: {scope}"));
    }
    if let Some(deadline) = &spec.constraints.deadline {
        text.push_str(&format!("\nTo be done by: {deadline}"));
    }
    for clarification in spec.clarifications.iter().filter(|clarification| !clarification.answer.is_empty()) {
        text.push_str(&format!(
            "\nAsked \"{}\", the person said: {}",
            one_line(&clarification.question, LINE_CHARS_MAX),
            clarification.answer
        ));
    }
    text.trim_start().to_owned()
}

/// Returns whether the intent only repeats the person's words, which are shown above it.
fn is_typed(spec: &TaskSpec) -> bool {
    let intent = spec.intent.trim_end_matches('…');
    one_line(&spec.raw_input, INTENT_CHARS_MAX).starts_with(intent)
}

/// What a machine with a sandbox lets a check do.
const SANDBOX: &str = "\nThere is a sandbox: a probe by `shell` may run any one program here, such as the person's own \
    tests: no pipe, list, `!` or substitution, but `python3 -c` and the like. \
    It works on a copy that is thrown away, without network, so it counts for more than the executor's run.";

pub(super) fn surroundings(place: &Surroundings) -> String {
    let programs = match place.programs.as_slice() {
        [] => "none known".to_owned(),
        programs => programs.join(", "),
    };
    let sandbox = if place.has_sandbox { SANDBOX } else { "" };
    format!(
        "Here and now: {}, {}\nWorking directory: {} (home: {})\nPrograms known to be installed: {programs}{sandbox}",
        place.local_time, place.os, place.cwd, place.home
    )
}
