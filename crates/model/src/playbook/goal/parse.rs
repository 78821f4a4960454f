//! The grammar of goal patterns.
//!
//! A pattern consists of words, `(one|of these)`, `[optional words]`, `{a parameter}` and `<named words>`:
//!
//! ```text
//! <show> [the] [{count}] (largest|biggest) files [<in> [the] {dir} [<folder>]]
//! ```

use std::collections::BTreeMap;

use super::words::{Word, fold};
use setpoint_protocol::text::reads_as_pattern;

use crate::playbook::limits::{NAME_CHARS_MAX, PATTERN_CHARS_MAX, PATTERN_DEPTH_MAX, PATTERN_PARTS_MAX};

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A literal word, folded.
    Word(String),
    /// Words that are the value of a parameter.
    Slot(Slot),
    /// One of these sequences; nothing if it is optional.
    Group { choices: Vec<Vec<Part>>, optional: bool },
}

/// A parameter in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Name of the parameter.
    pub(crate) param: String,
    /// Its type, if the pattern repeats it.
    pub(crate) kind: Option<String>,
    /// Globs, one of which the value must match: `*` stands for anything.
    pub(crate) like: Vec<String>,
    /// Required form of the value's first word in the goal.
    pub(crate) form: Form,
}

/// The required form of a word: a plain word may be part of the sentence instead of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Anything.
    #[default]
    Any,
    /// A text in quotes.
    Quoted,
    /// A text in quotes, or a word that does not consist of lower-case letters only: `IMG_`, `README`; not `spaces`.
    Clear,
    /// Neither a regular expression nor an unquoted flag: not `^fn`, `fn.*main`, `[Tt]odo`, `a|b`, `-i`.
    Literal,
    /// The ending of a name: `.txt`, `*.tar.gz`.
    Ending,
}

impl Form {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "quoted" => Form::Quoted,
            "clear" => Form::Clear,
            "literal" => Form::Literal,
            "ending" => Form::Ending,
            _ => return None,
        })
    }

    pub(crate) fn takes(self, word: &Word) -> bool {
        let text = word.text.as_str();
        match self {
            Form::Any => true,
            Form::Quoted => word.quoted,
            Form::Clear => word.quoted || !text.chars().all(char::is_lowercase),
            Form::Literal => !reads_as_pattern(text) && (word.quoted || !text.starts_with('-')),
            Form::Ending => is_ending(text.strip_prefix('*').unwrap_or(text)),
        }
    }

    /// Returns the meaning of a text in this form: `*.txt` means the ending `.txt`, where an ending is possible.
    pub(crate) fn meant(self, word: &Word, text: String) -> String {
        let text = if self == Form::Ending { word.text.clone() } else { text };
        let may_be_ending = self == Form::Ending || (self == Form::Clear && !word.quoted);
        let ending = text.strip_prefix('*').filter(|ending| may_be_ending && is_ending(ending));
        ending.map(str::to_owned).unwrap_or(text)
    }
}

fn is_ending(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(char::is_alphanumeric);
    text.strip_prefix('.').is_some_and(|ending| ending.split('.').all(is_part))
}

/// Why a pattern cannot be parsed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The pattern is empty.
    #[error("find a word in the pattern")]
    Empty,
    /// It is longer than [`PATTERN_CHARS_MAX`] after named words are inserted.
    #[error("read a pattern of more than {PATTERN_CHARS_MAX} characters")]
    TooLong,
    /// It has more than [`PATTERN_PARTS_MAX`] parts.
    #[error("read a pattern of more than {PATTERN_PARTS_MAX} words, groups and parameters")]
    TooManyParts,
    /// It is nested deeper than [`PATTERN_DEPTH_MAX`].
    #[error("read groups nested deeper than {PATTERN_DEPTH_MAX}")]
    TooDeep,
    /// A bracket is not closed, or was never opened.
    #[error("pair the bracket `{0}`")]
    Unpaired(char),
    /// A group has an empty alternative.
    #[error("find words in a part of a group")]
    EmptyChoice,
    /// `{…}` is not a parameter.
    #[error("read `{{{0}}}` as a parameter")]
    Parameter(String),
    /// `<…>` names no words.
    #[error("find the words `<{0}>`")]
    UnknownWords(String),
    /// A goal could contain one parameter twice.
    #[error("fill the parameter `{0}` twice")]
    Twice(String),
    /// Without a required word it would match any goal.
    #[error("find a word that every matching goal must have")]
    NoRequiredWord,
}

