//! The look around before a plan: what is asked for, and what becomes of the answer. The embedded brain reads no survey, so
//! nobody looks for it.

use setpoint_machine::Ctx;
use setpoint_protocol::record::Answer;
use setpoint_protocol::{CallId, RoleId};

use super::machine::{Fx, Phase, Planner};
use super::plan::Attempts;

/// Paths of the person's that are looked at.
const NAMED_MAX: usize = 20;
/// Longest path of the person's in characters that is looked at.
const PATH_CHARS_MAX: usize = 240;

impl Planner {
    /// Has the runtime look around; none where the planner reads no survey.
    pub(super) fn look_around(raw_input: &str, ctx: &Ctx<'_>, fx: &mut Fx<'_>) -> Option<CallId> {
        let is_read = !ctx.opened.models.of(RoleId::Planner).is_free;
        is_read.then(|| fx.survey(named(raw_input)))
    }

    /// Takes what was found, if `call` is the survey that is waited for, and goes on to the plan once memory has answered too.
    pub(super) fn on_survey(&mut self, call: CallId, answer: Answer, ctx: &Ctx<'_>, fx: &mut Fx<'_>) {
        let Phase::Calibrating { survey, .. } = &mut self.phase else { return };
        if *survey != Some(call) {
            return;
        }
        *survey = None;
        if let (Some(task), Answer::Survey(found)) = (&mut self.task, answer) {
            task.survey = Some(*found);
        }
        self.plan_when_ready(ctx, fx);
    }

    /// Asks for the plan when neither memory nor the survey is waited for any more.
    pub(super) fn plan_when_ready(&mut self, ctx: &Ctx<'_>, fx: &mut Fx<'_>) {
        if matches!(self.phase, Phase::Calibrating { query: None, survey: None }) {
            self.ask_plan(Attempts::default(), None, ctx, fx);
        }
    }
}

/// The paths in a text, each once: words with a slash, a tilde or a point in them that are no addresses.
fn named(text: &str) -> Vec<String> {
    let is_mark = |c: char| "\"'`“”«»()[]{}<>,;:!?".contains(c);
    let mut named: Vec<String> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || is_mark(c)) {
        let word = word.trim_end_matches('.');
        let is_path = word.chars().count() <= PATH_CHARS_MAX
            && word.chars().any(char::is_alphanumeric)
            && !word.starts_with("//")
            && !word.contains('@')
            && (word.contains(['/', '~']) || is_file_name(word));
        if is_path && named.len() < NAMED_MAX && !named.iter().any(|known| known == word) {
            named.push(word.to_owned());
        }
    }
    named
}

/// A name with an ending of letters: `main.rs`, and not `3.11`.
fn is_file_name(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && ending.chars().any(char::is_alphabetic)
            && ending.chars().all(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_words() {
        let text = "Fix calc.py (see \"src/my dir\") and tests/, with Python 3.11, then ~/x.txt. Look at \
                    https://a.example/b, mail ada@b.example; and calc.py again. I.e. all.";
        assert_eq!(named(text), ["calc.py", "src/my", "tests/", "~/x.txt", "I.e"]);
        assert_eq!(named(&"a/b1 ".repeat(50)), ["a/b1"]);
        let many: String = (0..50).map(|n| format!("d/{n} ")).collect();
        assert_eq!(named(&many).len(), NAMED_MAX);
    }
}
