//! Replaces what differs between two runs of the same task.
//!
//! Folders, the local time, ids, times and durations become placeholders: `{cwd}`, `{id:1}`, `{time:2}`, `{ms}`. Text
//! that looks like a placeholder gets a `!` (`{!cwd}`), so that nothing is put back that was not taken out.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;
use setpoint_protocol::record::Surroundings;

/// Pattern of the replaced values, except those of the surroundings.
const PATTERNS: &str = r"(?x)
    (?P<literal>\{!*(?:cwd|home|workspace|task|local_time|ms|number|(?:id|time):[0-9]+)\})
    |(?P<id>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)
    |(?P<time>\b[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt\ ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|\ ?[+-][0-9]{2}:?[0-9]{2}))
    |(?P<ms>\b[0-9]+\ ms\b
        # What `time` prints, and test runners: `Ran 3 tests in 0.001s`.
        |\b(?:[0-9]+m)?[0-9]+\.[0-9]{2,}\ ?s(?:econds)?\b
        # What `date` prints, and `ls -l` of a file that is younger than half a year.
        |\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +[0-9]{1,2}\ [0-9]{2}:[0-9]{2}:[0-9]{2}\ [A-Z]{3,5}\ [0-9]{4}\b
        |\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ [\ 0-9][0-9]\ [0-9]{2}:[0-9]{2}\b)";

/// Pattern of the controller's numbers, which depend on the elapsed time.
const NUMBERS: &str = r"[+-]?\b[0-9]+\.[0-9]{3}\b";

/// The values taken out of one question.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Values of the surroundings with their names, the longest first.
    values: Vec<(String, &'static str)>,
    search: Regex,
    ids: Vec<String>,
    times: Vec<String>,
}

/// The two constant expressions, compiled.
struct Expressions {
    plain: Regex,
    numbers: Regex,
}

static EXPRESSIONS: LazyLock<Option<Expressions>> = LazyLock::new(|| {
    Some(Expressions { plain: Regex::new(PATTERNS).ok()?, numbers: Regex::new(NUMBERS).ok()? })
});

impl Places {
    /// Creates the places of a question with these surroundings. Never `None`, because the expressions are constant.
    pub(super) fn of(surroundings: Option<&Surroundings>) -> Option<Self> {
        let values = surroundings.map(values).unwrap_or_default();
        let plain = &EXPRESSIONS.as_ref()?.plain;
        let escaped: Vec<String> = values.iter().map(|(value, _)| regex::escape(value)).collect();
        let search = match escaped.as_slice() {
            [] => None,
            // Values too long for an expression are not folders that a tape has to play in.
            values => Regex::new(&format!("(?P<value>{})|{PATTERNS}", values.join("|"))).ok(),
        };
        let search = search.unwrap_or_else(|| plain.clone());
        Some(Places { values, search, ids: Vec::new(), times: Vec::new() })
    }

    /// Replaces values in a text of the question by placeholders, and remembers them.
    pub(super) fn hide(&mut self, text: &str) -> String {
        let Places { values, search, ids, times } = self;
        rewritten(text, search, |found, at| match PlaceMatch::of(found, values, text, at)? {
            PlaceMatch::Literal(literal) => Some((literal.len(), marked(literal))),
            PlaceMatch::Value(value, name) => Some((value.len(), format!("{{{name}}}"))),
            PlaceMatch::Id(id) => {
                let known = ids.iter().position(|known| known == id);
                let number = known.unwrap_or_else(|| {
                    ids.push(id.to_owned());
                    ids.len() - 1
                });
                Some((id.len(), format!("{{id:{}}}", number + 1)))
            }
            // Each time gets its own number: it is chance whether two are equal.
            PlaceMatch::Time(time) => {
                times.push(time.to_owned());
                Some((time.len(), format!("{{time:{}}}", times.len())))
            }
            PlaceMatch::Duration(duration) => Some((duration.len(), "{ms}".to_owned())),
        })
    }

    /// Replaces the controller's numbers in a text that gives its reasons.
    pub(super) fn hide_numbers(text: &str) -> String {
        match EXPRESSIONS.as_ref() {
            Some(known) => known.numbers.replace_all(text, "{number}").into_owned(),
            None => text.to_owned(),
        }
    }

    /// Replaces values of the question in a text of the answer by placeholders; other text stays.
    pub(super) fn hide_known(&self, text: &str) -> String {
        let at_of = |list: &[String], wanted: &str| list.iter().position(|known| known == wanted);
        rewritten(text, &self.search, |found, at| match PlaceMatch::of(found, &self.values, text, at)? {
            PlaceMatch::Literal(literal) => Some((literal.len(), marked(literal))),
            PlaceMatch::Value(value, name) => Some((value.len(), format!("{{{name}}}"))),
            PlaceMatch::Id(id) => Some((id.len(), format!("{{id:{}}}", at_of(&self.ids, id)? + 1))),
            PlaceMatch::Time(time) => {
                Some((time.len(), format!("{{time:{}}}", at_of(&self.times, time)? + 1)))
            }
            PlaceMatch::Duration(_) => None,
        })
    }

