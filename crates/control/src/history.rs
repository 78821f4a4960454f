//! The rounds of one task, as a law receives them (SPEC 6.1).
//!
//! Everything here follows from each round's [`Loss`] and from the decision on it. The journal has both, so a reader
//! of a task's records can apply the task's law again.

use crate::gains::{Gains, Law2Gradient};
use crate::gradient::{Gradient, Trend};
use crate::loss::Loss;
use crate::ruling::MacroState;

/// The rounds so far, and the directives that were given after them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    points: Vec<Point>,
    directives: Vec<MacroState>,
}

/// The numbers of one round, before a law rules on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Number of the round, 1 for the first that was not accepted; for an accept or a cancel that of the round before.
    pub rounds: u32,
    /// Loss of the round.
    pub loss: Loss,
    /// Change of the loss compared with the round before; zero in the first.
    pub gradient: Gradient,
    /// Number of consecutive worsening rounds, this one included, as Law 2 counts them.
    pub worsening_count: u32,
}

impl History {
    /// Returns the rounds, oldest first.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the directives, oldest first.
    #[must_use]
    pub fn directives(&self) -> &[MacroState] {
        &self.directives
    }

    /// Returns the latest directive; `init` before the first.
    #[must_use]
    pub fn prev_directive(&self) -> MacroState {
        self.directives.last().copied().unwrap_or(MacroState::Init)
    }

    /// Returns how many directives the task was given.
    #[must_use]
    pub fn replans(&self) -> u32 {
        u32::try_from(self.directives.len()).unwrap_or(u32::MAX)
    }

    /// Returns the number of the latest round; 0 before the first.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.points.last().map_or(0, |point| point.rounds)
    }

    /// Returns the point of the next round, numbered `rounds`, with this loss.
    #[must_use]
    pub fn next(&self, rounds: u32, loss: Loss, gains: &Gains) -> Point {
        let gradient = Gradient::between(self.points.last().map(|point| &point.loss), &loss, gains);
        Point { rounds, loss, gradient, worsening_count: self.worsening_count(&gradient, gains) }
    }

    /// Adds a point, and the state of the task after the decision on it.
    pub fn add(&mut self, point: Point, state: MacroState) {
        self.points.push(point);
        match state {
            MacroState::Refine
            | MacroState::ChangePath
            | MacroState::ChangeApproach
            | MacroState::BreakSymmetry => self.directives.push(state),
            // The end of a task is not a directive.
            MacroState::Init | MacroState::Accept | MacroState::Success | MacroState::Abandon => {}
        }
    }

    /// Returns the count before plus one if the round worsened, else 0. The first round has ∇L = 0 and never counts.
    fn worsening_count(&self, gradient: &Gradient, gains: &Gains) -> u32 {
        let counted = match gains.law2_gradient {
            Law2Gradient::Full => gradient.grad_l,
            Law2Gradient::Net => gradient.net(),
        };
        match Trend::of(counted, gains) {
            Trend::Worsening => self.points.last().map_or(0, |point| point.worsening_count).saturating_add(1),
            Trend::Improving | Trend::Plateau => 0,
        }
    }
}
