//! A pair's running sums: the cost of a query does not grow with the number of records (SPEC 7).
//!
//! Records that fade equally fast keep their proportions, so one number holds the sum of all of them: Σ |f|·e^(k·(t − T))
//! over their origins t, at a reference time T, gives the sum at any later moment by one factor e^(−k·(now − T)). There is
//! one such [`Cell`] per k, with a number for each of the two sums.

use crate::decay::{remaining_share, signed_days};
use crate::potential::Potentials;
use crate::quantization::Quantum;
use crate::sum::Sum;

/// k·Δt from which on a cell is moved to a new reference time: e^20 is far below the range of an `f64`.
const EXPONENT_MAX: f64 = 20.0;
/// Multiple of the attention left in a cell; once more than that was removed, the cell must be summed again. A number is
/// removed to within some 1e-15 of what was added, so the rest is then wrong by some 1e-10 of it.
const WORN: f64 = 1e5;

/// Sums of those records of one pair that fade equally fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Decay of its records, in 1/days.
    pub k: f64,
    /// Number of its records.
    pub count: u64,
    /// Reference time T of the sums, in microseconds since 1970.
    pub reference_us: i64,
    /// Latest origin of any record ever added: the sums hold from there on.
    pub newest_us: i64,
    /// Σ |f|·e^(k·(t − T)).
    pub attention: Sum,
    /// Σ σ·f·e^(k·(t − T)).
    pub decision: Sum,
    /// Attention removed since the records were last summed.
    pub removed: f64,
}

/// Sums of one pair, by k in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accumulators {
    cells: Vec<Cell>,
}

/// Why a change of the sums failed.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum AccumulatorError {
    /// A record was removed that was never added.
    #[error("take a record with k = {k} out of sums that hold none")]
    NotThere {
        /// Decay of the record, in 1/days.
        k: f64,
    },
}

impl Accumulators {
    /// Restores the sums from stored cells, in any order.
    #[must_use]
    pub fn from_cells(mut cells: Vec<Cell>) -> Self {
        cells.sort_by(|a, b| a.k.total_cmp(&b.k));
        Accumulators { cells }
    }

    /// Cells in ascending order of k.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Returns the number of records in the sums.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.cells.iter().map(|cell| cell.count).sum()
    }

    /// Adds a record that fades from `origin_us` on.
    pub fn add(&mut self, quantum: Quantum, origin_us: i64) {
        let at = match self.place(quantum.k) {
            Ok(at) => at,
            Err(at) => {
                self.cells.insert(at, Cell::empty(quantum.k, origin_us));
                at
            }
        };
        if let Some(cell) = self.cells.get_mut(at) {
            cell.add(quantum, origin_us);
        }
    }

    /// Removes a record; numbers and origin must be those that it was added with.
    ///
    /// # Errors
    /// If there is no record with this k: the sums and the records have diverged.
    pub fn remove(&mut self, quantum: Quantum, origin_us: i64) -> Result<(), AccumulatorError> {
        let not_there = AccumulatorError::NotThere { k: quantum.k };
        let at = self.place(quantum.k).map_err(|_| not_there)?;
        let cell = self.cells.get_mut(at).ok_or(not_there)?;
        if cell.count <= 1 {
            // Removing the whole cell also removes its rounding errors.
            self.cells.remove(at);
        } else {
            cell.remove(quantum, origin_us);
        }
        Ok(())
    }

    /// Adds all records of `other`.
    pub fn merge(&mut self, other: &Accumulators) {
        for theirs in &other.cells {
            match self.place(theirs.k) {
                Ok(at) => {
                    if let Some(cell) = self.cells.get_mut(at) {
                        cell.merge(theirs);
                    }
                }
                Err(at) => self.cells.insert(at, *theirs),
            }
        }
    }

    /// Removes all records of `other`.
    ///
    /// # Errors
    /// If they are not in these sums: the two have diverged.
    pub fn take(&mut self, other: &Accumulators) -> Result<(), AccumulatorError> {
        for theirs in &other.cells {
            let not_there = AccumulatorError::NotThere { k: theirs.k };
            let at = self.place(theirs.k).map_err(|_| not_there)?;
            let cell = self.cells.get_mut(at).filter(|cell| cell.count >= theirs.count).ok_or(not_there)?;
            if cell.count == theirs.count {
                self.cells.remove(at);
            } else {
                cell.take(theirs);
            }
        }
        Ok(())
    }

    /// Returns the sums at this moment; `None` for a moment before the latest origin. Records made later would count as made
    /// then, which only the plain sum can compute ([`Potentials::of`]).
    #[must_use]
    pub fn potentials(&self, now_us: i64) -> Option<Potentials> {
        let (mut attention, mut decision) = (Sum::default(), Sum::default());
        for cell in &self.cells {
            if now_us < cell.newest_us {
                return None;
            }
            let left = remaining_share(cell.k, cell.reference_us, now_us);
            attention.add(cell.attention.value() * left);
            decision.add(cell.decision.value() * left);
        }
        Some(Potentials { attention: attention.value(), decision: decision.value() })
    }

    /// Returns whether so much was removed that the sums should be computed again from the records.
    #[must_use]
    pub fn is_worn(&self) -> bool {
        self.cells.iter().any(|cell| cell.removed > WORN * cell.attention.value().abs())
    }

    fn place(&self, k: f64) -> Result<usize, usize> {
        self.cells.binary_search_by(|cell| cell.k.total_cmp(&k))
    }
}

