//! Reads the level, time and message of one log line: from its fields in a structured line, otherwise by their
//! position. How lines belong together is decided elsewhere.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::fields::{self, Field};
use super::time::{self, Time};

/// Maximum bytes at the beginning of a line of prose that are searched for its time and level.
const HEAD_BYTES_MAX: usize = 200;
/// Maximum characters of a message.
const MESSAGE_CHARS_MAX: usize = 200;

/// Words for levels and the level of each. Each level is matched only by its own words.
const LEVELS: &[(&[&str], &str)] = &[
    (&["TRACE", "TRAC"], "TRACE"),
    (&["DEBUG", "DEBU", "DBUG"], "DEBUG"),
    (&["INFO"], "INFO"),
    (&["NOTICE"], "NOTICE"),
    (&["WARN", "WARNING"], "WARN"),
    (&["ERR", "ERRO", "EROR", "ERROR"], "ERROR"),
    (&["SEVERE"], "SEVERE"),
    (&["CRIT", "CRITICAL"], "CRITICAL"),
    (&["ALERT"], "ALERT"),
    (&["EMERG", "EMERGENCY"], "EMERGENCY"),
    (&["FATAL", "FATA"], "FATAL"),
    (&["PANIC", "PANI"], "PANIC"),
];

/// Words that are levels only in capitals and at the end of a bracket: `[INF]`, `[10:00:00 INF]`.
const BRACKETED: &[(&[&str], &str)] = &[
    (&["VRB"], "TRACE"),
    (&["DBG"], "DEBUG"),
    (&["INF"], "INFO"),
    (&["WRN"], "WARN"),
    (&["CRT"], "CRITICAL"),
    (&["FTL"], "FATAL"),
];

/// The levels of syslog's priorities, which are these numbers modulo 8: `<11>Jan  1 10:00:00 host app: gone`.
const PRIORITIES: [&str; 8] = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARN", "NOTICE", "INFO", "DEBUG"];
/// Priorities below this one are errors, whatever level the text names.
const ERROR_PRIORITIES: usize = 4;

/// Texts that may report an error in a line without a known level: `Traceback (most recent call last)`, `kernel:
/// EXT4-fs error`, `error[E0425]`. Lower case.
const SUSPECT: &[&str] = &[
    "exception",
    "fatal",
    "critical",
    "panic",
    "traceback",
    "severe",
    "emerg",
    "fail",
    "segfault",
    "segmentation",
    "killed",
    "abort",
    "crash",
    "out of memory",
    "err_",
    // In other languages.
    "fehler",
    "fehlgeschlagen",
    "schwerwieg",
    "erreur",
    "échec",
    "échou",
    "erro",
    "grave",
    "fallo",
    "falló",
    "fallit",
    "falha",
    "falhou",
    "excepción",
    "exceção",
    "eccezione",
    "eroare",
    "mislukt",
    "misslyck",
    "mislyk",
    "feil",
    "fejl",
    "virhe",
    "błąd",
    "błęd",
    "chyb",
    "ошибк",
    "сбой",
    "помилк",
    "başarısız",
    "σφάλμα",
    "エラー",
    "失敗",
    "障害",
    "异常",
    "異常",
    "错误",
    "錯誤",
    "失败",
    "故障",
    "오류",
    "실패",
    "에러",
    "خطأ",
    "lỗi",
];

/// The same, as whole words only: other words contain them, such as `default`.
const SUSPECT_WORDS: &[&str] = &["err", "errs", "fault", "faults", "fout", "fel", "hata", "hatası", "hiba"];

/// Levels in forms that are not counted but may mean an error: klog's `E1126 10:00:00`, `[E]`, `(EE)`, `E/Tag`,
/// `E: x`, `[SEV1]`, `"level":50`.
static UNCOUNTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?-u)^[EWF]\d{4} \d{2}:|[\[(<](?:[EWFC]|EE)[\])>]|(?i:\bsev-?[0-3]\b)|(?:^|\s)(?:[EWF]/|E: )|(?i:level|lvl|severity)"?\s*[:=]\s*"?\d"#,
    )
    .ok()
});

/// The level key in a line of prose, but not in a URL: `/logs?level=error`.
static LEVEL_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)(?:^|[^A-Za-z0-9_?&])(?i:level|lvl|severity|loglevel|log_level|levelname)= *$").ok()
});

/// A time in brackets followed by the name of a channel.
static CHANNEL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)^\[[^\]]*\] [A-Za-z0-9_]+\.$").ok());

