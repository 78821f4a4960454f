//! The controller's course: whether its decisions follow from its own numbers, and whether they lead anywhere.

use serde::{Deserialize, Serialize};
use setpoint_control::law::Cell;
use setpoint_control::{Gains, Loss, Ruling, Trend, compare, law};
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{EndedBy, FindingKind, GapRound, MacroState};
use setpoint_protocol::settings::Law2Gradient;

use super::super::body::{Directive, End};
use super::super::entry::Seen;
use super::{Fact, TaskWatch, Told};

/// Numbers on the wire may differ by this from what they are made of.
const TOLERANCE: f64 = 1e-6;
/// Decisions in a row without the distance falling that count as a failure to converge.
const FLAT_DECISIONS: u32 = 2;
/// Rounds that are kept of a task, the first ones.
const ROUNDS_MAX: usize = 128;

/// The rounds that were decided on.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct Course {
    rounds: Vec<GapRound>,
    /// The records of the decisions, for those findings that rest on several.
    seqs: Vec<u64>,
    directives: u32,
    worsening: u32,
    /// Decisions in a row without the distance falling.
    flat: u32,
    /// R4b's last word on a round.
    accepted: Option<bool>,
}

impl Course {
    /// The rounds that were decided on, in order.
    pub(in super::super) fn rounds(&self) -> &[GapRound] {
        &self.rounds
    }

    pub(super) fn measured(&mut self, is_accepted: bool) {
        self.accepted = Some(is_accepted);
    }

    pub(super) fn was_accepted(&self) -> Option<bool> {
        self.accepted
    }

    fn keep(&mut self, seq: u64, round: GapRound) {
        if self.rounds.len() < ROUNDS_MAX {
            self.rounds.push(round);
            self.seqs.push(seq);
        }
    }
}

impl TaskWatch {
    pub(super) fn on_directive(&mut self, seen: &Seen<'_>, directive: &Directive, told: &mut Told) {
        told.count(Fact::Replanned);
        self.asks.planned();
        self.replans += 1;
        self.check_directive(seen, directive, told);
        let last = self.course.rounds.last().cloned();
        if let Some(last) = &last {
            let is_flat = directive.loss.d >= last.loss.d - compare::TOLERANCE;
            self.course.flat = if is_flat { self.course.flat + 1 } else { 0 };
            let others = self.course.seqs.clone();
            let is_thrashing = is_flat
                && last.directive == MacroState::BreakSymmetry
                && directive.directive == MacroState::BreakSymmetry;
            if is_thrashing && self.is_news(FindingKind::GgsThrashing) {
                let text = format!(
                    "break_symmetry twice in a row, and D went from {:.3} to {:.3}",
                    last.loss.d, directive.loss.d
                );
                told.find([seen.entry.finding_on(
                    &others,
                    FindingKind::GgsThrashing,
                    RoleId::GoalGradientSolver,
                    text,
                )]);
            }
            if self.course.flat >= FLAT_DECISIONS && self.is_news(FindingKind::ConvergenceFailure) {
                let ds: Vec<String> =
                    self.course.rounds.iter().map(|round| format!("{:.3}", round.loss.d)).collect();
                let text = format!(
                    "{} replans in a row without D falling: {}, {:.3}",
                    self.course.flat,
                    ds.join(", "),
                    directive.loss.d
                );
                told.find([seen.entry.finding_on(
                    &others,
                    FindingKind::ConvergenceFailure,
                    RoleId::GoalGradientSolver,
                    text,
                )]);
            }
        }
        self.course.directives += 1;
        self.course.keep(seen.entry.seq, GapRound { loss: directive.loss, directive: directive.directive });
    }

    pub(super) fn decided_end(&mut self, seen: &Seen<'_>, end: &End, told: &mut Told) {
        if let Some(what) = self.end_mismatch(end) {
            mismatch(seen, what, told);
        }
        self.course.keep(seen.entry.seq, GapRound { loss: end.loss, directive: end.directive.into() });
    }

    /// The settings, where the arithmetic can be done over: those that the law knows.
    fn known_gains(&self) -> Option<Gains> {
        law::governing(&self.settings).ok().map(|_| self.settings.clone())
    }

