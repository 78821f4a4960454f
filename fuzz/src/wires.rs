//! Answers of each wire: decoding does not depend on how the bytes were cut, and a cut answer is never accepted as a
//! whole one.

use std::sync::Arc;

use serde_json::{Value, json};
use setpoint_model::Progress;
use setpoint_model::wire::{DecodedAnswer, Decoder, Dialect, Events, Framing, Request, WireError};
use setpoint_protocol::tool::ToolSpec;

use crate::pieces::pieces;

/// The first byte says whether the answer is streamed, the second how it is cut; the rest is the answer.
pub(crate) fn run(dialect: Dialect, input: &[u8]) {
    let [form, seed, bytes @ ..] = input else { return };
    let is_streamed = form % 2 == 1;
    let whole = decode(dialect, is_streamed, &[bytes]);
    let packets = pieces(bytes, *seed);
    assert_eq!(decode(dialect, is_streamed, &packets), whole, "the answer depends on how it was cut");
    if let Err(error) = &whole {
        assert!(error.to_string().chars().count() < 1_000, "an endless error");
    }
    let end = bytes.len().saturating_mul(usize::from(*seed)) / 256;
    let head = bytes.split_at_checked(end).unwrap_or((bytes, &[])).0;
    for head in [bytes, head] {
        if decode(dialect, is_streamed, &[head]).is_ok() {
            assert!(has_ended(dialect, head), "a cut answer was taken for a whole one");
        }
    }
}

/// Decodes an answer that arrives in these packets.
pub(crate) fn decode(
    dialect: Dialect,
    is_streamed: bool,
    packets: &[&[u8]],
) -> Result<DecodedAnswer, WireError> {
    let (tools, progress) = (tools(), Progress::none());
    let mut decoder = Decoder::new(dialect, &request(&tools, is_streamed), &progress);
    for packet in packets {
        decoder.push(packet)?;
    }
    decoder.finish()
}

/// Returns the tools that may be called. Two names differ only in case.
pub(crate) fn tools() -> Vec<Arc<ToolSpec>> {
    let spec = |name: &str| {
        let spec = json!({ "name": name, "description": "", "class": "read", "input_schema": {} });
        serde_json::from_value(spec).ok().map(Arc::new)
    };
    ["list_dir", "read_file", "shell", "Shell"].into_iter().filter_map(spec).collect()
}

fn request(tools: &[Arc<ToolSpec>], is_streamed: bool) -> Request<'_> {
    Request { model: "m", tools, tokens_out_max: 1_000, is_streamed, ..Request::default() }
}

/// Whether the server reported the end in a whole piece, determined independently of the decoder. Servers also answer
/// unstreamed to a streamed request, and the other way round; blanks before an answer do not count.
fn has_ended(dialect: Dialect, bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii_start();
    serde_json::from_slice::<Value>(bytes).is_ok() || has_ended_streamed(dialect, bytes)
}

fn has_ended_streamed(dialect: Dialect, bytes: &[u8]) -> bool {
    if dialect.framing(true) == Framing::Lines {
        return bytes.split(|byte| matches!(byte, b'\n' | b'\r')).any(|line| ends(dialect, line));
    }
    let mut has_ended = false;
    // An error does not revoke earlier events.
    let _read = Events::default().push(bytes, |_, data| {
        has_ended |= ends(dialect, data.as_bytes());
        Ok(())
    });
    has_ended
}

fn ends(dialect: Dialect, data: &[u8]) -> bool {
    let data = std::str::from_utf8(data).unwrap_or_default().trim_start_matches('\u{feff}').trim();
    if data == "[DONE]" {
        return dialect == Dialect::Chat;
    }
    let Ok(value) = serde_json::from_str::<Value>(data) else { return false };
    let words = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match dialect {
        Dialect::Chat => {
            let choices = value.get("choices").and_then(Value::as_array);
            let reason = |choice: &Value| choice.get("finish_reason").is_some_and(Value::is_string);
            choices.is_some_and(|choices| choices.iter().any(reason))
        }
        Dialect::Responses => matches!(words("/type"), "response.completed" | "response.incomplete"),
        Dialect::Anthropic => {
            words("/type") == "message_stop"
                || (words("/type") == "message_delta" && value.pointer("/delta/stop_reason").is_some())
        }
        Dialect::Gemini => !words("/candidates/0/finishReason").is_empty(),
        Dialect::Ollama => value.get("done") == Some(&Value::Bool(true)),
    }
}
