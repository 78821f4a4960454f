//! The condition of a check: a predicate over an observation, evaluated by code.
//!
//! A predicate holds or does not hold, and gives the reason in one line.

use std::fmt;

use regex::RegexBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::any::Any;
use crate::limits::{PATTERN_CHARS_MAX, PATTERN_COMPILED_BYTES_MAX, PREDICATE_DEPTH_MAX};
use crate::number::{TheNumber, the_number};
use crate::rows::{RowsExpectation, RowsFault};
use crate::test_run::TestRunExpectation;
use crate::text::clip;
use crate::tool::ToolCall;

/// How code judges a criterion: what to look at, and what must hold of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What to look at.
    pub on: CheckOn,
    /// What must hold.
    pub expect: Predicate,
}

/// What a check looks at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckOn {
    /// A read-only call that runs after the answer (and once before the work).
    Probe(ToolCall),
    /// The sub-task's output; for a task criterion, the merged output.
    Output,
    /// The last matching call of the sub-task, over all its attempts.
    Call {
        /// The tool's name or tool id.
        tool: String,
        /// The command or target that the call must have; any, when it is missing. A command in normal form, as its call's
        /// target has it; more options may follow it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        which: Option<String>,
    },
}

/// Something that holds or does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// The process ended with this code.
    ExitCode(i32),
    /// The text contains this.
    Contains(String),
    /// The text matches this regular expression; where it begins with `^` and ends with `$`, the whole text does, but for the end of
    /// its last line. `(?m)` makes both speak of lines.
    Matches(String),
    /// The value at a JSON pointer (RFC 6901) of the structured result, or of the text read as JSON.
    Pointer {
        /// The pointer; empty for the whole value.
        at: String,
        /// What must hold of the value.
        is: Comparison,
    },
    /// The one number in the text lies in this range. Where several stand there, none of them is meant for sure, and it does not
    /// hold; numbers within words (`v2`, `2026-11-25`) count only where no other one is there, and then the first does.
    NumberInRange {
        /// Smallest allowed.
        min: Option<f64>,
        /// Largest allowed.
        max: Option<f64>,
    },
    /// The observed call described one file (`file_facts`) and these hold of it.
    File(FileExpectation),
    /// A test runner's output or report says that tests ran and passed.
    TestRun(TestRunExpectation),
    /// The records of a measured text are the rows that the output lists.
    Rows(RowsExpectation),
    /// All hold.
    All(Vec<Predicate>),
    /// At least one holds.
    Any(Vec<Predicate>),
    /// It does not hold.
    Not(Box<Predicate>),
}

/// What must hold of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// It is there.
    Exists,
    /// It equals this (numbers by value).
    Equals(Any),
    /// It is a number at least this.
    AtLeast(f64),
    /// It is a number at most this.
    AtMost(f64),
    /// It is a text, array or object of this length.
    Length(u64),
    /// It is a text that contains this, or an array that has it as an element.
    Contains(Any),
    /// It agrees with what the output holds: this is how a probe holds a claim against the world.
    Output {
        /// In which way.
        how: Agreement,
        /// Where in the sub-task's output (for a task criterion, the merged one), as a JSON pointer.
        at: String,
    },
}

/// How something measured agrees with the output. A text that is only a number counts as that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Both are equal, or neither is there.
    Equals,
    /// The measured number is at least the output's.
    AtLeast,
    /// The measured number is at most the output's.
    AtMost,
    /// The measured text, array or object is as long as the output's number says, or as the output's array is.
    Length,
}

/// What must hold of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileExpectation {
    /// Whether it is there.
    pub exists: Option<bool>,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: Option<String>,
    /// Lines in it.
    pub lines: Option<u64>,
    /// Fewest lines in it.
    pub lines_min: Option<u64>,
}

/// The observation that a predicate is evaluated on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observed<'a> {
    /// Text of the observation.
    pub text: &'a str,
    /// Structured value, if there is one.
    pub value: Option<&'a Value>,
    /// Exit code of a process.
    pub exit_code: Option<i32>,
}

