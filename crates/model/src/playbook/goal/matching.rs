//! Matches a goal with one pattern.
//!
//! Every (instruction, word) pair is tried at most once (twice for a goal about one path), so the sizes of pattern and goal limit the time, whatever the
//! pattern looks like.

use std::collections::BTreeMap;

use serde_json::Value;
use setpoint_protocol::record::NamedPath;

use super::param::{Param, ParamKind, PathRequirement};
use super::parse::{Form, Slot};
use super::pattern::{Op, Pattern};
use super::words::{Goal, fold};

/// The match of a goal with a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Match {
    /// Values of the parameters, including those that the pattern sets.
    pub(crate) values: BTreeMap<String, Value>,
    /// Words as typed, by parameter, whose value lacks a mark that may belong to it.
    pub(crate) other_readings: BTreeMap<String, String>,
    /// How specific the match is; the greatest rank wins.
    pub(crate) rank: Rank,
}

/// The specificity of a match, most important field first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// Words of the goal that the pattern names.
    words: usize,
    /// Words taken by parameters of type text; fewer is better.
    loose_words: std::cmp::Reverse<usize>,
}

/// The paths that a match may take from a goal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathLimit<'a> {
    /// Any.
    Any,
    /// This one, and no other one.
    Only(&'a NamedPath),
    /// None.
    Nothing,
}

impl PathLimit<'_> {
    fn allows(self, there: PathRequirement, value: &Value) -> bool {
        match self {
            PathLimit::Any => true,
            PathLimit::Only(named) => {
                *value == *named.path && named.kind.as_deref().is_some_and(|kind| there.takes(kind))
            }
            PathLimit::Nothing => false,
        }
    }
}

/// Matches `goal` with `pattern`, trying choices in the order in which they are written; `None` if it does not match.
pub(crate) fn find(pattern: &Pattern, params: &BTreeMap<String, Param>, goal: &Goal) -> Option<Match> {
    find_within(PathLimit::Any, pattern, params, goal)
}

/// The same with a limit to the paths: whether a goal can also be read in this way.
pub(crate) fn find_within(
    limit: PathLimit<'_>,
    pattern: &Pattern,
    params: &BTreeMap<String, Param>,
    goal: &Goal,
) -> Option<Match> {
    let places = goal.words().len() + 1;
    let mut search = Search {
        pattern,
        params,
        goal,
        limit,
        places,
        failed: vec![false; pattern.ops.len() * places * 2],
        taken: Vec::new(),
    };
    let words = search.run(0, 0)?;
    let mut values = pattern.set.clone();
    let mut other_readings = BTreeMap::new();
    let mut loose_words = 0;
    for taken in search.taken {
        if params
            .get(&taken.param)
            .is_some_and(|param| matches!(param.kind, ParamKind::Text | ParamKind::TextOrNothing))
        {
            loose_words += taken.width;
        }
        if let Some(other) = taken.other {
            other_readings.insert(taken.param.clone(), other);
        }
        values.insert(taken.param, taken.value);
    }
    Some(Match { values, other_readings, rank: Rank { words, loose_words: std::cmp::Reverse(loose_words) } })
}

struct Search<'a> {
    pattern: &'a Pattern,
    params: &'a BTreeMap<String, Param>,
    goal: &'a Goal,
    limit: PathLimit<'a>,
    places: usize,
    /// Whether a place was tried, by instruction, word, and whether it is still open which words are the one path. The
    /// result does not depend on how the place was reached.
    failed: Vec<bool>,
    taken: Vec<TakenWords>,
}

struct TakenWords {
    param: String,
    width: usize,
    value: Value,
    other: Option<String>,
}

