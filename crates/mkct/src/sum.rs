//! A sum that compensates rounding errors.

/// A compensated sum after Neumaier ("Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974):
/// the rounding errors of the plain addition are summed separately.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    /// Plain sum.
    pub rounded: f64,
    /// Sum of its rounding errors.
    pub lost: f64,
}

impl Sum {
    /// Adds a number to the sum.
    pub fn add(&mut self, x: f64) {
        let total = self.rounded + x;
        self.lost += if self.rounded.abs() >= x.abs() {
            (self.rounded - total) + x
        } else {
            (x - total) + self.rounded
        };
        self.rounded = total;
    }

    /// Multiplies the sum by a factor.
    pub fn scale(&mut self, factor: f64) {
        self.rounded *= factor;
        self.lost *= factor;
    }

    /// Returns the compensated sum.
    #[must_use]
    pub fn value(self) -> f64 {
        self.rounded + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_addends_are_not_lost() {
        let numbers = [1.0, 1e100, 1.0, -1e100];
        assert_eq!(numbers.iter().sum::<f64>(), 0.0, "the premise");
        let mut sum = Sum::default();
        numbers.into_iter().for_each(|x| sum.add(x));
        assert_eq!(sum.value(), 2.0);
    }
}
