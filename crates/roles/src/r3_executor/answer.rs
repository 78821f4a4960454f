//! Reads a reply without tool calls.

use std::sync::Arc;

use setpoint_extract::draft::{ExecuteDraft, StatusDraft, TurnDraft};
use setpoint_extract::{ExtractError, extract, without_thinking};
use setpoint_protocol::Any;
use setpoint_protocol::message::ExecutionStatus;
use setpoint_protocol::tool::{ToolCall, ToolSpec};

use super::work::Ending;

/// The meaning of a text.
#[derive(Debug)]
pub(super) enum Reading {
    /// A tool call written as text, by a model without a tool interface.
    Call(ToolCall),
    /// An answer.
    Ending(Ending),
    /// Empty.
    Nothing,
    /// The beginning of an answer that was cut at the length limit.
    Cut,
    /// The beginning of an answer or a call that cannot be parsed.
    Unreadable(ExtractError),
}

/// Reads the first JSON object that is an answer or a call and ignores what follows: a model that invents a call's
/// result and continues has not made the call. Other text is the output itself, without the thinking; half a call or
/// half an answer is not an output. `is_cut` says that the text ends at a limit.
pub(super) fn read(text: &str, is_cut: bool, catalogue: &[Arc<ToolSpec>]) -> Reading {
    match extract::<TurnDraft>(text) {
        Ok(TurnDraft::Answer(draft)) => return Reading::Ending(ending(draft)),
        Ok(TurnDraft::Call(call)) if catalogue.iter().any(|spec| spec.name == call.tool) => {
            return Reading::Call(call);
        }
        Err(
            error @ (ExtractError::Cut(_)
            | ExtractError::Broken { .. }
            | ExtractError::Deep
            | ExtractError::TooLong(_)
            | ExtractError::Tangled),
        ) => return Reading::Unreadable(error),
        Ok(TurnDraft::Call(_)) | Err(_) => {}
    }
    let visible = without_thinking(text);
    if visible.is_empty() {
        return if is_cut { Reading::Cut } else { Reading::Nothing };
    }
    if is_cut {
        return Reading::Cut;
    }
    Reading::Ending(Ending::completed(Any::from(visible.as_ref())))
}

fn ending(draft: ExecuteDraft) -> Ending {
    let unmet = draft.unmet;
    let status = match draft.status {
        StatusDraft::Completed => ExecutionStatus::Completed,
        StatusDraft::Uncertain => ExecutionStatus::Uncertain,
        StatusDraft::Failed => {
            let reason = draft.reason.unwrap_or_else(|| draft.output.to_text());
            let reason = reason.trim();
            let reason = if reason.is_empty() { "declared impossible, without a reason" } else { reason };
            return Ending { unmet, ..Ending::failed(reason) };
        }
    };
    Ending {
        status,
        uncertainty: draft.uncertainty.filter(|doubt| !doubt.trim().is_empty()),
        unmet,
        ..Ending::completed(draft.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn say(text: &str) -> String {
        let catalogue: Vec<Arc<ToolSpec>> = serde_json::from_value(json!([
            {"name": "read_file", "description": "", "input_schema": {}, "class": "read"}
        ]))
        .unwrap();
        match read(text, false, &catalogue) {
            Reading::Call(call) => format!("call {} {}", call.tool, call.input.to_text()),
            Reading::Ending(ending) => format!("{:?} {}", ending.status, ending.output.to_text()),
            Reading::Nothing => "nothing".to_owned(),
            Reading::Cut => "cut".to_owned(),
            Reading::Unreadable(error) => format!("failed to {error}"),
        }
    }

    #[test]
    fn the_first_object_counts_and_invented_results_are_ignored() {
        for (text, expected) in [
            (r#"{"status":"completed","output":{"n":3}}"#, r#"Completed {"n":3}"#),
            ("Three files.", "Completed Three files."),
            ("<think>hm</think>\nThree files.", "Completed Three files."),
            ("<think>hm</think>\n", "nothing"),
            (" \n", "nothing"),
            (r#"{"status":"failed","reason":"no network"}"#, "Failed no network"),
            (r#"{"status":"failed"}"#, "Failed declared impossible, without a reason"),
            (
                r#"{"tool":"read_file","input":{"path":"a"}} it says 3 {"status":"completed","output":3}"#,
                r#"call read_file {"path":"a"}"#,
            ),
            (r#"{"tool":"hammer","price":3}"#, r#"Completed {"tool":"hammer","price":3}"#),
            (r#"{"status":"done"}"#, r#"Completed {"status":"done"}"#),
            (r#"{"name":"read_file","arguments":{"path":"a"}}"#, r#"call read_file {"path":"a"}"#),
            (r#"{"name":"hammer","arguments":{}}"#, r#"Completed {"name":"hammer","arguments":{}}"#),
        ] {
            assert_eq!(say(text), expected, "{text}");
        }
    }

    #[test]
    fn thinking_is_not_output_and_its_calls_are_not_made() {
        for (text, expected) in [
            (r#"<think>{"tool":"read_file","input":{}}?</think> Three files."#, "Completed Three files."),
            (r#"<think>{"tool":"read_file","input":{}}</think>"#, "nothing"),
            ("Three.\n<think>or four", "Completed Three."),
            ("<think>a</think>Three.<think>b</think>Four.", "Completed Three.\nFour."),
            ("Use <think> and </think> as marks.", "Completed Use <think> and </think> as marks."),
        ] {
            assert_eq!(say(text), expected, "{text}");
        }
    }

    #[test]
    fn text_cut_at_a_limit_needs_a_whole_answer_to_count() {
        for (text, expected) in [
            ("Three fi", "Cut"),
            ("<think>so, what", "Cut"),
            (r#"{"status":"completed","output":3} And bes"#, "Ending(Ending { status: Completed"),
        ] {
            let found = format!("{:?}", read(text, true, &[]));
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }

    #[test]
    fn half_a_turn_is_not_an_output() {
        for (text, expected) in [
            (
                r#"{"tool":"read_file","input":{"path":"a"#,
                "failed to read the JSON object to its end: it is cut off in `input.…`; give it whole, in fewer \
                 words",
            ),
            (
                "```json\n{\"status\":\"completed\",\"output\":\"a 5\" disk\"}\n```",
                "failed to read the JSON object: write \\\" for a quotation mark inside a text; one is not escaped \
                 in `output`",
            ),
            (
                r#"I write it: {"tool":"read_file","input":{"path":"a"#,
                "failed to read the JSON object to its end: it is cut off in `input.…`; give it whole, in fewer \
                 words",
            ),
            (
                r#"It says {"status":"completed", oops} here"#,
                r#"Completed It says {"status":"completed", oops} here"#,
            ),
        ] {
            assert_eq!(say(text), expected, "{text}");
        }
    }
}
