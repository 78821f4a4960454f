//! How memory's numbers and states are worded.

use setpoint_protocol::memory::Author;
use setpoint_protocol::message::{InsightCategory, Level, MemoryAction, SopKind};
use setpoint_protocol::{MegramId, Timestamp};

use crate::text::Tone;
use crate::view::words::thousands;

/// The M_attention below which a pair has no effect on a plan (SPEC 7).
pub(crate) const ATTENTION_GATE: f64 = 0.5;
/// An M_decision further than this from 0 is for or against something (SPEC 7).
pub(crate) const DECISION_BAND: f64 = 0.2;
/// The last characters of an id are shown and accepted, because the first ones are the time and are the same
/// for many ids.
const ID_CHARS_SHOWN: usize = 8;
/// From here on a strength is written with a power of ten.
const PLAIN_MAX: f64 = 1e6;

const MINUTES_OF_DAY: f64 = 1_440.0;
const DAYS_OF_YEAR: f64 = 365.25;
/// From this many days on, years are shown.
const DAYS_SHOWN_MAX: f64 = 730.5;
/// From this many years on, only "over" this number is shown.
const YEARS_MAX: f64 = 10_000.0;
const MICROS_OF_DAY: f64 = 86_400_000_000.0;

/// Formats a strength: `3.42`.
pub(crate) fn strength(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    if value.abs() >= PLAIN_MAX {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.2}");
    // A value that rounds to 0 has no sign.
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// Formats a strength with its sign: `+2.10`.
pub(crate) fn signed(value: f64) -> String {
    let text = strength(value);
    if value > 0.0 && !matches!(text.as_str(), "0.00" | "?") { format!("+{text}") } else { text }
}

/// Formats how fast something fades per day: `0.05`.
pub(crate) fn rate(k: f64) -> String {
    let text = if k.is_finite() && k.abs() < PLAIN_MAX { format!("{k:.3}") } else { strength(k) };
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a number of days in a suitable unit: `12 min`, `5.5 h`, `13.9 d`, `2.3 y`.
pub(crate) fn span(days: f64) -> String {
    let minutes = days * MINUTES_OF_DAY;
    let years = days / DAYS_OF_YEAR;
    if !days.is_finite() {
        "?".to_owned()
    } else if minutes < 60.0 {
        format!("{:.0} min", minutes.max(0.0))
    } else if days < 1.0 {
        format!("{:.1} h", days * 24.0)
    } else if days < DAYS_SHOWN_MAX {
        format!("{days:.1} d")
    } else if years < YEARS_MAX {
        format!("{years:.1} y")
    } else {
        format!("over {} y", thousands(YEARS_MAX as u64))
    }
}

/// Returns the days from one moment to a later one; 0 if it is not later.
pub(crate) fn days_between(from: Timestamp, to: Timestamp) -> f64 {
    to.as_micros().saturating_sub(from.as_micros()).max(0) as f64 / MICROS_OF_DAY
}

/// Returns the end of an id, which is enough to name the record.
pub(crate) fn short(id: &MegramId) -> &str {
    let text = id.as_str();
    text.get(text.len().saturating_sub(ID_CHARS_SHOWN)..).unwrap_or(text)
}

/// Returns the name of a layer.
pub(crate) const fn level(level: Level) -> &'static str {
    match level {
        Level::M => "M",
        Level::K => "K",
        Level::C => "C",
        Level::T => "T",
    }
}

/// Returns what a layer holds.
pub(crate) const fn level_meaning(level: Level) -> &'static str {
    match level {
        Level::M => "raw experience",
        Level::K => "knowledge, which fades",
        Level::C => "common sense, which does not fade",
        Level::T => "the system's own thinking",
    }
}

/// Returns the name of a kind of lesson.
pub(crate) const fn category(category: InsightCategory) -> &'static str {
    match category {
        InsightCategory::Fact => "fact",
        InsightCategory::Procedure => "procedure",
        InsightCategory::Constraint => "constraint",
    }
}

/// Returns the name of a kind of rule.
pub(crate) const fn kind(kind: Option<SopKind>) -> (Tone, &'static str) {
    match kind {
        Some(SopKind::BestPractice) => (Tone::Good, "best practice"),
        Some(SopKind::Constraint) => (Tone::Bad, "constraint"),
        None => (Tone::Plain, "fact"),
    }
}

/// Returns the kind of a rule in force; `None` for a fact, which is what the operator states.
pub(crate) fn kind_of(author: Author, sigma: f64) -> Option<SopKind> {
    match author {
        Author::Operator => None,
        Author::Task | Author::Dreamer | Author::Import if sigma < 0.0 => Some(SopKind::Constraint),
        Author::Task | Author::Dreamer | Author::Import => Some(SopKind::BestPractice),
    }
}

/// Returns what an action means for a plan.
pub(crate) fn action_meaning(action: MemoryAction) -> String {
    match action {
        MemoryAction::Ignore => format!("attention is below {ATTENTION_GATE}, so a plan is given nothing"),
        MemoryAction::Exploit => "what worked is preferred".to_owned(),
        MemoryAction::Avoid => "what failed is not repeated".to_owned(),
        MemoryAction::Caution => "evidence for and against is balanced: allowed with care".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_are_short() {
        let values = [3.416, 0.0, -0.001, -2.5, 1e300, -1e6, f64::NAN, f64::INFINITY];
        assert_eq!(values.map(strength), ["3.42", "0.00", "0.00", "-2.50", "1.0e300", "-1.0e6", "?", "?"]);
        assert_eq!([2.1, 0.001, -0.001, -2.1, 1e9].map(signed), ["+2.10", "0.00", "0.00", "-2.10", "+1.0e9"]);
        assert_eq!(
            [0.0, 0.05, 0.5, 10.0, 0.123_456, f64::NAN].map(rate),
            ["0", "0.05", "0.5", "10", "0.123", "?"]
        );
        let spans = [0.0, -3.0, 0.01, 0.25, 13.86, 800.0, 1e300, f64::NAN].map(span);
        assert_eq!(spans, ["0 min", "0 min", "14 min", "6.0 h", "13.9 d", "2.2 y", "over 10,000 y", "?"]);
    }

    #[test]
    fn times_between_do_not_overflow() {
        let at = Timestamp::from_micros;
        assert_eq!(days_between(at(0), at(43_200_000_000)), 0.5);
        assert_eq!(days_between(at(1), at(0)), 0.0);
        assert!(days_between(at(i64::MIN), at(i64::MAX)).is_finite());
    }

    #[test]
    fn the_sign_of_sigma_gives_a_rules_kind_and_facts_have_none() {
        assert_eq!(kind_of(Author::Dreamer, 1.0), Some(SopKind::BestPractice));
        assert_eq!(kind_of(Author::Import, -1.0), Some(SopKind::Constraint));
        assert_eq!(kind_of(Author::Operator, -1.0), None);
    }
}