/// Keys of the level, time and message of a line; the first one that is present counts.
const LEVEL_KEYS: &[&str] =
    &["level", "lvl", "severity", "loglevel", "log_level", "levelname", "@l", "severity_text"];
const TIME_KEYS: &[&str] =
    &["@timestamp", "timestamp", "time", "ts", "@t", "t", "asctime", "datetime", "eventtime", "date"];
const MESSAGE_KEYS: &[&str] = &["msg", "message", "event", "@m", "@mt"];
/// Maximum words of a line in which a level that is marked only by a colon is searched.
const COLON_WORDS_MAX: usize = 7;

/// Terminal colours (ECMA-48, control sequences).
static COLOUR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u)\x1b\[[0-9;?]*[A-Za-z]").ok());

/// The content of one line.
pub(super) struct Entry {
    pub(super) level: Option<FoundLevel>,
    /// A field has an unknown level.
    pub(super) is_unknown: bool,
    pub(super) time: Option<String>,
    /// The line begins with a time, or has one in a field.
    pub(super) is_timed: bool,
    /// The line has a time or a level in a field: it does not continue another line.
    pub(super) is_own: bool,
    /// The line begins with a level, or has one after a time in an unknown form: it may start a new entry although it
    /// has no time.
    pub(super) is_levelled: bool,
    pub(super) message: String,
}

impl Entry {
    pub(super) fn of(line: &[u8]) -> Self {
        let entry = Self::without_priority(line);
        let Some(priority) = priority(line) else { return entry };
        let own = PRIORITIES.get(priority).filter(|_| entry.level.is_none() || priority < ERROR_PRIORITIES);
        let level = own.map_or(entry.level, |level| Some(FoundLevel::of_field(level)));
        Self { level, is_own: true, ..entry }
    }

    fn without_priority(line: &[u8]) -> Self {
        let head = head(line);
        let time = time::first(head);
        let lead = time.as_ref().filter(|time| time.leads);
        if line.starts_with(b"{") {
            return Self::of_fields(line, &fields::of_object(line), None);
        }
        let behind = line.get(lead.map_or(0, |time| time.at.end)..).unwrap_or_default();
        let ends_lead = |byte: &u8| lead.is_some() && (*byte == b']' || fields::is_blank(*byte));
        let behind =
            behind.get(behind.iter().take_while(|byte| ends_lead(byte)).count()..).unwrap_or_default();
        // A key alone does not make a structured line: `request_id=ab [warning] slow`.
        let words = fields::key(behind).map(|_| fields::of_words(behind)).unwrap_or_default();
        let is_of_fields =
            [LEVEL_KEYS, TIME_KEYS, MESSAGE_KEYS].iter().any(|keys| fields::first(&words, keys).is_some());
        if is_of_fields {
            return Self::of_fields(line, &words, lead);
        }
        Self::of_prose(line, head, time)
    }

    fn of_fields(line: &[u8], fields: &[Field<'_>], lead: Option<&Time>) -> Self {
        let told = fields::first(fields, LEVEL_KEYS).map(|field| field.value);
        let level = told.and_then(|told| known(LEVELS, told));
        let is_unknown = told.is_some() && level.is_none();
        let level = level.map(FoundLevel::of_field);
        let of_field = || time::iso(fields::first(fields, TIME_KEYS)?.onwards);
        let time = lead.map(|time| time.text.clone()).or_else(of_field);
        let (is_timed, is_own) = (time.is_some(), time.is_some() || level.is_some());
        let message = match fields::first(fields, MESSAGE_KEYS) {
            Some(field) => message(field.value),
            // An object may be a single word.
            None if line.starts_with(b"{") => message_of_object(line),
            None => message(line),
        };
        Self { level, is_unknown, time, is_timed, is_own, is_levelled: false, message }
    }

    fn of_prose(line: &[u8], head: &[u8], time: Option<Time>) -> Self {
        let level = level(head);
        let is_levelled = level.as_ref().is_some_and(|level| {
            let before = head.get(..level.at.start).unwrap_or_default();
            before.is_empty() || time::has_clock(before)
        });
        let is_timed = time.as_ref().is_some_and(|time| time.leads);
        let time = time.filter(|time| time.leads || is_of_line(head, time.at.start, level.as_ref()));
        let time = time.map(|time| time.text);
        let message = message(line);
        Self { level, is_unknown: false, time, is_timed, is_own: is_timed, is_levelled, message }
    }
}

/// Returns a line's syslog priority without the facility, from 0 to 7.
fn priority(line: &[u8]) -> Option<usize> {
    let digits = line.strip_prefix(b"<")?.split(|byte| *byte == b'>').next()?;
    let is_number = (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let is_closed = line.get(digits.len() + 1) == Some(&b'>');
    let number = std::str::from_utf8(digits).ok().filter(|_| is_number && is_closed)?;
    number.parse::<usize>().ok().map(|number| number % PRIORITIES.len())
}

/// The part of a line in which its level and time are searched.
fn head(line: &[u8]) -> &[u8] {
    line.get(..line.len().min(HEAD_BYTES_MAX)).unwrap_or_default()
}

pub(super) fn leads_with_a_time(line: &[u8]) -> bool {
    time::first(head(line)).is_some_and(|time| time.leads)
}

/// Returns a line without terminal colours.
pub(super) fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    match COLOUR.as_ref() {
        Some(colour) if line.contains(&0x1b) => colour.replace_all(line, b"".as_slice()),
        _ => line.into(),
    }
}

/// Returns whether a line without a level may report an error.
pub(super) fn is_suspect(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line).to_lowercase();
    UNCOUNTED.as_ref().is_some_and(|forms| forms.is_match(line))
        || SUSPECT.iter().any(|word| text.contains(word))
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| SUSPECT_WORDS.contains(&word))
}

