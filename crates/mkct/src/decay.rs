//! How memories fade: what is left after Δt days is e^(−k·Δt) (SPEC 7).
//!
//! There is one origin from which Δt counts, and queries, forgetting, promotion and bankruptcy all use it.

/// Microseconds of a day.
pub const DAY_US: i64 = 86_400_000_000;

/// The moments of a record from which its fading may count, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// When it was made.
    pub created_us: i64,
    /// When a question last brought it back.
    pub recalled_us: Option<i64>,
    /// When it ceased to be a rule.
    pub demoted_us: Option<i64>,
}

impl Moments {
    /// Those of a record that was only made.
    #[must_use]
    pub const fn created(created_us: i64) -> Self {
        Moments { created_us, recalled_us: None, demoted_us: None }
    }

    /// Where Δt begins: at the latest of them.
    #[must_use]
    pub fn origin_us(self) -> i64 {
        [self.recalled_us, self.demoted_us].into_iter().flatten().fold(self.created_us, i64::max)
    }
}

/// Δt in days; never negative, so that what a clock ahead of ours made counts as made now.
#[must_use]
pub fn days_between(origin_us: i64, now_us: i64) -> f64 {
    signed_days(origin_us, now_us).max(0.0)
}

/// The same with its sign.
pub(crate) fn signed_days(from_us: i64, to_us: i64) -> f64 {
    to_us.saturating_sub(from_us) as f64 / DAY_US as f64
}

/// e^(−k·Δt): what share of a strength is left, from 1 down to 0. `k` in 1/days, not negative.
#[must_use]
pub fn left(k: f64, origin_us: i64, now_us: i64) -> f64 {
    (-k * days_between(origin_us, now_us)).exp()
}

/// The days in which a strength halves; `None` for what does not fade.
#[must_use]
pub fn half_life_days(k: f64) -> Option<f64> {
    (k > 0.0).then(|| std::f64::consts::LN_2 / k)
}

/// The days from its origin until a strength of `f` has come down to `bound`, both above 0; 0 when it is no higher
/// to begin with, and `None` when it never comes down.
#[must_use]
pub fn days_until(f: f64, k: f64, bound: f64) -> Option<f64> {
    if f.abs() <= bound {
        return Some(0.0);
    }
    (k > 0.0).then(|| (f.abs() / bound).ln() / k)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_latest_moment_is_the_origin() {
        let moments = Moments { created_us: 5, recalled_us: Some(9), demoted_us: Some(7) };
        assert_eq!(moments.origin_us(), 9);
        assert_eq!(Moments { recalled_us: None, ..moments }.origin_us(), 7);
        assert_eq!(Moments { demoted_us: Some(3), ..Moments::created(5) }.origin_us(), 5);
    }

    #[test]
    fn what_lies_ahead_counts_as_now() {
        assert_eq!(left(0.5, DAY_US, 0), 1.0);
        assert_eq!(days_between(i64::MIN, i64::MAX), i64::MAX as f64 / DAY_US as f64);
    }

    #[test]
    fn what_does_not_fade_has_no_half_life_and_no_end() {
        assert_eq!((half_life_days(0.0), days_until(1.0, 0.0, 0.1)), (None, None));
        assert_eq!(days_until(0.05, 0.0, 0.1), Some(0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_left_never_grows(k in 0.0..10.0, origin in any::<i32>(), a in any::<i64>(), b in any::<i64>()) {
            let (early, late) = (a.min(b), a.max(b));
            let (more, less) = (left(k, i64::from(origin), early), left(k, i64::from(origin), late));
            prop_assert!((0.0..=1.0).contains(&less) && less <= more && more <= 1.0);
        }

        #[test]
        fn half_is_left_after_a_half_life(k in 1e-3..10.0) {
            let half_life = half_life_days(k).unwrap();
            prop_assert!((left(k, 0, (half_life * DAY_US as f64) as i64) - 0.5).abs() < 1e-9);
        }
    }
}