impl Cell {
    fn empty(k: f64, reference_us: i64) -> Self {
        let (attention, decision) = (Sum::default(), Sum::default());
        Cell { k, count: 0, reference_us, newest_us: reference_us, attention, decision, removed: 0.0 }
    }

    fn add(&mut self, quantum: Quantum, origin_us: i64) {
        if self.exponent(origin_us) > EXPONENT_MAX {
            self.carry_to(origin_us);
        }
        let weight = self.exponent(origin_us).exp();
        self.attention.add(quantum.f.abs() * weight);
        self.decision.add(quantum.sigma * quantum.f * weight);
        self.count = self.count.saturating_add(1);
        self.newest_us = self.newest_us.max(origin_us);
    }

    fn remove(&mut self, quantum: Quantum, origin_us: i64) {
        let weight = self.exponent(origin_us).exp();
        self.attention.add(-(quantum.f.abs() * weight));
        self.decision.add(-(quantum.sigma * quantum.f * weight));
        self.removed += quantum.f.abs() * weight;
        self.count = self.count.saturating_sub(1);
    }

    fn merge(&mut self, other: &Cell) {
        if self.exponent(other.reference_us) > EXPONENT_MAX {
            self.carry_to(other.reference_us);
        }
        let weight = self.exponent(other.reference_us).exp();
        self.attention.add(other.attention.value() * weight);
        self.decision.add(other.decision.value() * weight);
        self.removed += other.removed * weight;
        self.count = self.count.saturating_add(other.count);
        self.newest_us = self.newest_us.max(other.newest_us);
    }

    fn take(&mut self, other: &Cell) {
        let weight = self.exponent(other.reference_us).exp();
        self.attention.add(-(other.attention.value() * weight));
        self.decision.add(-(other.decision.value() * weight));
        self.removed += other.attention.value() * weight;
        self.count = self.count.saturating_sub(other.count);
    }

    /// Returns k·(t − T).
    fn exponent(&self, origin_us: i64) -> f64 {
        self.k * signed_days(self.reference_us, origin_us)
    }