/// Returns whether a line without a time may begin an entry: it has a level, or may report an error. A cause in a Java trace
/// does not.
pub(super) fn may_begin(line: &[u8], entry: &Entry) -> bool {
    !line.starts_with(b"Caused by: ") && (entry.level.is_some() || is_suspect(line))
}

pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| fields::is_blank(*byte)).filter(|word| !word.is_empty())
}

/// A level in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundLevel {
    pub(super) level: &'static str,
    /// The range of its word, with a bracket before it.
    at: Range<usize>,
    /// Whether a bracket, a key, a colon or the beginning of the line marks it as the level.
    pub(super) is_marked: bool,
    /// `None` if nothing marks it and only plain words precede it: `the user PANIC logged in`.
    pub(super) place: Option<Place>,
}

impl FoundLevel {
    /// Returns the level that a field or a priority names.
    fn of_field(level: &'static str) -> Self {
        Self { level, at: 0..0, is_marked: true, place: Some(Place::default()) }
    }
}

/// What precedes a level.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The number of words.
    words: usize,
    /// One of them contains a digit, as a time does.
    has_digit: bool,
    /// The only word, if it is a plain word and nothing marks the level: `npm WARN`, `user PANIC`.
    pub(super) name: Option<String>,
    /// The last one is a word, and nothing marks the level: `10:00:00 mail ERROR report sent`.
    pub(super) is_behind_word: bool,
}

