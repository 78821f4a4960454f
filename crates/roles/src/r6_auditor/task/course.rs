//! The controller's course: whether its decisions follow from its own numbers.

use serde::{Deserialize, Serialize};
use setpoint_control::{Gains, History, Law, Ruling};
use setpoint_protocol::message::{EndedBy, GapRound, Loss, MacroState};

use super::super::body::{Directive, End};

/// Allowed difference between a recorded number and the recomputed one.
const TOLERANCE: f64 = 1e-6;
/// At most this many rounds of a task are kept, the first ones.
const ROUNDS_MAX: usize = 128;

/// The decided rounds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Course {
    pub(super) rounds: Vec<GapRound>,
    /// Records of the decisions, for findings that rest on several.
    pub(super) seqs: Vec<u64>,
    pub(super) directives: u32,
    /// Consecutive decisions without a falling distance.
    pub(super) flat: u32,
    /// R4b's last decision on a round.
    accepted: Option<bool>,
}

impl Course {
    pub(super) fn measured(&mut self, is_accepted: bool) {
        self.accepted = Some(is_accepted);
    }

    pub(super) fn was_accepted(&self) -> Option<bool> {
        self.accepted
    }

    pub(super) fn keep(&mut self, seq: u64, round: GapRound) {
        if self.rounds.len() < ROUNDS_MAX {
            self.rounds.push(round);
            self.seqs.push(seq);
        }
    }

    /// Returns the parts of a directive that follow neither from its own numbers nor from the task's law.
    pub(super) fn wrong_in_directive(
        &self,
        law: &dyn Law,
        gains: &Gains,
        directive: &Directive,
    ) -> Vec<String> {
        let Directive { loss, directive, grad_l } = directive;
        let of_numbers = wrong_loss(gains, loss).or_else(|| self.wrong_gradient(loss, *grad_l));
        let says = self.law_says(law, gains, loss, directive.name());
        let of_law = says.map(|says| format!("the law says {says} and it says {}", directive.name()));
        of_numbers.into_iter().chain(of_law).collect()
    }

    /// Returns what is wrong with the numbers of an end, and with the end itself if the law decided it.
    pub(super) fn wrong_in_end(&self, law: &dyn Law, gains: &Gains, end: &End) -> Option<String> {
        let by_law =
            matches!(end.ended_by, EndedBy::Omega | EndedBy::Distance | EndedBy::Law2 | EndedBy::Rounds);
        let wrong = wrong_loss(gains, &end.loss);
        if wrong.is_some() || !by_law {
            return wrong;
        }
        self.wrong_gradient(&end.loss, end.grad_l).or_else(|| {
            let says = self.law_says(law, gains, &end.loss, end.ended_by.name())?;
            Some(format!("the law says {says} and it ends by {}", end.ended_by.name()))
        })
    }

    fn wrong_gradient(&self, loss: &Loss, grad_l: f64) -> Option<String> {
        let difference = self.rounds.last().map_or(0.0, |previous| loss.l - previous.loss.l);
        let fits = (difference - grad_l).abs() <= TOLERANCE;
        (!fits).then(|| format!("∇L is {grad_l:.6}, and L changed by {difference:.6}"))
    }

    /// Returns the law's ruling on a round with this loss, if it differs from the recorded one.
    fn law_says(&self, law: &dyn Law, gains: &Gains, loss: &Loss, recorded: &str) -> Option<&'static str> {
        // Later rounds were not kept, and a law may look at any of them.
        if self.rounds.len() == ROUNDS_MAX {
            return None;
        }
        let mut history = History::default();
        for round in &self.rounds {
            history.add(history.next(history.rounds() + 1, round.loss, gains), round.directive);
        }
        let point = history.next(history.rounds() + 1, *loss, gains);
        let says = |is_fatal| match law.rule(&history, &point, is_fatal, gains) {
            Ruling::Replan(state) => MacroState::from(state).name(),
            Ruling::End(by) => by.name(),
        };
        // A decision does not record whether a fault closed its round, so both rulings are accepted.
        (says(false) != recorded && says(true) != recorded).then(|| says(false))
    }
}