/// Whether a predicate holds, with the reason in one line for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether the predicate holds.
    pub holds: bool,
    /// The reason.
    pub why: String,
}

/// Why a predicate can never be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum PredicateError {
    /// A regular expression does not compile, or is too large.
    #[error("compile the pattern {pattern:?}")]
    Pattern {
        /// The pattern, clipped.
        pattern: String,
        /// Error of the compiler; `None` if the pattern is too long.
        #[source]
        source: Option<Box<regex::Error>>,
    },
    /// A JSON pointer is neither empty nor starts with `/`.
    #[error("read {0:?} as a JSON pointer (it must be empty or start with /)")]
    Pointer(String),
    /// A range, list or text is empty.
    #[error("find anything to test in `{0}`")]
    Empty(&'static str),
    /// A bound is not a number.
    #[error("use a bound that is not finite in `{0}`")]
    NotFinite(&'static str),
    /// The predicate is nested too deeply.
    #[error("read a predicate nested deeper than {PREDICATE_DEPTH_MAX}")]
    TooDeep,
}

impl Predicate {
    /// Checks that the predicate can be evaluated.
    ///
    /// # Errors
    /// The first part that cannot be evaluated.
    pub fn validate(&self) -> Result<(), PredicateError> {
        self.validate_at(0)
    }

    /// Returns whether the predicate can distinguish a good result from a bad one; an exit code alone cannot.
    #[must_use]
    pub fn says_more_than_exit_code(&self) -> bool {
        match self {
            Predicate::ExitCode(_) => false,
            Predicate::All(parts) | Predicate::Any(parts) => {
                parts.iter().any(Predicate::says_more_than_exit_code)
            }
            Predicate::Not(part) => part.says_more_than_exit_code(),
            Predicate::Contains(_)
            | Predicate::Matches(_)
            | Predicate::Pointer { .. }
            | Predicate::NumberInRange { .. }
            | Predicate::File(_)
            | Predicate::TestRun(_)
            | Predicate::Rows(_) => true,
        }
    }

    /// Returns whether the predicate or any of its parts satisfies `is_one`.
    pub fn has(&self, is_one: &impl Fn(&Predicate) -> bool) -> bool {
        is_one(self)
            || match self {
                Predicate::All(parts) | Predicate::Any(parts) => parts.iter().any(|part| part.has(is_one)),
                Predicate::Not(part) => part.has(is_one),
                Predicate::ExitCode(_)
                | Predicate::Contains(_)
                | Predicate::Matches(_)
                | Predicate::Pointer { .. }
                | Predicate::NumberInRange { .. }
                | Predicate::File(_)
                | Predicate::TestRun(_)
                | Predicate::Rows(_) => false,
            }
    }

    /// Returns whether a part compares the observation with the output. Such a predicate says nothing about the time
    /// before the work.
    #[must_use]
    pub fn speaks_of_the_output(&self) -> bool {
        self.has(&|part| {
            matches!(part, Predicate::Rows(_) | Predicate::Pointer { is: Comparison::Output { .. }, .. })
        })
    }

    /// Returns whether the predicate can hold on this kind of observation. A pointer needs JSON; `file` needs a call
    /// that describes a file.
    #[must_use]
    pub fn applies_to(&self, seen: &Observed<'_>) -> bool {
        match self {
            Predicate::Pointer { .. } => {
                seen.value.is_some() || serde_json::from_str::<serde::de::IgnoredAny>(seen.text).is_ok()
            }
            Predicate::Rows(rows) => {
                seen.value.and_then(|value| value.pointer(&rows.at)).is_some_and(Value::is_string)
            }
            Predicate::File(_) => {
                seen.value.and_then(|value| value.get("exists")).is_some_and(Value::is_boolean)
            }
            Predicate::Matches(pattern) => compile(pattern).is_ok(),
            Predicate::All(parts) => parts.iter().all(|part| part.applies_to(seen)),
            Predicate::Any(parts) => parts.iter().any(|part| part.applies_to(seen)),
            Predicate::Not(part) => part.applies_to(seen),
            Predicate::ExitCode(_)
            | Predicate::Contains(_)
            | Predicate::NumberInRange { .. }
            | Predicate::TestRun(_) => true,
        }
    }

    /// Evaluates the predicate without an output. A predicate that does not validate does not hold; nor does one that
    /// compares with the output, because there is none before the work.
    #[must_use]
    pub fn evaluate(&self, seen: &Observed<'_>) -> Finding {
        self.evaluate_with(seen, None)
    }

    /// Evaluates the predicate with the output that some comparisons use.
    #[must_use]
    pub fn evaluate_against(&self, seen: &Observed<'_>, output: &Value) -> Finding {
        self.evaluate_with(seen, Some(output))
    }

    fn evaluate_with(&self, seen: &Observed<'_>, output: Option<&Value>) -> Finding {
        match self {
            Predicate::ExitCode(want) => match seen.exit_code {
                Some(code) => finding(code == *want, format!("exit code {code}, expected {want}")),
                None => finding(false, format!("no exit code, expected {want}")),
            },
            Predicate::Contains(want) => {
                let holds = seen.text.contains(want.as_str());
                finding(
                    holds,
                    format!("text {} {:?}", if holds { "contains" } else { "lacks" }, clip(want, 80)),
                )
            }
            Predicate::Matches(pattern) => match compile(pattern) {
                Ok(regex) => {
                    let is_of_all = is_about_the_whole(pattern);
                    let text = if is_of_all { seen.text.trim_end_matches(['\n', '\r']) } else { seen.text };
                    let holds = regex.is_match(text);
                    let what = if is_of_all { "the whole text" } else { "text" };
                    let word = if holds { "matches" } else { "does not match" };
                    finding(holds, format!("{what} {word} {:?}", clip(pattern, 80)))
                }
                Err(error) => finding(false, format!("failed to {error}")),
            },
            Predicate::Pointer { at, is } => evaluate_pointer(at, is, seen, output),
            Predicate::NumberInRange { min, max } => match the_number(seen.text) {
                TheNumber::Is(number) => finding(
                    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max),
                    format!("number {number}, expected {}", Range(*min, *max)),
                ),
                TheNumber::Unclear(one, other) => finding(
                    false,
                    format!("several numbers in the text, {one} and {other} among them; which one is meant?"),
                ),
                TheNumber::None => finding(false, "no number in the text"),
            },
            Predicate::File(expectation) => evaluate_file(expectation, seen),
            Predicate::TestRun(expectation) => expectation.evaluate(seen),
            Predicate::Rows(rows) => match output {
                Some(output) => {
                    let (holds, why) = rows.evaluate(seen.value, output);
                    finding(holds, why)
                }
                None => finding(false, NO_OUTPUT),
            },
            Predicate::All(parts) => {
                let findings: Vec<Finding> =
                    parts.iter().map(|part| part.evaluate_with(seen, output)).collect();
                match findings.iter().find(|finding| !finding.holds) {
                    Some(failed) => failed.clone(),
                    None => finding(!findings.is_empty(), join(&findings, "; ")),
                }
            }
            Predicate::Any(parts) => {
                let findings: Vec<Finding> =
                    parts.iter().map(|part| part.evaluate_with(seen, output)).collect();
                match findings.iter().find(|finding| finding.holds) {
                    Some(held) => held.clone(),
                    None => finding(false, join(&findings, "; ")),
                }
            }
            Predicate::Not(part) => {
                let inner = part.evaluate_with(seen, output);
                finding(!inner.holds, format!("not expected: {}", inner.why))
            }
        }
    }

    fn validate_at(&self, depth: usize) -> Result<(), PredicateError> {
        if depth >= PREDICATE_DEPTH_MAX {
            return Err(PredicateError::TooDeep);
        }
        let finite = |name, bound: &Option<f64>| match bound {
            Some(bound) if !bound.is_finite() => Err(PredicateError::NotFinite(name)),
            _ => Ok(()),
        };
        match self {
            Predicate::ExitCode(_) | Predicate::TestRun(_) => Ok(()),
            Predicate::Rows(rows) => match rows.fault() {
                None => Ok(()),
                Some(RowsFault::Pointer(at)) => Err(PredicateError::Pointer(at)),
                Some(RowsFault::Cells) => Err(PredicateError::Empty("rows")),
            },
            Predicate::Contains(want) if want.is_empty() => Err(PredicateError::Empty("contains")),
            Predicate::Contains(_) => Ok(()),
            Predicate::Matches(pattern) if pattern.is_empty() => Err(PredicateError::Empty("matches")),
            Predicate::Matches(pattern) => compile(pattern).map(drop),
            Predicate::Pointer { at, is } => {
                if !at.is_empty() && !at.starts_with('/') {
                    return Err(PredicateError::Pointer(clip(at, 80)));
                }
                match is {
                    Comparison::Output { at, .. } if !at.is_empty() && !at.starts_with('/') => {
                        Err(PredicateError::Pointer(clip(at, 80)))
                    }
                    Comparison::AtLeast(bound) => finite("at_least", &Some(*bound)),
                    Comparison::AtMost(bound) => finite("at_most", &Some(*bound)),
                    _ => Ok(()),
                }
            }
            Predicate::NumberInRange { min: None, max: None } => {
                Err(PredicateError::Empty("number_in_range"))
            }
            Predicate::NumberInRange { min, max } => {
                finite("number_in_range", min).and_then(|()| finite("number_in_range", max))
            }
            Predicate::File(expectation) if *expectation == FileExpectation::default() => {
                Err(PredicateError::Empty("file"))
            }
            Predicate::File(_) => Ok(()),
            Predicate::All(parts) | Predicate::Any(parts) if parts.is_empty() => {
                Err(PredicateError::Empty("all/any"))
            }
            Predicate::All(parts) | Predicate::Any(parts) => {
                parts.iter().try_for_each(|part| part.validate_at(depth + 1))
            }
            Predicate::Not(part) => part.validate_at(depth + 1),
        }
    }
}

