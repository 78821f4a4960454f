//! Every detection of the Auditor: a scenario that triggers it, and a twin that must not.

// Marked as tests so that the lints know the helpers in them for test code.

#[cfg(test)]
#[path = "r6/boundaries.rs"]
mod boundaries;
#[cfg(test)]
#[path = "r6/completeness.rs"]
mod completeness;
#[cfg(test)]
#[path = "r6/decisions.rs"]
mod decisions;
#[cfg(test)]
#[path = "r6/keeping.rs"]
mod keeping;
#[cfg(test)]
#[path = "r6/operation.rs"]
mod operation;
#[cfg(test)]
#[path = "r6/support.rs"]
mod support;

use expect_test::Expect;
use support::{Script, text};

fn check(script: &Script, expected: &Expect) {
    expected.assert_eq(&text(&script.findings()));
}

fn silent(script: &Script) {
    assert_eq!(text(&script.findings()), "");
}
