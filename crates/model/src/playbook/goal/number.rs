//! Numbers as people write them: digits, words, sizes with units.

/// Largest number that is parsed from words or digits.
pub(crate) const NUMBER_MAX: u64 = 1_000_000_000_000;

const UNITS: &[(&str, u64)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("dozen", 12),
    ("hundred", 100),
];

const TENS: &[(&str, u64)] = &[
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

/// Parses one folded word as a number: `12`, `1,000`, `twelve`, `twenty-five`.
pub(crate) fn of_word(word: &str) -> Option<u64> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return of_digits(word).filter(|number| *number <= NUMBER_MAX);
    }
    if let Some(number) = look_up(UNITS, word).or_else(|| look_up(TENS, word)) {
        return Some(number);
    }
    let (tens, unit) = word.split_once('-')?;
    of_two_words(tens, unit)
}

/// Parses digits, whose thousands may be separated: `1,000`, but not `1,5`, which some people write for one and a half.
fn of_digits(word: &str) -> Option<u64> {
    let mut groups = word.split([',', '_']);
    let mut digits = groups.next()?.to_owned();
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        digits.push_str(group);
    }
    digits.chars().all(|c| c.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Parses two folded words as a number: `twenty five`, `a dozen`, `two hundred`.
pub(crate) fn of_two_words(first: &str, second: &str) -> Option<u64> {
    match (first, second) {
        ("a" | "one", "dozen" | "hundred") => look_up(UNITS, second),
        (_, "dozen" | "hundred") => {
            let count = look_up(UNITS, first).filter(|count| (1..=9).contains(count))?;
            Some(count * look_up(UNITS, second)?)
        }
        _ => {
            let unit = look_up(UNITS, second).filter(|unit| (1..=9).contains(unit))?;
            Some(look_up(TENS, first)? + unit)
        }
    }
}

/// Parses one folded word as a number of bytes: `4096`, `10mb`, `1.5gib`, `20k`. `kb` is 1,000 bytes; `kib` and a bare
/// `k` are 1,024.
pub(crate) fn size_of_word(word: &str) -> Option<u64> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (number, unit) = word.split_at(end);
    size(number, unit)
}

/// Parses a number and a unit as a number of bytes: `10 MB`.
pub(crate) fn size(number: &str, unit: &str) -> Option<u64> {
    let factor: u64 = match unit {
        "" | "b" | "byte" | "bytes" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    };
    let valid = number.starts_with(|c: char| c.is_ascii_digit()) && number.len() <= 16;
    let number: f64 = valid.then(|| number.parse().ok()).flatten()?;
    #[expect(clippy::cast_precision_loss, reason = "factors are below 2^53")]
    let bytes = (number * factor as f64).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 2^53, and whole"
    )]
    (0.0..9_007_199_254_740_992.0).contains(&bytes).then_some(bytes as u64)
}

fn look_up(table: &[(&str, u64)], word: &str) -> Option<u64> {
    table.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_digits_and_in_words() {
        for (word, number) in [
            ("3", 3),
            ("1,000", 1_000),
            ("12_345_678", 12_345_678),
            ("three", 3),
            ("ten", 10),
            ("ninety", 90),
            ("twenty-five", 25),
            ("dozen", 12),
        ] {
            assert_eq!(of_word(word), Some(number), "{word}");
        }
        for word in [
            "",
            "-3",
            "3.5",
            "twenty-eleven",
            "largest",
            "99999999999999999999",
            "five-twenty",
            "3x",
            "1,5",
            "1,0000",
            "1,",
        ] {
            assert_eq!(of_word(word), None, "{word}");
        }
        assert_eq!(of_two_words("twenty", "five"), Some(25));
        assert_eq!(of_two_words("a", "dozen"), Some(12));
        assert_eq!(of_two_words("two", "hundred"), Some(200));
        assert_eq!(of_two_words("twenty", "ten"), None);
        assert_eq!(of_two_words("a", "few"), None);
    }

    #[test]
    fn sizes_with_units() {
        assert_eq!(size_of_word("4096"), Some(4_096));
        assert_eq!(size_of_word("10mb"), Some(10_000_000));
        assert_eq!(size_of_word("1.5gib"), Some(1_610_612_736));
        assert_eq!(size_of_word("20k"), Some(20_480));
        assert_eq!(size("10", "kb"), Some(10_000));
        for word in ["", "mb", "1.2.3k", "9999999999tb", "10 x", "1e9"] {
            assert_eq!(size_of_word(word), None, "{word}");
        }
    }
}
