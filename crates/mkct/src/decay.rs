//! Decay of memories: after Δt days, e^(−k·Δt) of the strength is left (SPEC 7).
//!
//! Queries, forgetting, promotion and bankruptcy all count Δt from the same origin.

/// Microseconds per day.
pub const DAY_US: i64 = 86_400_000_000;

/// The moments of a record from which its decay may count, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// Creation of the record.
    pub created_us: i64,
    /// Last recall by a query.
    pub recalled_us: Option<i64>,
    /// Demotion from a rule.
    pub demoted_us: Option<i64>,
}

impl Moments {
    /// Returns the moments of a record that was neither recalled nor demoted.
    #[must_use]
    pub const fn created(created_us: i64) -> Self {
        Moments { created_us, recalled_us: None, demoted_us: None }
    }

    /// Returns the origin of Δt: the latest of the moments.
    #[must_use]
    pub fn origin_us(self) -> i64 {
        [self.recalled_us, self.demoted_us].into_iter().flatten().fold(self.created_us, i64::max)
    }
}

/// Returns Δt in days; never negative, so that a record from a clock ahead of ours counts as made now.
#[must_use]
pub fn days_between(origin_us: i64, now_us: i64) -> f64 {
    signed_days(origin_us, now_us).max(0.0)
}

/// Returns the signed difference in days.
pub(crate) fn signed_days(from_us: i64, to_us: i64) -> f64 {
    to_us.saturating_sub(from_us) as f64 / DAY_US as f64
}

/// Returns e^(−k·Δt): the share of a strength that is left, from 1 down to 0. `k` in 1/days, not negative.
#[must_use]
pub fn remaining_share(k: f64, origin_us: i64, now_us: i64) -> f64 {
    (-k * days_between(origin_us, now_us)).exp()
}

/// Returns the days in which a strength halves; `None` if it does not fade.
#[must_use]
pub fn half_life_days(k: f64) -> Option<f64> {
    (k > 0.0).then(|| std::f64::consts::LN_2 / k)
}

/// Returns the days from the origin until a strength of `f` has fallen to `bound`, both above 0; 0 if it is not higher
/// to begin with, `None` if it never falls that low.
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
    fn latest_moment_is_the_origin() {
        let moments = Moments { created_us: 5, recalled_us: Some(9), demoted_us: Some(7) };
        assert_eq!(moments.origin_us(), 9);
        assert_eq!(Moments { recalled_us: None, ..moments }.origin_us(), 7);
        assert_eq!(Moments { demoted_us: Some(3), ..Moments::created(5) }.origin_us(), 5);
    }

    #[test]
    fn future_origin_counts_as_now() {
        assert_eq!(remaining_share(0.5, DAY_US, 0), 1.0);
        assert_eq!(days_between(i64::MIN, i64::MAX), i64::MAX as f64 / DAY_US as f64);
    }

    #[test]
    fn zero_decay_has_no_half_life_and_no_end() {
        assert_eq!((half_life_days(0.0), days_until(1.0, 0.0, 0.1)), (None, None));
        assert_eq!(days_until(0.05, 0.0, 0.1), Some(0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn share_left_never_grows_with_time(k in 0.0..10.0, origin in any::<i32>(), a in any::<i64>(), b in any::<i64>()) {
            let (early, late) = (a.min(b), a.max(b));
            let (more, less) = (remaining_share(k, i64::from(origin), early), remaining_share(k, i64::from(origin), late));
            prop_assert!((0.0..=1.0).contains(&less) && less <= more && more <= 1.0);
        }

        #[test]
        fn half_is_left_after_one_half_life(k in 1e-3..10.0) {
            let half_life = half_life_days(k).unwrap();
            prop_assert!((remaining_share(k, 0, (half_life * DAY_US as f64) as i64) - 0.5).abs() < 1e-9);
        }
    }
}
