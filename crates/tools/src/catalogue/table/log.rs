//! Logs: how many lines of which level, from when to when, and what they say most often.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde_json::json;
use setpoint_protocol::tool::ToolAnswer;

use super::Source;
use crate::answer::{self, Gaps};
use crate::error::ToolError;
use crate::files::lines::{self, Line};
use crate::show;

/// Bytes of a line that are looked at.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// Bytes at the beginning of a line in which its time and level stand, and of one that begins with `{`: a message may stand
/// before them there.
const HEAD_BYTES_MAX: usize = 200;
const OBJECT_HEAD_BYTES_MAX: usize = 1000;
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
    ("ERR", "ERROR"),
    ("ERROR", "ERROR"),
    ("SEVERE", "SEVERE"),
    ("CRIT", "CRITICAL"),
    ("CRITICAL", "CRITICAL"),
    ("ALERT", "ALERT"),
    ("EMERG", "EMERGENCY"),
    ("EMERGENCY", "EMERGENCY"),
    ("FATAL", "FATAL"),
    ("PANIC", "PANIC"),
];

/// Levels of what went wrong.
const ERRORS: &[&str] = &["ERROR", "SEVERE", "CRITICAL", "ALERT", "EMERGENCY", "FATAL", "PANIC"];
/// What a line holds that may speak of an error, though it has no level that is known: `Traceback (most recent call last)`,
/// `kernel: EXT4-fs error`, `error[E0425]`. Small letters.
const SUSPECT: &[&str] = &[
    "error",
    "exception",
    "fatal",
    "critical",
    "panic",
    "traceback",
    "severe",
    "emerg",
    "fail",
    // In other languages.
    "fehler",
    "schwerwieg",
    "erreur",
    "errore",
    "grave",
    "błąd",
    "ошибка",
];

/// A time of day.
static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u)\d:\d\d:\d\d").ok());

/// Levels in forms that are not counted but may be of an error: klog's `E1126 10:00:00`, `[E]`, `E/Tag`, `"level":50`.
static UNCOUNTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?-u)^[EWF]\d{4} \d{2}:|[\[(<][EWFC][\])>]|(?:^|\s)[EWF]/|(?i:level|lvl|severity)"?\s*[:=]\s*"?\d"#,
    )
    .ok()
});

/// Keys whose value is a level.
const LEVEL_KEYS: &[&str] = &["level", "lvl", "severity", "loglevel", "log_level"];
/// Keys whose value is the time of a line.
const TIME_KEYS: &[&str] = &["time", "timestamp", "ts", "t", "date", "datetime", "asctime"];
/// Words of a line among which a level stands that is marked by a colon alone.
const COLON_WORDS_MAX: usize = 7;

/// What colours a line on a terminal (ECMA-48, control sequences).
static COLOUR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u)\x1b\[[0-9;?]*[A-Za-z]").ok());

/// ISO 8601, syslog, the common log format, and a bare time.
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z| ?[+-]\d{2}:?\d{2})?|\b\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2}(?: [+-]\d{4})?|\b[A-Z][a-z]{2}\s+\d{1,2} \d{2}:\d{2}:\d{2}\b|^\[?\d{2}:\d{2}:\d{2}\b",
    )
    .ok()
});