/// Reason of a comparison with the output before the work.
const NO_OUTPUT: &str = "there is no output yet to hold the result against";

fn finding(holds: bool, why: impl AsRef<str>) -> Finding {
    Finding { holds, why: clip(why.as_ref(), 400) }
}

fn join(findings: &[Finding], separator: &str) -> String {
    findings.iter().map(|finding| finding.why.as_str()).collect::<Vec<_>>().join(separator)
}

/// Returns whether a pattern has both anchors; it is then matched on the whole text instead of on each line. Per line,
/// `^$` matched every text that ends in a line break. `(?m)` asks for lines.
fn is_about_the_whole(pattern: &str) -> bool {
    let escapes = pattern.strip_suffix('$').map(|rest| rest.chars().rev().take_while(|c| *c == '\\').count());
    pattern.starts_with('^') && escapes.is_some_and(|escapes| escapes % 2 == 0)
}

fn compile(pattern: &str) -> Result<regex::Regex, PredicateError> {
    let error = |source| PredicateError::Pattern { pattern: clip(pattern, 80), source };
    if pattern.chars().count() > PATTERN_CHARS_MAX {
        return Err(error(None));
    }
    RegexBuilder::new(pattern)
        .multi_line(!is_about_the_whole(pattern))
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .build()
        .map_err(|source| error(Some(Box::new(source))))
}

