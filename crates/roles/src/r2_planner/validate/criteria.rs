//! Whether a criterion can fail at all.
//!
//! One with a check can: code evaluates it, whatever its sentence says. One without a check is refused if it only
//! restates the intent and adds nothing that could be false ([`beyond`]), if it is a question, or if it only says
//! that the work went well.

use std::collections::BTreeSet;

use serde_json::Value;
use setpoint_extract::draft::CriterionDraft;
use setpoint_protocol::limits::{CRITERIA_MAX, CRITERION_CHARS_MAX};
use setpoint_protocol::message::Mode;
use setpoint_protocol::predicate::CheckOn;

use super::refusal::{Reasons, criterion_place};
use super::{Rules, ValidCriterion, beyond, checks, origin};
use crate::fingerprint::Words;
use crate::judging::WEIGHED_SINCE;
use crate::line::one_line;
use crate::words::{WordList, word_list};

/// Maximum length of an assumption in characters; a longer one is cut with a mark.
const ASSUMES_CHARS_MAX: usize = 300;
/// Minimum length of a word that counts as found if another one begins with it (`list` in `listed`).
const STEM_CHARS_MIN: usize = 4;

/// Words without content of their own.
const FUNCTION_WORDS: WordList = word_list!(
    "a an and are as at be been being by for from has have in into is it its of on or should so that the \
     their then there these this those to was were will with"
);

/// Words of praise that name nothing observable.
const EMPTY_PRAISE: WordList = word_list!(
    "accomplished achieved all any command commands complete completed completely completes completion \
     correct correctly did do does done error errors everything executed executes execution expected failed \
     failure failures fine finished finishes fulfilled goal good intended job met no not occur occurred ok \
     okay operation performed process properly ran request requested result results run runs satisfied step \
     steps sub subtask succeed succeeded succeeds success successful successfully task tasks user well \
     without work worked works"
);

/// Phrases of the same kind, anywhere in a text, separated by `; `.
const EMPTY_PHRASES: &str = "\
    completed successfully; successfully completed; completes successfully; complete successfully; \
    finished successfully; successfully finished; executed successfully; successfully executed; \
    erfolgreich abgeschlossen; terminé avec succès; completado con éxito; 成 功 完 成; 顺 利 完 成";

/// Reason of a criterion that adds nothing. Beside one with a check it does no harm: a judge is asked about it, too.
const ONLY_THE_INTENT: &str =
    "only says the intent again; name what must be seen in the result, or give a check";

/// Words that open a question without a question mark.
const QUESTION_WORDS: &[&str] =
    &["what", "which", "who", "whom", "whose", "why", "how", "什么", "谁", "为什么", "怎么", "多少"];

/// Verbs of which each clause has one.
const FINITE: WordList = word_list!("are can did do does had has have is must stays was were will");

/// Reads the criteria at `place`, which must not merely restate `intent`. Duplicates of existing ones are left out.
pub(super) fn criteria(
    drafts: &[CriterionDraft],
    place: &str,
    intent: &str,
    rules: &Rules<'_>,
    reasons: &mut Reasons,
) -> Vec<ValidCriterion> {
    if drafts.len() > CRITERIA_MAX {
        reasons.add(place, format!("has {} criteria; at most {CRITERIA_MAX} are allowed", drafts.len()));
        return Vec::new();
    }
    let mut valid: Vec<ValidCriterion> = Vec::new();
    for (i, draft) in drafts.iter().enumerate() {
        match criterion(draft, intent, has_check(drafts, i), rules) {
            Ok(new) if valid.iter().any(|old| same_text(&old.text, &new.text) && old.check == new.check) => {}
            Ok(new) => valid.push(new),
            Err(reason) => reasons.add(&criterion_place(place, i), reason),
        }
    }
    valid
}

/// Returns whether two one-line criteria are equal except for case and the final stop.
pub(super) fn same_text(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().trim_end_matches(['.', '!', '。', ' ']).to_owned();
    plain(a) == plain(b)
}

/// Returns whether another criterion than this one has a check that looks at more than the form of the answer.
fn has_check(drafts: &[CriterionDraft], this: usize) -> bool {
    let is_checked = |draft: &CriterionDraft| match draft {
        CriterionDraft::Structured { check: Some(check), .. } => {
            check.get("on").is_some_and(Value::is_object)
        }
        CriterionDraft::Structured { check: None, .. } | CriterionDraft::Plain(_) => false,
    };
    drafts.iter().enumerate().any(|(i, draft)| i != this && is_checked(draft))
}

/// Reads one criterion; `is_beside_a_check` says whether another of the same place has a check.
fn criterion(
    draft: &CriterionDraft,
    intent: &str,
    is_beside_a_check: bool,
    rules: &Rules<'_>,
) -> Result<ValidCriterion, String> {
    let (text, mode, check, asked, assumes) = match draft {
        CriterionDraft::Plain(text) => (text, Mode::Verifiable, None, None, None),
        CriterionDraft::Structured { criterion, mode, check, asked, assumes } => {
            (criterion, *mode, check.as_ref(), asked.as_deref(), assumes.as_deref())
        }
    };
    if text.chars().count() > CRITERION_CHARS_MAX {
        return Err(format!("is longer than {CRITERION_CHARS_MAX} characters"));
    }
    let text = one_line(text, CRITERION_CHARS_MAX);
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    let check = check.map(|check| checks::check(check, rules)).transpose()?;
    if let Some(reason) = check.as_ref().and_then(|check| checks::weaker_than(&text, check)) {
        return Err(reason);
    }
    if check.is_none()
        && let Some(reason) = emptiness(&text, intent)
        && !(reason == ONLY_THE_INTENT && is_beside_a_check && rules.logic_version >= WEIGHED_SINCE)
    {
        return Err(reason.to_owned());
    }
    let command = check.as_ref().and_then(|check| match &check.on {
        CheckOn::Call { which, .. } => which.as_deref(),
        CheckOn::Probe(_) | CheckOn::Output => None,
    });
    let origin = origin::of(&text, [asked, command], &rules.task.spec.raw_input);
    let assumes = assumes.map(|assumes| one_line(assumes, ASSUMES_CHARS_MAX)).filter(|text| !text.is_empty());
    Ok(ValidCriterion { text, mode, check, origin, assumes })
}