#[derive(Default)]
struct Seen {
    lines: u64,
    /// Lines in which no level was found.
    without_level: u64,
    /// Of these, lines that speak of an error.
    suspect: u64,
    /// Lines in which the place of a level that nothing marks tells nothing.
    unplaced: u64,
    /// Where levels stand, and in how many lines: all of them, and those that nothing marks.
    places: BTreeMap<Place, [u64; 2]>,
    /// Lines with a carriage return that is not at their end.
    returns: u64,
    levels: BTreeMap<&'static str, u64>,
    /// Lines with a time of their own.
    timed: u64,
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
            Ok(Line::Some { is_cut, .. }) => seen.add(&line, is_cut),
            Ok(Line::None) => break,
            Err(error) => return Err(source.failed(error)),
        }
    }
    let complete = !source.reader.is_halted();
    let elsewhere = seen.elsewhere();
    let mut top: Vec<(String, u64)> = seen.messages.into_iter().filter(|(_, count)| *count > 1).collect();
    top.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    let repeated = top.len();
    top.truncate(TOP_MESSAGES);
    // Nobody may read “0 errors” out of lines whose levels are not known.
    let has_levels = !seen.levels.is_empty() || seen.lines == 0;
    let errors = has_levels.then(|| ERRORS.iter().filter_map(|level| seen.levels.get(level)).sum::<u64>());

    let mut text = format!("{}: {}", show::path_line(source.path), show::count(seen.lines, "line", "lines"));
    for (level, count) in &seen.levels {
        text.push_str(&format!("\n  {level}: {count}"));
    }
    if seen.without_level > 0 {
        text.push_str(&format!("\n  no level that is known: {}", seen.without_level));
    }
    if seen.suspect > 0 {
        text.push_str(&format!("\n  of these, speaking of errors: {}", seen.suspect));
    }
    if elsewhere > 0 {
        text.push_str(&format!("\n  level in another place than in most lines: {elsewhere}"));
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
        "errors": errors,
        "without_level": seen.without_level,
        "suspect": seen.suspect,
        "levels_elsewhere": elsewhere,
        "mostly_without_level": seen.without_level * 2 > seen.lines,
        "returns": seen.returns,
        "no_time_known": seen.timed == 0 && seen.lines > 0,
        "first_time": seen.first_time,
        "last_time": seen.last_time,
        "top_messages": top.iter().map(|(message, count)| json!({ "message": message, "count": count })).collect::<Vec<_>>(),
        "top_messages_count": repeated,
        "messages_cut": seen.are_messages_cut,
        "complete": complete,
    });
    Ok(answer::found(text, facts))
}

impl Seen {
    fn add(&mut self, line: &[u8], is_cut: bool) {
        self.lines += 1;
        let line = plain(line);
        let head = head(&line);
        let found = level(head);
        match &found {
            Some(found) => {
                *self.levels.entry(found.level).or_default() += 1;
                match found.place.clone() {
                    Some(place) => {
                        let [all, unmarked] = self.places.entry(place).or_default();
                        *all += 1;
                        *unmarked += u64::from(!found.is_marked);
                    }
                    None => self.unplaced += 1,
                }
            }
            None => {
                self.without_level += 1;
                let text = String::from_utf8_lossy(&line).to_lowercase();
                let is_uncounted = UNCOUNTED.as_ref().is_some_and(|forms| forms.is_match(head));
                let is_suspect = is_cut || is_uncounted || SUSPECT.iter().any(|word| text.contains(word));
                self.suspect += u64::from(is_suspect);
            }
        }
        let end = line.len() - line.iter().rev().take_while(|byte| **byte == b'\r').count();
        self.returns += u64::from(line.get(..end).unwrap_or_default().contains(&b'\r'));
        if let Some(time) = time(head, found.as_ref()) {
            self.timed += 1;
            let text = String::from_utf8_lossy(time).trim_start_matches('[').to_owned();
            self.first_time.get_or_insert_with(|| text.clone());
            self.last_time = Some(text);
        }
        self.add_message(&message(&line));
    }

    /// Lines whose level nothing marks, and that stands in another place than the levels of most lines.
    fn elsewhere(&self) -> u64 {
        let most = self.places.values().map(|[all, _]| *all).max().unwrap_or(0);
        // What one line has before its level is no habit of the log's.
        let is_rare =
            |((_, _, name), [all, _]): &(&Place, &[u64; 2])| *all < most || (name.is_some() && *all < 2);
        let rare = self.places.iter().filter(is_rare);
        self.unplaced + rare.map(|(_, [_, unmarked])| unmarked).sum::<u64>()
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

/// A line without its colours.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    match COLOUR.as_ref() {
        Some(colour) if line.contains(&0x1b) => colour.replace_all(line, b"".as_slice()),
        _ => line.into(),
    }
}

