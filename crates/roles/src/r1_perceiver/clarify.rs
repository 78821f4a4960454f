//! Questions to the person about ambiguous references, and their answers.

use setpoint_protocol::CallId;
use setpoint_protocol::message::{Clarification, ClarificationRequest};

use super::machine::{Fx, Perceiver, Stage};

impl Perceiver {
    /// Asks all questions of a round in one request.
    pub(super) fn ask_person(&mut self, questions: Vec<String>, fx: &mut Fx<'_>) {
        self.rounds += 1;
        let round = self.rounds;
        let asked = questions.clone();
        let call = fx.request(|call_id| ClarificationRequest { call_id, round, questions: asked });
        self.stage = Stage::Person { call, questions };
    }

    /// Takes the answers and asks the model again. No answer at all means "go ahead with what you have".
    pub(super) fn on_clarification(&mut self, call: CallId, answers: &[String], fx: &mut Fx<'_>) {
        let Stage::Person { call: pending, questions } = &mut self.stage else { return };
        if *pending != call {
            return;
        }
        let questions = std::mem::take(questions);
        self.go_ahead = answers.iter().all(|answer| answer.trim().is_empty());
        let answers =
            answers.iter().map(|answer| answer.trim().to_owned()).chain(std::iter::repeat(String::new()));
        self.clarifications.extend(
            questions.into_iter().zip(answers).map(|(question, answer)| Clarification { question, answer }),
        );
        self.ask_model(None, fx);
    }
}