impl Search<'_> {
    /// Returns the number of words matched from here to the end. The values of parameters are in `taken`.
    fn run(&mut self, at: usize, word: usize) -> Option<usize> {
        let lacks_path = self.lacks_path();
        let tried = self.failed.get_mut((at * self.places + word) * 2 + usize::from(lacks_path))?;
        if std::mem::replace(tried, true) {
            return None;
        }
        match self.pattern.ops.get(at)? {
            Op::End => (word + 1 == self.places && !lacks_path).then_some(0),
            Op::Jump(to) => self.run(*to, word),
            Op::Split(starts) => starts.iter().find_map(|start| self.run(*start, word)),
            Op::Word(wanted) => {
                let found = self.goal.words().get(word)?;
                if found.quoted || found.fold != *wanted {
                    return None;
                }
                Some(self.run(at + 1, word + 1)? + 1)
            }
            Op::Slot(slot) => self.fill(slot, at, word),
        }
    }

    /// Returns whether the one path is not yet taken.
    fn lacks_path(&self) -> bool {
        let is_path =
            |param: &str| matches!(self.params.get(param).map(|p| &p.kind), Some(ParamKind::Path(_)));
        match self.limit {
            PathLimit::Only(named) => {
                !self.taken.iter().any(|taken| taken.value == *named.path && is_path(&taken.param))
            }
            PathLimit::Any | PathLimit::Nothing => false,
        }
    }

    fn fill(&mut self, slot: &Slot, at: usize, word: usize) -> Option<usize> {
        let kind = &self.params.get(&slot.param)?.kind;
        let first = self.goal.words().get(word)?;
        if !slot.form.takes(first) {
            return None;
        }
        for (width, value) in kind.candidates(self.goal, word) {
            if !slot.like.is_empty() && !slot.like.iter().any(|glob| is_like(glob, &value)) {
                continue;
            }
            if let ParamKind::Path(there) = kind
                && !self.limit.allows(*there, &value)
            {
                continue;
            }
            // An ending has no marks, so they belong to the sentence.
            let is_ending = slot.form == Form::Ending;
            let other = kind.other_reading(self.goal, word + width - 1, &value).filter(|_| !is_ending);
            let value = match value {
                Value::String(text) => Value::String(slot.form.meant(first, text)),
                other => other,
            };
            let before = self.taken.len();
            self.taken.push(TakenWords { param: slot.param.clone(), width, value, other });
            if let Some(words) = self.run(at + 1, word + width) {
                return Some(words);
            }
            self.taken.truncate(before);
        }
        None
    }
}

