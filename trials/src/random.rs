//! A small generator that gives the same numbers for the same seed on every machine.

/// A SplitMix64 generator.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        let span = high.saturating_sub(low).saturating_add(1);
        low + self.next() % span.max(1)
    }

    /// Returns one of these; an empty text if there are none.
    pub(crate) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let last = u64::try_from(from.len()).unwrap_or(u64::MAX).saturating_sub(1);
        let at = usize::try_from(self.between(0, last)).unwrap_or(0);
        from.get(at).copied().unwrap_or_default()
    }

    /// Returns the items in another order.
    pub(crate) fn shuffled<T>(&mut self, mut list: Vec<T>) -> Vec<T> {
        for at in (1..list.len()).rev() {
            let other = usize::try_from(self.between(0, at as u64)).unwrap_or(0);
            list.swap(at, other);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..4).map(|_| random.between(1, 1_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }

    #[test]
    fn shuffling_loses_nothing() {
        let shuffled = Random::new(3).shuffled((0..50).collect());
        let mut sorted = shuffled.clone();
        sorted.sort_unstable();
        assert_ne!(shuffled, sorted);
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}