fn wrong_loss(gains: &Gains, loss: &Loss) -> Option<String> {
    let Loss { d, p, omega, l } = *loss;
    let sum = Loss::weighed(d, p, omega, gains).l;
    let fits = (sum - l).abs() <= TOLERANCE;
    (!fits).then(|| format!("L is {l:.6}, and D {d:.3}, P {p:.3} and Ω {omega:.3} give {sum:.6}"))
}

#[cfg(test)]
mod tests {
    use setpoint_control::law::Reference;
    use setpoint_control::{ActionState, Point};
    use setpoint_protocol::message::EndState;

    use super::*;

    /// A law that asks for more of the same twice, whatever was measured, and then takes what there is.
    #[derive(Debug)]
    struct Patient;

    impl Law for Patient {
        fn name(&self) -> &'static str {
            "patient"
        }

        fn rule(&self, history: &History, _: &Point, _: bool, _: &Gains) -> Ruling {
            match history.replans() {
                0 | 1 => Ruling::Replan(ActionState::Refine),
                _ => Ruling::End(EndedBy::Distance),
            }
        }
    }

    /// Returns a round that measured D = P = 0.9, for which the reference rules `break_symmetry`.
    fn round(number: u32, gains: &Gains) -> Loss {
        Loss::weighed(0.9, 0.9, 0.01 * f64::from(number), gains)
    }

    fn directive(course: &Course, directive: MacroState) -> Directive {
        let loss = round(course.directives, &Gains::default());
        let grad_l = course.rounds.last().map_or(0.0, |last| loss.l - last.loss.l);
        Directive { loss, directive, grad_l }
    }

    fn end(course: &Course, ended_by: EndedBy) -> End {
        let Directive { loss, grad_l, .. } = directive(course, MacroState::Refine);
        End {
            loss,
            grad_l,
            replans: course.directives,
            directive: EndState::Success,
            ended_by,
            verdicts: Vec::new(),
            subtask_verdicts: Vec::new(),
            unmet_criteria: Vec::new(),
        }
    }

    /// Returns a course of as many rounds that were each answered by `refine`.
    fn refined(rounds: u32) -> Course {
        let mut course = Course::default();
        for seq in 0..rounds {
            let Directive { loss, directive, .. } = directive(&course, MacroState::Refine);
            course.keep(seq.into(), GapRound { loss, directive });
            course.directives += 1;
        }
        course
    }

    #[test]
    fn a_task_is_judged_by_its_own_law() {
        let gains = Gains::default();
        for rounds in 0..2 {
            let course = refined(rounds);
            let refine = directive(&course, MacroState::Refine);
            assert_eq!(course.wrong_in_directive(&Patient, &gains, &refine), Vec::<String>::new());
            assert_eq!(
                course.wrong_in_directive(&Reference, &gains, &refine),
                ["the law says break_symmetry and it says refine"]
            );
        }
        let course = refined(2);
        let distance = end(&course, EndedBy::Distance);
        assert_eq!(course.wrong_in_end(&Patient, &gains, &distance), None);
        assert!(course.wrong_in_end(&Reference, &gains, &distance).is_some());
    }

    #[test]
    fn a_decision_against_its_own_law_is_found_once() {
        let gains = Gains::default();
        let course = refined(1);
        let broken = directive(&course, MacroState::BreakSymmetry);
        assert_eq!(
            course.wrong_in_directive(&Patient, &gains, &broken),
            ["the law says refine and it says break_symmetry"]
        );
        assert_eq!(
            course.wrong_in_end(&Patient, &gains, &end(&course, EndedBy::Distance)).as_deref(),
            Some("the law says refine and it ends by distance")
        );
        let course = refined(2);
        let late = directive(&course, MacroState::Refine);
        assert_eq!(
            course.wrong_in_directive(&Patient, &gains, &late),
            ["the law says distance and it says refine"]
        );
    }
}
