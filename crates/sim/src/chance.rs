//! The only randomness of a simulation.

/// A seeded generator (SplitMix64, Steele, Lea and Flood 2014): every run of a seed is the same.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Chance { state: seed ^ 0x5e79_0147 }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `below` − 1; 0 if `below` is 0.
    pub fn below(&mut self, below: u64) -> u64 {
        if below == 0 { 0 } else { self.bits() % below }
    }

    /// Returns true in `percent` of 100 cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let n = self.below(items.len() as u64);
        items.get(usize::try_from(n).unwrap_or(0))
    }
}