/// Returns whether a value matches `glob`, in which `*` stands for anything. `glob` is folded.
fn is_like(glob: &str, value: &Value) -> bool {
    let text = match value {
        Value::String(text) => fold(text),
        other => other.to_string(),
    };
    let mut parts = glob.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    if !glob.contains('*') {
        return rest.is_empty();
    }
    let mut parts: Vec<&str> = parts.collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::goal::{Choice, PathRequirement};

    fn params() -> BTreeMap<String, Param> {
        let param = |name: &str, kind| {
            (
                name.to_owned(),
                Param { name: name.to_owned(), kind, description: String::new(), default: None },
            )
        };
        BTreeMap::from([
            param("dir", ParamKind::Path(PathRequirement::Anything)),
            param("count", ParamKind::Number { min: 1, max: 100 }),
            param("text", ParamKind::Text),
            param(
                "algorithm",
                ParamKind::Choice(vec![Choice { value: "b3".into(), words: vec!["blake3".into()] }]),
            ),
        ])
    }

    fn values(pattern: &str, goal: &str) -> Option<String> {
        let pattern = Pattern::read(pattern, &BTreeMap::new()).unwrap();
        let found = find(&pattern, &params(), &Goal::read(goal)?)?;
        Some(serde_json::to_string(&found.values).unwrap())
    }

    const LARGEST: &str = "<show> [the] [{count}] (largest|biggest) files [<in> [the] {dir} [<folder>]]";

    #[test]
    fn a_goal_matches_as_a_whole_or_not_at_all() {
        assert_eq!(
            values(LARGEST, "find the three largest files under ./crates").as_deref(),
            Some(r#"{"count":3,"dir":"./crates"}"#)
        );
        assert_eq!(values(LARGEST, "Show me the BIGGEST files!").as_deref(), Some("{}"));
        assert_eq!(
            values(LARGEST, "list 5 biggest files in the crates directory").as_deref(),
            Some(r#"{"count":5,"dir":"crates"}"#)
        );
        assert_eq!(
            values(LARGEST, "list biggest files in the current directory").as_deref(),
            Some(r#"{"dir":"."}"#)
        );
        assert_eq!(values(LARGEST, "find the three largest files under ./crates and delete them"), None);
        assert_eq!(values(LARGEST, "find 'the' largest files"), None);
        assert_eq!(values(LARGEST, "largest files"), None);
    }

    #[test]
    fn a_text_is_one_word_or_quoted() {
        let pattern = "search [for] {text} in {dir}";
        assert_eq!(values(pattern, "search for a-b in c").as_deref(), Some(r#"{"dir":"c","text":"a-b"}"#));
        assert_eq!(values(pattern, "search for x y in c"), None);
        assert_eq!(values(pattern, "search for in in d"), None);
        assert_eq!(
            values(pattern, "search for \"a in b\" in c").as_deref(),
            Some(r#"{"dir":"c","text":"a in b"}"#)
        );
    }

    #[test]
    fn conditions_on_a_parameter_hold() {
        assert!(values("open {dir like *.csv|*.tsv}", "open Data.CSV").is_some());
        assert!(values("open {dir like *.csv|*.tsv}", "open data.json").is_none());
        assert!(values("open {dir like ./*|/*|*/*}", "open a/b").is_some());
        assert!(values("open {dir like ./*|/*|*/*}", "open ab").is_none());
        assert!(values("open {text quoted}", "open 'a b'").is_some());
        assert!(values("open {text quoted}", "open a").is_none());
        for (form, takes, leaves) in [
            ("clear", ["TODO", "IMG_1", "fn()", "'two words'", "'spaces'"], ["spaces", "a", "größe"]),
            ("literal", ["main", "a.b", "'x y'", "f(x)", "$1"], ["^fn", "'fn.*main'", "\\d"]),
            ("literal", ["a[]", "c++", "'-n'", "x?", "it's"], ["[Tt]odo", "'h[a-z]+'", "a\\.b"]),
            ("literal", ["a+b", "{1}", "]", "$x", "a^b"], ["'hel*'", "'a|b'", "'(ab)+'"]),
            ("ending", [".txt", "*.tar.gz", "'.jpeg'", ".c", ".7z"], ["txt", "a.txt", "."]),
        ] {
            let pattern = format!("open {{text {form}}}");
            for word in takes {
                assert!(values(&pattern, &format!("open {word}")).is_some(), "{form}: {word}");
            }
            for word in leaves {
                assert!(values(&pattern, &format!("open {word}")).is_none(), "{form}: {word}");
            }
        }
        for (form, word, text) in [
            ("ending", "*.txt", ".txt"),
            ("ending", "'*.txt'", ".txt"),
            ("clear", "*.txt", ".txt"),
            ("clear", "'*.txt'", "*.txt"),
            ("clear", "'*b'", "*b"),
            ("clear", "5*", "5*"),
            ("clear", "'*'", "*"),
        ] {
            let found = values(&format!("open {{text {form}}}"), &format!("open {word}"));
            assert_eq!(found, Some(format!(r#"{{"text":"{text}"}}"#)), "{form}: {word}");
        }
        assert_eq!(
            values("hash with {algorithm}", "hash with BLAKE3").as_deref(),
            Some(r#"{"algorithm":"b3"}"#)
        );
    }

    #[test]
    fn an_adversarial_pattern_is_not_slow() {
        let nested = "x [[a] [a] [a] [a] [a] [a] [a] [a]] ".repeat(20) + "y";
        let nested = nested.replacen("x ", "", 19);
        assert_eq!(values(&nested, &("a ".repeat(118) + "z")), None);
        let loose = "x [{text}] [{dir}] a [a [{count}]] [a] [a] [a]";
        assert_eq!(values(loose, &("x ".to_owned() + &"b ".repeat(110))), None);
    }

    #[test]
    fn naming_more_words_is_more_specific() {
        let rank = |pattern: &str, goal: &str| {
            let pattern = Pattern::read(pattern, &BTreeMap::new()).unwrap();
            find(&pattern, &params(), &Goal::read(goal).unwrap()).unwrap().rank
        };
        let goal = "find the largest files in src";
        assert!(rank(LARGEST, goal) > rank("find the largest {text} in {dir}", goal));
    }
}
