//! Exact amounts of money: sums over calls must not depend on their order, and must be the same after a restart.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Parts per unit of money: a millionth of a millionth, so that the price of one token is a whole number.
const PARTS: f64 = 1e12;
/// Largest price, budget or setting, in units. Sums may be larger.
pub const UNITS_MAX: f64 = 1e6;

/// An amount in the currency of the price table (US dollars in the built-in one). Written as a number of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money(0);

    /// Converts units to an amount, rounded to the nearest part. Returns `None` for a number that is not finite,
    /// negative, or above [`UNITS_MAX`].
    #[must_use]
    pub fn of_units(units: f64) -> Option<Self> {
        if !(0.0..=UNITS_MAX).contains(&units) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded just above")]
        Some(Money((units * PARTS).round() as u64))
    }

    /// Returns the amount in units.
    #[must_use]
    pub fn units(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "above 9,000 units the last parts do not matter")]
        let parts = self.0 as f64;
        parts / PARTS
    }

    /// Returns the sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }

    /// Returns the difference; zero if `other` is larger.
    #[must_use]
    pub const fn minus(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }

    /// Returns the amount multiplied by `count`, saturating.
    #[must_use]
    pub const fn times(self, count: u64) -> Money {
        Money(self.0.saturating_mul(count))
    }

    /// Returns how often `other` fits into the amount; `u64::MAX` if `other` is zero.
    #[must_use]
    pub const fn holds(self, other: Money) -> u64 {
        match self.0.checked_div(other.0) {
            Some(count) => count,
            None => u64::MAX,
        }
    }

    /// Returns the `n`-th of `shares` shares, as equal as parts allow; the first shares are the larger ones.
    #[must_use]
    pub const fn share(self, n: u64, shares: u64) -> Money {
        if shares == 0 {
            return Money::ZERO;
        }
        Money(self.0 / shares + if n < self.0 % shares { 1 } else { 0 })
    }
}

impl fmt::Display for Money {
    /// Writes two to six decimal places, as many as the amount needs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.units();
        let places = match units {
            units if units >= 1.0 || units == 0.0 => 2,
            units if units >= 0.01 => 4,
            _ => 6,
        };
        write!(f, "{units:.places$}")
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.units())
    }
}

/// Accepts amounts of any size, because a record may hold a sum. Amounts that are stated are checked by
/// [`Money::of_units`].
impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let units = f64::deserialize(deserializer)?;
        if !units.is_finite() || units < 0.0 {
            return Err(serde::de::Error::custom(format!("{units} is no amount of money")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        Ok(Money((units * PARTS).round() as u64))
    }
}

impl JsonSchema for Money {
    fn schema_name() -> Cow<'static, str> {
        "Money".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number",
            "minimum": 0,
            "description": "An amount in the currency of the price table, US dollars in the built-in one."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_round_trip_exactly() {
        for units in [0.0, 1e-12, 7.5e-9, 3e-6, 0.1, 0.3, 12.345_678_901_234, 8_999.999_999_999] {
            let money = Money::of_units(units).unwrap();
            let read: Money = serde_json::from_str(&serde_json::to_string(&money).unwrap()).unwrap();
            assert_eq!(read, money, "{units}");
        }
        for wrong in [-1.0, f64::NAN, f64::INFINITY, UNITS_MAX * 2.0] {
            assert_eq!(Money::of_units(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sums_of_any_size_read_back() {
        let most = Money::of_units(UNITS_MAX).unwrap();
        for sum in [most.times(2), most.times(u64::MAX)] {
            let read: Money = serde_json::from_str(&serde_json::to_string(&sum).unwrap()).unwrap();
            assert!((read.units() - sum.units()).abs() < 1.0, "{read} {sum}");
        }
        for wrong in ["-1.0", "\"1\"", "null"] {
            assert!(serde_json::from_str::<Money>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sums_do_not_depend_on_order_and_never_overflow() {
        let tenth = Money::of_units(0.1).unwrap();
        let sum = (0..10).fold(Money::ZERO, |sum, _| sum.plus(tenth));
        assert_eq!(sum, Money::of_units(1.0).unwrap());
        let most = Money::of_units(UNITS_MAX).unwrap();
        assert_eq!(most.times(u64::MAX).plus(most), Money(u64::MAX));
        assert_eq!(tenth.minus(sum), Money::ZERO);
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        let money = Money(10);
        let shares: Vec<u64> = (0..4).map(|n| money.share(n, 4).0).collect();
        assert_eq!(shares, [3, 3, 2, 2]);
        assert_eq!(money.share(0, 0), Money::ZERO);
        assert_eq!((money.holds(Money(3)), money.holds(Money::ZERO)), (3, u64::MAX));
    }

    #[test]
    fn an_amount_is_shown_with_the_places_it_needs() {
        for (units, expected) in
            [(0.0, "0.00"), (12.345, "12.35"), (0.1234, "0.1234"), (0.000_123, "0.000123")]
        {
            assert_eq!(Money::of_units(units).unwrap().to_string(), expected);
        }
    }
}
