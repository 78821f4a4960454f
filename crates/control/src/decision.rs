//! The controller's decision about one round.

use std::fmt;

use crate::blocked::Pair;
use crate::compare;
use crate::gradient::{Gradient, Trend};
use crate::lesson::Lesson;
use crate::loss::Loss;
use crate::ruling::{EndedBy, MacroState, Ruling};
use crate::urgency::Urgency;

/// The decision about one round, with everything that a directive or a final result reports about it.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a decision that is not acted on leaves the task without its next step"]
pub struct Decision {
    /// Number of the round, 1 for the first that was not accepted; for an accept or a cancel that of the round before.
    pub rounds: u32,
    /// Loss of the round.
    pub loss: Loss,
    /// Change of the loss compared with the round before.
    pub gradient: Gradient,
    /// Classification of the change, by ε.
    pub trend: Trend,
    /// Number of consecutive worsening rounds, this one included, as Law 2 counts them.
    pub worsening_count: u32,
    /// What happens next, and by which rule.
    pub ruling: Ruling,
    /// Directive of the round before.
    pub prev_directive: MacroState,
    /// Number of directives given to the task, this one included.
    pub replans: u32,
    /// Class of failure that dominates the round. Meaningful only if criteria failed: P is 0, and so the class
    /// environmental, on an accept too.
    pub failure_class: DirectiveClass,
    /// Urgency of the change.
    pub urgency: Urgency,
    /// Tools that the next plan must not use, sorted. Empty if the task ends.
    pub blocked_tools: Vec<String>,
    /// Targets that the next plan must not call again, in the order first seen; each displays as
    /// `<tool>: <target>`. Empty if the task ends.
    pub blocked_targets: Vec<Pair>,
    /// Memory writes that follow from the decision (SPEC 6.4).
    pub lessons: Vec<Lesson>,
    /// The reason, in one sentence with the numbers.
    pub rationale: String,
}

// The documentation is also the description in the JSON Schema of the messages.
/// Which way the failures lean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum DirectiveClass {
    /// P > 0.5.
    Logical,
    /// P < 0.5.
    Environmental,
    /// P = 0.5.
    Mixed,
    /// Nothing that failed has a class.
    Unknown,
}

impl Decision {
    /// Returns the state of the task after the decision.
    #[must_use]
    pub fn directive(&self) -> MacroState {
        self.ruling.state()
    }

    /// Returns the rule that ended the task; `None` while it goes on.
    #[must_use]
    pub fn ended_by(&self) -> Option<EndedBy> {
        match self.ruling {
            Ruling::Replan(_) => None,
            Ruling::End(by) => Some(by),
        }
    }
}

impl DirectiveClass {
    /// Returns the class for `p`, from 0 to 1 (SPEC 6.2). Never [`Self::Unknown`]: P is 0.5 both for failures without a
    /// class and for failures of both classes, which only a caller that knows the failures can distinguish.
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

    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Logical => "logical",
            Self::Environmental => "environmental",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for DirectiveClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
