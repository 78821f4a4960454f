//! Detects that a share has changed: the Page–Hinkley test on a sequence of yes and no.
//!
//! Page's test (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954) sums, for each observation, how
//! much more likely it is under the changed share p1 than under the long-run share p0, restarts at 0 whenever the sum
//! would fall below, and reports a change when it reaches a bound h. For yes and no the summand is a·(x − m) with a =
//! ln(p1·(1 − p0)/(p0·(1 − p1))) and m between p0 and p1, which is Hinkley's form with its tolerance m − p0 and its
//! threshold h/a. With likelihood ratios the mean time to a false report is at least e^h observations, however small
//! the share (G. Lorden, "Procedures for reacting to a change in distribution", Annals of Mathematical Statistics 42,
//! 1971).

use serde::{Deserialize, Serialize};

/// The bound h: an unchanged share is reported as changed at most once in a million observations, on average.
const REPORT_AT: f64 = 13.815_510_557_964_274;
/// Observations before the test begins, so that the long-run share is known first.
const WARM_UP: u64 = 50;
/// Factor of the long-run share from which a share counts as risen.
const RISE_FACTOR: f64 = 3.0;
/// Minimum distance above the long-run share of a share that counts as risen.
const RISE_MIN: f64 = 0.15;
/// A rise is only tested for at or below this long-run share: above it, there is no room for a rise.
const RISE_FROM_MAX: f64 = 0.8;
/// A share counts as fallen at the long-run share divided by this.
const FALL_FACTOR: f64 = 4.0;
/// A fall is only tested for at or above this long-run share: below it, there is no room for a fall.
const FALL_FROM: f64 = 0.2;
/// Distance of p0 and p1 from 0 and 1, so that neither is ever certain.
const LEAST: f64 = 0.01;
const MOST: f64 = 0.97;
/// Standard errors by which the long-run share, which is an estimate, is moved to the safe side.
const MARGIN: f64 = 2.0;
/// Weight of the last observation in the recent share: about the last forty count.
const RECENT_WEIGHT: f64 = 0.05;

/// The share of observations in which something happened, with a test for changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Number of observations.
    pub seen: u64,
    /// Number of observations in which it happened.
    pub happened: u64,
    /// Exponentially weighted mean.
    pub recent: f64,
    /// Counts since the last change, from which the long-run share is computed.
    since: Count,
    risen: f64,
    fallen: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Count {
    seen: f64,
    happened: f64,
}

/// A change of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Long-run share before, 0 to 1.
    pub before: f64,
    /// Recent share, 0 to 1.
    pub now: f64,
    /// Whether it rose.
    pub is_rise: bool,
}

impl Share {
    /// Adds one observation. A change is reported once; after it the new share is learned as the long-run one.
    pub fn take(&mut self, happened: bool, falls_too: bool) -> Option<Shift> {
        let x = f64::from(u8::from(happened));
        self.seen += 1;
        self.happened += u64::from(happened);
        self.recent += RECENT_WEIGHT * (x - self.recent);
        let shift = if self.since.seen >= WARM_UP as f64 { self.test(happened, falls_too) } else { None };
        self.since.seen += 1.0;
        self.since.happened += x;
        if shift.is_some() {
            // The long-run share must be learned again.
            self.since = Count::default();
            self.risen = 0.0;
            self.fallen = 0.0;
        }
        shift
    }

    fn test(&mut self, happened: bool, falls_too: bool) -> Option<Shift> {
        let shift = |is_rise| Some(Shift { before: self.mean(), now: self.recent, is_rise });
        let (low, high) = self.band();
        let risen = if high <= RISE_FROM_MAX {
            (self.risen + evidence(happened, high, risen(high))).max(0.0)
        } else {
            0.0
        };
        let fallen = if falls_too && low >= FALL_FROM {
            (self.fallen + evidence(happened, low, low / FALL_FACTOR)).max(0.0)
        } else {
            0.0
        };
        let found = match () {
            () if risen >= REPORT_AT => shift(true),
            () if fallen >= REPORT_AT => shift(false),
            () => None,
        };
        self.risen = risen;
        self.fallen = fallen;
        found
    }

    /// Returns the confidence band of the long-run share: two shares between 0 and 1.
    fn band(&self) -> (f64, f64) {
        let mean = self.mean();
        let error = MARGIN * (mean * (1.0 - mean) / (self.since.seen + 1.0)).sqrt();
        ((mean - error).max(LEAST), (mean + error).min(MOST))
    }

    /// Returns the long-run share, strictly between 0 and 1: a finite number of observations makes neither certain.
    #[must_use]
    pub fn mean(&self) -> f64 {
        ((self.since.happened + 0.5) / (self.since.seen + 1.0)).clamp(LEAST, MOST)
    }

    /// Returns the share that counts as risen; `None` while the long-run share is being learned, or if it leaves no
    /// room for a rise.
    #[must_use]
    pub fn bound(&self) -> Option<f64> {
        let (_, high) = self.band();
        (self.since.seen >= WARM_UP as f64 && high <= RISE_FROM_MAX).then(|| risen(high))
    }

    /// Returns the share over all time; 0 without observations.
    #[must_use]
    pub fn overall(&self) -> f64 {
        if self.seen == 0 { 0.0 } else { self.happened as f64 / self.seen as f64 }
    }

    /// Returns the evidence for a change, from 0 to 1; at 1 it is reported.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.risen.max(self.fallen) / REPORT_AT
    }
}

fn risen(p0: f64) -> f64 {
    (RISE_FACTOR * p0).max(p0 + RISE_MIN).min((1.0 + p0) / 2.0)
}

/// Returns the log-likelihood ratio of this observation under p1 and p0.
fn evidence(happened: bool, p0: f64, p1: f64) -> f64 {
    if happened { (p1 / p0).ln() } else { ((1.0 - p1) / (1.0 - p0)).ln() }
}
