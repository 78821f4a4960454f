//! Splits a goal into words: without quotes, polite phrases and final punctuation, and with folded case for comparison.

use crate::playbook::limits::{GOAL_CHARS_MAX, GOAL_WORDS_MAX};

/// A word of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Text without quotes, and without the marks at its end that may belong to the sentence.
    pub(crate) text: String,
    /// The same with these marks.
    pub(crate) typed: String,
    /// In lower case, for comparison.
    pub(crate) fold: String,
    /// It was quoted: a value, not a word of the sentence.
    pub(crate) quoted: bool,
    /// A quote also closes inside it, as in `"a"/"b"`: it may be several texts.
    pub(crate) glued: bool,
}

/// A goal, ready for matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Goal {
    words: Vec<Word>,
    /// A polite phrase followed: a comma before it separates.
    is_polite: bool,
    /// “in here” followed.
    is_in_here: bool,
}

/// Phrases before a request that are not part of it, longest first.
const BEFORE: &[&[&str]] = &[
    &["i", "would", "like", "you", "to"],
    &["i", "would", "like", "to"],
    &["i'd", "like", "you", "to"],
    &["i'd", "like", "to"],
    &["i", "want", "you", "to"],
    &["i", "want", "to"],
    &["i", "need", "you", "to"],
    &["i", "need", "to"],
    &["can", "you"],
    &["could", "you"],
    &["would", "you"],
    &["will", "you"],
    &["help", "me"],
    &["please"],
    &["kindly"],
    &["just"],
    &["hey"],
    &["hi"],
];

/// Phrases after a request that are not part of it; “here” is where a task works anyway.
const AFTER: &[&[&str]] = &[&["thank", "you"], &["for", "me"], &["please"], &["thanks"], IN_HERE, &["here"]];
const IN_HERE: &[&str] = &["in", "here"];

/// Phrases that open another clause: a comma before them separates, also after a text.
const CLAUSES: &[&[&str]] = &[
    &["and"],
    &["but"],
    &["ignoring", "case"],
    &["regardless", "of", "case"],
    &["case", "insensitive"],
    &["case-insensitive"],
    &["case-insensitively"],
    &["in", "any", "case"],
    &["as", "a"],
    &["a", "dry", "run"],
    &["dry", "run"],
    &["as", "dry", "run"],
    &["only"],
    &["without"],
    &["for", "real"],
    &["really"],
    &["now"],
    &["right", "away"],
];

/// Words before a place.
const IN: &[&str] = &["in", "under", "below", "inside", "within"];

/// Words between “in” and a name.
const ALL: &[&str] = &["the", "all", "my"];

impl Goal {
    /// Parses a goal; `None` if it is empty or longer than any playbook matches.
    pub(crate) fn read(text: &str) -> Option<Goal> {
        if text.len() > GOAL_CHARS_MAX * 4 || text.chars().count() > GOAL_CHARS_MAX {
            return None;
        }
        let mut words = split(text);
        without_punctuation(&mut words);
        while let Some(said) = BEFORE.iter().find(|said| starts_with(&words, said)) {
            words.drain(..said.len());
        }
        let (mut is_polite, mut is_in_here) = (false, false);
        while let Some(said) = AFTER.iter().find(|said| ends_with(&words, said)) {
            words.truncate(words.len() - said.len());
            is_polite = true;
            is_in_here |= *said == IN_HERE;
        }
        without_punctuation(&mut words);
        (!words.is_empty() && words.len() <= GOAL_WORDS_MAX).then_some(Goal { words, is_polite, is_in_here })
    }

    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }

    /// Returns the word at `at` as a text to search for or to insert, and whether it is unclear if the marks at its end
    /// belong to it. Before other words they do (`std:`, `foo;`), but not before another clause. At the end of the
    /// goal one mark after a plain word ends the sentence; anything else is unclear.
    pub(crate) fn text(&self, at: usize) -> Option<(&str, bool)> {
        let word = self.words.get(at)?;
        let marks = word.typed.strip_prefix(word.text.as_str()).unwrap_or_default();
        let separates = matches!(marks, "," | ";");
        let ends_sentence = || {
            matches!(marks, "." | "?" | "!")
                && word.text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        };
        Some(match self.words.get(at + 1..).unwrap_or_default() {
            _ if marks.is_empty() => (word.text.as_str(), false),
            [] => (word.text.as_str(), !(ends_sentence() || separates && self.is_polite)),
            rest if separates && CLAUSES.iter().any(|said| begins_with(rest, said)) => {
                (word.text.as_str(), false)
            }
            _ => (word.typed.as_str(), false),
        })
    }

    /// Returns what the goal may be about, the most likely first: its words that look like paths, and then the words
    /// after “in” or a similar one. None if the goal excludes something, because this may be it.
    pub(crate) fn paths(&self) -> Vec<&str> {
        if self.words.iter().any(|word| !word.quoted && is_negation(&word.fold)) {
            return Vec::new();
        }
        let looks_like_one = |word: &&Word| !word.glued && word.text.contains(['/', '.', '~']);
        let behind = self.words.windows(2).rev().filter_map(|pair| match pair {
            [before, word] if IN.contains(&before.fold.as_str()) && !before.quoted => Some(word),
            _ => None,
        });
        self.words.iter().filter(looks_like_one).chain(behind).map(|word| word.text.as_str()).collect()
    }

    /// Returns whether an unquoted word follows “in” or a similar word, as a place does: `names` in “in the names”.
    pub(crate) fn has_place(&self, name: &str) -> bool {
        let mut is_after_in = false;
        let is_named = self.words.iter().any(|word| {
            let is_between = is_after_in && !word.quoted && ALL.contains(&word.fold.as_str());
            let is_place = is_after_in && !is_between && !word.quoted && word.text == name;
            is_after_in = is_between || (!word.quoted && IN.contains(&word.fold.as_str()));
            is_place
        });
        is_named || (self.is_in_here && name == "here")
    }

    /// Returns whether the goal begins by saying what not to do.
    pub(crate) fn is_forbidding(&self) -> bool {
        let mut first = self.words.iter().filter(|word| !word.quoted).take(2).map(|word| word.fold.as_str());
        first.any(|word| word == "not" || word == "never" || is_contraction(word))
    }
}

