//! Whether a predicate holds of what was observed, and why.

use std::fmt;

use serde_json::Value;

use super::{
    Agreement, Comparison, FileExpectation, Finding, Observation, Predicate, compile, is_about_the_whole,
};
use crate::number::{TheNumber, the_number};
use crate::text::clip;

/// Reason of a comparison with the output before the work.
const NO_OUTPUT: &str = "there is no output yet to hold the result against";

/// Pointers of what a command printed.
const PRINTED: [&str; 2] = ["/stdout", "/stderr"];

impl Predicate {
    pub(super) fn evaluate_with(&self, seen: &Observation<'_>, output: Option<&Value>) -> Finding {
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
}

fn finding(holds: bool, why: impl AsRef<str>) -> Finding {
    Finding { holds, why: clip(why.as_ref(), 400) }
}

fn join(findings: &[Finding], separator: &str) -> String {
    findings.iter().map(|finding| finding.why.as_str()).collect::<Vec<_>>().join(separator)
}

fn evaluate_pointer(at: &str, is: &Comparison, seen: &Observation<'_>, output: Option<&Value>) -> Finding {
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
            Some(output) => agrees(at, root.pointer(at), *how, claim_at, output.pointer(claim_at)),
            None => finding(false, NO_OUTPUT),
        };
    }
    let Some(value) = root.pointer(at) else {
        return finding(false, format!("nothing at {place}"));
    };
    let shown = clip(&value.to_string(), 120);
    let holds = match is {
        Comparison::Exists => true,
        Comparison::Equals(want) => same_at(at, value, want),
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

fn agrees(at: &str, seen: Option<&Value>, how: Agreement, claim_at: &str, claim: Option<&Value>) -> Finding {
    let holds = match (how, seen, claim) {
        (Agreement::Equals, None, None) => true,
        (_, None, _) | (_, _, None) => false,
        (Agreement::Equals, Some(seen), Some(claim)) => {
            same_at(at, seen, claim) || number_of(seen).zip(number_of(claim)).is_some_and(|(x, y)| near(x, y))
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
    let place = if at.is_empty() { "the result" } else { at };
    let of = part_of_the_output(claim_at);
    finding(holds, format!("{place} is {seen}, expected {relation} {of}, which is {claim}"))
}

fn part_of_the_output(at: &str) -> String {
    if at.is_empty() { "the answer".to_owned() } else { format!("the output's {at}") }
}

/// Returns whether two values are the same, one of which is at a pointer. What a command printed ends with a line break that
/// is not a part of what it says; a file's content is exact.
fn same_at(at: &str, seen: &Value, want: &Value) -> bool {
    let is_printed = PRINTED.contains(&at);
    let without_break = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
    match (seen, want) {
        (Value::String(seen), Value::String(want)) if is_printed => {
            without_break(seen) == without_break(want)
        }
        _ => same(seen, want),
    }
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

fn evaluate_file(expectation: &FileExpectation, seen: &Observation<'_>) -> Finding {
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
        return finding(false, format!("{} lines, expected {want}", ShownValue(lines)));
    }
    if let Some(min) = expectation.lines_min
        && lines.is_none_or(|lines| lines < min)
    {
        return finding(false, format!("{} lines, expected at least {min}", ShownValue(lines)));
    }
    finding(true, "the file is as expected")
}

struct ShownValue(Option<u64>);

impl fmt::Display for ShownValue {
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
            Comparison::Output { at, .. } => {
                write!(f, "it to agree with {}", part_of_the_output(at))
            }
        }
    }
}