fn known(levels: &[(&[&str], &'static str)], word: &[u8]) -> Option<&'static str> {
    let is_word = |known: &&str| word.eq_ignore_ascii_case(known.as_bytes());
    levels.iter().find(|(words, _)| words.iter().any(is_word)).map(|(_, level)| *level)
}

/// Returns the first level in the head of a line of prose: its word in capitals, after a bracket or a key such as
/// `level=`, or among the first words and followed by a colon. Anywhere else it is an ordinary word: “no errors”, “for
/// your information”.
fn level(head: &[u8]) -> Option<FoundLevel> {
    let mut at = 0;
    let mut is_spoken_of = false;
    while let Some(begin) = head.get(at..)?.iter().position(is_in_word).map(|n| at + n) {
        at = begin + head.get(begin..)?.iter().take_while(|byte| is_in_word(byte)).count();
        let (before, word, after) = (head.get(..begin)?, head.get(begin..at)?, head.get(at..)?);
        let is_upper = !word.iter().any(u8::is_ascii_lowercase);
        let ends_bracket = is_upper && after.first() == Some(&b']');
        let bracketed = || ends_bracket.then(|| known(BRACKETED, word)).flatten();
        let Some(level) = known(LEVELS, word).or_else(bracketed) else { continue };
        let is_quoted = before.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        if is_quoted || is_part(before, after) {
            continue;
        }
        let is_value = before.trim_ascii_end().ends_with(b"=");
        let is_after_key = is_value
            && !is_spoken_of
            && !time::has_clock(before)
            && LEVEL_KEY.as_ref().is_some_and(|key| key.is_match(before));
        is_spoken_of = true;
        if is_value && !is_after_key {
            continue;
        }
        let is_of_module = before.last() == Some(&b':') && after.first() == Some(&b']');
        let is_after_mark =
            is_of_module || before.last().is_some_and(|byte| b"[<(".contains(byte)) || is_after_key;
        // “no error: all is well” does not report an error.
        let is_said = |word: &[u8]| word.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b',');
        let is_before_colon = after.first() == Some(&b':')
            && words(before).count() < COLON_WORDS_MAX
            && !words(before).last().is_some_and(is_said);
        if !is_upper && !is_after_mark && !is_before_colon {
            continue;
        }
        // If the line begins with the word, nothing precedes it.
        let before_it = words(before).count();
        let is_marked = is_after_mark || is_before_colon || before_it == 0;
        let is_plain = |word: &[u8]| word.iter().all(u8::is_ascii_lowercase);
        let is_sentence = !is_marked && words(before).all(is_plain);
        let place = (!is_sentence || before_it == 1).then(|| Place {
            words: before_it,
            has_digit: before.iter().any(u8::is_ascii_digit),
            name: is_sentence.then(|| String::from_utf8_lossy(before.trim_ascii()).into_owned()),
            is_behind_word: !is_marked && words(before).last().is_some_and(is_of_text),
        });
        let brackets = before.iter().rev().take_while(|byte| b"[<(".contains(byte)).count();
        return Some(FoundLevel { level, at: begin - brackets..at, is_marked, place });
    }
    None
}

/// Returns whether it is a word of a sentence, not a time zone or a code: `UTC`, `app[1]`.
fn is_of_text(word: &[u8]) -> bool {
    let word = word.strip_suffix(b",").unwrap_or(word);
    word.iter().all(u8::is_ascii_alphabetic) && word.iter().any(u8::is_ascii_lowercase)
}

fn is_in_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Returns whether a word is part of a path, an address, a name (`com.acme.ERROR`) or a compound (`[ERROR-handler]`). After a
/// time it is not: `[2026-01-02 03:04:05,123: ERROR/ForkPoolWorker-1]`, `[2026-01-02 03:04:05] local.ERROR: lost`.
fn is_part(before: &[u8], after: &[u8]) -> bool {
    let is_joined_before = matches!(before, [.., one, b'-'] if is_in_word(one));
    let is_joined_after = matches!(after, [b'-', one, ..] if is_in_word(one));
    let is_before_slash =
        after.first() == Some(&b'/') && !matches!(before, [.., digit, b':', b' '] if digit.is_ascii_digit());
    let is_named = matches!(before, [.., one, b'.'] if is_in_word(one));
    let is_channel =
        after.first() == Some(&b':') && CHANNEL.as_ref().is_some_and(|channel| channel.is_match(before));
    before.last() == Some(&b'/')
        || is_before_slash
        || is_joined_before != is_joined_after
        || (is_named && !is_channel)
}

/// Returns whether a time inside a line of prose is the line's own and not part of its message: it is not a value, and neither
/// another time nor the level precedes it, unless the line begins with the level.
fn is_of_line(head: &[u8], at: usize, level: Option<&FoundLevel>) -> bool {
    let before = head.get(..at).unwrap_or_default();
    let is_in_message = level.is_some_and(|level| {
        let between = head.get(level.at.end..at);
        between.is_some_and(|between| level.at.start > 0 || between.iter().any(u8::is_ascii_alphanumeric))
    });
    !matches!(before.last(), Some(b'=' | b'"')) && !time::has_clock(before) && !is_in_message
}

/// Normalises a text so that repeated messages compare equal: each word with a digit (a time, a number, an address)
/// becomes `#`.
fn message(text: &[u8]) -> String {
    let folded: Vec<&[u8]> = words(text)
        .map(|word| if word.iter().any(u8::is_ascii_digit) { b"#".as_slice() } else { word })
        .collect();
    String::from_utf8_lossy(&folded.join(&b' ')).chars().take(MESSAGE_CHARS_MAX).collect()
}

/// Normalises an object: each number in it becomes `#`.
fn message_of_object(object: &[u8]) -> String {
    let mut folded = Vec::new();
    for part in object.chunk_by(|one, next| one.is_ascii_digit() == next.is_ascii_digit()) {
        folded.extend(if part.iter().any(u8::is_ascii_digit) { b"#".as_slice() } else { part });
    }
    message(&folded)
}
