//! Finds times in log lines: their forms and positions. Whether a time is that of its line is decided elsewhere.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// ISO 8601, also with slashes or a space.
const ISO: &str = r"\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z| ?[+-]\d{2}:?\d{2})?";
/// `10:00:00`, with a fraction.
const CLOCK: &str = r"\d{2}:\d{2}:\d{2}(?:[.,]\d+)?";
/// An optional half of the day after a time.
const HALF: &str = r"(?: [AaPp][Mm]\b)?";

/// ISO 8601; `01/Mar/2024:10:00:00 +0000` of access logs and `01-Mar-2024 10:00:00`; syslog's, also with a year; a bare time.
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let day = r"\d{1,2}(?:/[A-Z][a-z]{2}/|-[A-Z][a-z]{2}-)\d{4}";
    let syslog = r"[A-Z][a-z]{2}[ \t]+\d{1,2}";
    let forms =
        format!(r"{ISO}|{day}[: ]{CLOCK}(?: [+-]\d{{4}})?|{syslog} {CLOCK}(?: \d{{4}}\b)?|^\[?{CLOCK}");
    Regex::new(&format!("(?-u)(?:{forms}){HALF}")).ok()
});

static ISO_FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("(?-u)^{ISO}{HALF}")).ok());

/// Optional prefix of a time at the beginning of a line: a bracket, or syslog's priority (RFC 5424: with the version of
/// its format), and the day of the week.
static LEAD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)^(?:\[|<\d+>(?:1 )?)?(?:[A-Z][a-z]{2},? )?$").ok());

/// Anything that looks like a time, in any form.
static ANY_CLOCK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\d:\d\d:\d\d|\d[T ]\d\d:\d\d").ok());

/// A time in a line.
pub(super) struct Time {
    pub(super) text: String,
    pub(super) at: Range<usize>,
    /// The line begins with it.
    pub(super) leads: bool,
}

/// Returns the first time in the head of a line.
pub(super) fn first(head: &[u8]) -> Option<Time> {
    let found = TIME.as_ref()?.find(head)?;
    let before = head.get(..found.start())?;
    let text = String::from_utf8_lossy(found.as_bytes()).trim_start_matches('[').to_owned();
    Some(Time { text, at: found.range(), leads: LEAD.as_ref()?.is_match(before) })
}

/// Returns the ISO 8601 time that a text begins with.
pub(super) fn iso(text: &[u8]) -> Option<String> {
    let found = ISO_FIRST.as_ref()?.find(text)?;
    Some(String::from_utf8_lossy(found.as_bytes()).into_owned())
}

pub(super) fn has_clock(text: &[u8]) -> bool {
    ANY_CLOCK.as_ref().is_some_and(|clock| clock.is_match(text))
}
