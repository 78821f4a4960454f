//! A conversation in every dialect's words, and items of the provider's own on their way back to it.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect_file;
use serde_json::{Value, json};
use setpoint_machine::Prompt;
use setpoint_machine::conversation::{MessageForm, Turn};
use setpoint_model::Progress;
use setpoint_model::wire::{Decoder, Dialect, Effort, Request};
use setpoint_protocol::record::{Opaque, Part, ToolRequest};
use setpoint_protocol::tool::{ToolCall, ToolSpec};

use crate::support::{request, tools};

/// A conversation with everything in it: text beside calls, calls without an id and with the id of another one, a failed
/// call, a call that never ran, something said by the runtime, a call in a text, and an answer.
fn turns(own: &str) -> Vec<Turn> {
    let call = |tool: &str, id: Option<&str>| {
        let input = json!({ "path": "ä.txt" }).into();
        Part::ToolCall(ToolRequest { tool: tool.to_owned(), input, id: id.map(str::to_owned) })
    };
    let kept = |by: &str, body: &str| Part::Opaque(Opaque { by: by.to_owned(), body: body.to_owned() });
    vec![
        Turn::of_reply(vec![
            kept(own, r#"{"type":"thinking","thinking":"hm","signature":"s/1"}"#),
            kept("other/model", r#"{"type":"thinking","thinking":"no","signature":"x"}"#),
            kept(own, "no JSON any more"),
            Part::Text("Two at once.".to_owned()),
            call("list_dir", Some("toolu:1")),
            call("read_file", Some("toolu:1")),
        ]),
        Turn::result(true, "[r3.1/1] ok".to_owned(), "ä.txt"),
        Turn::result(false, "[r3.1/2] failed: not_found".to_owned(), ""),
        Turn::of_reply(vec![call("read_file", None), call("list_dir", None)]),
        Turn::result(true, "[r3.1/3] ok".to_owned(), "one\ntwo"),
        Turn::of_notice("Attempt 2. Mend it.".to_owned()),
        Turn::of_reply(vec![Part::Text(r#"{"tool":"list_dir","input":{}}"#.to_owned())]),
        Turn::result(true, "[r3.1/4] ok".to_owned(), "```"),
        Turn::of_reply(vec![Part::Text("Done.".to_owned()), Part::Text("  ".to_owned())]),
        Turn::of_notice("Go on.".to_owned()),
    ]
}

#[test]
fn a_conversation_in_every_dialect() {
    let tools = tools();
    let mut all = String::new();
    for dialect in Dialect::ALL {
        let by = format!("{}/some-model", dialect.name());
        for has_tools in [true, false] {
            let prompt = Prompt::default().task("work", "Look.", 100).conversation(&turns(&by), 10_000);
            let messages = prompt.messages(MessageForm { has_tools, to: &by });
            let request = Request {
                messages: &messages,
                goes_on: true,
                effort: Some(Effort::Low),
                tokens_thinking_max: 2_048,
                ..request(if has_tools { &tools } else { &[] }, false)
            };
            let body: Value = serde_json::from_slice(&dialect.body(&request).unwrap()).unwrap();
            let mut body = body.as_object().unwrap().clone();
            body.remove("tools");
            let body = serde_json::to_string_pretty(&body).unwrap();
            let with = if has_tools { "with tools" } else { "as text" };
            writeln!(all, "# {} {with}\n{body}\n", dialect.name()).unwrap();
        }
    }
    expect_file!["conversations.expected"].assert_eq(&all);
}

/// What a provider gives beside its answer comes back to it byte for byte, in its place.
#[test]
fn items_of_the_providers_own_come_back_as_they_came() {
    let signature = r#"Eo8B/+=="ü\u0001"#;
    let text = serde_json::to_string(signature).unwrap();
    for (dialect, answer, expected) in [
        (
            Dialect::Anthropic,
            format!(
                r#"{{"content":[{{"type":"thinking","thinking":"a b","signature":{text}}},{{"type":"redacted_thinking","data":{text}}},
                {{"type":"tool_use","id":"t1","name":"list_dir","input":{{}}}}],"stop_reason":"tool_use","usage":{{}}}}"#
            ),
            json!([
                {"type": "thinking", "thinking": "a b", "signature": signature},
                {"type": "redacted_thinking", "data": signature},
                {"type": "tool_use", "id": "t1", "name": "list_dir", "input": {}},
            ]),
        ),
        (
            Dialect::Responses,
            format!(
                r#"{{"status":"completed","output":[{{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":{text}}},
                {{"type":"reasoning","summary":[]}},
                {{"type":"function_call","call_id":"c1","name":"list_dir","arguments":"{{}}"}}]}}"#
            ),
            json!([
                {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": signature},
                {"type": "function_call", "call_id": "c1", "name": "list_dir", "arguments": "{}"},
            ]),
        ),
        (
            Dialect::Gemini,
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":"hm","thought":true}},
                {{"functionCall":{{"name":"list_dir","args":{{}}}},"thoughtSignature":{text}}},
                {{"functionCall":{{"name":"read_file","args":{{}}}}}},{{"text":"","thoughtSignature":"end"}}]}},"finishReason":"STOP"}}]}}"#
            ),
            json!([
                {"functionCall": {"name": "list_dir", "args": {}}, "thoughtSignature": signature},
                {"functionCall": {"name": "read_file", "args": {}}},
                {"text": "", "thoughtSignature": "end"},
            ]),
        ),
        (
            Dialect::Chat,
            format!(
                r#"{{"choices":[{{"message":{{"reasoning_content":{text},"content":"I look.","tool_calls":[{{"id":"c1","extra_content":{{"google":{{"thought_signature":{text}}}}},
                "function":{{"name":"list_dir","arguments":"{{}}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
            ),
            json!({
                "role": "assistant", "content": "I look.", "reasoning_content": signature,
                "tool_calls": [{
                    "id": "c1", "type": "function", "extra_content": {"google": {"thought_signature": signature}},
                    "function": {"name": "list_dir", "arguments": "{}"},
                }],
            }),
        ),
        (
            Dialect::Ollama,
            format!(
                r#"{{"message":{{"thinking":{text},"content":"","tool_calls":[{{"function":{{"name":"list_dir","arguments":{{}}}}}}]}},"done":true}}"#
            ),
            json!({
                "role": "assistant", "content": "", "thinking": signature,
                "tool_calls": [{"function": {"name": "list_dir", "arguments": {}}}],
            }),
        ),
    ] {
        let (tools, progress) = (tools(), Progress::none());
        let mut decoder = Decoder::new(dialect, &request(&tools, false), &progress);
        decoder.push(answer.as_bytes()).unwrap();
        let mut parts = decoder.finish().unwrap().reply.parts;
        for part in &mut parts {
            if let Part::Opaque(opaque) = part {
                opaque.by = "this".to_owned();
            }
        }
        // Through a record, as after a restart.
        let parts: Vec<Part> = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
        let sent = |to: &str| sent_back(dialect, &tools, parts.clone(), to);
        assert_eq!(sent("this"), expected, "{}", dialect.name());
        let to_another = sent("another").to_string();
        assert!(!to_another.contains("Eo8B"), "{to_another}");
        assert!(to_another.contains("list_dir"), "{to_another}");
    }
}