fn evaluate_pointer(at: &str, is: &Comparison, seen: &Observed<'_>, output: Option<&Value>) -> Finding {
    let parsed: Value;
    let root = match seen.value {
        Some(value) => value,
        None => match serde_json::from_str(seen.text) {
            Ok(value) => {
                parsed = value;
                &parsed
            }
            Err(_) => return finding(false, "the result is not JSON"),
        },
    };
    let place = if at.is_empty() { "the result" } else { at };
    if let Comparison::Output { how, at: claim_at } = is {
        return match output {
            Some(output) => agrees(place, root.pointer(at), *how, claim_at, output.pointer(claim_at)),
            None => finding(false, NO_OUTPUT),
        };
    }
    let Some(value) = root.pointer(at) else {
        return finding(false, format!("nothing at {place}"));
    };
    let shown = clip(&value.to_string(), 120);
    let holds = match is {
        Comparison::Exists => true,
        Comparison::Equals(want) => same(value, want),
        Comparison::AtLeast(bound) => value.as_f64().is_some_and(|number| number >= *bound),
        Comparison::AtMost(bound) => value.as_f64().is_some_and(|number| number <= *bound),
        Comparison::Length(length) => length_of(value) == Some(*length),
        Comparison::Contains(want) => match (value, &want.0) {
            (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
            (Value::Array(items), part) => items.iter().any(|item| same(item, part)),
            _ => false,
        },
        // Handled above, because the value may be missing.
        Comparison::Output { .. } => false,
    };
    finding(holds, format!("{place} is {shown}, expected {is}"))
}

fn agrees(
    place: &str,
    seen: Option<&Value>,
    how: Agreement,
    claim_at: &str,
    claim: Option<&Value>,
) -> Finding {
    let holds = match (how, seen, claim) {
        (Agreement::Equals, None, None) => true,
        (_, None, _) | (_, _, None) => false,
        (Agreement::Equals, Some(seen), Some(claim)) => {
            same(seen, claim) || number_of(seen).zip(number_of(claim)).is_some_and(|(x, y)| near(x, y))
        }
        (Agreement::AtLeast, Some(seen), Some(claim)) => {
            number_of(seen).zip(number_of(claim)).is_some_and(|(x, y)| x >= y)
        }
        (Agreement::AtMost, Some(seen), Some(claim)) => {
            number_of(seen).zip(number_of(claim)).is_some_and(|(x, y)| x <= y)
        }
        (Agreement::Length, Some(seen), Some(claim)) => {
            let want = match claim {
                Value::Array(items) => u64::try_from(items.len()).ok(),
                other => other.as_u64(),
            };
            want.is_some() && length_of(seen) == want
        }
    };
    let shown = |value: Option<&Value>| match value {
        Some(value) => clip(&value.to_string(), 120),
        None => "missing".to_owned(),
    };
    let relation = match how {
        Agreement::Equals => "equal to",
        Agreement::AtLeast => "at least",
        Agreement::AtMost => "at most",
        Agreement::Length => "as long as",
    };
    let (seen, claim) = (shown(seen), shown(claim));
    finding(
        holds,
        format!("{place} is {seen}, expected {relation} the output's {claim_at}, which is {claim}"),
    )
}

/// Returns a number, or the number that a text consists of.
fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    }
}