/// Returns why a criterion without a check could never fail; `None` if it could.
fn emptiness(text: &str, intent: &str) -> Option<&'static str> {
    let words = Words::of(text);
    let words: Vec<&str> = words.iter().collect();
    let is_question = text.ends_with(['?', '？', '؟', '吗', '呢'])
        || text.starts_with('¿')
        || words.first().is_some_and(|first| QUESTION_WORDS.contains(first) && !says_something_of_it(&words))
        || QUESTION_WORDS.iter().any(|word| !word.is_ascii() && text.starts_with(word));
    if is_question {
        return Some("is a question; assert what must be seen");
    }
    let says_phrase = EMPTY_PHRASES.split("; ").any(|phrase| says(&words, phrase));
    let content = content(&words);
    if says_phrase || content.iter().all(|word| EMPTY_PRAISE.has(word)) {
        return Some("only says that the work went well; name what would show it, or give a check");
    }
    let said = Words::of(intent);
    let said: Vec<&str> = said.iter().collect();
    (restates(&content, &said) && !beyond::adds(text, intent)).then_some(ONLY_THE_INTENT)
}

/// Returns whether a text that opens with a question word is a statement, which a second verb shows: `what was there
/// before is unchanged`.
fn says_something_of_it(words: &[&str]) -> bool {
    words.iter().filter(|word| FINITE.has(word)).count() > 1
}

/// Returns whether at least four in five of the criterion's distinct content words are in the intent. Content words
/// are all but [`FUNCTION_WORDS`]; a word also counts as in the intent if one of the two begins with the other and
/// that one has at least [`STEM_CHARS_MIN`] characters.
fn restates(content: &BTreeSet<&str>, intent: &[&str]) -> bool {
    let stands = |word: &&&str| intent.iter().any(|other| is_same_stem(word, other));
    let shared = content.iter().filter(stands).count();
    !content.is_empty() && shared * 5 >= content.len() * 4
}

fn is_same_stem(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    long.starts_with(short) && (long.len() == short.len() || short.chars().count() >= STEM_CHARS_MIN)
}

/// Returns whether `words` contains the phrase as consecutive words.
fn says(words: &[&str], phrase: &str) -> bool {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words.windows(phrase.len()).any(|window| window == phrase)
}

fn content<'w>(words: &[&'w str]) -> BTreeSet<&'w str> {
    words.iter().copied().filter(|word| !FUNCTION_WORDS.has(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> &'static str {
        match emptiness(text, "Count the Go files under src") {
            None => "fine",
            Some(reason) => reason.split([';', ',']).next().unwrap(),
        }
    }

    #[test]
    fn a_restated_intent_is_not_a_criterion() {
        for text in [
            "The Go files under src are counted",
            "Count of the Go files in src",
            "count go files under SRC!",
        ] {
            assert_eq!(verdict(text), "only says the intent again", "{text}");
        }
        for text in [
            "The output is one whole number",
            "The number of Go files is at least 1 and was printed by a tool",
            "Go files in vendor are left out",
            "The count of all Go files under src",
            "The count of the Go files under src/main",
            "the 12 Go files under src are counted",
        ] {
            assert_eq!(verdict(text), "fine", "{text}");
        }
    }

    #[test]
    fn four_in_five_words_restate_and_three_in_four_do_not() {
        let says = |text| emptiness(text, "alpha beta gamma delta").is_some();
        assert!(says("alpha beta gamma delta epsilon"));
        assert!(!says("alpha beta gamma epsilon"));
        assert!(!says("alpha beta gamma delta epsilon zeta"));
    }

    #[test]
    fn questions_are_not_criteria() {
        for text in
            ["what day is it today", "Is the file there?", "文件存在吗", "¿Está el archivo", "How many lines"]
        {
            assert_eq!(verdict(text), "is a question", "{text}");
        }
        for text in
            ["Does not contain the word draft", "what was there before is unchanged, and so is README.md"]
        {
            assert_eq!(verdict(text), "fine", "{text}");
        }
    }

    #[test]
    fn signs_count_where_criteria_are_compared() {
        assert!(same_text("The sum is even.", "the SUM is even"));
        assert!(!same_text("the sum is < 3", "the sum is > 3"));
    }

    #[test]
    fn praise_is_not_a_criterion() {
        for text in [
            "The task completed successfully",
            "The download of x.zip was completed successfully.",
            "Everything works as expected",
            "It is done",
            "The command runs without errors",
            "成功完成",
            "The",
            "…",
        ] {
            assert_eq!(verdict(text), "only says that the work went well", "{text}");
        }
        for text in ["The test run reports 0 failures", "No line of the log contains the word panic"] {
            assert_eq!(verdict(text), "fine", "{text}");
        }
    }
}
