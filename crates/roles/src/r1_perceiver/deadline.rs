//! The deadline of a task, if the person gave one.

use setpoint_protocol::Timestamp;

/// Returns the deadline that a draft names, or `None`.
///
/// A deadline ends a task hard, so it counts only if it is an absolute RFC 3339 time, lies ahead, and its year is in
/// what the person `said`: a model that does not know the date resolves "tomorrow" by guessing.
pub(super) fn deadline<'a>(
    draft: &str,
    mut said: impl Iterator<Item = &'a str>,
    now: Timestamp,
) -> Option<Timestamp> {
    let draft = draft.trim();
    let time: Timestamp = draft.parse().ok()?;
    let year: String = draft.chars().take_while(char::is_ascii_digit).collect();
    (year.len() == 4 && time > now && said.any(|text| text.contains(&year))).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_time_ahead_that_the_person_gave_counts() {
        let now = "2026-05-01T12:00:00Z".parse().unwrap();
        let check = |draft, said: &str| deadline(draft, [said].into_iter(), now).map(|time| time.to_string());
        let said = "clean up before 2026-05-02 18:00 in Vienna";
        assert_eq!(
            check(" 2026-05-02T18:00:00+02:00 ", said).as_deref(),
            Some("2026-05-02T16:00:00.000000Z")
        );
        assert_eq!(check("2026-05-01T12:00:00Z", said), None, "not ahead");
        assert_eq!(check("2026-05-02T18:00:00", said), None, "not absolute");
        assert_eq!(check("2026-05-02", said), None, "not a time");
        assert_eq!(check("tomorrow", said), None, "not resolved");
        assert_eq!(check("2026-05-02T18:00:00Z", "clean up before tomorrow 6 pm"), None, "not given");
        assert_eq!(check("+002026-05-02T18:00:00Z", said), None, "no plain year");
    }
}