    /// Replaces the placeholders in a recorded text of the answer by this question's values.
    pub(super) fn show(&self, text: &str) -> String {
        rewritten(text, &self.search, |found, _| {
            let literal = found.name("literal")?.as_str();
            let name = literal.strip_prefix('{')?.strip_suffix('}')?;
            let shown = match name.strip_prefix('!') {
                Some(rest) => format!("{{{rest}}}"),
                None => self.value_of(name)?.to_owned(),
            };
            Some((literal.len(), shown))
        })
    }

    fn value_of(&self, name: &str) -> Option<&str> {
        match name.split_once(':') {
            Some(("id", number)) => nth(&self.ids, number),
            Some(("time", number)) => nth(&self.times, number),
            _ => self.values.iter().find(|(_, known)| *known == name).map(|(value, _)| value.as_str()),
        }
    }
}

/// Changes every text in a JSON value, names of fields included.
pub(super) fn in_value(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => items.iter().map(|item| in_value(item, change)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (change(name), in_value(value, change))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A match that is replaced.
enum PlaceMatch<'t> {
    Literal(&'t str),
    Value(&'t str, &'static str),
    Id(&'t str),
    Time(&'t str),
    Duration(&'t str),
}

impl<'t> PlaceMatch<'t> {
    /// Returns the match at `at`; `None` if it is a part of something else.
    fn of(found: &Captures<'t>, values: &'t [(String, &'static str)], text: &str, at: usize) -> Option<Self> {
        let named = |name: &str| found.name(name).map(|found| found.as_str());
        if let Some(literal) = named("literal") {
            return Some(PlaceMatch::Literal(literal));
        }
        if let Some(id) = named("id") {
            return Some(PlaceMatch::Id(id));
        }
        if let Some(time) = named("time") {
            return Some(PlaceMatch::Time(time));
        }
        if let Some(duration) = named("ms") {
            return Some(PlaceMatch::Duration(duration));
        }
        // The longest value that ends at a boundary of names: one folder may be a prefix of another.
        let (before, rest) = text.split_at_checked(at)?;
        let stands =
            |value: &str| rest.strip_prefix(value).is_some_and(|after| is_whole(before, value, after));
        values
            .iter()
            .find(|(value, _)| stands(value))
            .map(|(value, name)| PlaceMatch::Value(value.as_str(), name))
    }
}

/// Returns whether a value is complete, and not a part of a longer path.
fn is_whole(before: &str, value: &str, after: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut next = after.chars();
    let continues = match next.next() {
        Some('.') => next.next().is_some_and(is_name),
        Some(c) => is_name(c),
        None => false,
    };
    let follows = match before.chars().next_back() {
        // As in `file:///folder`.
        Some('/') => !before.ends_with("//"),
        Some(c) => value.starts_with('/') && (is_name(c) || matches!(c, '.' | '~' | '}')),
        None => false,
    };
    !continues && !follows
}

/// Returns the values that are replaced. Excludes the root folder, with which every path begins.
fn values(place: &Surroundings) -> Vec<(String, &'static str)> {
    let task = place.workspace.rsplit('/').next().unwrap_or_default();
    let is_minted = task
        .rsplit_once('-')
        .is_some_and(|(_, suffix)| suffix.len() == 16 && suffix.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let task = if is_minted { task } else { "" };
    let mut values: Vec<(String, &'static str)> = [
        (place.workspace.as_str(), "workspace"),
        (place.cwd.as_str(), "cwd"),
        (place.home.as_str(), "home"),
        (place.local_time.as_str(), "local_time"),
        (task, "task"),
    ]
    .into_iter()
    .map(|(value, name)| (if value == "/" { "" } else { value }, name))
    .filter(|(value, _)| !value.is_empty())
    .map(|(value, name)| (value.to_owned(), name))
    .collect();
    // A stable sort: of two names for one folder the first counts.
    values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    values
}

/// Marks a text that looks like a placeholder.
fn marked(literal: &str) -> String {
    literal.replacen('{', "{!", 1)
}

fn nth<'l>(list: &'l [String], number: &str) -> Option<&'l str> {
    let at = number.parse::<usize>().ok()?.checked_sub(1)?;
    list.get(at).map(String::as_str)
}

/// Replaces what `search` finds by the result of `each`: a number of bytes and their replacement. If `each` returns
/// `None`, the search continues after the first character.
fn rewritten<'t>(
    text: &'t str,
    search: &Regex,
    mut each: impl FnMut(&Captures<'t>, usize) -> Option<(usize, String)>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = search.captures_at(text, at) {
        let Some(start) = found.get(0).map(|found| found.start()) else { break };
        out.push_str(text.get(at..start).unwrap_or_default());
        match each(&found, start) {
            Some((length, replacement)) if length > 0 => {
                out.push_str(&replacement);
                at = start + length;
            }
            _ => {
                let first = text.get(start..).and_then(|rest| rest.chars().next());
                out.extend(first);
                at = start + first.map_or(1, char::len_utf8);
            }
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