    fn carry_to(&mut self, reference_us: i64) {
        let factor = (-self.exponent(reference_us)).exp();
        self.attention.scale(factor);
        self.decision.scale(factor);
        self.removed *= factor;
        self.reference_us = reference_us;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decay::{DAY_US, Moments};
    use crate::megram::{Level, Trace};
    use crate::quantization::{State, quantize};

    const CENTURY_US: i64 = 36_525 * DAY_US;

    fn trace(quantum: Quantum, origin_us: i64) -> Trace {
        Trace { level: Level::M, quantum, moments: Moments::created(origin_us), is_consolidated: false }
    }

    /// Compares both sums with the plain ones, relative to the attention, because decisions may cancel to 0.
    fn assert_equal(sums: &Accumulators, traces: &[Trace], now_us: i64, error_max: f64) {
        let plain = Potentials::of(traces, now_us);
        let kept = sums.potentials(now_us).unwrap();
        let size = plain.attention.max(f64::MIN_POSITIVE);
        let errors =
            [kept.attention - plain.attention, kept.decision - plain.decision].map(|e| e.abs() / size);
        assert!(errors.iter().all(|error| *error < error_max), "{errors:?} of {plain:?} at {now_us}");
    }

    #[test]
    fn pair_without_records_sums_to_zero() {
        assert_eq!(Accumulators::default().potentials(i64::MIN), Some(Potentials::default()));
    }

    #[test]
    fn removing_a_record_that_was_never_added_fails() {
        let mut sums = Accumulators::default();
        sums.add(quantize(State::Accept), 0);
        let error = sums.remove(quantize(State::Refine), 0).unwrap_err();
        assert_eq!(error.to_string(), "take a record with k = 0.5 out of sums that hold none");
        let mut more = sums.clone();
        more.add(quantize(State::Accept), 0);
        let error = sums.take(&more).unwrap_err();
        assert_eq!(error.to_string(), "take a record with k = 0.05 out of sums that hold none");
        sums.remove(quantize(State::Accept), 0).unwrap();
        assert_eq!(sums, Accumulators::default());
    }

    #[test]
    fn potentials_before_the_latest_origin_are_none() {
        let mut sums = Accumulators::default();
        sums.add(quantize(State::Accept), 10);
        assert_eq!((sums.potentials(9), sums.potentials(10).map(|sums| sums.attention)), (None, Some(0.9)));
    }

    #[test]
    fn sums_equal_the_plain_sums_over_centuries() {
        let mut sums = Accumulators::default();
        let all: Vec<Trace> =
            [0, 1, 2].map(|n| trace(quantize(State::Refine), n * CENTURY_US)).into_iter().collect();
        for trace in all.iter().chain(all.iter().rev()) {
            sums.add(trace.quantum, trace.moments.created_us);
        }
        let twice: Vec<Trace> = all.iter().chain(&all).copied().collect();
        assert_equal(&sums, &twice, 2 * CENTURY_US, 1e-12);
    }

    #[test]
    fn sums_are_worn_after_most_was_removed() {
        let mut sums = Accumulators::default();
        let old = trace(quantize(State::Refine), 0);
        let much: Vec<Trace> = (0..1_000).map(|n| trace(old.quantum, 30 * DAY_US + n)).collect();
        // Far enough ahead for the sums to be moved to a new reference time.
        let far = trace(old.quantum, 50 * DAY_US);
        let all = || [&old].into_iter().chain(&much).chain([&far]);
        all().for_each(|trace| sums.add(trace.quantum, trace.moments.created_us));
        assert!(!sums.is_worn());
        for trace in all().skip(1) {
            sums.remove(trace.quantum, trace.moments.created_us).unwrap();
        }
        assert!(sums.is_worn());
        let kept = sums.potentials(50 * DAY_US).unwrap().attention;
        let plain = old.attention(50 * DAY_US);
        assert!(((kept - plain) / plain).abs() > 1e-9, "the premise: {kept} is no good any more for {plain}");
    }

    /// Ten years in which records of a pair are added and removed all the time, the newest as likely as the oldest, and all but
    /// one are removed now and then.
    #[test]
    fn ten_years_of_writes_and_deletes_leave_no_drift() {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let mut sums = Accumulators::default();
        let mut records: Vec<Trace> = Vec::new();
        let (mut now_us, mut worn) = (0, 0);
        let end_us = 3_653 * DAY_US;
        let mut steps = 0_u64;
        while now_us < end_us {
            steps += 1;
            now_us += (draw(100) * draw(100)) as i64 * DAY_US / 50_000;
            let state = State::ALL[draw(7) as usize];
            records.push(trace(quantize(state), now_us));
            sums.add(quantize(state), now_us);
            let keep = if steps.is_multiple_of(5_000) { 1 } else { 200 };
            while records.len() > keep {
                let gone = records.swap_remove(draw(records.len() as u64) as usize);
                sums.remove(gone.quantum, gone.moments.created_us).unwrap();
            }
            if sums.is_worn() {
                worn += 1;
                sums = Accumulators::default();
                records.iter().for_each(|record| sums.add(record.quantum, record.moments.created_us));
            }
            if steps.is_multiple_of(97) {
                assert_equal(&sums, &records, now_us, 1e-9);
                assert_equal(&sums, &records, now_us + 60 * DAY_US, 1e-9);
            }
        }
        assert!(steps > 50_000, "{steps} writes");
        assert!(worn < steps / 1_000, "summed anew {worn} times in {steps} writes");
    }

    fn quantum() -> impl Strategy<Value = Quantum> {
        let odd = (0.0..=1.0, -1.0..=1.0, prop_oneof![Just(0.0), 0.01..1.0]);
        prop_oneof![
            3 => proptest::sample::select(&State::ALL[..]).prop_map(quantize),
            1 => odd.prop_map(|(f, sigma, k)| Quantum { f, sigma, k }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sums_equal_the_plain_sums_in_any_order(
            records in proptest::collection::vec((quantum(), 0_i64..400 * DAY_US, any::<u32>()), 0..60),
            gone in 0_usize..60,
        ) {
            let traces: Vec<Trace> = records.iter().map(|(quantum, at, _)| trace(*quantum, *at)).collect();
            let mut shuffled: Vec<&(Quantum, i64, u32)> = records.iter().collect();
            shuffled.sort_by_key(|(_, _, order)| *order);
            let (mut sums, mut others) = (Accumulators::default(), Accumulators::default());
            records.iter().for_each(|(quantum, at, _)| sums.add(*quantum, *at));
            shuffled.iter().for_each(|(quantum, at, _)| others.add(*quantum, *at));
            let now_us = 400 * DAY_US;
            assert_equal(&sums, &traces, now_us, 1e-12);
            assert_equal(&others, &traces, now_us, 1e-12);

            let kept = gone.min(traces.len());
            for trace in traces.iter().take(kept) {
                sums.remove(trace.quantum, trace.moments.created_us).unwrap();
            }
            prop_assert_eq!(sums.count(), (traces.len() - kept) as u64);
            if !sums.is_worn() {
                assert_equal(&sums, &traces[kept..], now_us, 1e-9);
            }
        }

        #[test]
        fn merge_and_take_equal_record_by_record_changes(
            records in proptest::collection::vec((quantum(), 0_i64..4_000 * DAY_US), 0..60),
            split in 0_usize..60,
        ) {
            let traces: Vec<Trace> = records.iter().map(|(quantum, at)| trace(*quantum, *at)).collect();
            let (ours, theirs) = traces.split_at(split.min(traces.len()));
            let of = |traces: &[Trace]| {
                let mut sums = Accumulators::default();
                traces.iter().for_each(|trace| sums.add(trace.quantum, trace.moments.created_us));
                sums
            };
            let mut sums = of(ours);
            sums.merge(&of(theirs));
            let now_us = 4_000 * DAY_US;
            prop_assert_eq!(sums.count(), traces.len() as u64);
            assert_equal(&sums, &traces, now_us, 1e-12);

            sums.take(&of(theirs)).unwrap();
            prop_assert_eq!(sums.count(), ours.len() as u64);
            if !sums.is_worn() {
                assert_equal(&sums, ours, now_us, 1e-9);
            }
        }
    }
}
