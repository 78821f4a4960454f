//! A sum that keeps what rounding takes away.

/// A compensated sum after Neumaier ("Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974): what
/// a plain addition loses is summed beside it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    /// The plain sum.
    pub rounded: f64,
    /// What it has lost.
    pub lost: f64,
}

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, x: f64) {
        let total = self.rounded + x;
        self.lost += if self.rounded.abs() >= x.abs() {
            (self.rounded - total) + x
        } else {
            (x - total) + self.rounded
        };
        self.rounded = total;
    }

    /// Multiplies what was summed.
    pub fn scale(&mut self, factor: f64) {
        self.rounded *= factor;
        self.lost *= factor;
    }

    /// The sum.
    #[must_use]
    pub fn value(self) -> f64 {
        self.rounded + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_beside_the_rest_is_not_lost() {
        let numbers = [1.0, 1e100, 1.0, -1e100];
        assert_eq!(numbers.iter().sum::<f64>(), 0.0, "the premise");
        let mut sum = Sum::default();
        numbers.into_iter().for_each(|x| sum.add(x));
        assert_eq!(sum.value(), 2.0);
    }
}
