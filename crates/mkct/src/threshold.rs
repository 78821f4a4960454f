//! Comparisons with a tolerance in favour of equality, as the controller makes them (SPEC 6.1): 0.6 − 0.4 is
//! 0.19999999999999996 in f64 and stands for 0.2. Said here too, since neither of the two crates may know the other.

/// How far from a bound a sum may lie and still count as equal to it. No unit: sums of strengths have none.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// `x ≥ bound`, or equal within [`TOLERANCE`].
pub(crate) fn at_least(x: f64, bound: f64) -> bool {
    x >= bound - TOLERANCE
}

/// `x > bound` by more than [`TOLERANCE`].
pub(crate) fn above(x: f64, bound: f64) -> bool {
    x > bound + TOLERANCE
}

/// `x < bound` by more than [`TOLERANCE`].
pub(crate) fn below(x: f64, bound: f64) -> bool {
    x < bound - TOLERANCE
}
