//! The rounds of one task, as a law sees them (SPEC 6.1).
//!
//! Everything here follows from each round's [`Loss`] and from the decision on it. The journal has both, so that a reader
//! of a task's records can ask the task's law again.

use crate::gains::{Gains, Law2Gradient};
use crate::gradient::{Gradient, Trend};
use crate::loss::Loss;
use crate::ruling::MacroState;

/// The rounds so far, and the directives that followed from them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    points: Vec<Point>,
    directives: Vec<MacroState>,
}

/// What the arithmetic says about one round, before a law rules on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Which round it is, 1 for the first that was not accepted; on accept and cancel the rounds before.
    pub rounds: u32,
    /// The round's loss.
    pub loss: Loss,
    /// The change against the round before; zero in the first.
    pub gradient: Gradient,
    /// How many rounds in a row worsened, this one included, as Law 2 counts them.
    pub worsening_count: u32,
}

impl History {
    /// The rounds, oldest first.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The directives emitted, oldest first.
    #[must_use]
    pub fn directives(&self) -> &[MacroState] {
        &self.directives
    }

    /// The latest directive, `init` before the first.
    #[must_use]
    pub fn prev_directive(&self) -> MacroState {
        self.directives.last().copied().unwrap_or(MacroState::Init)
    }

    /// How many directives the task has been given.
    #[must_use]
    pub fn replans(&self) -> u32 {
        u32::try_from(self.directives.len()).unwrap_or(u32::MAX)
    }

    /// The number of the latest round, 0 before the first.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.points.last().map_or(0, |point| point.rounds)
    }

    /// Returns the point of a round that comes next, numbered `rounds`, with this loss.
    #[must_use]
    pub fn next(&self, rounds: u32, loss: Loss, gains: &Gains) -> Point {
        let gradient = Gradient::between(self.points.last().map(|point| &point.loss), &loss, gains);
        Point { rounds, loss, gradient, worsening_count: self.worsening_count(&gradient, gains) }
    }

    /// Adds a point and the state that the decision on it put the task in.
    pub fn add(&mut self, point: Point, state: MacroState) {
        self.points.push(point);
        match state {
            MacroState::Refine
            | MacroState::ChangePath
            | MacroState::ChangeApproach
            | MacroState::BreakSymmetry => self.directives.push(state),
            // An end asks for no further plan.
            MacroState::Init | MacroState::Accept | MacroState::Success | MacroState::Abandon => {}
        }
    }

    /// One more than before if the round worsened, else 0. The first round has ∇L = 0 and never counts.
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