/// A level in the head of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    level: &'static str,
    /// Where its word, with a bracket before it, begins, and where the word ends.
    begin: usize,
    end: usize,
    /// Whether a bracket, a key, a colon or the line's beginning says that it is the level.
    is_marked: bool,
    /// None where nothing marks it and only plain words stand before it: `the user PANIC logged in`.
    place: Option<Place>,
}

/// How many words stand before a level, whether one of them has a digit, as a time has, and which one it is where it is one
/// plain word: `npm WARN`, `user PANIC`.
type Place = (usize, bool, Option<String>);

/// The first level in the head of a line: its word in capitals, after a bracket or a key such as `level=`, or among the first
/// words with a colon behind it. Anywhere else it is a word like any other: “no errors”, “for your information”.
fn level(head: &[u8]) -> Option<Found> {
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut at = 0;
    let mut first = None;
    while let Some(begin) = head.get(at..)?.iter().position(is_in_word).map(|n| at + n) {
        let word = head.get(begin..)?.iter().take_while(|byte| is_in_word(byte)).count();
        at = begin + word;
        let (before, word, after) = (head.get(..begin)?, head.get(begin..at)?, head.get(at..)?);
        let upper = String::from_utf8_lossy(word).to_ascii_uppercase();
        let Some((_, level)) = LEVELS.iter().find(|(known, _)| *known == upper) else { continue };
        // A path or an address may have such a part, and a word that is joined with another: `[ERROR-handler]`. Behind a
        // time it is one: `[2026-01-02 03:04:05,123: ERROR/ForkPoolWorker-1]`.
        let is_joined_before = matches!(before, [.., one, b'-'] if is_in_word(one));
        let is_joined_after = matches!(after, [b'-', one, ..] if is_in_word(one));
        let is_before_slash = after.first() == Some(&b'/')
            && !matches!(before, [.., digit, b':', b' '] if digit.is_ascii_digit());
        if before.last() == Some(&b'/') || is_before_slash || is_joined_before != is_joined_after {
            continue;
        }
        let is_after_key = match key(before) {
            // A part of an address: `/logs?level=error`.
            Some(key) if key.starts_with(['?', '&']) => continue,
            Some(key) if LEVEL_KEYS.contains(&key.as_str()) => true,
            // The value of something else.
            Some(_) if before.ends_with(b"\"") || before.trim_ascii_end().ends_with(b"=") => continue,
            _ => false,
        };
        let is_of_module = before.last() == Some(&b':') && after.first() == Some(&b']');
        let is_after_mark =
            is_of_module || before.last().is_some_and(|byte| b"[<(".contains(byte)) || is_after_key;
        // “no error: all is well” speaks of one.
        let is_said = |word: &[u8]| word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b',');
        let is_before_colon = after.first() == Some(&b':')
            && words(before).count() < COLON_WORDS_MAX
            && !words(before).last().is_some_and(is_said);
        if word == upper.as_bytes() || is_after_mark || is_before_colon {
            // A line that begins with the word says nothing before it.
            let is_marked = is_after_mark || is_before_colon || words(before).count() == 0;
            let is_plain = |word: &[u8]| word.iter().all(u8::is_ascii_lowercase);
            let is_sentence = !is_marked && words(before).all(is_plain);
            let has_digit = before.iter().any(u8::is_ascii_digit);
            let before_it = words(before).count();
            let name = is_sentence.then(|| String::from_utf8_lossy(before.trim_ascii()).into_owned());
            let place = (!is_sentence || before_it == 1).then_some((before_it, has_digit, name));
            let brackets = before.iter().rev().take_while(|byte| b"[<(".contains(byte)).count();
            let found = Found { level, begin: begin - brackets, end: at, is_marked, place };
            // In a line of keys and values the level is the value of its key, also behind a message that speaks of one.
            let is_in_value = before.first() == Some(&b'{') || before.contains(&b'=');
            if is_after_key || (first.is_none() && !is_in_value) {
                return Some(found);
            }
            first.get_or_insert(found);
        }
    }
    first
}

