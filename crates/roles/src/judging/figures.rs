//! Numbers that a criterion or an answer names, and whether the evidence contains them.

use std::collections::BTreeSet;

use setpoint_protocol::Any;
use setpoint_protocol::predicate::{Check, CheckOn, Comparison, Predicate};
use setpoint_protocol::tool::ToolRecord;

use super::case::Case;
use super::deeds::{APPLY_PATCH, WRITE_FILE, made_by};
use super::executed::{ends_in, words};
use super::messages::printed;
use super::strength::{only_looks, only_prints};
use crate::evidence::{changes, command_of};
use crate::words::{WordList, word_list};

/// At most this many words in an answer that counts as a figure rather than a report.
const WORDS_MAX: usize = 12;
/// At most this many figures in such an answer.
const FIGURES_MAX: usize = 3;

/// Returns whether a check could pass although a number in its criterion is wrong: the number is neither in the
/// command nor in the expectation, or the expectation would hold without it. Numbers within names, as in
/// `report-2026.txt`, do not count, and a test run may vouch for any number. `seen` is the text that the check read,
/// if none of it was cut.
pub(super) fn says_less(criterion: &str, check: &Check, seen: Option<&str>) -> bool {
    let on = match &check.on {
        CheckOn::Probe(call) => call.input.to_text(),
        CheckOn::Call { which, .. } => which.clone().unwrap_or_default(),
        CheckOn::Output => String::new(),
    };
    let on = numbers(&on);
    let is_run = check.expect.has(&|part| matches!(part, Predicate::TestRun(_)));
    let claim = Claim {
        amounts: amounts(criterion),
        compares: has_one_of(criterion, COMPARING),
        denies: has_one_of(criterion, DENYING),
        seen: seen.map(numbers),
    };
    let is_said = |number: &String| on.contains(number) || claim.needs(&check.expect, number);
    !is_run && !claim.amounts.iter().all(is_said)
}

/// Words of a criterion that compares with its number.
const COMPARING: &[&str] = &[
    "least", "most", "more", "less", "fewer", "over", "under", "above", "below", "between", "than", "up",
    "maximum", "minimum", "max", "min", "exceed", "exceeds", "within", "range", "from",
];
/// Words of a criterion that denies something.
const DENYING: &[&str] = &[
    "no", "not", "never", "none", "nothing", "without", "neither", "nor", "cannot", "lacks", "absent",
    "gone", "free", "removed", "deleted", "instead",
];

fn has_one_of(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    text.contains("n't")
        || text.contains(['<', '>', '≤', '≥'])
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
}

/// A criterion that names numbers.
struct Claim {
    amounts: BTreeSet<String>,
    compares: bool,
    denies: bool,
    seen: Option<BTreeSet<String>>,
}

impl Claim {
    /// Returns whether the expectation cannot hold without the number.
    fn needs(&self, expect: &Predicate, number: &str) -> bool {
        let is_there = || says(expect, number);
        let is_seen = || self.seen.as_ref().is_none_or(|seen| seen.contains(number));
        match expect {
            Predicate::All(parts) => parts.iter().any(|part| self.needs(part, number)),
            Predicate::Any(parts) => !parts.is_empty() && parts.iter().all(|part| self.needs(part, number)),
            // “does not contain 10” holds for any program that prints something else.
            Predicate::Not(part) => self.denies && says(part, number),
            // These compare the answer's figure with the measured one.
            Predicate::Rows(_) | Predicate::Pointer { is: Comparison::Output { .. }, .. } => {
                self.compares || is_seen()
            }
            Predicate::NumberInRange { min, max } => {
                let is_named = |bound: &f64| self.amounts.contains(&bound.to_string());
                is_there() && [min, max].into_iter().flatten().all(is_named) && (self.compares || is_seen())
            }
            Predicate::Pointer { is: Comparison::AtLeast(_) | Comparison::AtMost(_), .. } => {
                is_there() && (self.compares || is_seen())
            }
            // One alternative of a pattern may not contain the number.
            Predicate::Contains(_) | Predicate::Matches(_) => is_there() && is_seen(),
            _ => is_there(),
        }
    }
}

/// Returns whether the number is anywhere in the expectation.
fn says(expect: &Predicate, number: &str) -> bool {
    // `2\.0` in a regular expression, as JSON: the number is 2.0.
    serde_json::to_string(expect).is_ok_and(|text| numbers(&text.replace("\\\\.", ".")).contains(number))
}

/// Returns the amounts in a sentence. Labels are not amounts: in “step 2 prints 7 lines” only 7 is one.
fn amounts(text: &str) -> BTreeSet<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_counted = |next: &&str| next.ends_with('s') && !["is", "was", "has", "does"].contains(next);
    let amount = |(n, word): (usize, &&str)| {
        let number = of_word(word)?;
        let is_label = number.len() == 1 && words.get(n + 1).is_some_and(|next| !is_counted(next));
        (!is_label).then_some(number)
    };
    words.iter().enumerate().filter_map(amount).collect()
}

