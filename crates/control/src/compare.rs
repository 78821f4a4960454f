//! Comparisons with a tolerance in favour of equality (SPEC 6.1).
//!
//! In `f64`, 0.6·4/3 is 0.7999999999999999 and 0.1 + 0.2 is 0.30000000000000004; both must count as equal to the
//! threshold that they approximate. The controller compares every threshold through these four functions.

/// Largest distance from a bound at which a number still counts as equal to it. No unit: every compared
/// quantity is a ratio.
pub const TOLERANCE: f64 = 1e-9;

/// Returns whether `x ≥ bound`, or equal within [`TOLERANCE`].
#[must_use]
pub fn at_least(x: f64, bound: f64) -> bool {
    x >= bound - TOLERANCE
}

/// Returns whether `x ≤ bound`, or equal within [`TOLERANCE`].
#[must_use]
pub fn at_most(x: f64, bound: f64) -> bool {
    x <= bound + TOLERANCE
}

/// Returns whether `x > bound` by more than [`TOLERANCE`].
#[must_use]
pub fn above(x: f64, bound: f64) -> bool {
    x > bound + TOLERANCE
}

/// Returns whether `x < bound` by more than [`TOLERANCE`].
#[must_use]
pub fn below(x: f64, bound: f64) -> bool {
    x < bound - TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_count_as_equal() {
        let theta = 0.6 * 4.0 / 3.0;
        assert!(theta < 0.8, "the premise: f64 rounds below");
        assert!(at_least(theta, 0.8) && !below(theta, 0.8));
        let delta = 0.1 + 0.2;
        assert!(delta > 0.3, "the premise: f64 rounds above");
        assert!(at_most(delta, 0.3) && !above(delta, 0.3));
    }

    #[test]
    fn difference_above_the_tolerance_counts() {
        assert!(above(0.501, 0.5) && !at_most(0.501, 0.5));
        assert!(below(0.499, 0.5) && !at_least(0.499, 0.5));
    }
}