/// Words that every playbook may use as `<name>`; a playbook's own words take precedence.
pub(crate) const SHARED_WORDS: &[(&str, &str)] = &[
    (
        "show",
        "(find|list|show|give|get|print|display|tell|report|determine|what are|what is|what's|which are|which is|where are) [me|us] [me|us]",
    ),
    ("in", "(in|under|below|beneath|inside|within|of|at|from|on|for)"),
    ("folder", "(directory|directories|folder|dir|tree)"),
    ("all", "(all|any|every|all of the|all the|the)"),
    ("to", "(to|into|as|at|in)"),
];

/// Parses a pattern. `words` are the playbook's own named words.
pub(super) fn parse(text: &str, words: &BTreeMap<String, String>) -> Result<Vec<Part>, PatternError> {
    let text = with_words(text, words)?;
    let mut reader = Reader { chars: text.chars().collect(), at: 0, parts: 0 };
    let sequence = reader.sequence(0)?;
    match reader.peek() {
        Some(c) => Err(PatternError::Unpaired(c)),
        None if sequence.is_empty() => Err(PatternError::Empty),
        None => Ok(sequence),
    }
}

/// Replaces every `<name>` in `text`. Inserted words are not expanded again, so that the text cannot grow without end.
fn with_words(text: &str, words: &BTreeMap<String, String>) -> Result<String, PatternError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let (name, remainder) = after.split_once('>').ok_or(PatternError::Unpaired('<'))?;
        let own = words.get(name).map(String::as_str);
        let shared = || SHARED_WORDS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let put_in = own.or_else(shared).ok_or_else(|| PatternError::UnknownWords(clip(name)))?;
        out.push_str(before);
        out.push_str(put_in);
        if out.len() > PATTERN_CHARS_MAX * 4 {
            return Err(PatternError::TooLong);
        }
        rest = remainder;
    }
    out.push_str(rest);
    if out.contains(['<', '>']) {
        return Err(PatternError::Unpaired('<'));
    }
    if out.chars().count() > PATTERN_CHARS_MAX { Err(PatternError::TooLong) } else { Ok(out) }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    parts: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn count(&mut self) -> Result<(), PatternError> {
        self.parts += 1;
        if self.parts > PATTERN_PARTS_MAX { Err(PatternError::TooManyParts) } else { Ok(()) }
    }

    /// Parses parts up to the end, a `|` or a closing bracket, which is left to the caller.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Part>, PatternError> {
        if depth > PATTERN_DEPTH_MAX {
            return Err(PatternError::TooDeep);
        }
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                ')' | ']' | '|' if depth > 0 => break,
                ')' | ']' | '}' | '|' => return Err(PatternError::Unpaired(c)),
                '(' | '[' => {
                    self.count()?;
                    parts.push(self.group(c, depth)?);
                }
                '{' => {
                    self.count()?;
                    parts.push(Part::Slot(self.slot()?));
                }
                c if c.is_whitespace() => self.at += 1,
                _ => {
                    self.count()?;
                    parts.push(Part::Word(self.word()));
                }
            }
        }
        Ok(parts)
    }

    fn group(&mut self, open: char, depth: usize) -> Result<Part, PatternError> {
        let close = if open == '(' { ')' } else { ']' };
        let mut choices = Vec::new();
        loop {
            self.at += 1;
            let choice = self.sequence(depth + 1)?;
            if choice.is_empty() {
                return Err(PatternError::EmptyChoice);
            }
            choices.push(choice);
            match self.peek() {
                Some('|') => {}
                Some(c) if c == close => break,
                _ => return Err(PatternError::Unpaired(open)),
            }
        }
        self.at += 1;
        Ok(Part::Group { choices, optional: open == '[' })
    }

    /// Parses `{name}`, `{name:type}`, `{name quoted}` and other forms, `{name like *.csv|*.tsv}`.
    fn slot(&mut self) -> Result<Slot, PatternError> {
        let rest = self.chars.get(self.at + 1..).unwrap_or_default();
        let length = rest.iter().position(|c| *c == '}').ok_or(PatternError::Unpaired('{'))?;
        let inner: String = rest.iter().take(length).collect();
        self.at += length + 2;
        let wrong = || PatternError::Parameter(clip(&inner));
        let mut words = inner.split_whitespace();
        let named = words.next().ok_or_else(wrong)?;
        let (param, kind) = match named.split_once(':') {
            Some((param, kind)) => (param, Some(kind.to_owned())),
            None => (named, None),
        };
        if !is_name(param) {
            return Err(wrong());
        }
        let mut slot = Slot { param: param.to_owned(), kind, like: Vec::new(), form: Form::Any };
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {}
            (Some(form), None, _) => slot.form = Form::of(form).ok_or_else(wrong)?,
            (Some("like"), Some(globs), None) => slot.like = globs.split('|').map(fold).collect(),
            _ => return Err(wrong()),
        }
        Ok(slot)
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            if c.is_whitespace() || "()[]{}|".contains(c) {
                break;
            }
            word.push(c);
            self.at += 1;
        }
        fold(&word)
    }
}

