//! A task's recorded settings as the controller takes them.

use setpoint_control::Gains;
use setpoint_control::gains::{Law2Gradient, UrgencyEffect};
use setpoint_protocol::settings::{self, ControllerSettings, UrgencyMode};

/// The settings as the controller takes them, with the time budget in milliseconds that is in force. Their ranges are
/// the controller's to check.
#[must_use]
pub fn gains(settings: &ControllerSettings, time_budget_ms: u64) -> Gains {
    Gains {
        alpha: settings.alpha,
        beta: settings.beta,
        lambda: settings.lambda,
        w1: settings.w1,
        w2: settings.w2,
        epsilon: settings.epsilon,
        delta: settings.delta,
        rho: settings.rho,
        theta: settings.theta,
        time_budget_ms,
        max_replans: settings.max_replans,
        law2_rounds: settings.law2_rounds,
        law2_gradient: match settings.law2_gradient {
            settings::Law2Gradient::Full => Law2Gradient::Full,
            settings::Law2Gradient::Net => Law2Gradient::Net,
        },
        urgency: match settings.urgency {
            UrgencyMode::Words => UrgencyEffect::Words,
            UrgencyMode::Sets => UrgencyEffect::Sets,
        },
        law: settings.law.clone(),
    }
}
