//! Logs: how many lines of which level, from when to when, and what they say most often.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde_json::json;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::ToolAnswer;

use super::Source;
use crate::answer::{self, Gaps};
use crate::error::ToolError;
use crate::files::lines::{self, Line};
use crate::show;

/// Bytes of a line that are looked at.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// Bytes at the beginning of a line in which its time and level stand.
const HEAD_BYTES_MAX: usize = 200;
/// Different messages that are told apart; further new ones are not counted.
const MESSAGES_MAX: usize = 50_000;
/// The most frequent messages that are given.
const TOP_MESSAGES: usize = 10;
/// Characters of a message.
const MESSAGE_CHARS_MAX: usize = 200;

/// Words for levels, and the level that each stands for. A level counts only where its own word stands.
const LEVELS: &[(&str, &str)] = &[
    ("TRACE", "TRACE"),
    ("DEBUG", "DEBUG"),
    ("INFO", "INFO"),
    ("NOTICE", "NOTICE"),
    ("WARN", "WARN"),
    ("WARNING", "WARN"),
    ("ERROR", "ERROR"),
    ("SEVERE", "SEVERE"),
    ("CRITICAL", "CRITICAL"),
    ("FATAL", "FATAL"),
    ("PANIC", "PANIC"),
];

/// A level in capitals anywhere in the head of a line, or in any case where something marks it as one.
static LEVEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = LEVELS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join("|");
    Regex::new(&format!(
        r#"(?-u)\b({words})\b|(?i-u)(?:\[|<|level"?\s*[=:]\s*"?|\bat=)\s*({words})\b|^(?:\S+\s+){{0,6}}({words}):"#
    ))
    .ok()
});

/// ISO 8601, syslog, the common log format, and a bare time.
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z| ?[+-]\d{2}:?\d{2})?|\b\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2}(?: [+-]\d{4})?|\b[A-Z][a-z]{2}\s+\d{1,2} \d{2}:\d{2}:\d{2}\b|^\[?\d{2}:\d{2}:\d{2}\b",
    )
    .ok()
});

/// What differs from one line to the next although it says the same: numbers, ids, addresses.
static VARYING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-f]{16,}\b|\d+").ok()
});

#[derive(Default)]
struct Seen {
    lines: u64,
    levels: BTreeMap<&'static str, u64>,
    first_time: Option<String>,
    last_time: Option<String>,
    messages: BTreeMap<String, u64>,
    are_messages_cut: bool,
}

pub(super) fn summarise(mut source: Source<'_>) -> Result<ToolAnswer, ToolError> {
    let mut seen = Seen::default();
    let mut line = Vec::new();
    loop {
        match lines::next(&mut source.reader, &mut line, LINE_BYTES_MAX) {
            Ok(Line::Some { .. }) => seen.add(&line),
            Ok(Line::None) => break,
            Err(error) => return Err(source.failed(error)),
        }
    }
    let complete = !source.reader.is_halted();
    let mut top: Vec<(String, u64)> = seen.messages.into_iter().filter(|(_, count)| *count > 1).collect();
    top.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    top.truncate(TOP_MESSAGES);

    let mut text = format!("{}: {}", show::path_line(source.path), show::count(seen.lines, "line", "lines"));
    for (level, count) in &seen.levels {
        text.push_str(&format!("\n  {level}: {count}"));
    }
    if let (Some(first), Some(last)) = (&seen.first_time, &seen.last_time) {
        text.push_str(&format!("\nfrom {first} to {last}"));
    }
    if !top.is_empty() {
        text.push_str("\nmost frequent:");
        let lines = top.iter().map(|(message, count)| format!("  {count} × {}", show::line(message)));
        text.push_str(&answer::listing(lines, TOP_MESSAGES));
    }
    text.push_str(&Gaps { unreadable: 0, complete, ..Gaps::default() }.text());
    let facts = json!({
        "kind": "log",
        "lines": seen.lines,
        "levels": seen.levels,
        "first_time": seen.first_time,
        "last_time": seen.last_time,
        "top_messages": top.iter().map(|(message, count)| json!({ "message": message, "count": count })).collect::<Vec<_>>(),
        "messages_cut": seen.are_messages_cut,
        "complete": complete,
    });
    Ok(answer::found(text, facts))
}

impl Seen {
    fn add(&mut self, line: &[u8]) {
        self.lines += 1;
        let head = line.get(..line.len().min(HEAD_BYTES_MAX)).unwrap_or_default();
        if let Some(level) = level(head) {
            *self.levels.entry(level).or_default() += 1;
        }
        let time = TIME.as_ref().and_then(|pattern| pattern.find(head));
        if let Some(time) = time {
            let text = String::from_utf8_lossy(time.as_bytes()).trim_start_matches('[').to_owned();
            self.first_time.get_or_insert_with(|| text.clone());
            self.last_time = Some(text);
        }
        let rest = line.get(time.map_or(0, |time| time.end())..).unwrap_or_default();
        self.add_message(&message(rest));
    }

    fn add_message(&mut self, message: &str) {
        if message.is_empty() {
            return;
        }
        if let Some(count) = self.messages.get_mut(message) {
            *count += 1;
        } else if self.messages.len() < MESSAGES_MAX {
            self.messages.insert(message.to_owned(), 1);
        } else {
            self.are_messages_cut = true;
        }
    }
}

/// The first level in the head of a line.
fn level(head: &[u8]) -> Option<&'static str> {
    let found = LEVEL.as_ref()?.captures(head)?;
    let word = found.iter().skip(1).flatten().next()?;
    let word = String::from_utf8_lossy(word.as_bytes()).to_uppercase();
    LEVELS.iter().find(|(known, _)| *known == word).map(|(_, level)| *level)
}

/// A line without what differs from one to the next.
fn message(line: &[u8]) -> String {
    let Some(pattern) = VARYING.as_ref() else { return String::new() };
    let plain = pattern.replace_all(line, b"#".as_slice());
    let text = String::from_utf8_lossy(&plain);
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ']' | '-' | ':' | '|' | ','));
    clip(text, MESSAGE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stand_in_many_forms() {
        for (line, expected) in [
            ("2026-01-01T10:00:00Z ERROR db: lost", Some("ERROR")),
            ("[warning] disk", Some("WARN")),
            ("level=info msg=x", Some("INFO")),
            (r#"{"level":"debug"}"#, Some("DEBUG")),
            ("Jan  2 03:04:05 host app[1]: error: no", Some("ERROR")),
            ("no errors were found", None),
            ("an information", None),
            ("INFORMATION", None),
        ] {
            assert_eq!(level(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn times_stand_in_many_forms() {
        for (line, expected) in [
            ("2026-01-01T10:00:00.123Z x", "2026-01-01T10:00:00.123Z"),
            ("2026/01/01 10:00:00 x", "2026/01/01 10:00:00"),
            (r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /""#, "10/Oct/2000:13:55:36 -0700"),
            ("Jan  2 03:04:05 host", "Jan  2 03:04:05"),
            ("[10:11:12] x", "10:11:12"),
        ] {
            let mut seen = Seen::default();
            seen.add(line.as_bytes());
            assert_eq!(seen.first_time.as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn messages_that_differ_in_numbers_are_one() {
        assert_eq!(message(b" INFO user 12 from 10.0.0.1"), message(b" INFO user 9 from 10.1.2.3"));
        assert_eq!(message(b"\xff\xfe 1"), "\u{fffd}\u{fffd} #");
    }
}
