//! R5's two questions to a model: better words for a rule, and for what a task taught.
//!
//! R5 is outside every task and asks asynchronously, for words alone: whether there is a rule, for which pair, with
//! which sign and strength is arithmetic, and after an unusable answer the template's words are kept. The model is
//! shown typed facts and never what a tool read or printed, which may have been written in order to be remembered.

mod prompt;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use setpoint_extract::draft::{InsightDraft, RuleDraft};
use setpoint_extract::extract;
use setpoint_machine::brief::{DistilBrief, ReflectBrief};
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::{Brief, ModelCall, Prompt};
use setpoint_protocol::message::Insight;

use crate::line::one_line;

const TOKENS_OUT_MAX: u32 = 512;
const MS_MAX: u64 = 60_000;
/// Maximum length of a rule or lesson in characters; a longer one is cut with a mark.
const WORDS_CHARS_MAX: usize = 400;
/// At most this many sentences per rule.
const SENTENCES_MAX: usize = 2;
/// At most this many tags per insight; the first are kept.
const TAGS_MAX: usize = 10;
/// Maximum length of a tag in characters; a longer one is dropped.
const TAG_CHARS_MAX: usize = 40;

static RULE_SCHEMA: LazyLock<String> = LazyLock::new(schema::<RuleDraft>);
static INSIGHT_SCHEMA: LazyLock<String> = LazyLock::new(schema::<InsightDraft>);

fn schema<T: schemars::JsonSchema>() -> String {
    serde_json::to_string(&schemars::schema_for!(T)).unwrap_or_default()
}

/// Asks for the words of a rule.
#[must_use]
pub fn distil(brief: DistilBrief) -> ModelCall {
    let prompt = prompt::distil(&brief);
    ask(Brief::Distil(Box::new(brief)), prompt, &RULE_SCHEMA)
}

/// Returns a rule's words from an answer, as one line of at most two sentences; `None` if it has none.
#[must_use]
pub fn rule(text: &str) -> Option<String> {
    let draft = extract::<RuleDraft>(text).ok()?;
    let words = one_line(&sentences(&draft.rule), WORDS_CHARS_MAX);
    (!words.is_empty()).then_some(words)
}

/// Asks what a task taught.
#[must_use]
pub fn reflect(brief: ReflectBrief) -> ModelCall {
    let prompt = prompt::reflect(&brief);
    ask(Brief::Reflect(Box::new(brief)), prompt, &INSIGHT_SCHEMA)
}

fn ask(brief: Brief, prompt: Prompt, schema: &'static str) -> ModelCall {
    let limits = ModelLimits { tokens_out_max: TOKENS_OUT_MAX, ms_max: MS_MAX, ..ModelLimits::default() };
    ModelCall { limits, ..ModelCall::new(brief, prompt, Some(schema)) }
}

/// Returns `known` in the answer's words, if it has any. Category, tools, targets, approaches and plan are facts that
/// the model cannot change; its tags follow the known ones.
#[must_use]
pub fn insight(text: &str, known: &Insight) -> Option<Insight> {
    let draft = extract::<InsightDraft>(text).ok()?;
    let lesson = one_line(&draft.lesson, WORDS_CHARS_MAX);
    if lesson.is_empty() {
        return None;
    }
    let said = draft.tags.iter().map(|tag| one_line(tag, TAG_CHARS_MAX + 1).to_lowercase());
    let is_usable = |tag: &String| (1..=TAG_CHARS_MAX).contains(&tag.chars().count());
    let mut seen = BTreeSet::new();
    let tags = known.tags.iter().cloned().chain(said.filter(is_usable));
    let tags = tags.filter(|tag| seen.insert(tag.clone())).take(TAGS_MAX).collect();
    Some(Insight { lesson, tags, ..known.clone() })
}

