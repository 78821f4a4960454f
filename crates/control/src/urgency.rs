//! How urgent a directive is (SPEC 6.2): how firmly it is worded, and how many alternatives the Planner must weigh.

use std::fmt;

use crate::gradient::Trend;

// The documentation is also the description in the JSON Schema of the messages.
/// From the sign of ∇L.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Urgency {
    /// ∇L ≤ −ε.
    Low,
    /// −ε < ∇L < ε.
    Normal,
    /// ∇L ≥ ε.
    High,
}

impl Urgency {
    /// Returns the urgency for a trend.
    #[must_use]
    pub fn of(trend: Trend) -> Self {
        match trend {
            Trend::Improving => Self::Low,
            Trend::Plateau => Self::Normal,
            Trend::Worsening => Self::High,
        }
    }

    /// Returns the name on the wire.
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
