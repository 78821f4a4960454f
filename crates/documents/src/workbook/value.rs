//! Stored values as people of any country read them.

use jiff::ToSpan;
use jiff::civil::date;

/// How a number is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shown {
    #[default]
    Number,
    /// Days since the workbook's first day, as a date, a time of day, or both.
    Date,
    /// Days, as hours, minutes and seconds.
    Duration,
}

const DAY_MS: i64 = 86_400_000;
/// More days than the last date of any program, 9999-12-31.
const DAYS_MAX: f64 = 3_000_000.0;

/// Returns a stored number as text; other text stays.
pub(crate) fn number(stored: &str, shown: Shown, is_1904: bool) -> String {
    let Ok(value) = stored.trim().parse::<f64>() else { return stored.to_owned() };
    let time = match shown {
        Shown::Number => None,
        Shown::Date => moment(value, is_1904),
        Shown::Duration => duration(value),
    };
    time.unwrap_or_else(|| plain(value))
}

/// Programs store 17 digits; the shortest text that means the same number is the one that people typed.
fn plain(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e16).contains(&size) { format!("{value:e}") } else { value.to_string() }
}

fn milliseconds(days: f64) -> Option<i64> {
    let ms = (days * 86_400_000.0).round() as i64;
    (days.abs() <= DAYS_MAX).then_some(ms)
}

fn moment(days: f64, is_1904: bool) -> Option<String> {
    let ms = milliseconds(days).filter(|ms| *ms >= 0)?;
    let (day, ms) = (ms / DAY_MS, ms % DAY_MS);
    let clock = clock(ms);
    // A time of day has no date; without one, the day 0 exists only if days count from 1904.
    if day == 0 && (ms > 0 || !is_1904) {
        return Some(clock);
    }
    let day = match (is_1904, day) {
        (true, _) => date(1904, 1, 1).checked_add(day.days()).ok()?.to_string(),
        // The numbers have a day that the calendar does not have, so those before it are one less.
        (false, 60) => "1900-02-29".to_owned(),
        (false, ..60) => date(1899, 12, 31).checked_add(day.days()).ok()?.to_string(),
        (false, _) => date(1899, 12, 30).checked_add(day.days()).ok()?.to_string(),
    };
    Some(if ms == 0 { day } else { format!("{day} {clock}") })
}

fn clock(ms: i64) -> String {
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    let text = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if ms == 0 { text } else { format!("{text}.{ms:03}") }
}

fn duration(days: f64) -> Option<String> {
    let ms = milliseconds(days)?;
    let sign = if ms < 0 { "-" } else { "" };
    let seconds = (ms.abs() + 500) / 1_000;
    Some(format!("{sign}{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60))
}

/// Returns a length of time as OpenDocument stores it (`PT26H03M00S`), or as it is if it is none.
pub(crate) fn stored_duration(stored: &str) -> String {
    let parts = || {
        let (hours, rest) = stored.strip_prefix("PT")?.split_once('H')?;
        let (minutes, rest) = rest.split_once('M')?;
        let seconds = rest.strip_suffix('S')?.split(['.', ',']).next()?;
        let number = |text: &str| text.parse::<u32>().ok();
        Some((number(hours)?, number(minutes)?, number(seconds)?))
    };
    match parts() {
        Some((hours, minutes, seconds)) => format!("{hours}:{minutes:02}:{seconds:02}"),
        None => stored.to_owned(),
    }
}

/// Returns how a number with this format is shown. Formats below 164 are known by their number alone.
pub(crate) fn shown(format: u32, code: Option<&str>) -> Shown {
    match (format, code) {
        (_, Some(code)) => of_code(code),
        (46, None) => Shown::Duration,
        (14..=22 | 27..=36 | 45 | 47 | 50..=58, None) => Shown::Date,
        _ => Shown::Number,
    }
}

/// Looks for the letters of dates outside of literal text, colours and conditions.
fn of_code(code: &str) -> Shown {
    let mut letters = code.chars();
    let mut shown = Shown::Number;
    while let Some(letter) = letters.next() {
        match letter.to_ascii_lowercase() {
            // What comes after is for numbers below zero.
            ';' => break,
            '"' => drop(letters.by_ref().find(|letter| *letter == '"')),
            '\\' | '_' | '*' => drop(letters.next()),
            '[' => {
                let inner: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                let inner = inner.to_ascii_lowercase();
                let is_elapsed = |unit: char| !inner.is_empty() && inner.chars().all(|letter| letter == unit);
                if ['h', 'm', 's'].into_iter().any(is_elapsed) {
                    return Shown::Duration;
                }
            }
            'd' | 'm' | 'y' | 'h' | 's' => shown = Shown::Date,
            _ => {}
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_shown_as_dates() {
        for (stored, is_1904, text) in [
            ("0.25", false, "06:00:00"),
            ("1", false, "1900-01-01"),
            ("59", false, "1900-02-28"),
            ("60", false, "1900-02-29"),
            ("61", false, "1900-03-01"),
            ("45943.5", false, "2025-10-13 12:00:00"),
            ("45943.000001", false, "2025-10-13 00:00:00.086"),
            ("45942.9999999999", false, "2025-10-13"),
            ("2958465", false, "9999-12-31"),
            ("2958466", false, "2958466"),
            ("0", true, "1904-01-01"),
            ("0.25", true, "06:00:00"),
            ("44481", true, "2025-10-13"),
            ("-1", false, "-1"),
            ("1e300", false, "1e300"),
            ("NaN", false, "NaN"),
            ("soon", false, "soon"),
        ] {
            assert_eq!(number(stored, Shown::Date, is_1904), text, "{stored}");
        }
        for (stored, text) in [("1.5", "36:00:00"), ("-0.5", "-12:00:00"), ("0.0000058", "0:00:01")] {
            assert_eq!(number(stored, Shown::Duration, false), text, "{stored}");
        }
        for (stored, text) in [("PT26H03M00S", "26:03:00"), ("PT00H00M01.5S", "0:00:01"), ("P1D", "P1D")] {
            assert_eq!(stored_duration(stored), text);
        }
    }

    #[test]
    fn numbers_have_no_needless_digits() {
        for (stored, text) in [
            ("0.10000000000000001", "0.1"),
            ("40", "40"),
            ("1E3", "1000"),
            ("12345678901234567890", "1.2345678901234567e19"),
            ("0.0000000000015", "1.5e-12"),
            ("0", "0"),
        ] {
            assert_eq!(number(stored, Shown::Number, false), text);
        }
    }

    #[test]
    fn a_format_tells_dates_from_numbers() {
        for (code, wanted) in [
            ("General", Shown::Number),
            ("0.00", Shown::Number),
            ("yyyy\\-mm\\-dd", Shown::Date),
            ("[$-409]h:mm AM/PM", Shown::Date),
            ("[h]:mm:ss", Shown::Duration),
            ("[Red]0.00", Shown::Number),
            ("#,##0 \"days\"", Shown::Number),
            ("0;[Red]d", Shown::Number),
            ("0_d", Shown::Number),
            ("\"open", Shown::Number),
        ] {
            assert_eq!(shown(164, Some(code)), wanted, "{code}");
        }
        assert_eq!(
            [0, 14, 46, 49].map(|id| shown(id, None)),
            [Shown::Number, Shown::Date, Shown::Duration, Shown::Number]
        );
    }
}
