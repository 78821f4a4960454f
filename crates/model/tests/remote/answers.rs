//! Every wire, streamed and not: what the server says is what is answered, and what is asked is what it sees.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use setpoint_machine::{ModelCall, Prompt};
use setpoint_model::remote::{Endpoint, Remote, base};
use setpoint_model::wire::Dialect;
use setpoint_model::{Model as _, Progress};
use setpoint_model_server::{Answer, ModelServer, Turn, Wire};

use crate::support::{ask, question, remote, shown};

async fn all(answer: Answer, has_tools: bool) -> String {
    let mut found = String::new();
    for wire in Wire::ALL {
        for is_streamed in [false, true] {
            for pieces in [None, Some(1), Some(7)] {
                let turn = Turn { bytes_at_once: pieces, ..Turn::from(answer.clone()) };
                let server = ModelServer::start(Arc::new(turn)).await.unwrap();
                let reply = ask(&remote(wire, &server.base(wire), is_streamed), has_tools).await;
                let line = shown(&reply);
                let usage = reply.unwrap().usage;
                if pieces.is_none() {
                    let form = if is_streamed { "streamed" } else { "whole" };
                    let (tokens_in, out) = (usage.tokens_in, usage.tokens_out);
                    writeln!(found, "{wire} {form}: {line}; {tokens_in} in, {out} out").unwrap();
                }
                server.stop().await;
            }
        }
    }
    found
}

#[tokio::test]
async fn a_text_comes_through_every_wire() {
    let found = all(Answer::text("Blue, ä, 日本, 🙂."), false).await;
    expect![[r#"
        chat whole: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        chat streamed: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        responses whole: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        responses streamed: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        anthropic whole: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        anthropic streamed: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        gemini whole: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        gemini streamed: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        ollama whole: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
        ollama streamed: ok: text "Blue, ä, 日本, 🙂."; 8 in, 4 out
    "#]]
    .assert_eq(&found);
}

#[tokio::test]
async fn calls_come_through_every_wire() {
    let answer = Answer::call("list_dir", r#"{"path":"ä b"}"#).and_call("read_file", r#"{"path":"c"}"#);
    let found = all(answer, true).await;
    expect![[r#"
        chat whole: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        chat streamed: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        responses whole: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        responses streamed: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        anthropic whole: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        anthropic streamed: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        gemini whole: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        gemini streamed: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        ollama whole: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
        ollama streamed: ok: call "list_dir" "{\"path\":\"ä b\"}", call "read_file" "{\"path\":\"c\"}"; 48 in, 11 out
    "#]]
    .assert_eq(&found);
}

#[tokio::test]
async fn a_question_that_was_cut_without_a_word_is_no_question_that_was_answered() {
    let prose = "The quick brown fox jumps over the lazy dog. ".repeat(400);
    let mut found = String::new();
    for (what, window, text) in [
        ("it fits", Some(32_768), prose.as_str()),
        ("it is cut", Some(1_500), prose.as_str()),
        ("runs of one character are few tokens", Some(1_500), &" ".repeat(18_000)),
        ("a short one", Some(1_500), "Which colour?"),
    ] {
        let server = ModelServer::start(Arc::new(Turn::from(Answer::text("Blue.")))).await.unwrap();
        let base = base::normalised(Dialect::Ollama, &server.base(Wire::Ollama)).unwrap();
        let mut endpoint = Endpoint::new("m".to_owned(), Dialect::Ollama, base, "test-model".to_owned());
        endpoint.window_tokens = window;
        let remote = Remote::new(endpoint, || 0).unwrap();
        let call = ModelCall { prompt: Prompt::default().task("work", text, 100_000), ..question(false) };
        let reply = remote.answer(&call, &Progress::none()).await;
        writeln!(found, "{what}: {}", shown(&reply)).unwrap();
        let asked = server.seen().first().and_then(|seen| seen.asked.context);
        assert_eq!(asked, window.map(u64::from), "the window is asked for");
        server.stop().await;
    }
    expect![[r#"
        it fits: ok: text "Blue."
        it is cut: TooLong: the server read 1500 tokens of a question of at least 2249: it silently dropped the rest
        runs of one character are few tokens: ok: text "Blue."
        a short one: ok: text "Blue."
    "#]].assert_eq(&found);
}
