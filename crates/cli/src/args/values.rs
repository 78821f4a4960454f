//! Parsers of option values.

use crate::options::Setting;

/// At most this many tasks, records or findings are listed at once.
pub const LISTED_MAX: usize = 10_000;

/// Characters of an id that are enough to identify a record; fewer are more likely a typing error.
const ID_CHARS_MIN: usize = 4;
/// Maximum characters of a complete id.
const ID_CHARS_MAX: usize = 36;

/// Parses a duration in milliseconds: a whole number with `ms`, `s`, `m` or `h`. A number without a unit is
/// rejected, because people read it differently.
pub(crate) fn duration_ms(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected a time of at least 1 ms with its unit, such as 90s, 5m or 1h";
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(EXPECTED.to_owned()),
    };
    let ms = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    ms.filter(|ms| *ms > 0).ok_or_else(|| EXPECTED.to_owned())
}

/// Parses an age in milliseconds: a whole number with `h`, `d` or `w`. Zero is accepted and includes everything.
pub(crate) fn age_ms(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        "w" => Some(7 * 86_400_000),
        _ => None,
    };
    let ms = number.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    ms.ok_or_else(|| "expected an age in hours, days or weeks, such as 12h, 30d or 8w".to_owned())
}

/// Parses `KEY=VALUE` with a non-empty key.
pub(crate) fn setting(text: &str) -> Result<Setting, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            let (key, value) = (key.trim().to_owned(), value.to_owned());
            Ok(Setting { option: format!("--set {key}"), key, value })
        }
        _ => Err("expected KEY=VALUE, such as controller.delta=0.2".to_owned()),
    }
}

/// Parses a whole number from 1 on.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number, 1 or more".to_owned())
}

/// Parses an amount of money greater than 0.
pub(crate) fn amount(text: &str) -> Result<f64, String> {
    let amount = text.trim().parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "expected an amount above 0, such as 0.50".to_owned())
}

/// Parses a number of lines to list.
pub(crate) fn listed(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| (1..=LISTED_MAX).contains(number));
    number.ok_or_else(|| format!("expected a whole number from 1 to {LISTED_MAX}"))
}

/// Parses the id of a record, or its beginning or end.
pub(crate) fn megram(text: &str) -> Result<String, String> {
    let is_id = (ID_CHARS_MIN..=ID_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_id {
        return Ok(text.to_ascii_lowercase());
    }
    Err(format!(
        "expected an id as `setpoint memory list` shows it, or at least {ID_CHARS_MIN} of its first or last characters"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let read = |text: &str| duration_ms(text).ok();
        assert_eq!(
            ["5m", "90s", "1h", "250 ms", " 7ms "].map(read),
            [Some(300_000), Some(90_000), Some(3_600_000), Some(250), Some(7)]
        );
        for text in ["", "5", "m", "-5m", "5d", "5.5m", "0s", "999999999999999999h", "５m", "5m5s"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn ages_have_units_of_an_hour_or_more() {
        let read = |text: &str| age_ms(text).ok();
        assert_eq!(
            ["30d", "0d", "12h", " 2 w"].map(read),
            [Some(2_592_000_000), Some(0), Some(43_200_000), Some(1_209_600_000)]
        );
        for text in ["", "30", "d", "-5d", "5m", "1.5d", "９d", "999999999999999999w"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_record_is_named_by_either_end_of_its_id() {
        let whole = "0199b2c4-7d1e-7a52-9f00-4f2a91c0e6d7";
        assert_eq!(megram(whole).as_deref(), Ok(whole));
        assert_eq!(megram("4F2A91C0").as_deref(), Ok("4f2a91c0"));
        let long = format!("{whole}0");
        for text in ["", "4f2", "xyz1", "4f2a ", "４f2a", "4f2a\n", &long] {
            assert!(megram(text).is_err(), "{text}");
        }
    }

    #[test]
    fn settings_have_a_key() {
        let read = |text: &str| setting(text).map(|one| (one.key, one.value));
        assert_eq!(read("a.b=c=d"), Ok(("a.b".to_owned(), "c=d".to_owned())));
        assert_eq!(read("a="), Ok(("a".to_owned(), String::new())));
        assert!(setting("a").is_err());
        assert!(setting("=b").is_err());
    }
}
