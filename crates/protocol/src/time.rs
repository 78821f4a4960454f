//! Moments, as microseconds since the Unix epoch.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment in UTC with microsecond resolution. Written as RFC 3339.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The error for a text that is not an absolute RFC 3339 time.
#[derive(Debug, thiserror::Error)]
#[error("read {text:?} as an RFC 3339 time")]
pub struct TimestampError {
    text: String,
    #[source]
    source: Option<jiff::Error>,
}

impl Timestamp {
    /// Creates a timestamp from microseconds since the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Timestamp(micros)
    }

    /// Returns microseconds since the Unix epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the milliseconds from `earlier` to `self`; 0 if `earlier` is later.
    #[must_use]
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0).max(0) / 1_000).unwrap_or(0)
    }

    /// Returns `self` minus `millis`, saturating.
    #[must_use]
    pub fn minus_millis(self, millis: u64) -> Self {
        Timestamp(self.0.saturating_sub(i64::try_from(millis.saturating_mul(1_000)).unwrap_or(i64::MAX)))
    }

    /// Returns `self` plus `millis`, saturating.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Timestamp(self.0.saturating_add(i64::try_from(millis.saturating_mul(1_000)).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(f, "{time:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > 64 {
            return Err(TimestampError { text: text.chars().take(64).collect(), source: None });
        }
        match text.parse::<jiff::Timestamp>() {
            Ok(time) => Ok(Timestamp(time.as_microsecond())),
            Err(source) => Err(TimestampError { text: text.to_owned(), source: Some(source) }),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_writes() {
        for micros in [0, 1, -1, 1_700_000_000_123_456, 4_102_444_800_000_000] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        }
    }

    #[test]
    fn relative_words_are_not_times() {
        for text in ["tomorrow", "2026-01-01", "", "12:00", &"9".repeat(1000)] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
