//! How urgent a directive is (SPEC 6.2): from the sign of ∇L.

use std::fmt;

use crate::gradient::Trend;

/// How firmly a directive is worded and how many alternatives the Planner must weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// ∇L ≤ −ε: things get better.
    Low,
    /// |∇L| < ε.
    Normal,
    /// ∇L ≥ ε: things get worse.
    High,
}

impl Urgency {
    /// The urgency that goes with a trend.
    #[must_use]
    pub fn of(trend: Trend) -> Self {
        match trend {
            Trend::Improving => Self::Low,
            Trend::Plateau => Self::Normal,
            Trend::Worsening => Self::High,
        }
    }

    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Urgency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
