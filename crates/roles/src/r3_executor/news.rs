//! Whether a round of calls brought anything new.
//!
//! Calls that changed something are not counted here, and results are compared only between similar calls: the same
//! tools and the same words, numbers aside. Errors are compared whatever was called.

use std::collections::BTreeSet;

use setpoint_protocol::limits::{FAILED_ROUNDS_MAX, STALE_ROUNDS_MAX};
use setpoint_protocol::tool::{ErrorKind, ToolRecord};

use super::progress::{Digest, Key, Round};

/// Maximum evidence, in characters, with which a non-zero exit counts as a program's negative answer rather than an
/// error. An answer is compared only between similar calls, because the question matters.
const SHORT_NO_CHARS_MAX: usize = 60;
/// Minimum length of a word of hexadecimal digits that counts as a number.
const HEX_CHARS_MIN: usize = 8;
/// Consecutive rounds without news after which the model is warned.
const SLOW_ROUNDS: u32 = 4;

/// The results of an attempt so far.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptResults {
    known: BTreeSet<Digest>,
    /// Consecutive rounds without news.
    stale: u32,
    /// How many of the last of them had only failures.
    failing: u32,
    /// Whether this round brought something new.
    is_new: bool,
    /// Whether a call of this round succeeded.
    has_success: bool,
}

impl AttemptResults {
    /// Counts a successful call that may have changed something.
    pub(super) fn changed(&mut self) {
        self.is_new = true;
    }

    /// Counts a call answered from its record.
    pub(super) fn repeated(&mut self, is_ok: bool) {
        self.has_success |= is_ok;
    }

    /// Counts an answered call, given the digest of its whole result.
    pub(super) fn count_answer(&mut self, key: &Key, record: &ToolRecord, result: &Digest) {
        self.has_success |= record.ok;
        let mut is_known = !self.known.insert(of_alike(key, record.ok, result));
        if is_failure(record) {
            is_known |= !self.known.insert(of_error(record));
        }
        self.is_new |= !is_known;
    }

    /// Ends a round of calls.
    pub(super) fn end_round(&mut self) -> Round {
        let (is_new, has_success) = (std::mem::take(&mut self.is_new), std::mem::take(&mut self.has_success));
        self.stale = if is_new { 0 } else { self.stale + 1 };
        self.failing = if is_new || has_success { 0 } else { self.failing + 1 };
        if self.failing >= FAILED_ROUNDS_MAX {
            Round::Failing(self.failing)
        } else if self.stale >= STALE_ROUNDS_MAX {
            Round::Stale(self.stale)
        } else if self.stale == SLOW_ROUNDS {
            Round::Slow(self.stale)
        } else {
            Round::GoOn
        }
    }
}

/// Returns whether the record shows an error, rather than a program's negative answer to a question.
fn is_failure(record: &ToolRecord) -> bool {
    let is_answer = record.error_kind == Some(ErrorKind::Exit)
        && record.evidence.chars().take(SHORT_NO_CHARS_MAX + 1).count() <= SHORT_NO_CHARS_MAX;
    !record.ok && !record.evidence.is_empty() && !is_answer
}

/// Returns the digest of a result as compared between similar calls.
fn of_alike(key: &Key, is_ok: bool, result: &Digest) -> Digest {
    let mut hasher = blake3::Hasher::new();
    for tool in &key.tools {
        hasher.update(tool.as_str().as_bytes()).update(b"\0");
    }
    // A readable path identifies a thing: the second of numbered files is not the first one again.
    let names_a_thing = is_ok && key.target.starts_with('/');
    let target = match names_a_thing {
        true => key.target.split(' ').map(without_given_numbers).collect::<Vec<_>>().join(" "),
        false => without_numbers(&key.target),
    };
    hasher.update(target.as_bytes()).update(b"\0");
    hasher.update(without_numbers(&key.rest).as_bytes()).update(b"\0");
    hasher.update(result);
    *hasher.finalize().as_bytes()
}

/// Returns the digest of an error, whatever was called.
fn of_error(record: &ToolRecord) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&serde_json::to_vec(&(record.error_kind, record.exit_code)).unwrap_or_default());
    hasher.update(without_numbers(&record.evidence).as_bytes());
    *hasher.finalize().as_bytes()
}

/// Removes the number of `limit=3`; keeps other words.
fn without_given_numbers(word: &str) -> String {
    if word.contains('=') { without_numbers(word) } else { word.to_owned() }
}

/// Returns the text with `#` for each number (a long hexadecimal word counts as one), with single blanks, and without
/// the `./` before a path.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            out.push(' ');
        }
        let mut word = word;
        while let Some(rest) = word.strip_prefix("./").filter(|rest| !rest.is_empty()) {
            word = rest;
        }
        for part in word.split_inclusive(|c: char| !c.is_alphanumeric()) {
            push_without_numbers(&mut out, part);
        }
    }
    out
}

/// Appends a run of letters and digits, and at most one other character after it.
fn push_without_numbers(out: &mut String, part: &str) {
    let run = part.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_hex = run.chars().count() >= HEX_CHARS_MIN
        && run.chars().all(|c| c.is_ascii_hexdigit())
        && run.chars().any(|c| c.is_ascii_digit());
    if is_hex {
        out.push('#');
        out.extend(part.strip_prefix(run));
        return;
    }
    let mut is_in_number = false;
    for c in part.chars() {
        if !c.is_numeric() {
            out.push(c);
        } else if !is_in_number {
            out.push('#');
        }
        is_in_number = c.is_numeric();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_kinds_compare_equal() {
        for (text, expected) in [
            ("check --try 3 # at 2026-01-02T03:04:05Z", "check --try # # at #-#-#T#:#:#Z"),
            ("http://a/b?t=1700000001&n=deadbeef12&x=abc", "http://a/b?t=#&n=#&x=abc"),
            ("cat  ./a ././b .hidden ./", "cat a b .hidden ./"),
            ("log12.txt é9 v1.22", "log#.txt é# v#.#"),
            ("feedface facade", "feedface facade"),
            ("", ""),
        ] {
            assert_eq!(without_numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn rounds_without_news_end_the_attempt_and_news_resets() {
        let mut news = AttemptResults::default();
        let mut told = Vec::new();
        for round in 1..=STALE_ROUNDS_MAX {
            news.repeated(true);
            match news.end_round() {
                Round::GoOn => {}
                Round::Slow(rounds) => told.push(rounds),
                end => assert_eq!((round, end), (STALE_ROUNDS_MAX, Round::Stale(STALE_ROUNDS_MAX))),
            }
        }
        assert_eq!(told, [SLOW_ROUNDS]);
        news.changed();
        assert_eq!(news.end_round(), Round::GoOn);
        for round in 1..=FAILED_ROUNDS_MAX {
            let end = news.end_round();
            assert_eq!(end == Round::Failing(FAILED_ROUNDS_MAX), round == FAILED_ROUNDS_MAX, "{end:?}");
        }
    }
}