/// Returns whether a folded word excludes something.
fn is_negation(word: &str) -> bool {
    ["not", "never", "no", "nor", "without", "except", "excluding", "but"].contains(&word)
        || is_contraction(word)
}

fn is_contraction(word: &str) -> bool {
    word == "dont" || word.ends_with("n't")
}

/// Returns whether a phrase precedes other words.
fn starts_with(words: &[Word], said: &[&str]) -> bool {
    words.len() > said.len() && begins_with(words, said)
}

fn begins_with(words: &[Word], said: &[&str]) -> bool {
    words.len() >= said.len() && same(words.iter().take(said.len()), said)
}

fn ends_with(words: &[Word], said: &[&str]) -> bool {
    words.len() > said.len() && same(words.iter().skip(words.len() - said.len()), said)
}

fn same<'a>(words: impl Iterator<Item = &'a Word>, said: &[&str]) -> bool {
    words.zip(said).all(|(word, said)| !word.quoted && word.fold.trim_end_matches([',', ';']) == *said)
}

fn split(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        let Some(first) = trimmed.chars().next() else { break };
        let (value, length, quoted) = match quoted_word(trimmed, first) {
            Some((value, length)) => (value, length, true),
            None => {
                plain_word(trimmed).map_or((String::new(), first.len_utf8(), false), |(v, l)| (v, l, false))
            }
        };
        if quoted || !value.is_empty() {
            let glued = quoted && is_glued(&value, closing(first).unwrap_or(first));
            words.push(Word { fold: fold(&value), typed: value.clone(), text: value, quoted, glued });
        }
        rest = trimmed.get(length..).unwrap_or_default();
        // One more than the limit is enough to see that there are too many.
        if words.len() > GOAL_WORDS_MAX + AFTER.len() + 64 {
            break;
        }
    }
    words
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' | '„' => Some('”'),
        '‘' => Some('’'),
        '«' => Some('»'),
        _ => None,
    }
}

/// Returns whether the closing quote occurs inside a text, other than as an apostrophe.
fn is_glued(text: &str, close: char) -> bool {
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_apostrophe = matches!(close, '\'' | '’')
            && before.is_some_and(char::is_alphanumeric)
            && chars.peek().is_some_and(|after| after.is_alphanumeric());
        if c == close && !is_apostrophe {
            return true;
        }
        before = Some(c);
    }
    false
}

