//! What the controller decided about one round.

use std::fmt;

use crate::blocked::Pair;
use crate::compare;
use crate::gradient::{Gradient, Trend};
use crate::lesson::Lesson;
use crate::loss::Loss;
use crate::urgency::Urgency;

/// The decision about one round, with everything a directive or a final result says about it.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a decision that is not acted on leaves the task without its next step"]
pub struct Decision {
    /// Which round it was, 1 for the first that was not accepted; on accept and cancel the rounds before.
    pub rounds: u32,
    /// The round's loss.
    pub loss: Loss,
    /// The change against the round before.
    pub gradient: Gradient,
    /// What the change says, under ε.
    pub trend: Trend,
    /// How many rounds in a row worsened, this one included, as Law 2 counts them.
    pub worsening_count: u32,
    /// What happens next, and why.
    pub ruling: Ruling,
    /// The directive of the round before.
    pub prev_directive: MacroState,
    /// How many directives the task has been given, this one included.
    pub replans: u32,
    /// Which class of failure dominates the round. Says something only where criteria failed: P is 0, and
    /// so the class environmental, on an accept too.
    pub failure_class: DominantClass,
    /// How urgent the change is.
    pub urgency: Urgency,
    /// The tools that the next plan must not use, sorted. Empty when the task ends.
    pub blocked_tools: Vec<String>,
    /// The targets that the next plan must not call again, in the order first seen; each displays as
    /// `<tool>: <target>`. Empty when the task ends.
    pub blocked_targets: Vec<Pair>,
    /// Which memory writes the decision implies (SPEC 6.4).
    pub lessons: Vec<Lesson>,
    /// Why, in one sentence with the numbers.
    pub rationale: String,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// The Planner gets a directive.
    Replan(Replan),
    /// The task ends.
    End(EndedBy),
}

/// The directives that ask for another plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Replan {
    /// Same path, better carried out.
    Refine,
    /// Same approach, another path to it.
    ChangePath,
    /// Another approach.
    ChangeApproach,
    /// Something unlike anything tried so far.
    BreakSymmetry,
}

/// Which rule ended a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndedBy {
    /// R4b accepted: every criterion is met.
    CriteriaMet,
    /// R4b accepted, and no pass shows that the work did it.
    Unproven,
    /// D ≤ δ: close enough.
    Distance,
    /// Ω ≥ θ: the budget pressure.
    Omega,
    /// Too many worsening rounds in a row.
    Law2,
    /// More rounds than `max_replans`.
    Rounds,
    /// The goal was shown to be out of reach.
    Infeasible,
    /// A fault that no further round can mend.
    Fault,
    /// Consent was refused.
    Consent,
    /// A hard budget is used up.
    Budget,
    /// The user's deadline or the watchdog.
    Deadline,
    /// The user cancelled.
    Cancelled,
}

/// The states that a task's directives go through, and the keys of the quantization table (SPEC 6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MacroState {
    /// Before the first directive.
    Init,
    /// See [`Replan::Refine`].
    Refine,
    /// See [`Replan::ChangePath`].
    ChangePath,
    /// See [`Replan::ChangeApproach`].
    ChangeApproach,
    /// See [`Replan::BreakSymmetry`].
    BreakSymmetry,
    /// Ended with every criterion met.
    Accept,
    /// Ended close enough, with gaps.
    Success,
    /// Given up.
    Abandon,
}

/// Which class of failure dominates a round (SPEC 6.2): P against 0.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DominantClass {
    /// P > 0.5.
    Logical,
    /// P < 0.5.
    Environmental,
    /// P = 0.5.
    Mixed,
}

impl Decision {
    /// The state that the decision puts the task in.
    #[must_use]
    pub fn directive(&self) -> MacroState {
        self.ruling.state()
    }

    /// Which rule ended the task; `None` while it goes on.
    #[must_use]
    pub fn ended_by(&self) -> Option<EndedBy> {
        match self.ruling {
            Ruling::Replan(_) => None,
            Ruling::End(by) => Some(by),
        }
    }
}

impl Ruling {
    /// The state that the ruling puts the task in.
    #[must_use]
    pub fn state(self) -> MacroState {
        match self {
            Self::Replan(Replan::Refine) => MacroState::Refine,
            Self::Replan(Replan::ChangePath) => MacroState::ChangePath,
            Self::Replan(Replan::ChangeApproach) => MacroState::ChangeApproach,
            Self::Replan(Replan::BreakSymmetry) => MacroState::BreakSymmetry,
            Self::End(EndedBy::CriteriaMet) => MacroState::Accept,
            Self::End(EndedBy::Unproven | EndedBy::Distance) => MacroState::Success,
            Self::End(
                EndedBy::Omega
                | EndedBy::Law2
                | EndedBy::Rounds
                | EndedBy::Infeasible
                | EndedBy::Fault
                | EndedBy::Consent
                | EndedBy::Budget
                | EndedBy::Deadline
                | EndedBy::Cancelled,
            ) => MacroState::Abandon,
        }
    }

    /// Which rule decided: the ending's name, or `grid` for the table of |∇L| and P.
    #[must_use]
    pub fn decided_by(self) -> &'static str {
        match self {
            Self::Replan(_) => "grid",
            Self::End(by) => by.name(),
        }
    }
}

impl EndedBy {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CriteriaMet => "criteria_met",
            Self::Unproven => "unproven",
            Self::Distance => "distance",
            Self::Omega => "omega",
            Self::Law2 => "law2",
            Self::Rounds => "rounds",
            Self::Fault => "fault",
            Self::Infeasible => "infeasible",
            Self::Consent => "consent",
            Self::Budget => "budget",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
        }
    }
}

impl MacroState {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Refine => "refine",
            Self::ChangePath => "change_path",
            Self::ChangeApproach => "change_approach",
            Self::BreakSymmetry => "break_symmetry",
            Self::Accept => "accept",
            Self::Success => "success",
            Self::Abandon => "abandon",
        }
    }
}

impl DominantClass {
    /// The class that `p`, from 0 to 1, stands for.
    #[must_use]
    pub fn of(p: f64) -> Self {
        if compare::above(p, 0.5) {
            Self::Logical
        } else if compare::below(p, 0.5) {
            Self::Environmental
        } else {
            Self::Mixed
        }
    }

    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logical => "logical",
            Self::Environmental => "environmental",
            Self::Mixed => "mixed",
        }
    }
}

impl fmt::Display for EndedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for MacroState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for DominantClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
