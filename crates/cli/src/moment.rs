//! Moments that the command line names: a time, a day, or a duration from now. Pure: the current time is an
//! argument.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use setpoint_protocol::Timestamp;

/// Milliseconds per day, without regard to daylight saving, because memory fades by it.
const DAY_MS: i64 = 86_400_000;
/// At most this many days ahead, a hundred years, a moment may be.
const AHEAD_DAYS_MAX: i64 = 36_525;
/// The units of a duration, with their milliseconds.
const UNITS: [(&str, i64); 4] = [("w", 7 * DAY_MS), ("d", DAY_MS), ("h", 3_600_000), ("m", 60_000)];

/// A moment as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeArgument {
    /// This moment.
    Moment(Timestamp),
    /// The beginning of this day in the reader's time zone.
    Day(Date),
    /// This many milliseconds after now, or before it if negative.
    Later(i64),
}

/// Why a moment is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MomentError {
    /// It has no known format.
    #[error(
        "expected a time such as 2026-12-24T18:00:00Z, a day such as 2026-12-24, or a duration from now such as \
         +60d, +12h, +90m or +2w"
    )]
    Unreadable,
    /// It looks like a day, but the calendar has no such date.
    #[error("the calendar has no such day")]
    NoSuchDay,
    /// It is further ahead than [`AHEAD_DAYS_MAX`].
    #[error("it is more than {} years ahead", AHEAD_DAYS_MAX * 4 / 1_461)]
    TooFar,
    /// It is before now.
    #[error("it is in the past")]
    Past,
}

/// Parses a moment.
pub(crate) fn read(text: &str) -> Result<TimeArgument, MomentError> {
    if let Some(after) = text.strip_prefix('+') {
        return while_ms(after).map(TimeArgument::Later).ok_or(MomentError::Unreadable);
    }
    // Parse `-5d` as well, so that the error says that the moment is in the past and not that its format is
    // unknown.
    if let Some(before) = text.strip_prefix('-') {
        return while_ms(before).map(|ms| TimeArgument::Later(-ms)).ok_or(MomentError::Unreadable);
    }
    if is_day(text) {
        return text.parse().map(TimeArgument::Day).map_err(|_| MomentError::NoSuchDay);
    }
    text.parse().map(TimeArgument::Moment).map_err(|_| MomentError::Unreadable)
}

impl TimeArgument {
    /// Returns the moment, which may be before `now` or after it.
    ///
    /// # Errors
    /// If it is outside the calendar's range.
    pub(crate) fn resolve_any(self, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, MomentError> {
        let micros = match self {
            TimeArgument::Moment(at) => at.as_micros(),
            TimeArgument::Day(day) => {
                let midnight = day.to_zoned(zone.clone()).map_err(|_| MomentError::TooFar)?;
                midnight.timestamp().as_microsecond()
            }
            TimeArgument::Later(ms) => now.as_micros().saturating_add(ms.saturating_mul(1_000)),
        };
        Ok(Timestamp::from_micros(micros))
    }

    /// Returns the moment, which is not before `now`.
    ///
    /// # Errors
    /// If it is before `now`, or further ahead than [`AHEAD_DAYS_MAX`].
    pub(crate) fn resolve(self, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, MomentError> {
        let micros = self.resolve_any(now, zone)?.as_micros();
        let ahead_ms = micros.saturating_sub(now.as_micros()) / 1_000;
        if micros < now.as_micros() {
            Err(MomentError::Past)
        } else if ahead_ms > AHEAD_DAYS_MAX * DAY_MS {
            Err(MomentError::TooFar)
        } else {
            Ok(Timestamp::from_micros(micros))
        }
    }
}

/// Parses `60d`, `12h`, `90m` or `2w` into milliseconds; `None` if it is not of this form. A number that is
/// too large becomes the largest, which later checks reject as too far.
fn while_ms(text: &str) -> Option<i64> {
    let (unit, factor) = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit))?;
    let digits = text.strip_suffix(unit)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some(number.saturating_mul(factor))
}

/// Returns whether `text` has the form `2026-12-24`. The calendar's own parser accepts other forms as well.
fn is_day(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(n, byte)| match n {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-23T03:30:00Z.
    const NOW: Timestamp = Timestamp::from_micros(1_795_404_600_000_000);

    fn at(text: &str, zone: &TimeZone) -> Result<String, MomentError> {
        Ok(read(text)?.resolve(NOW, zone)?.to_string())
    }

    #[test]
    fn a_moment_is_a_time_a_day_or_a_while_from_now() {
        let cases = [
            ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00.000000Z"),
            ("2026-12-24T18:00:00.5+02:00", "2026-12-24T16:00:00.500000Z"),
            ("2026-12-24", "2026-12-24T00:00:00.000000Z"),
            ("+60d", "2027-01-22T03:30:00.000000Z"),
            ("+12h", "2026-11-23T15:30:00.000000Z"),
            ("+90m", "2026-11-23T05:00:00.000000Z"),
            ("+2w", "2026-12-07T03:30:00.000000Z"),
            ("+0d", "2026-11-23T03:30:00.000000Z"),
            ("+36525d", "2126-11-24T03:30:00.000000Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(at(text, &TimeZone::UTC).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_day_begins_where_the_reader_is() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(at("2026-12-24", &east).as_deref(), Ok("2026-12-23T22:00:00.000000Z"));
        // In the eastern zone, this day began before now; in the western one it has not begun yet.
        assert_eq!(at("2026-11-23", &east), Err(MomentError::Past));
        let west = TimeZone::fixed(jiff::tz::offset(-8));
        assert_eq!(at("2026-11-23", &west).as_deref(), Ok("2026-11-23T08:00:00.000000Z"));
    }

    #[test]
    fn memory_has_neither_a_past_nor_an_endless_future() {
        for text in ["-5d", "2026-11-23T03:29:59.999999Z", "2020-01-01", "0000-01-01"] {
            assert_eq!(at(text, &TimeZone::UTC), Err(MomentError::Past), "{text}");
        }
        let digits = format!("+{}d", "9".repeat(99));
        for text in ["+36526d", "+5218w", &digits, "9999-12-31", "2226-11-23T00:00:00Z"] {
            assert_eq!(at(text, &TimeZone::UTC), Err(MomentError::TooFar), "{text}");
        }
        assert_eq!(MomentError::TooFar.to_string(), "it is more than 100 years ahead");
    }

    #[test]
    fn an_invalid_moment_is_refused() {
        let long = format!("2026-12-24T18:00:00.{}Z", "0".repeat(99));
        for text in [
            "",
            "+",
            "+d",
            "60d",
            "+60",
            "+6.5d",
            "+-6d",
            "++6d",
            "+6 d",
            " +6d",
            "+６d",
            "+6y",
            "+6D",
            "-",
            "-d",
            "tomorrow",
            "2026-12-24T18:00:00",
            "2026-12",
            "20261224",
            "24.12.2026",
            "2026/12/24",
            &long,
        ] {
            assert_eq!(read(text), Err(MomentError::Unreadable), "{text}");
        }
        for text in ["2026-02-30", "2026-13-01", "2026-00-00"] {
            assert_eq!(read(text), Err(MomentError::NoSuchDay), "{text}");
        }
    }
}