/// The model's turn in the next request.
fn sent_back(dialect: Dialect, tools: &[Arc<ToolSpec>], parts: Vec<Part>, to: &str) -> Value {
    let turns = [Turn::of_reply(parts), Turn::result(true, "ok".to_owned(), "")];
    let prompt = Prompt::default().task("work", "Look.", 100).conversation(&turns, 10_000);
    let messages = prompt.messages(MessageForm { has_tools: true, to });
    let request = Request { messages: &messages, goes_on: true, ..request(tools, false) };
    let body: Value = serde_json::from_slice(&dialect.body(&request).unwrap()).unwrap();
    match dialect {
        Dialect::Anthropic => body["messages"][1]["content"].clone(),
        Dialect::Responses => {
            let items = body["input"].as_array().unwrap();
            let is_said = |item: &&Value| item["type"] != "function_call_output";
            items.iter().skip(1).filter(is_said).cloned().collect()
        }
        Dialect::Gemini => body["contents"][1]["parts"].clone(),
        Dialect::Chat | Dialect::Ollama => body["messages"][2].clone(),
    }
}

/// A turn of Anthropic's that did not begin with thinking goes on without; the next one may begin with it.
#[test]
fn a_turn_goes_on_as_it_began() {
    let tools = tools();
    let call = || Part::ToolCall(ToolCall { tool: "list_dir".to_owned(), input: json!({}).into() }.into());
    let thought = || Part::Opaque(Opaque { by: "m".to_owned(), body: r#"{"type":"thinking"}"#.to_owned() });
    let said = |parts| [Turn::of_reply(parts), Turn::result(true, "ok".to_owned(), "")];
    let bare = said(vec![call()]);
    let thinking = said(vec![thought(), call()]);
    let told = [Turn::of_notice("Mend it.".to_owned())];
    for (turns, thinks) in [
        (bare.to_vec(), false),
        (thinking.to_vec(), true),
        ([thinking.as_slice(), &bare].concat(), true),
        ([bare.as_slice(), &thinking].concat(), false),
        ([bare.as_slice(), &told].concat(), true),
        ([thinking.as_slice(), &told, &bare].concat(), false),
    ] {
        let prompt = Prompt::default().task("work", "Look.", 100).conversation(&turns, 10_000);
        let messages = prompt.messages(MessageForm { has_tools: true, to: "m" });
        let request = Request {
            messages: &messages,
            effort: Some(Effort::Low),
            tokens_thinking_max: 2_048,
            ..request(&tools, false)
        };
        let body: Value = serde_json::from_slice(&Dialect::Anthropic.body(&request).unwrap()).unwrap();
        assert_eq!(body.get("thinking").is_some(), thinks, "{body}");
    }
}
