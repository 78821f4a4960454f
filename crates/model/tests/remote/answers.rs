//! Every wire, streamed and not: what the server says is what is answered, and what is asked is what it sees.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use setpoint_model_server::{Always, Answer, ModelServer, Turn, Wire};

use crate::support::{ask, remote, shown};

async fn all(answer: Answer, has_tools: bool) -> String {
    let mut found = String::new();
    for wire in Wire::ALL {
        for is_streamed in [false, true] {
            for pieces in [None, Some(1), Some(7)] {
                let turn = Turn { bytes_at_once: pieces, ..Turn::from(answer.clone()) };
                let server = ModelServer::start(Arc::new(Always::new(turn))).await.unwrap();
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