/// Returns whether the answer is a figure that no call has shown: `17`, after `wc` printed 4. A record that was cut
/// may have contained it.
pub(super) fn is_from_nowhere(case: &Case<'_>) -> bool {
    are_from_nowhere(of_answer(case.output), case)
}

/// Returns whether a sentence about the work names a figure that is neither in the answer nor in any call.
pub(crate) fn names_unseen_figure(sentence: &str, case: &Case<'_>) -> bool {
    let answer = case.output.to_text();
    let in_answer: BTreeSet<String> = numbers(&answer).into_iter().chain(claims(&answer)).collect();
    let missing = claims(sentence).into_iter().filter(|figure| !in_answer.contains(figure)).collect();
    are_from_nowhere(missing, case)
}

fn are_from_nowhere(mut missing: BTreeSet<String>, case: &Case<'_>) -> bool {
    if missing.is_empty() {
        return false;
    }
    let work = case.runs.iter().flat_map(|run| run.calls).chain(case.baseline).chain(case.probes.records());
    let mut strike = |text: &str| {
        for number in numbers(text).into_iter().chain(claims(text)) {
            missing.remove(&number);
        }
        missing.is_empty()
    };
    if strike(case.words) {
        return false;
    }
    for record in work {
        // Text that a command was told to print, or that the work wrote itself, is not a source.
        if only_prints(record) || changes::is_look(record) || is_of_own_making(record, case) {
            continue;
        }
        // A reader can count the printed lines, with or without a heading.
        let lines = printed(record).count();
        let counted = format!("{lines} {}", lines.saturating_sub(1));
        let facts = || record.facts.as_ref().map(Any::to_text).unwrap_or_default();
        if record.evidence.contains('…') || strike(&record.evidence) || strike(&counted) || strike(&facts())
        {
            return false;
        }
    }
    true
}

/// Returns whether a call wrote the work's own text, or read a file written that way.
fn is_of_own_making(record: &ToolRecord, case: &Case<'_>) -> bool {
    let is_write = |call: &ToolRecord| call.tool.tool() == WRITE_FILE;
    if is_write(record) {
        return true;
    }
    let path_of = |call: &ToolRecord| {
        let path = call.input.get("path").and_then(serde_json::Value::as_str);
        path.map(str::to_owned).filter(|_| is_write(call) && call.ok)
    };
    let patched = case.work().filter(|call| call.tool.tool() == APPLY_PATCH && call.ok).flat_map(made_by);
    let written: Vec<String> = case.work().filter_map(path_of).chain(patched).collect();
    match command_of(record).filter(|_| only_looks(record)) {
        Some(command) => written.iter().any(|path| words(command).any(|word| is_one_file(word, path))),
        None => record
            .input
            .get("path")
            .and_then(serde_json::Value::as_str)
            .is_some_and(|read| written.iter().any(|path| is_one_file(read, path))),
    }
}

/// Returns whether two paths may denote one file: one is the end of the other.
fn is_one_file(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").to_owned();
    plain(one) == plain(other) || ends_in(one, other) || ends_in(other, one)
}

/// Returns the figures of a short answer.
fn of_answer(output: &Any) -> BTreeSet<String> {
    let text = match &output.0 {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => number.to_string(),
        serde_json::Value::Object(fields) if fields.values().all(serde_json::Value::is_number) => {
            fields.values().map(serde_json::Value::to_string).collect::<Vec<_>>().join(" ")
        }
        _ => return BTreeSet::new(),
    };
    let figures = claims(&text);
    let is_short = text.split_whitespace().count() <= WORDS_MAX && figures.len() <= FIGURES_MAX;
    if is_short { figures } else { BTreeSet::new() }
}

/// Returns the numbers that are words of their own, also within a sum (`6+6`), in full-width digits, and as English
/// words.
fn claims(text: &str) -> BTreeSet<String> {
    let digit = |c: char| match u32::from(c).checked_sub(u32::from('０')) {
        Some(digit @ 0..=9) => char::from_digit(digit, 10).unwrap_or(c),
        _ => c,
    };
    let text: String = text.chars().map(digit).collect::<String>().to_lowercase();
    let is_between = |c: char| c.is_whitespace() || "+*=×".contains(c);
    let in_words = |word: &str| in_words(word.trim_matches(|c: char| !c.is_alphanumeric()));
    text.split(is_between).filter_map(|word| of_word(word).or_else(|| in_words(word))).collect()
}

/// The numbers from three in words; “one” and “two” are too common to count.
const FROM_THREE: WordList = word_list!(
    "three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
     eighteen nineteen twenty"
);

fn in_words(word: &str) -> Option<String> {
    let number = match word {
        "dozen" => 12,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "hundred" => 100,
        "thousand" => 1000,
        _ => FROM_THREE.iter().position(|one| one == word)? + 3,
    };
    Some(number.to_string())
}

