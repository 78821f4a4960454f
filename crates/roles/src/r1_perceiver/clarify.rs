//! Questions to the person about ambiguous references, and their answers.

use setpoint_protocol::message::{Clarification, ClarificationRequest};

use super::phase::{Fx, Goal, Next, Phase};

/// Asks all questions of a round in one request.
pub(super) fn ask_person(mut goal: Goal, questions: Vec<String>, fx: &mut Fx<'_>) -> Next {
    goal.rounds += 1;
    let (round, asked) = (goal.rounds, questions.clone());
    let call = fx.request(|call_id| ClarificationRequest { call_id, round, questions: asked });
    Next::Wait(Phase::Clarifying { call, questions, goal })
}

/// Takes the answers and asks the model again. No answer at all means "go ahead with what you have".
pub(super) fn on_clarification_answer(mut goal: Goal, questions: Vec<String>, answers: &[String]) -> Next {
    goal.go_ahead = answers.iter().all(|answer| answer.trim().is_empty());
    let answers =
        answers.iter().map(|answer| answer.trim().to_owned()).chain(std::iter::repeat(String::new()));
    let answered = questions.into_iter().zip(answers);
    goal.clarifications.extend(answered.map(|(question, answer)| Clarification { question, answer }));
    Next::Ask(goal, None)
}