fn near(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-9 * x.abs().max(1.0)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(x), Some(y)) if a.is_f64() || b.is_f64() => near(x, y),
        _ => a == b,
    }
}

fn length_of(value: &Value) -> Option<u64> {
    let length = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => return None,
    };
    u64::try_from(length).ok()
}

fn evaluate_file(expectation: &FileExpectation, seen: &Observed<'_>) -> Finding {
    let field = |name: &str| seen.value.and_then(|value| value.get(name));
    let Some(exists) = field("exists").and_then(Value::as_bool) else {
        return finding(false, "the call did not describe a file");
    };
    if let Some(want) = expectation.exists
        && want != exists
    {
        return finding(false, format!("file {}", if exists { "exists" } else { "does not exist" }));
    }
    if let Some(want) = &expectation.sha256 {
        let got = field("sha256").and_then(Value::as_str).unwrap_or("none");
        if !got.eq_ignore_ascii_case(want) {
            return finding(false, format!("sha256 {got}, expected {want}"));
        }
    }
    let lines = field("lines").and_then(Value::as_u64);
    if let Some(want) = expectation.lines
        && lines != Some(want)
    {
        return finding(false, format!("{} lines, expected {want}", Shown(lines)));
    }
    if let Some(min) = expectation.lines_min
        && lines.is_none_or(|lines| lines < min)
    {
        return finding(false, format!("{} lines, expected at least {min}", Shown(lines)));
    }
    finding(true, "the file is as expected")
}