/// Returns whether `text` can be the name of a parameter, an approach or a criterion: letters, digits, `_` and `-`,
/// starting with a letter.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().count() <= NAME_CHARS_MAX
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
}

fn clip(text: &str) -> String {
    setpoint_protocol::text::clip(text, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> PatternError {
        parse(text, &BTreeMap::new()).unwrap_err()
    }

    #[test]
    fn invalid_patterns_are_refused() {
        assert_eq!(error(""), PatternError::Empty);
        assert_eq!(error("find (a|b"), PatternError::Unpaired('('));
        assert_eq!(error("find [a)"), PatternError::Unpaired('['));
        assert_eq!(error("find a]"), PatternError::Unpaired(']'));
        assert_eq!(error("find a|b"), PatternError::Unpaired('|'));
        assert_eq!(error("find {dir"), PatternError::Unpaired('{'));
        assert_eq!(error("find dir}"), PatternError::Unpaired('}'));
        assert_eq!(error("find <show"), PatternError::Unpaired('<'));
        assert_eq!(error("find <nothing>"), PatternError::UnknownWords("nothing".into()));
        assert_eq!(error("find (a||b)"), PatternError::EmptyChoice);
        assert_eq!(error("find {}"), PatternError::Parameter(String::new()));
        assert_eq!(error("find {Dir}"), PatternError::Parameter("Dir".into()));
        assert_eq!(error("find {dir like}"), PatternError::Parameter("dir like".into()));
        assert_eq!(error("find {dir often}"), PatternError::Parameter("dir often".into()));
        assert_eq!(error(&"(".repeat(500)), PatternError::TooDeep);
        assert_eq!(error(&"{".repeat(1_000)), PatternError::Unpaired('{'));
        assert_eq!(error(&"a ".repeat(500)), PatternError::TooManyParts);
        assert_eq!(error(&"<show> ".repeat(500)), PatternError::TooLong);
    }

    #[test]
    fn inserted_words_are_not_expanded_again() {
        let words = BTreeMap::from([("a".to_owned(), "<a> <a>".to_owned())]);
        assert_eq!(parse("x <a>", &words), Err(PatternError::Unpaired('<')));
    }

    #[test]
    fn parameters_have_conditions() {
        let words = BTreeMap::new();
        let parts = parse("Open {file:path like *.CSV|*.tsv}", &words).unwrap();
        let [Part::Word(_), Part::Slot(slot)] = parts.as_slice() else { panic!("another shape") };
        assert_eq!(slot.like, ["*.csv", "*.tsv"]);
        assert_eq!(slot.kind.as_deref(), Some("path"));
    }
}
