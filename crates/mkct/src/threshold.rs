//! Comparisons with a tolerance in favour of equality, as the controller makes them (SPEC 6.1): 0.6 − 0.4 is
//! 0.19999999999999996 in `f64` and must count as 0.2. Repeated here because neither crate may depend on the other.

/// Largest distance from a bound at which a sum still counts as equal to it. No unit: sums of strengths have none.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// Returns whether `x ≥ bound`, or equal within [`TOLERANCE`].
pub(crate) fn at_least(x: f64, bound: f64) -> bool {
    x >= bound - TOLERANCE
}

/// Returns whether `x > bound` by more than [`TOLERANCE`].
pub(crate) fn above(x: f64, bound: f64) -> bool {
    x > bound + TOLERANCE
}

/// Returns whether `x < bound` by more than [`TOLERANCE`].
pub(crate) fn below(x: f64, bound: f64) -> bool {
    x < bound - TOLERANCE
}
