//! What is asked of a model that is tried out, and what a good answer is.

use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_extract::without_thinking;
use setpoint_machine::conversation::Message;
use setpoint_machine::tokens;
use setpoint_protocol::record::{Part, Reply};
use setpoint_protocol::tool::{CapabilityClass, ToolCall, ToolSpec};

/// The tool that the model is to call.
pub(super) const TOOL: &str = "report_number";
/// The number that the model is to report.
pub(super) const NUMBER: i64 = 7;
/// The text at the beginning of the long question.
pub(super) const CODE_WORD: (&str, &str) = ("quintel", "4187");
/// The schema of the requested answer.
pub(super) const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "colour": { "type": "string", "description": "The colour." },
        "letters": { "type": "integer", "description": "How many letters its word has." }
    },
    "required": ["colour", "letters"],
    "additionalProperties": false
}"#;
pub(super) const SYSTEM: &str =
    "You are being tested. Do exactly what you are asked to, in the shortest form.";

pub(super) fn tool() -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        name: TOOL.to_owned(),
        description: "Takes the number that was asked for.".to_owned(),
        gives: String::new(),
        input_schema: json!({
            "type": "object",
            "properties": { "number": { "type": "integer", "description": "The number." } },
            "required": ["number"],
            "additionalProperties": false,
        })
        .into(),
        class: CapabilityClass::Read,
        volatile: false,
        core: false,
    })
}

pub(super) fn question(text: &str) -> [Message<'_>; 1] {
    [Message::User(text.into())]
}

pub(super) fn fits(call: &ToolCall) -> bool {
    let number = call.input.get("number").and_then(Value::as_i64);
    let is_alone = call.input.as_object().is_some_and(|fields| fields.len() == 1);
    call.tool == TOOL && number == Some(NUMBER) && is_alone
}

/// Returns whether a text is one JSON object with both fields, with or without a code fence.
pub(super) fn is_colour(text: &str) -> bool {
    let text = without_thinking(text);
    let (Some(start), Some(end)) = (text.find('{'), text.rfind('}')) else { return false };
    let object = text.get(start..=end).and_then(|object| serde_json::from_str::<Value>(object).ok());
    object.is_some_and(|object| {
        let colour = object.get("colour").and_then(Value::as_str);
        colour.is_some_and(|colour| !colour.is_empty()) && object.get("letters").is_some_and(Value::is_i64)
    })
}

/// Returns the text of a reply without thinking.
pub(super) fn text_of(reply: &Reply) -> String {
    let texts = reply.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::ToolCall(_) | Part::Opaque(_) => None,
    });
    let text: String = texts.collect();
    without_thinking(&text).into_owned()
}

/// Returns a question of about `target` tokens: a code word, many meaningless lines, and a question for the code word.
pub(super) fn long_question(target: u64) -> String {
    const WHO: [&str; 7] = ["ferry", "baker", "clock", "river", "lantern", "teacher", "train"];
    const DID: [&str; 5] = ["crossed", "left", "reached", "passed", "saw"];
    const WHAT: [&str; 11] = [
        "harbour", "market", "bridge", "garden", "tower", "library", "square", "station", "orchard", "mill",
        "shore",
    ];
    let end = "What is the code word that was stated at the very beginning? Answer with the code word and nothing else.";
    let mut question = format!(
        "The code word is {}-{}. Remember it. What follows does not matter.\n",
        CODE_WORD.0.to_uppercase(),
        CODE_WORD.1
    );
    let mut line = 0;
    loop {
        // Lines together count slightly fewer tokens than one by one, so some room is left each time.
        let mut left = target.saturating_sub(tokens::estimate(&question) + tokens::estimate(end));
        let before = line;
        loop {
            let of =
                |words: &[&'static str], n: usize| words.get(n % words.len()).copied().unwrap_or_default();
            let (who, did, what) = (of(&WHO, line), of(&DID, line / 2), of(&WHAT, line / 3));
            let next = format!("Line {}: the {who} {did} the {what}.\n", line + 1);
            let count = tokens::estimate(&next);
            if count > left {
                break;
            }
            left -= count;
            line += 1;
            question.push_str(&next);
        }
        if line == before {
            break;
        }
    }
    question + end
}

#[cfg(test)]
mod tests {
    use super::super::CONTEXT_TOKENS_MAX;
    use super::*;

    #[test]
    fn the_long_question_has_the_target_length() {
        for target in [0, 200, 6_553, CONTEXT_TOKENS_MAX] {
            let question = long_question(target);
            let count = tokens::estimate(&question);
            assert!(count <= target.max(120) && count + 60 > target, "{target}: {count}");
            assert!(question.starts_with("The code word is QUINTEL-4187."));
        }
    }

    #[test]
    fn only_a_matching_call_counts() {
        let call = |tool: &str, input: Value| ToolCall { tool: tool.to_owned(), input: input.into() };
        assert!(fits(&call(TOOL, json!({ "number": 7 }))));
        for input in [json!({ "number": "7" }), json!({ "number": 7.5 }), json!({}), json!([7]), json!(7)] {
            assert!(!fits(&call(TOOL, input.clone())), "{input}");
        }
        assert!(!fits(&call(TOOL, json!({ "number": 7, "more": 1 }))));
        assert!(!fits(&call("functions.report_number", json!({ "number": 7 }))));
    }

    #[test]
    fn json_counts_in_a_fence_and_needs_both_fields() {
        for (text, expected) in [
            (r#"{"colour": "red", "letters": 3}"#, true),
            ("<think>{}</think>Sure:\n```json\n{\"colour\": \"red\", \"letters\": 3}\n```", true),
            (r#"{"colour": "red", "letters": "3"}"#, false),
            (r#"{"colour": "", "letters": 3}"#, false),
            (r#"{"colour": "red", "letters": 3"#, false),
            ("}{", false),
            ("red, 3", false),
        ] {
            assert_eq!(is_colour(text), expected, "{text}");
        }
    }
}