fn of_word(word: &str) -> Option<String> {
    number(word.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Returns all numbers, including those within names.
fn numbers(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['.', ',']));
    let whole = words.clone().filter_map(number);
    // Covers both a list such as `1,2,3` and a version.
    let parts = words.flat_map(|word| word.split(['.', ','])).filter_map(number);
    whole.chain(parts).collect()
}

/// Normalises a number: no thousands separators and no zero fraction.
fn number(word: &str) -> Option<String> {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_plain = word.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',');
    if digits == 0 || !is_plain {
        return None;
    }
    let plain = word.replace(',', "");
    let short = if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.') } else { &plain };
    Some(short.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_says_a_number_with_an_escaped_point() {
        let says_less_with = |pattern: &str, seen: &str| {
            let probe = serde_json::json!({
                "on": {"probe": {"tool": "shell", "input": {"command": "jq -r .version package.json"}}},
                "expect": {"matches": pattern},
            });
            let check: Check = serde_json::from_value(probe).unwrap();
            says_less("the version in package.json is 2.0.0", &check, Some(seen))
        };
        assert!(!says_less_with(r"^2\.0\.0$", "2.0.0\n"));
        assert!(says_less_with(r"^\d\.\d\.\d$", "2.0.0\n"));
        assert!(says_less_with(r"^2\.1\.0$", "2.1.0\n"));
    }

    #[test]
    fn a_check_weaker_than_its_criterion_is_detected() {
        for (criterion, expect, seen, less) in [
            ("app.py prints 10", r#"{"matches": "10|5"}"#, Some("5"), true),
            ("app.py prints 10", r#"{"not": {"contains": "10"}}"#, Some("5"), true),
            ("app.py does not print 10", r#"{"not": {"contains": "10"}}"#, Some("5"), false),
            ("app.py prints 5", r#"{"matches": "10|5"}"#, Some("5"), false),
            ("app.py prints 10", r#"{"number_in_range": {"min": 5, "max": 10}}"#, Some("5"), true),
            ("app.py prints 10", r#"{"number_in_range": {"min": 10}}"#, Some("5"), true),
            ("app.py prints at least 4", r#"{"number_in_range": {"min": 4}}"#, Some("5"), false),
            ("app.py prints 5", r#"{"number_in_range": {"min": 5, "max": 5}}"#, Some("5"), false),
            ("app.py prints 10", r#"{"exit_code": 0}"#, None, true),
            ("app.py prints 10", r#"{"matches": "[0-9]"}"#, None, true),
            ("app.py prints 10", r#"{"number_in_range": {"min": 1, "max": 100}}"#, None, true),
            ("app.py prints 10", r#"{"any": [{"contains": "10"}, {"contains": "5"}]}"#, None, true),
            ("app.py prints 10", r#"{"all": [{"contains": "10"}, {"exit_code": 0}]}"#, None, false),
            ("app.py prints 10.", r#"{"matches": "^10$"}"#, None, false),
            ("the program prints 10", r#"{"test_run": {}}"#, None, false),
            ("a.txt has 1,234 lines", r#"{"pointer": {"at": "/n", "is": {"equals": 1234}}}"#, None, false),
            ("report-2026.txt is there", r#"{"exit_code": 0}"#, None, false),
            ("step 2 of the plan is done", r#"{"exit_code": 0}"#, None, false),
            ("app.py prints 7 lines", r#"{"exit_code": 0}"#, None, true),
            ("app.py prints 7", r#"{"exit_code": 0}"#, None, true),
            ("python3 runs", r#"{"exit_code": 0}"#, None, false),
        ] {
            let check = serde_json::from_value(serde_json::json!({
                "on": {"call": {"tool": "shell", "which": "python3 app.py"}},
                "expect": serde_json::from_str::<serde_json::Value>(expect).unwrap(),
            }))
            .unwrap();
            assert_eq!(says_less(criterion, &check, seen), less, "{criterion}: {expect}");
        }
    }

    #[test]
    fn figures_are_read_from_short_answers_only() {
        for (output, figures) in [
            (r#""17""#, vec!["17"]),
            (r#""There are 17 users in users.csv.""#, vec!["17"]),
            (r#"{"users": 17}"#, vec!["17"]),
            (r#"{"way": "amber", "mark": 1}"#, vec![]),
            ("17.50", vec!["17.5"]),
            (r#""done""#, vec![]),
            (r#""twelve""#, vec!["12"]),
            (r#""three to twenty, and thirty""#, vec!["20", "3", "30"]),
            (r#""６+6 lines""#, vec!["6"]),
            (r#""summary2.md was written""#, vec![]),
            (r#"[1, 2]"#, vec![]),
            (
                r#""I changed 3 lines in the first file and 4 in the second one, and then ran all 12 tests""#,
                vec![],
            ),
        ] {
            let output = Any(serde_json::from_str(output).unwrap());
            assert_eq!(of_answer(&output).into_iter().collect::<Vec<_>>(), figures, "{output:?}");
        }
    }
}
