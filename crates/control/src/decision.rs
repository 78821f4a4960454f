//! What the controller decided about one round.

use std::fmt;

use crate::blocked::Pair;
use crate::compare;
use crate::gradient::{Gradient, Trend};
use crate::lesson::Lesson;
use crate::loss::Loss;
use crate::ruling::{EndedBy, MacroState, Ruling};
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
    pub failure_class: DirectiveClass,
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

impl DirectiveClass {
    /// The class that `p`, from 0 to 1, stands for (SPEC 6.2). Never [`Self::Unknown`]: P is 0.5 for failures without a
    /// class as well as for failures of both, so only a caller that knows the failures can tell.
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
