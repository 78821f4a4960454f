//! Every wire, streamed and not: the bytes match golden files, and a client decodes the script's answer.

use std::sync::Arc;

use expect_test::{ExpectFile, expect_file};
use setpoint_model_server::{Answer, Finish, ModelServer, Turn, Usage, Wire};

use crate::client::{Client, End, Reply, Request};
use crate::decode::{Got, decode};
use crate::requests;

const TEXT: &str = "Été: 漢字 \"quoted\"\nand 🦀.";
const THOUGHT: &str = "Let me see.";
const COST: Usage = Usage { input: 100, cached: 64, output: 30, reasoning: 10 };

fn spoken() -> Answer {
    Answer::text(TEXT).after_thinking(THOUGHT).costing(COST)
}

fn calling() -> Answer {
    Answer { text: vec!["I look.".to_owned()], ..Answer::default() }
        .and_call("read_file", r#"{"path":"a/\"b\".txt","lines":[1,2]}"#)
        .and_call("list_files", "{}")
        .costing(COST)
}

async fn ask(turn: impl Into<Turn>, request: &Request) -> Reply {
    let server = ModelServer::start(Arc::new(turn.into())).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let reply = client.ask(request).await;
    assert_eq!(reply.end, End::Complete);
    reply
}

/// Returns the head as received and the body without chunks, with `\r\n` made visible.
fn shown(reply: &Reply) -> String {
    let head = String::from_utf8_lossy(&reply.raw);
    let head = head.split("\r\n\r\n").next().unwrap().replace("\r\n", "\n");
    format!("{head}\n\n{}\n", reply.text().replace("\r\n", "\\r\n"))
}

async fn check(wire: Wire, answer: Answer, expected: [ExpectFile; 2]) {
    for (is_streaming, expected) in [false, true].into_iter().zip(expected) {
        let reply = ask(answer.clone(), &requests::plain(wire, is_streaming)).await;
        expected.assert_eq(&shown(&reply));
        let got = decode(wire, is_streaming, &reply.text());
        agrees(&got, wire, is_streaming, &answer);
    }
}

/// Asserts that a client decodes the script's answer.
fn agrees(got: &Got, wire: Wire, is_streaming: bool, answer: &Answer) {
    let place = format!("{wire}, streaming: {is_streaming}");
    assert_eq!(got.text, answer.text.concat(), "{place}");
    assert_eq!(got.thinking, answer.thinking.concat(), "{place}");
    assert_eq!(got.broken, None, "{place}");
    if is_streaming {
        assert!(got.is_done, "{place}");
        assert_eq!(got.pieces, answer.text.len(), "{place}");
    }
    let calls: Vec<_> =
        got.calls.iter().map(|call| (call.name.as_str(), arguments(&call.arguments))).collect();
    let said: Vec<_> =
        answer.calls.iter().map(|call| (call.name.as_str(), arguments(&call.arguments))).collect();
    assert_eq!(calls, said, "{place}");
    let comes_in_pieces = is_streaming && !matches!(wire, Wire::Gemini | Wire::Ollama);
    if let Some(first) = got.calls.first().filter(|_| comes_in_pieces) {
        assert!(first.pieces > 2, "{place}");
    }
    let cached = if wire == Wire::Ollama { 0.0 } else { 64.0 };
    assert_eq!(got.usage, Some((100.0, cached, 30.0)), "{place}");
    let finish = match (wire, answer.calls.is_empty()) {
        (Wire::Chat, true) | (Wire::Ollama, _) => "stop",
        (Wire::Chat, false) => "tool_calls",
        (Wire::Responses, _) => "completed",
        (Wire::Anthropic, true) => "end_turn",
        (Wire::Anthropic, false) => "tool_use",
        (Wire::Gemini, _) => "STOP",
    };
    assert_eq!(got.finish.as_deref(), Some(finish), "{place}");
}

fn arguments(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn chat_completions_answers_match_golden_files() {
    let said = [expect_file!["golden/chat_text.txt"], expect_file!["golden/chat_text_stream.txt"]];
    check(Wire::Chat, spoken(), said).await;
    let called = [expect_file!["golden/chat_calls.txt"], expect_file!["golden/chat_calls_stream.txt"]];
    check(Wire::Chat, calling(), called).await;
}

#[tokio::test]
async fn responses_answers_match_golden_files() {
    let said = [expect_file!["golden/responses_text.txt"], expect_file!["golden/responses_text_stream.txt"]];
    check(Wire::Responses, spoken(), said).await;
    let called =
        [expect_file!["golden/responses_calls.txt"], expect_file!["golden/responses_calls_stream.txt"]];
    check(Wire::Responses, calling(), called).await;
}

#[tokio::test]
async fn anthropic_answers_match_golden_files() {
    let said = [expect_file!["golden/anthropic_text.txt"], expect_file!["golden/anthropic_text_stream.txt"]];
    check(Wire::Anthropic, spoken(), said).await;
    let called =
        [expect_file!["golden/anthropic_calls.txt"], expect_file!["golden/anthropic_calls_stream.txt"]];
    check(Wire::Anthropic, calling(), called).await;
}

#[tokio::test]
async fn gemini_answers_match_golden_files() {
    let said = [expect_file!["golden/gemini_text.txt"], expect_file!["golden/gemini_text_stream.txt"]];
    check(Wire::Gemini, spoken(), said).await;
    let called = [expect_file!["golden/gemini_calls.txt"], expect_file!["golden/gemini_calls_stream.txt"]];
    check(Wire::Gemini, calling(), called).await;
}

#[tokio::test]
async fn ollama_answers_match_golden_files() {
    let said = [expect_file!["golden/ollama_text.txt"], expect_file!["golden/ollama_text_stream.txt"]];
    check(Wire::Ollama, spoken(), said).await;
    let called = [expect_file!["golden/ollama_calls.txt"], expect_file!["golden/ollama_calls_stream.txt"]];
    check(Wire::Ollama, calling(), called).await;
}

#[tokio::test]
async fn model_lists_match_golden_files() {
    let mut all = String::new();
    let server = ModelServer::start(Arc::new(Turn::from(Answer::default()))).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let version = vec![("anthropic-version", "2023-06-01".to_owned())];
    for (method, target, headers, body) in [
        ("GET", "/v1/models", Vec::new(), ""),
        ("GET", "/v1/models/test-model", Vec::new(), ""),
        ("GET", "/v1/models/other", Vec::new(), ""),
        ("GET", "/v1/models", version, ""),
        ("GET", "/v1beta/models", Vec::new(), ""),
        ("GET", "/api/tags", Vec::new(), ""),
        ("POST", "/api/show", Vec::new(), r#"{"model":"test-model"}"#),
        ("POST", "/api/show", Vec::new(), r#"{"model":"other"}"#),
        ("GET", "/api/version", Vec::new(), ""),
        ("POST", "/v1/v1/chat/completions", Vec::new(), "{}"),
    ] {
        let request = Request { method, target: target.to_owned(), headers, body: body.to_owned() };
        let reply = client.ask(&request).await;
        let asked = format!("{method} {target} {body}");
        all.push_str(&format!("{}\n{} {}\n\n", asked.trim_end(), reply.status, reply.text()));
    }
    expect_file!["golden/models.txt"].assert_eq(&all);
}

#[tokio::test]
async fn a_body_in_tiny_pieces_decodes_equally() {
    for wire in Wire::ALL {
        for is_streaming in [false, true] {
            let request = requests::plain(wire, is_streaming);
            let whole = ask(spoken(), &request).await;
            let cut = ask(Turn { bytes_at_once: Some(1), ..spoken().into() }, &request).await;
            assert_eq!(whole.text(), cut.text(), "{wire}");
            if is_streaming {
                assert!(cut.raw.len() > 5 * whole.raw.len(), "every byte has a chunk of its own");
            }
        }
    }
}

#[tokio::test]
async fn every_wire_has_its_finish_reasons() {
    for (finish, words) in [
        (Finish::Length, ["length", "incomplete", "max_tokens", "MAX_TOKENS", "length"]),
        (Finish::Filtered, ["content_filter", "incomplete", "refusal", "SAFETY", "stop"]),
    ] {
        for (wire, word) in Wire::ALL.into_iter().zip(words) {
            for is_streaming in [false, true] {
                let reply = ask(spoken().ended_by(finish), &requests::plain(wire, is_streaming)).await;
                let got = decode(wire, is_streaming, &reply.text());
                assert_eq!(got.finish.as_deref(), Some(word), "{wire} {finish:?}");
            }
        }
    }
}

#[tokio::test]
async fn chat_completions_report_stream_usage_on_request() {
    let mut request = requests::plain(Wire::Chat, true);
    request.body = request.body.replace(r#","stream_options":{"include_usage":true}"#, "");
    let reply = ask(spoken(), &request).await;
    assert_eq!(decode(Wire::Chat, true, &reply.text()).usage, None);
    assert!(!reply.text().contains("usage"));
}

#[tokio::test]
async fn usage_is_counted_unless_the_script_gives_it() {
    // 6 characters of a question are 2 tokens, 9 of an answer are 3.
    for wire in Wire::ALL {
        let reply = ask(Answer::text("nine char"), &requests::plain(wire, false)).await;
        assert_eq!(decode(wire, false, &reply.text()).usage, Some((2.0, 0.0, 3.0)), "{wire}");
    }
}

#[tokio::test]
async fn ollama_counts_only_the_kept_part_of_a_long_prompt() {
    for (options, kept) in [("{}", 4096.0), (r#"{"num_ctx":5000}"#, 5000.0), (r#"{"num_ctx":9000}"#, 6000.0)]
    {
        let words = "word".repeat(6000);
        let body = format!(
            r#"{{"model":"m","stream":false,"options":{options},"messages":[{{"role":"user","content":"{words}"}}]}}"#
        );
        let reply = ask(Answer::text("Yes."), &requests::request(Wire::Ollama, false, "m", body)).await;
        assert_eq!(decode(Wire::Ollama, false, &reply.text()).usage, Some((kept, 0.0, 1.0)), "{options}");
    }
}
