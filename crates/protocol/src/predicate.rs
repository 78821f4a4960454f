//! The condition of a check: a predicate over an observation, evaluated by code.
//!
//! A predicate holds or does not hold, and gives the reason in one line.

mod evaluate;

use regex::RegexBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::any::Any;
use crate::limits::{PATTERN_CHARS_MAX, PATTERN_COMPILED_BYTES_MAX, PREDICATE_DEPTH_MAX};
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
pub struct Observation<'a> {
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
    pub fn applies_to(&self, seen: &Observation<'_>) -> bool {
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
    pub fn evaluate(&self, seen: &Observation<'_>) -> Finding {
        self.evaluate_with(seen, None)
    }

    /// Evaluates the predicate with the output that some comparisons use.
    #[must_use]
    pub fn evaluate_against(&self, seen: &Observation<'_>, output: &Value) -> Finding {
        self.evaluate_with(seen, Some(output))
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(predicate: Value, seen: Observation<'_>) -> bool {
        let predicate: Predicate = serde_json::from_value(predicate).unwrap();
        predicate.validate().unwrap();
        predicate.evaluate(&seen).holds
    }

    #[test]
    fn the_line_break_after_what_a_command_printed_does_not_count() {
        let held = |at: &str, seen: &str, answer: &str| {
            let value = json!({"stdout": seen, "content": seen});
            let seen = Observation { value: Some(&value), ..Observation::default() };
            let of_answer = json!({"pointer": {"at": at, "is": {"output": {"how": "equals", "at": ""}}}});
            let of_answer: Predicate = serde_json::from_value(of_answer).unwrap();
            let fixed = holds(json!({"pointer": {"at": at, "is": {"equals": answer}}}), seen);
            assert_eq!(of_answer.evaluate_against(&seen, &json!(answer)).holds, fixed);
            fixed
        };
        assert!(held("/stdout", "src/a.py\n", "src/a.py"));
        assert!(held("/stdout", "a\nb\n", "a\nb"));
        assert!(held("/stdout", "a", "a\n"));
        assert!(!held("/stdout", "a\n\n", "a"));
        assert!(!held("/stdout", " a\n", "a"));
        assert!(!held("/stdout", "a\nb\n", "a b"));
        assert!(!held("/content", "a\n", "a"));
    }

    #[test]
    fn the_whole_answer_is_named_in_a_reason() {
        let predicate = json!({"pointer": {"at": "/stdout", "is": {"output": {"how": "equals", "at": ""}}}});
        let predicate: Predicate = serde_json::from_value(predicate).unwrap();
        let value = json!({"stdout": "3"});
        let seen = Observation { value: Some(&value), ..Observation::default() };
        let why = predicate.evaluate_against(&seen, &json!("4")).why;
        assert_eq!(why, "/stdout is \"3\", expected equal to the answer, which is \"4\"");
    }

    #[test]
    fn every_predicate_can_hold_and_can_fail() {
        let text = |text| Observation { text, ..Observation::default() };
        let code = |code| Observation { exit_code: Some(code), ..Observation::default() };
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
        let seen = Observation { value: Some(&file), ..Observation::default() };
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
            let seen = Observation { value: Some(&measured), ..Observation::default() };
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