/// Parses a quoted word, whose quote closes before white space, punctuation or the end: returns its text, and its
/// length with quotes.
fn quoted_word(text: &str, open: char) -> Option<(String, usize)> {
    let close = closing(open)?;
    let inner = text.get(open.len_utf8()..)?;
    let mut at = 0;
    while let Some(found) = inner.get(at..)?.find(close) {
        let end = at + found;
        let after = inner.get(end + close.len_utf8()..)?;
        let closes = after.chars().next().is_none_or(|c| c.is_whitespace() || ",;:.!?)".contains(c));
        if closes {
            let value = inner.get(..end)?;
            let punctuation =
                after.chars().take_while(|c| ",;:.!?)".contains(*c)).map(char::len_utf8).sum::<usize>();
            let length = open.len_utf8() + end + close.len_utf8() + punctuation;
            return Some((value.to_owned(), length));
        }
        at = end + close.len_utf8();
    }
    None
}

/// Parses a word up to white space; a backslash escapes the next space.
fn plain_word(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut length = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            break;
        }
        length += c.len_utf8();
        match chars.peek() {
            Some(' ') if c == '\\' => {
                value.push(' ');
                length += 1;
                chars.next();
            }
            _ => value.push(c),
        }
    }
    (!value.is_empty()).then_some((value, length))
}

/// Removes commas and similar marks at the end of the text of any word, and a full stop, question mark or exclamation
/// mark from the last one, unless it is part of a path (`..`, `./`).
fn without_punctuation(words: &mut [Word]) {
    let count = words.len();
    for (i, word) in words.iter_mut().enumerate().filter(|(_, word)| !word.quoted) {
        let last = i + 1 == count;
        let kept = word
            .text
            .trim_end_matches(|c| matches!(c, ',' | ';' | ':') || (last && matches!(c, '!' | '?' | '…')));
        let kept = match kept.strip_suffix('.') {
            Some(before)
                if last && before.chars().any(|c| !matches!(c, '.' | '/')) && !before.ends_with('/') =>
            {
                before
            }
            _ => kept,
        };
        if kept.len() < word.text.len() && !kept.is_empty() {
            let kept = kept.to_owned();
            word.fold = fold(&kept);
            word.text = kept;
        }
    }
}

pub(crate) fn fold(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        let shown = match Goal::read(text) {
            Some(goal) => goal
                .words()
                .iter()
                .map(|word| if word.quoted { format!("‹{}›", word.text) } else { word.text.clone() })
                .collect::<Vec<_>>()
                .join(" | "),
            None => "none".to_owned(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn politeness_and_punctuation_are_removed() {
        check(
            "Please, find the three largest files under ./crates.",
            &expect!["find | the | three | largest | files | under | ./crates"],
        );
        check("could you please list files in .. ?", &expect!["list | files | in | .. | ?"]);
        check("I'd like to compare a/, b/ — thanks!", &expect!["compare | a/ | b/ | —"]);
        check("what is in ./.", &expect!["what | is | in | ./."]);
        check("please", &expect!["please"]);
        check("   ", &expect!["none"]);
    }

    #[test]
    fn quotes_keep_words_together() {
        check("find \"to be\" in 'My Notes'.", &expect!["find | ‹to be› | in | ‹My Notes›"]);
        check("don't split it's 'quotes", &expect!["don't | split | it's | 'quotes"]);
        check("search for “naïve” and «x y»", &expect!["search | for | ‹naïve› | and | ‹x y›"]);
        check(r"archive My\ Photos to x.tar.gz", &expect!["archive | My Photos | to | x.tar.gz"]);
        check("'' \"\" x", &expect!["‹› | ‹› | x"]);
    }

    #[test]
    fn the_subjects_of_a_goal_are_paths_or_follow_in() {
        for (goal, path) in [
            ("which files have more than 500 lines in src", vec!["src"]),
            ("count the words of ./a b in c", vec!["./a", "c"]),
            ("do something", vec![]),
            ("look in 'My Notes' for it", vec!["My Notes"]),
            ("what in src changed for a year", vec!["src"]),
            ("look in src but not in lib.py", vec![]),
            ("don't look in src", vec![]),
        ] {
            assert_eq!(Goal::read(goal).unwrap().paths(), path, "{goal}");
        }
        for (goal, forbids) in
            [("please don't do it", true), ("do not do it", true), ("do it, not that", false)]
        {
            assert_eq!(Goal::read(goal).unwrap().is_forbidding(), forbids, "{goal}");
        }
    }

    #[test]
    fn a_goal_too_long_for_any_pattern_is_rejected() {
        assert_eq!(Goal::read(&"x ".repeat(GOAL_WORDS_MAX + 1)), None);
        assert_eq!(Goal::read(&"x".repeat(GOAL_CHARS_MAX + 1)), None);
    }
}