/// The part of a line in which its time and level stand.
fn head(line: &[u8]) -> &[u8] {
    let most = if line.starts_with(b"{") { OBJECT_HEAD_BYTES_MAX } else { HEAD_BYTES_MAX };
    line.get(..line.len().min(most)).unwrap_or_default()
}

/// The time of a line: the value of a key that says so, or the first one of the head where that is of the line.
fn time<'l>(head: &'l [u8], level: Option<&Found>) -> Option<&'l [u8]> {
    let pattern = TIME.as_ref()?;
    let is_value_of_time = |at: usize| {
        let before = head.get(..at).unwrap_or_default();
        is_value(before) && key(before).is_some_and(|key| TIME_KEYS.contains(&key.as_str()))
    };
    let by_key = pattern.find_iter(head).find(|time| is_value_of_time(time.start()));
    let first = || pattern.find(head).filter(|time| is_of_line(head, time.start(), level));
    by_key.or_else(first).map(|time| time.as_bytes())
}

/// Whether what follows is the value of a key.
fn is_value(before: &[u8]) -> bool {
    matches!(before.last(), Some(b'=' | b'"'))
}

/// Whether a time in the head of a line is when it was written, and no part of its message: nothing that looks like a time in
/// another form stands before it, nor the level, unless the line begins with that or the time is the value of a key. In an
/// object it is such a value.
fn is_of_line(head: &[u8], at: usize, level: Option<&Found>) -> bool {
    let before = head.get(..at).unwrap_or_default();
    let is_value = is_value(before);
    if is_value || head.starts_with(b"{") {
        return is_value;
    }
    let is_after_clock = CLOCK.as_ref().is_some_and(|clock| clock.is_match(before));
    let is_in_message = level.is_some_and(|level| {
        let between = head.get(level.end..at);
        between.is_some_and(|between| level.begin > 0 || between.iter().any(u8::is_ascii_alphanumeric))
    });
    !is_after_clock && !is_in_message
}

/// The key that this ends with, as in `level=` or `"level": "`, with what separates it in an address; small letters.
fn key(before: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(before).to_lowercase();
    let text = text.trim_end_matches([' ', '"']).strip_suffix(['=', ':'])?;
    let text = text.trim_end_matches([' ', '"']);
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "_?&".contains(c);
    text.rsplit(|c: char| !is_of_key(c)).next().map(str::to_owned)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| b" \t\r\x0b\x0c".contains(byte)).filter(|word| !word.is_empty())
}

