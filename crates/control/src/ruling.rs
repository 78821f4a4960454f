//! The rulings of a law on a round, and the states that they lead a task to.

use std::fmt;

/// The next step of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// The Planner gets a directive.
    Replan(ActionState),
    /// The task ends.
    End(EndedBy),
}

// The documentation of the types below is also the description in the JSON Schema of the messages: a word changed here
// changes what `setpoint schema` prints.

/// The four states that ask for another plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum ActionState {
    /// Signal, environment: tighten parameters.
    Refine,
    /// Stuck, environment: another target.
    ChangePath,
    /// Signal, wrong method: another method.
    ChangeApproach,
    /// Stuck, wrong method: another class of tool.
    BreakSymmetry,
}

/// The three ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum EndState {
    /// Every criterion met.
    Accept,
    /// Accepted with gaps: 0 < D ≤ δ, or unproven.
    Success,
    /// Given up.
    Abandon,
}

/// All states of the medium loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum MacroState {
    /// Before the first decision.
    Init,
    /// See [`ActionState::Refine`].
    Refine,
    /// See [`ActionState::ChangePath`].
    ChangePath,
    /// See [`ActionState::ChangeApproach`].
    ChangeApproach,
    /// See [`ActionState::BreakSymmetry`].
    BreakSymmetry,
    /// Every criterion met.
    Accept,
    /// Close enough: 0 < D ≤ δ.
    Success,
    /// Given up.
    Abandon,
}

/// Which rule ended a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum EndedBy {
    /// Every criterion met.
    CriteriaMet,
    /// The result was accepted, and nothing shows that the work did it: every pass was green before, rests on what
    /// the work made or changed itself, or is about the form of the answer or a matter of taste.
    Unproven,
    /// D ≤ δ.
    Distance,
    /// Ω ≥ θ.
    Omega,
    /// Two worsening rounds in a row.
    Law2,
    /// More rounds than `max_replans`.
    Rounds,
    /// The goal cannot be reached here: something that it rests on is missing.
    Infeasible,
    /// A fault that another round cannot help.
    Fault,
    /// A person refused.
    Consent,
    /// A hard budget.
    Budget,
    /// A deadline or the watchdog.
    Deadline,
    /// The person cancelled.
    Cancelled,
}

impl Ruling {
    /// Returns the state of the task after the ruling.
    #[must_use]
    pub fn state(self) -> MacroState {
        match self {
            Self::Replan(state) => state.into(),
            Self::End(by) => by.state().into(),
        }
    }

    /// Returns the rule that decided: the ending's name, or `grid` for the table of |∇L| and P.
    #[must_use]
    pub fn decided_by(self) -> &'static str {
        match self {
            Self::Replan(_) => "grid",
            Self::End(by) => by.name(),
        }
    }
}

impl From<ActionState> for MacroState {
    fn from(state: ActionState) -> Self {
        match state {
            ActionState::Refine => Self::Refine,
            ActionState::ChangePath => Self::ChangePath,
            ActionState::ChangeApproach => Self::ChangeApproach,
            ActionState::BreakSymmetry => Self::BreakSymmetry,
        }
    }
}

impl From<EndState> for MacroState {
    fn from(state: EndState) -> Self {
        match state {
            EndState::Accept => Self::Accept,
            EndState::Success => Self::Success,
            EndState::Abandon => Self::Abandon,
        }
    }
}

impl MacroState {
    /// Returns the name on the wire and in the UI.
    #[must_use]
    pub const fn name(self) -> &'static str {
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

impl EndedBy {
    /// Returns which of the three ends the rule leads to.
    #[must_use]
    pub const fn state(self) -> EndState {
        match self {
            Self::CriteriaMet => EndState::Accept,
            Self::Unproven | Self::Distance => EndState::Success,
            Self::Omega
            | Self::Law2
            | Self::Rounds
            | Self::Infeasible
            | Self::Fault
            | Self::Consent
            | Self::Budget
            | Self::Deadline
            | Self::Cancelled => EndState::Abandon,
        }
    }

    /// Returns the name on the wire and in the UI.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CriteriaMet => "criteria_met",
            Self::Unproven => "unproven",
            Self::Distance => "distance",
            Self::Omega => "omega",
            Self::Law2 => "law2",
            Self::Rounds => "rounds",
            Self::Infeasible => "infeasible",
            Self::Fault => "fault",
            Self::Consent => "consent",
            Self::Budget => "budget",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
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
