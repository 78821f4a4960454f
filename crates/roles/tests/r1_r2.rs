//! R1 and R2: their scripts (inputs in, effects out), their prompts, and properties that hold for any draft.

// Marked as tests so that the lints know the helpers in them for test code.

#[cfg(test)]
#[path = "r1_r2/prompts.rs"]
mod prompts;
#[cfg(test)]
#[path = "r1_r2/properties.rs"]
mod properties;
#[cfg(test)]
#[path = "r1_r2/support.rs"]
mod support;

use setpoint_roles::r1_perceiver::Perceiver;
use setpoint_roles::r2_planner::Planner;
use support::check_scripts;

#[test]
fn r1_scripts() {
    check_scripts::<Perceiver>("r1");
}

#[test]
fn r2_scripts() {
    check_scripts::<Planner>("r2");
}