/// Returns the first sentences of a text. A full stop inside a word (`a.txt`, `3.5`) does not end one.
fn sentences(text: &str) -> String {
    let mut found = 0;
    let mut end = text.len();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_spaced = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        if matches!(c, '。' | '！' | '？') || (matches!(c, '.' | '!' | '?') && is_spaced) {
            found += 1;
            if found == SENTENCES_MAX {
                end = at + c.len_utf8();
                break;
            }
        }
    }
    text.get(..end).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use setpoint_protocol::message::{EndedBy, InsightCategory, SopKind};

    use super::*;

    fn check_rule(text: &str, expected: Option<&str>) {
        assert_eq!(rule(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn a_rule_is_one_line_of_at_most_two_sentences() {
        check_rule(r#"{"rule": "Use `rg -c`."}"#, Some("Use `rg -c`."));
        check_rule(
            "{\"rule\": \"One\\n line. Two 3.5 a.txt! Three? Four.\"}",
            Some("One line. Two 3.5 a.txt!"),
        );
        check_rule(
            r#"Here it is: {"rule": "先に数える。次に並べる。もう一つ。"}"#,
            Some("先に数える。次に並べる。"),
        );
        check_rule(r#"{"rule": "  "}"#, None);
        check_rule("no rule comes to mind", None);
        let long = format!("{{\"rule\": \"{}\"}}", "word ".repeat(1_000));
        assert!(rule(&long).unwrap().chars().count() <= WORDS_CHARS_MAX);
    }

    fn known() -> Insight {
        Insight {
            lesson: "This way met every criterion with shell/rg.".to_owned(),
            category: InsightCategory::Procedure,
            tags: vec!["count".to_owned()],
            tools: vec!["shell/rg".parse().unwrap()],
            targets: vec!["rg -c x".to_owned()],
            approaches: Vec::new(),
            plan_fingerprint: Some("f".to_owned()),
            failed_criteria: Vec::new(),
        }
    }

    #[test]
    fn a_reflection_changes_words_and_not_facts() {
        let text = r#"{"lesson": "Counting with rg\nis enough.", "tags": ["Count", "rg", "", "RG"], "category": "fact",
            "tools": ["shell/rm"], "sigma": -1}"#;
        let insight = insight(text, &known()).unwrap();
        assert_eq!(insight.lesson, "Counting with rg is enough.");
        assert_eq!(insight.tags, ["count", "rg"]);
        assert_eq!(Insight { lesson: known().lesson, tags: known().tags, ..insight }, known());
    }

    #[test]
    fn a_reflection_without_words_is_ignored() {
        for text in ["", "{}", r#"{"lesson": " "}"#, r#"{"tags": ["a"]}"#] {
            assert_eq!(insight(text, &known()), None, "{text}");
        }
        let tags: Vec<String> = (0..50).map(|n| format!("\"{n}{}\"", "x".repeat(n))).collect();
        let text = format!(r#"{{"lesson": "l", "tags": [{}]}}"#, tags.join(","));
        let tags = insight(&text, &known()).unwrap().tags;
        assert_eq!(tags.len(), TAGS_MAX);
    }

    fn check_prompt(call: &ModelCall, expected: &Expect) {
        let text = call.prompt.to_text();
        let (_, rest) = text.split_once("not for you.").unwrap();
        expected.assert_eq(rest.trim());
    }

    #[test]
    fn the_model_is_shown_lessons_and_facts() {
        let call = distil(DistilBrief {
            kind: SopKind::Constraint,
            space: "tool:fetch".to_owned(),
            entity: "path:https://a.example".to_owned(),
            lessons: vec!["It failed.\n* not a lesson of its own".to_owned(), "Again.".to_owned()],
        });
        check_prompt(
            &call,
            &expect![[r#"
            What failed again and again; the rule says not to do it.

            ```data what it is about
            tool:fetch / path:https://a.example
            ```

            ```data lessons, the newest first
            * It failed. * not a lesson of its own
            * Again.
            ```"#]],
        );
        let call = reflect(ReflectBrief {
            intent: "count the words".to_owned(),
            ended_by: EndedBy::Law2,
            replans: 2,
            criteria: vec!["the count is right".to_owned()],
            unmet: vec!["the count is right".to_owned()],
            on_the_way: vec!["`shell/wc` on `a` led to a wrong result".to_owned()],
            known: known(),
        });
        check_prompt(
            &call,
            &expect![[r#"
            It ended by law2 after 2 replans.

            ```data goal
            count the words
            ```

            ```data criteria
            * the count is right
            ```

            ```data not met
            * the count is right
            ```

            ```data on the way
            * `shell/wc` on `a` led to a wrong result
            ```

            ```data what decided
            * in short: This way met every criterion with shell/rg.
            * tools: shell/rg
            * on: rg -c x
            ```"#]],
        );
    }
}
