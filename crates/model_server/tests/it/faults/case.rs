//! One fault on one wire, injected once, and what a client decodes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use setpoint_model_server::{Answer, Fault, ModelServer, SeenRequest, Turn, Usage, Wire};
use tokio::time::Instant;

use crate::client::{Client, End, Reply};
use crate::decode::{Got, decode, events};
use crate::requests;

pub(super) const TEXT: &str = "One two three.";
pub(super) const ARGUMENTS: &str = r#"{"path":"a.txt","lines":3}"#;
pub(super) const COST: Usage = Usage { input: 50, cached: 0, output: 20, reasoning: 0 };

/// A fault on a wire.
pub(super) struct Case {
    pub(super) fault: Fault,
    pub(super) wire: Wire,
    pub(super) is_streaming: bool,
    /// Whether the script calls a tool; otherwise it answers with text.
    pub(super) calls: bool,
    pub(super) reply: Reply,
    pub(super) server: ModelServer,
    pub(super) took: Duration,
}

pub(super) fn answer(calls: bool) -> Answer {
    let answer = if calls { Answer::call("read_file", ARGUMENTS) } else { Answer::text(TEXT) };
    answer.costing(COST)
}

pub(super) async fn make(fault: Fault, wire: Wire, is_streaming: bool, calls: bool) -> Case {
    let laid = fault.clone();
    let script = move |_: &SeenRequest| Turn::from(answer(calls)).with(laid.clone());
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let before = Instant::now();
    let reply = client.ask(&requests::with_tool(wire, is_streaming)).await;
    let took = before.elapsed();
    server.until_served(1).await;
    Case { fault, wire, is_streaming, calls, reply, server, took }
}

impl Case {
    pub(super) fn place(&self) -> String {
        let Self { fault, wire, is_streaming, calls, .. } = self;
        format!("{} on {wire}, streaming: {is_streaming}, calls: {calls}", fault.name())
    }

    pub(super) fn got(&self) -> Got {
        decode(self.wire, self.is_streaming, &self.reply.text())
    }

    /// Returns what a client decodes; asserts that it can decode everything.
    pub(super) fn whole(&self) -> Got {
        assert_eq!((self.reply.status, self.reply.end), (200, End::Complete), "{}", self.place());
        let got = self.got();
        assert_eq!(got.broken, None, "{}", self.place());
        assert!(!self.is_streaming || got.is_done, "{}", self.place());
        got
    }

    /// Returns the arguments of the first call: as a client decodes them or, if they are unquoted in the body and a
    /// parser may fail on them, as they are in the body.
    pub(super) fn arguments(&self) -> String {
        assert_eq!((self.reply.status, self.reply.end), (200, End::Complete), "{}", self.place());
        match self.got() {
            Got { calls, broken: None, .. } => calls[0].arguments.clone(),
            _ => self.reply.text(),
        }
    }

    /// Asserts that the reply has the same content as without a fault.
    pub(super) fn says_everything(&self, got: &Got) {
        if self.calls {
            assert_eq!(got.calls.len(), 1, "{}", self.place());
            let arguments: Value = serde_json::from_str(&got.calls[0].arguments).unwrap();
            assert_eq!(arguments, serde_json::from_str::<Value>(ARGUMENTS).unwrap(), "{}", self.place());
        } else {
            assert_eq!(got.text, TEXT, "{}", self.place());
        }
    }

    /// Returns the kind and the whole text of the wire's error object.
    pub(super) fn error(&self) -> (String, String) {
        let text = self.reply.text();
        let text = if self.is_streaming && self.reply.status == 200 {
            events(self.wire, &text).pop().unwrap()
        } else {
            text
        };
        let value: Value = serde_json::from_str(&text).unwrap();
        let at =
            |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = match self.wire {
            Wire::Chat | Wire::Responses if value["type"] == "error" => at("/code"),
            Wire::Chat | Wire::Responses => {
                let code = at("/error/code");
                if code.is_empty() { at("/error/type") } else { code }
            }
            Wire::Anthropic => {
                assert_eq!(value["type"], "error");
                at("/error/type")
            }
            Wire::Gemini => {
                assert!(value["error"]["code"].is_u64());
                at("/error/status")
            }
            Wire::Ollama => {
                assert!(value["error"].is_string());
                String::new()
            }
        };
        (kind, text)
    }

    /// Asserts a status and the wire's error kind (Ollama has none).
    pub(super) fn refuses(&self, status: u16, openai: &str, anthropic: &str, gemini: &str) {
        assert_eq!((self.reply.status, self.reply.end), (status, End::Complete), "{}", self.place());
        assert_eq!(self.reply.header("content-type"), "application/json");
        let expected = match self.wire {
            Wire::Chat | Wire::Responses => openai,
            Wire::Anthropic => anthropic,
            Wire::Gemini => gemini,
            Wire::Ollama => "",
        };
        assert_eq!(self.error().0, expected, "{}", self.place());
        assert_eq!(self.server.served()[0].output_tokens, None, "a refusal costs nothing");
    }

    /// Asserts that a stream or body was cut and ended with its connection.
    pub(super) fn is_cut(&self, ends_so: impl Fn(&[u8]) -> bool) {
        assert_eq!((self.reply.status, self.reply.end), (200, End::Closed), "{}", self.place());
        assert!(ends_so(&self.reply.body), "{}: {}", self.place(), self.reply.text());
        assert!(!self.got().is_done, "{}", self.place());
    }
}