    fn check_directive(&mut self, seen: &Seen<'_>, directive: &Directive, told: &mut Told) {
        let Some(gains) = self.known_gains() else { return };
        let loss = directive.loss;
        let previous = self.course.rounds.last().map(|round| round.loss.l);
        if let Some(what) = wrong_loss(&gains, loss.d, loss.p, loss.omega, loss.l)
            .or_else(|| wrong_gradient(previous, loss.l, directive.grad_l))
        {
            mismatch(seen, what, told);
        }
        let counted = match self.settings.law2_gradient {
            Law2Gradient::Full => directive.grad_l,
            Law2Gradient::Net => directive.grad_l - directive.grad_l_budget,
        };
        self.course.worsening =
            if Trend::of(counted, &gains) == Trend::Worsening { self.course.worsening + 1 } else { 0 };
        let cell = Cell::new(directive.grad_l, loss.d, loss.p, loss.omega);
        let Ok(cell) = cell else {
            return mismatch(seen, "a number of it is none".to_owned(), told);
        };
        let ruling = cell.in_round(self.course.worsening, self.course.directives + 1, false).rule(&gains);
        let says = match ruling {
            Ruling::Replan(replan) => MacroState::from(replan).name(),
            Ruling::End(by) => by.name(),
        };
        if says != directive.directive.name() {
            let what = format!("the table says {says} and it says {}", directive.directive.name());
            mismatch(seen, what, told);
        }
    }

    /// What is wrong with the numbers of an end that was decided by the table.
    fn end_mismatch(&self, end: &End) -> Option<String> {
        if end.replans != self.course.directives {
            return Some(format!(
                "it counts {} replans, and there were {}",
                end.replans, self.course.directives
            ));
        }
        let gains = self.known_gains()?;
        let loss = end.loss;
        let wrong = wrong_loss(&gains, loss.d, loss.p, loss.omega, loss.l);
        let by_table =
            matches!(end.ended_by, EndedBy::Omega | EndedBy::Distance | EndedBy::Law2 | EndedBy::Rounds);
        if wrong.is_some() || !by_table {
            return wrong;
        }
        let previous = self.course.rounds.last().map(|round| round.loss.l);
        let wrong = wrong_gradient(previous, loss.l, end.grad_l);
        if wrong.is_some() {
            return wrong;
        }
        // An end does not say how much of its gradient is budget: under `net` its worsening cannot be counted over.
        let worsening = match (self.settings.law2_gradient, end.ended_by) {
            (Law2Gradient::Net, EndedBy::Law2) => gains.law2_rounds,
            (Law2Gradient::Net, _) => 0,
            (Law2Gradient::Full, _) if Trend::of(end.grad_l, &gains) == Trend::Worsening => {
                self.course.worsening + 1
            }
            (Law2Gradient::Full, _) => 0,
        };
        let cell = Cell::new(end.grad_l, loss.d, loss.p, loss.omega).ok()?;
        let says = match cell.in_round(worsening, self.course.directives + 1, false).rule(&gains) {
            Ruling::End(by) => by.name(),
            Ruling::Replan(replan) => MacroState::from(replan).name(),
        };
        (says != end.ended_by.name())
            .then(|| format!("the table says {says} and it ends by {}", end.ended_by.name()))
    }
}

fn wrong_loss(gains: &Gains, d: f64, p: f64, omega: f64, l: f64) -> Option<String> {
    let sum = Loss::weighed(d, p, omega, gains).l;
    let fits = (sum - l).abs() <= TOLERANCE;
    (!fits).then(|| format!("L is {l:.6}, and D {d:.3}, P {p:.3} and Ω {omega:.3} give {sum:.6}"))
}

fn wrong_gradient(previous: Option<f64>, l: f64, grad_l: f64) -> Option<String> {
    let difference = previous.map_or(0.0, |previous| l - previous);
    let fits = (difference - grad_l).abs() <= TOLERANCE;
    (!fits).then(|| format!("∇L is {grad_l:.6}, and L changed by {difference:.6}"))
}

fn mismatch(seen: &Seen<'_>, what: String, told: &mut Told) {
    let finding = seen.entry.finding(FindingKind::DecisionMismatch, RoleId::GoalGradientSolver, what);
    told.find([finding]);
}
