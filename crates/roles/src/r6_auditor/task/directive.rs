//! R7's decisions: whether each follows from its numbers and its law, and whether the distance falls.

use setpoint_control::{compare, law};
use setpoint_protocol::RoleId;
use setpoint_protocol::message::{FindingKind, GapRound, MacroState};

use super::super::body::{Directive, End};
use super::told::{Fact, RecordReading};
use super::watch::TaskWatch;

/// Consecutive decisions without a falling distance that count as a failure to converge.
const FLAT_DECISIONS: u32 = 2;

impl TaskWatch {
    pub(super) fn on_directive(&mut self, directive: &Directive, told: &mut RecordReading<'_>) {
        told.count(Fact::Replanned);
        self.asks.planned();
        self.replans += 1;
        // Under settings that the controller rejects, or a law that this build does not have, nothing can be
        // recomputed.
        if let Ok(law) = law::governing(&self.settings) {
            for what in self.course.wrong_in_directive(law, &self.settings, directive) {
                mismatch(what, told);
            }
        }
        if let Some(last) = self.course.rounds.last().cloned() {
            self.compare_distances(&last, directive, told);
        }
        self.course.directives += 1;
        let round = GapRound { loss: directive.loss, directive: directive.directive };
        self.course.keep(told.seen.entry.seq, round);
    }

    fn compare_distances(&mut self, last: &GapRound, directive: &Directive, told: &mut RecordReading<'_>) {
        let is_flat = directive.loss.d >= last.loss.d - compare::TOLERANCE;
        self.course.flat = if is_flat { self.course.flat + 1 } else { 0 };
        let others = self.course.seqs.clone();
        let is_thrashing = is_flat
            && last.directive == MacroState::BreakSymmetry
            && directive.directive == MacroState::BreakSymmetry;
        if is_thrashing && self.is_news(FindingKind::GgsThrashing) {
            let (before, now) = (last.loss.d, directive.loss.d);
            let text = format!("break_symmetry twice in a row, and D went from {before:.3} to {now:.3}");
            told.find_on(&others, FindingKind::GgsThrashing, RoleId::GoalGradientSolver, text);
        }
        if self.course.flat >= FLAT_DECISIONS && self.is_news(FindingKind::ConvergenceFailure) {
            let ds: Vec<String> =
                self.course.rounds.iter().map(|round| format!("{:.3}", round.loss.d)).collect();
            let (flat, ds, now) = (self.course.flat, ds.join(", "), directive.loss.d);
            let text = format!("{flat} replans in a row without D falling: {ds}, {now:.3}");
            told.find_on(&others, FindingKind::ConvergenceFailure, RoleId::GoalGradientSolver, text);
        }
    }

    pub(super) fn decided_end(&mut self, end: &End, told: &mut RecordReading<'_>) {
        if let Some(what) = self.end_mismatch(end) {
            mismatch(what, told);
        }
        let round = GapRound { loss: end.loss, directive: end.directive.into() };
        self.course.keep(told.seen.entry.seq, round);
    }

    /// Returns what is wrong with an end.
    fn end_mismatch(&self, end: &End) -> Option<String> {
        let (says, counted) = (end.replans, self.course.directives);
        if says != counted {
            return Some(format!("it counts {says} replans, and there were {counted}"));
        }
        let law = law::governing(&self.settings).ok()?;
        self.course.wrong_in_end(law, &self.settings, end)
    }
}

fn mismatch(what: String, told: &mut RecordReading<'_>) {
    told.find(FindingKind::DecisionMismatch, RoleId::GoalGradientSolver, what);
}
