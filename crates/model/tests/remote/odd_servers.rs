//! Servers of other programs, or with unusual answers: the resulting failures and hints.

use std::fmt::Write as _;

use expect_test::expect;
use setpoint_model::remote::Remote;
use setpoint_model_server::Wire;

use crate::support::{ask, endpoint, raw, shown};

const TEXT: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"Blue."},"finish_reason":"stop"}]}"#;

/// What comes of this answer, with the hint, and how often it was asked for.
async fn end_of(wire: Wire, answer: String) -> String {
    let (address, _server) = raw(move |_, _| answer.clone()).await;
    let reply = ask(&Remote::new(endpoint(wire, &address, true), || 0).unwrap(), false).await;
    let hints = reply.as_ref().err().map(|error| error.failure.hints.clone()).unwrap_or_default();
    [vec![shown(&reply)], hints].concat().join("\n    ")
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len())
}

#[tokio::test]
async fn an_answer_that_no_model_gives_is_named_with_what_to_look_at() {
    let whole = r#"{"choices":[{"message":{"content":"Blue."},"finish_reason":"stop"}]}"#;
    let events = format!("{TEXT}\n\ndata: [DONE]\n\n");
    let mut found = String::new();
    for (what, answer) in [
        ("whole", answer("200 OK", "content-type: application/json\r\n", whole)),
        ("a page", answer("200 OK", "content-type: text/html\r\n", "\r\n<html>Log in</html>")),
        ("nothing", answer("204 No Content", "", "")),
        ("created", answer("201 Created", "content-type: application/json\r\n", whole)),
        ("no post", answer("405 Method Not Allowed", "", "")),
        ("packed", answer("200 OK", "content-encoding: gzip\r\n", "\u{1f}x")),
        ("packed twice", answer("200 OK", "content-encoding: identity\r\ncontent-encoding: br\r\n", &events)),
        ("not packed", answer("200 OK", "content-encoding: Identity\r\n", &events)),
        ("packed with nothing", answer("200 OK", "content-encoding: \r\n", &events)),
        ("an alert of TLS", "\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{16}".to_owned()),
        ("another protocol", "SSH-2.0-x\r\n".to_owned()),
    ] {
        writeln!(found, "{what}: {}", end_of(Wire::Chat, answer).await).unwrap();
    }
    expect![[r#"
        whole: ok: text "Blue."
        a page: Unable: read the answer: it is a web page
            check the address: another program or a proxy may answer there
        nothing: Unable: the server answered 204
            check the address: another program or a proxy may answer there
        created: Unable: the server answered 201
            check the address: another program or a proxy may answer there
        no post: Unable: the server answered 405
            check the model's name and the address: `setpoint models --all` lists what the server has
        packed: Unable: the server compressed its answer, which was not allowed
            check for a proxy between here and the model that compresses answers
        packed twice: Unable: the server compressed its answer, which was not allowed
            check for a proxy between here and the model that compresses answers
        not packed: ok: text "Blue."
        packed with nothing: ok: text "Blue."
        an alert of TLS: Unable: the request failed: client error (SendRequest): invalid HTTP version parsed
            the program there is not a web server, or needs https://: check the address and its port
        another protocol: Unable: the request failed: client error (SendRequest): invalid HTTP version parsed
            the program there is not a web server, or needs https://: check the address and its port
    "#]]
    .assert_eq(&found);
}

#[tokio::test]
async fn a_busy_server_says_in_its_error_when_to_come_back() {
    let body = r#"{"error": {"code": 429, "message": "quota", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20s"}]}}"#;
    let mut found = String::new();
    for headers in ["", "retry-after: 3\r\n"] {
        let answer = answer("429 Too Many Requests", headers, body);
        writeln!(found, "{}", end_of(Wire::Gemini, answer).await).unwrap();
    }
    expect![[r#"
        Unavailable: again after 20 s: the server answered 429: quota
        Unavailable: again after 3 s: the server answered 429: quota
    "#]]
    .assert_eq(&found);
}

/// The clock runs on whenever everybody waits.
#[tokio::test(start_paused = true)]
async fn what_is_whole_counts_though_the_server_leaves_it_open() {
    let mut found = String::new();
    let open = "HTTP/1.1 200 OK\r\n\r\n";
    let gemini = r#"data: {"candidates":[{"content":{"parts":[{"text":"Blue."}]},"finishReason":"STOP"}]}"#;
    let anthropic = concat!(
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Blue."}}"#,
        "\n\n",
        r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
    );
    for (what, wire, body) in [
        ("its end said", Wire::Chat, TEXT),
        ("its end said", Wire::Gemini, gemini),
        ("its end said", Wire::Anthropic, anthropic),
        ("nothing said of its end", Wire::Chat, r#"data: {"choices":[{"delta":{"content":"Blue."}}]}"#),
        ("whole", Wire::Chat, r#"{"choices":[{"message":{"content":"Blue."},"finish_reason":"stop"}]}"#),
    ] {
        let end = end_of(wire, format!("{open}{body}\n\n")).await;
        writeln!(found, "{what}, {wire}: {end}").unwrap();
    }
    expect![[r#"
        its end said, chat: ok: text "Blue."
        its end said, gemini: ok: text "Blue."
        its end said, anthropic: ok: text "Blue."
        nothing said of its end, chat: Timeout: again: the answer stopped coming for 60000 ms
            raise `models.idle_ms` if it is that slow
        whole, chat: ok: text "Blue."
    "#]]
    .assert_eq(&found);
}

#[tokio::test]
async fn a_count_of_nothing_is_none_and_what_it_cost_is_estimated() {
    let zeros = [
        (
            Wire::Chat,
            r#"{"choices":[{"message":{"content":"Blue."},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":3}}"#,
        ),
        (
            Wire::Responses,
            r#"{"output":[{"type":"message","content":[{"text":"Blue."}]}],"usage":{"input_tokens":0,"output_tokens":0}}"#,
        ),
        (
            Wire::Anthropic,
            r#"{"content":[{"type":"text","text":"Blue."}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":0}}"#,
        ),
        (
            Wire::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"text":"Blue."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0}}"#,
        ),
        (Wire::Ollama, r#"{"message":{"content":"Blue."},"done":true,"prompt_eval_count":0,"eval_count":0}"#),
    ];
    for (wire, body) in zeros {
        let answer = answer("200 OK", "", body);
        let (address, _server) = raw(move |_, _| answer.clone()).await;
        let reply = ask(&Remote::new(endpoint(wire, &address, false), || 0).unwrap(), false).await.unwrap();
        assert!(reply.usage.tokens_in > 5 && reply.usage.tokens_out > 0, "{wire}: {:?}", reply.usage);
    }
}