struct Shown(Option<u64>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(n) => write!(f, "{n}"),
            None => f.write_str("unknown"),
        }
    }
}

struct Range(Option<f64>, Option<f64>);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => f.write_str("any number"),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Comparison::Exists => f.write_str("to exist"),
            Comparison::Equals(want) => write!(f, "{}", clip(&want.0.to_string(), 120)),
            Comparison::AtLeast(bound) => write!(f, "at least {bound}"),
            Comparison::AtMost(bound) => write!(f, "at most {bound}"),
            Comparison::Length(length) => write!(f, "length {length}"),
            Comparison::Contains(want) => write!(f, "it to contain {}", clip(&want.0.to_string(), 120)),
            Comparison::Output { at, .. } => write!(f, "it to agree with the output's {at}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(predicate: Value, seen: Observed<'_>) -> bool {
        let predicate: Predicate = serde_json::from_value(predicate).unwrap();
        predicate.validate().unwrap();
        predicate.evaluate(&seen).holds
    }

    #[test]
    fn every_predicate_can_hold_and_can_fail() {
        let text = |text| Observed { text, ..Observed::default() };
        let code = |code| Observed { exit_code: Some(code), ..Observed::default() };
        assert!(holds(json!({"exit_code": 0}), code(0)));
        assert!(!holds(json!({"exit_code": 0}), code(1)));
        assert!(!holds(json!({"exit_code": 0}), text("")));
        assert!(holds(json!({"contains": "b"}), text("abc")));
        assert!(!holds(json!({"contains": "x"}), text("abc")));
        // With both anchors the pattern covers the whole text, except its final line break.
        assert!(!holds(json!({"matches": "^b+$"}), text("a\nbb\nc")));
        assert!(holds(json!({"matches": "^b+$"}), text("bb\r\n")));
        assert!(holds(json!({"matches": "(?m)^b+$"}), text("a\nbb\nc")));
        assert!(holds(json!({"matches": "^b"}), text("a\nbb\nc")));
        assert!(holds(json!({"matches": "^b\\$"}), text("a\nb$\nc")));
        assert!(!holds(json!({"matches": "^$"}), text(" M a.txt\n?? new.txt\n")));
        assert!(holds(json!({"matches": "^$"}), text("\n")) && holds(json!({"matches": "^$"}), text("")));
        assert!(!holds(json!({"matches": "^d"}), text("abc")));
        assert!(holds(json!({"number_in_range": {"min": 2, "max": 3}}), text("n = 2.5 (v9, 2026-11-25)")));
        assert!(!holds(json!({"number_in_range": {"max": 3}}), text("n = 4")));
        assert!(holds(json!({"number_in_range": {"max": -1}}), text("-2")));
        // The first of several numbers may be anything: a year, a count of files.
        for unclear in ["2026 checks, coverage 12%", "n = 2.5 of 9", "1,234 lines", "TOTAL 100 88 12%"] {
            assert!(!holds(json!({"number_in_range": {"min": 0}}), text(unclear)), "{unclear}");
        }
        for clear in ["coverage: 85%", "85% (85%)", "took 85ms", "12 data.csv", "total=12;"] {
            assert!(holds(json!({"number_in_range": {"min": 12, "max": 85}}), text(clear)), "{clear}");
        }
        assert!(!holds(json!({"number_in_range": {"max": 3}}), text("none")));
        assert!(holds(json!({"pointer": {"at": "/a/0", "is": {"equals": 1.0}}}), text(r#"{"a":[1]}"#)));
        assert!(!holds(json!({"pointer": {"at": "/a/1", "is": "exists"}}), text(r#"{"a":[1]}"#)));
        assert!(holds(json!({"pointer": {"at": "/a", "is": {"length": 1}}}), text(r#"{"a":[1]}"#)));
        assert!(holds(json!({"pointer": {"at": "/a", "is": {"contains": 1}}}), text(r#"{"a":[1]}"#)));
        assert!(holds(json!({"all": [{"contains": "a"}, {"not": {"contains": "b"}}]}), text("a")));
        assert!(!holds(json!({"all": [{"contains": "a"}, {"not": {"contains": "b"}}]}), text("ab")));
        assert!(holds(json!({"any": [{"contains": "x"}, {"contains": "a"}]}), text("a")));
        assert!(!holds(json!({"any": [{"contains": "x"}, {"contains": "y"}]}), text("a")));
        let file = json!({"exists": true, "sha256": "AB", "lines": 3});
        let seen = Observed { value: Some(&file), ..Observed::default() };
        assert!(holds(json!({"file": {"exists": true, "sha256": "ab", "lines": 3}}), seen));
        assert!(!holds(json!({"file": {"lines_min": 4}}), seen));
        assert!(!holds(json!({"file": {"exists": false}}), seen));
    }

    #[test]
    fn a_measurement_is_compared_with_the_output() {
        let agrees = |how: &str, measured: Value, output: Value| {
            let is = json!({"output": {"how": how, "at": "/n"}});
            let predicate: Predicate =
                serde_json::from_value(json!({"pointer": {"at": "/m", "is": is}})).unwrap();
            predicate.validate().unwrap();
            let seen = Observed { value: Some(&measured), ..Observed::default() };
            assert!(!predicate.evaluate(&seen).holds, "no output, no agreement");
            predicate.evaluate_against(&seen, &output).holds
        };
        assert!(agrees("equals", json!({"m": 3}), json!({"n": 3.0})));
        assert!(agrees("equals", json!({"m": "3\n"}), json!({"n": 3})));
        assert!(agrees("equals", json!({}), json!({})));
        assert!(agrees("equals", json!({"m": "a"}), json!({"n": "a"})));
        assert!(!agrees("equals", json!({"m": 3}), json!({"n": 4})));
        assert!(!agrees("equals", json!({"m": 3}), json!({})));
        assert!(!agrees("equals", json!({"m": ""}), json!({"n": 0})));
        assert!(agrees("at_least", json!({"m": "5"}), json!({"n": 4})));
        assert!(!agrees("at_least", json!({"m": 3}), json!({"n": 4})));
        assert!(!agrees("at_least", json!({}), json!({})));
        assert!(agrees("at_most", json!({"m": 4}), json!({"n": 4})));
        assert!(!agrees("at_most", json!({"m": 5}), json!({"n": 4})));
        assert!(agrees("length", json!({"m": [1, 2]}), json!({"n": 2})));
        assert!(agrees("length", json!({"m": [1, 2]}), json!({"n": ["a", "b"]})));
        assert!(!agrees("length", json!({"m": [1]}), json!({"n": 2})));
        assert!(!agrees("length", json!({"m": 2}), json!({"n": 2})));
    }

    #[test]
    fn malformed_predicates_are_refused() {
        for malformed in [
            json!({"pointer": {"at": "/a", "is": {"output": {"how": "equals", "at": "a"}}}}),
            json!({"matches": "("}),
            json!({"matches": ""}),
            json!({"matches": "a{1000}{1000}"}),
            json!({"contains": ""}),
            json!({"pointer": {"at": "a", "is": "exists"}}),
            json!({"number_in_range": {"min": null, "max": null}}),
            json!({"all": []}),
            json!({"file": {}}),
            json!({"not":{"not":{"not":{"not":{"not":{"not":{"not":{"not":{"contains":"x"}}}}}}}}}),
        ] {
            let predicate: Predicate = serde_json::from_value(malformed.clone()).unwrap();
            assert!(predicate.validate().is_err(), "{malformed}");
        }
    }

    #[test]
    fn an_exit_code_alone_is_not_enough() {
        let read = |value| serde_json::from_value::<Predicate>(value).unwrap();
        assert!(!read(json!({"all": [{"exit_code": 0}]})).says_more_than_exit_code());
        assert!(read(json!({"all": [{"exit_code": 0}, {"contains": "x"}]})).says_more_than_exit_code());
    }
}
