//! What a reply without tool calls says.

use std::sync::Arc;

use serde::Deserialize;
use setpoint_machine::draft::{ExecuteDraft, StatusDraft};
use setpoint_machine::extract::extract;
use setpoint_protocol::Any;
use setpoint_protocol::message::ExecutionStatus;
use setpoint_protocol::tool::{ToolCall, ToolSpec};

use super::work::Ending;

/// What a text says.
#[derive(Debug)]
pub(super) enum Said {
    /// It asks for a tool, for want of a tool interface.
    Call(ToolCall),
    /// It is an answer.
    Ending(Ending),
    /// Nothing.
    Nothing,
}

/// The first JSON object that is an answer or a call counts, and what comes after it does not: a model that
/// invents a call's result and goes on from there has not made the call. Other text is the output as it stands.
pub(super) fn read(text: &str, catalogue: &[Arc<ToolSpec>]) -> Said {
    match extract::<Spoken>(text) {
        Ok(Spoken::Answer(draft)) => return Said::Ending(ending(draft)),
        Ok(Spoken::Call(call)) if catalogue.iter().any(|spec| spec.name == call.tool) => {
            return Said::Call(call);
        }
        Ok(Spoken::Call(_)) | Err(_) => {}
    }
    let visible = text.rsplit_once("</think>").map_or(text, |(_, visible)| visible).trim();
    if visible.is_empty() {
        return Said::Nothing;
    }
    Said::Ending(Ending { status: ExecutionStatus::Completed, output: Any::from(visible), uncertainty: None })
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Spoken {
    Answer(ExecuteDraft),
    Call(ToolCall),
}

fn ending(draft: ExecuteDraft) -> Ending {
    let status = match draft.status {
        StatusDraft::Completed => ExecutionStatus::Completed,
        StatusDraft::Uncertain => ExecutionStatus::Uncertain,
        StatusDraft::Failed => {
            let reason = draft.reason.unwrap_or_else(|| draft.output.to_text());
            let reason = reason.trim();
            return Ending::failed(if reason.is_empty() {
                "declared impossible, without a reason"
            } else {
                reason
            });
        }
    };
    Ending {
        status,
        output: draft.output,
        uncertainty: draft.uncertainty.filter(|doubt| !doubt.trim().is_empty()),
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
        match read(text, &catalogue) {
            Said::Call(call) => format!("call {} {}", call.tool, call.input.to_text()),
            Said::Ending(ending) => format!("{:?} {}", ending.status, ending.output.to_text()),
            Said::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn the_first_object_counts_and_invented_results_do_not() {
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
        ] {
            assert_eq!(say(text), expected, "{text}");
        }
    }
}
