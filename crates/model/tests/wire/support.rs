//! A question, and answers as text.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;
use setpoint_machine::conversation::Message;
use setpoint_model::Progress;
use setpoint_model::wire::{DecodedAnswer, Decoder, Dialect, Request, WireError};
use setpoint_protocol::record::Part;
use setpoint_protocol::tool::ToolSpec;

/// Two tools.
pub(crate) fn tools() -> Vec<Arc<ToolSpec>> {
    ["list_dir", "read_file"]
        .map(|name| {
            let spec = json!({
                "name": name, "description": format!("Does {name}."), "class": "read",
                "input_schema": { "type": "object", "properties": { "path": { "type": "string" } } },
            });
            Arc::new(serde_json::from_value(spec).unwrap())
        })
        .into()
}

/// A question with nothing that need not be.
pub(crate) fn request(tools: &[Arc<ToolSpec>], is_streamed: bool) -> Request<'_> {
    Request {
        model: "some-model",
        system: "You list files.",
        messages: const { &[Message::User(Cow::Borrowed("Which are there?"))] },
        tools,
        tokens_out_max: 1_000,
        is_streamed,
        ..Request::default()
    }
}

/// Tokens for which an answer may be as long as any.
const MANY_TOKENS: u32 = 200_000;

/// Reads an answer of any length that comes in these packets.
pub(crate) fn decode<'b>(
    dialect: Dialect,
    is_streamed: bool,
    packets: impl IntoIterator<Item = &'b [u8]>,
) -> Result<DecodedAnswer, WireError> {
    decode_of(MANY_TOKENS, dialect, is_streamed, packets)
}

/// Reads the answer to a request for this many tokens.
pub(crate) fn decode_of<'b>(
    tokens_out_max: u32,
    dialect: Dialect,
    is_streamed: bool,
    packets: impl IntoIterator<Item = &'b [u8]>,
) -> Result<DecodedAnswer, WireError> {
    let (tools, progress) = (tools(), Progress::none());
    let request = Request { tokens_out_max, ..request(&tools, is_streamed) };
    let mut decoder = Decoder::new(dialect, &request, &progress);
    for packet in packets {
        decoder.push(packet)?;
    }
    decoder.finish()
}

/// What came out, in lines.
pub(crate) fn shown(decoded: &Result<DecodedAnswer, WireError>) -> String {
    let decoded = match decoded {
        Ok(decoded) => decoded,
        Err(error) => return format!("failed to {error}\n"),
    };
    let mut text = String::new();
    for part in &decoded.reply.parts {
        text.push_str(&match part {
            Part::Text(words) => format!("text {words:?}\n"),
            Part::ToolCall(call) => {
                format!("call {} {}\n", call.tool, serde_json::to_string(&call.input).unwrap())
            }
            Part::Opaque(opaque) => format!("kept {}\n", opaque.body),
        });
    }
    let usage = decoded.reply.usage;
    if decoded.is_counted {
        let (tokens_in, cached, out) = (usage.tokens_in, usage.tokens_cached, usage.tokens_out);
        text.push_str(&format!("{tokens_in} tokens in, {cached} of them cached, {out} out\n"));
    }
    if decoded.reply.is_cut {
        text.push_str("cut at its bound\n");
    }
    text
}
