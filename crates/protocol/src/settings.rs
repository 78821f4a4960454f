//! The settings that govern a task and are recorded with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// Renamed because the JSON Schema and recorded tasks use this name.
pub use setpoint_control::Gains as ControllerSettings;
pub use setpoint_control::{Law2Gradient, UrgencyMode};

use crate::money::Money;

/// Hard limits of one task. `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// Model calls.
    pub calls: Option<u64>,
    /// Tokens in and out together.
    pub tokens: Option<u64>,
    /// Money, in the currency of the price table.
    pub money: Option<Money>,
}