/// A line without what differs from one to the next although it says the same: each word with a digit in it (a time, a number,
/// an address) is `#`.
fn message(line: &[u8]) -> String {
    let folded: Vec<&[u8]> = words(line)
        .map(|word| if word.iter().any(u8::is_ascii_digit) { b"#".as_slice() } else { word })
        .collect();
    String::from_utf8_lossy(&folded.join(&b' ')).chars().take(MESSAGE_CHARS_MAX).collect()
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
            ("\u{1b}[31mERROR\u{1b}[0m: lost", Some("ERROR")),
            ("{\"ts\":1,\"level\" : \"Warn\"}", Some("WARN")),
            ("(err) x", Some("ERROR")),
            ("[Wed Nov 26] [proxy:error] [pid 12] AH01114", Some("ERROR")),
            ("1.2.3.4 - - \"GET /ERROR/404.html HTTP/1.1\" 200", None),
            ("one two three four five six seven error: x", None),
            ("user_ERROR", None),
            ("warn everybody", None),
            ("[ERROR-handler] INFO started", Some("INFO")),
            ("[2026-01-02 03:04:05,123: ERROR/ForkPoolWorker-1] lost", Some("ERROR")),
            ("ERROR/404.html was asked for", None),
            ("10:00:00,123-ERROR-lost", Some("ERROR")),
            ("mode=FATAL INFO x", Some("INFO")),
            (r#"{"mode":"FATAL","level":"info"}"#, Some("INFO")),
            (r#"{"msg": "ERROR"}"#, None),
            (r#"{"message":"user sent WARN","level":"error"}"#, Some("ERROR")),
            (r#"time=1 msg="an ERROR page" level=info"#, Some("INFO")),
            (r#"{"message":"got [ERROR] from peer","severity":"INFO"}"#, Some("INFO")),
            (r#"a=1 ERROR lost"#, Some("ERROR")),
            ("10:00:00 ERROR set level=info", Some("ERROR")),
            ("smartd: last self-test, no error: all good", None),
            ("result of the check, error: none", None),
            ("a.c:1: error: x", Some("ERROR")),
            ("10:00:00 error: x", Some("ERROR")),
            (r#"1.2.3.4 - - "GET /logs?level=error HTTP/1.1" 200"#, None),
            ("GET /logs?a=1&level=ERROR", None),
        ] {
            let found = level(&plain(line.as_bytes())).map(|found| found.level);
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn a_level_in_a_place_of_its_own_may_only_be_spoken_of() {
        let check = |lines: &[&str], elsewhere: u64| {
            let mut seen = Seen::default();
            lines.iter().for_each(|line| seen.add(line.as_bytes(), false));
            assert_eq!(seen.elsewhere(), elsewhere, "{lines:?}");
        };
        check(&["10:00 INFO up", "10:01 INFO down", "user PANIC logged in"], 1);
        check(&["user PANIC logged in"], 1);
        check(&["10:00 INFO up", "10:01 ERROR lost", "WARN x"], 0);
        check(&["10:00 INFO up", "10:01 INFO down", "10:01 by ada ERROR lost"], 1);
        check(&["a.c:1: error: x", "a.c:2: warning: y", "make: *** error: z"], 0);
        check(&["level=info at=1", "at=1 level=info"], 0);
    }

    #[test]
    fn forms_that_are_not_counted_are_suspect() {
        for (line, suspect) in [
            ("E1126 10:00:00.1 1 a.go:1] lost", 1),
            ("I1126 10:00:00.1 1 a.go:1] up", 0),
            ("[E] lost", 1),
            ("11-26 10:00:00 E/Tag: lost", 1),
            (r#"{"level":50,"msg":"lost"}"#, 1),
            ("nothing", 0),
        ] {
            let mut seen = Seen::default();
            seen.add(line.as_bytes(), false);
            assert_eq!((seen.without_level, seen.suspect), (1, suspect), "{line}");
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
            seen.add(line.as_bytes(), false);
            assert_eq!(seen.first_time.as_deref(), Some(expected), "{line}");
        }
        for line in [
            "26.11.2026 03:38:41 INFO next at 2026-12-01 00:00:00",
            "26/11/26 03:38:41 INFO next at 2026-12-01 00:00:00",
            "1764128321 INFO next at 2026-12-01 00:00:00",
            "26.11.2026 03:38:41 next at 2026-12-01 00:00:00",
            "INFO next at 2026-12-01 00:00:00",
        ] {
            let mut seen = Seen::default();
            seen.add(line.as_bytes(), false);
            assert_eq!(seen.first_time, None, "{line}");
        }
        for line in [
            "INFO 2026-12-01 00:00:00 up",
            "[INFO] [2026-12-01 00:00:00] up",
            r#"{"level":"info","ts":"2026-12-01 00:00:00"}"#,
            "level=info ts=2026-12-01 00:00:00",
            "web_1 | 2026-12-01 00:00:00 INFO up",
        ] {
            let mut seen = Seen::default();
            seen.add(line.as_bytes(), false);
            assert_eq!(seen.first_time.as_deref(), Some("2026-12-01 00:00:00"), "{line}");
        }
    }

    #[test]
    fn messages_that_differ_in_numbers_are_one() {
        assert_eq!(message(b" INFO user 12 from 10.0.0.1"), message(b" INFO user 9 from 10.1.2.3"));
        assert_eq!(message(b"2026-01-01T10:00:00Z  WARN\tretry 2 of 3"), "# WARN retry # of #");
        assert_eq!(message(b"\xff\xfe 1"), "\u{fffd}\u{fffd} #");
    }
}
