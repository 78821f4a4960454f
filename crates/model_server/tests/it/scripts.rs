//! What clients of this crate's program get.

use std::sync::Arc;

use setpoint_model_server::scripts::{ByModel, COST, HELLO, THOUGHT};
use setpoint_model_server::{ModelServer, Wire};

use crate::client::{Client, Reply, Request};
use crate::decode::{Got, decode};
use crate::requests;

async fn ask(request: &Request) -> Reply {
    let server = ModelServer::start(Arc::new(ByModel)).await.unwrap();
    Client::connect(server.address()).await.ask(request).await
}

async fn got(request: &Request) -> Got {
    decode(Wire::Chat, false, &ask(request).await.text())
}

#[tokio::test]
async fn hello_thinks_and_greets() {
    let got = got(&requests::ask(Wire::Chat, false, false, "hello")).await;
    assert_eq!((got.text.as_str(), got.thinking.as_str()), (HELLO, THOUGHT));
    assert_eq!(got.usage, Some((COST.input as f64, COST.cached as f64, COST.output as f64)));
}

#[tokio::test]
async fn tools_calls_the_first_tool_and_repeats_its_result() {
    let request = requests::ask(Wire::Chat, false, true, "tools");
    let called = got(&request).await.calls.remove(0);
    assert_eq!((called.name.as_str(), called.arguments.as_str()), ("read_file", r#"{"path":"example"}"#));
    let answered = r#"{"model":"tools","messages":[{"role":"user","content":"u"},
        {"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"1","content":"42 lines"}]}"#;
    let answered = requests::request(Wire::Chat, false, "m", answered);
    assert_eq!(got(&answered).await.text, "The tool said: 42 lines");
    assert_eq!(got(&requests::ask(Wire::Chat, false, false, "tools")).await.text, "No tool was offered.");
}

#[tokio::test]
async fn schema_answers_with_the_smallest_value() {
    let body = r#"{"model":"schema","messages":[{"role":"user","content":"u"}],"response_format":{"type":"json_schema",
        "json_schema":{"name":"a","schema":{"type":"object","required":["b"],"properties":{"b":{"type":"null"}}}}}}"#;
    let request = requests::request(Wire::Chat, false, "m", body);
    assert_eq!(got(&request).await.text, r#"{"b":null}"#);
}

#[tokio::test]
async fn by_model_takes_the_model_as_a_script_or_fault() {
    let named = |model: &str| requests::ask(Wire::Chat, false, true, model);
    assert_eq!(got(&named("hello")).await.text, HELLO);
    assert_eq!(got(&named("tools")).await.calls.len(), 1);
    assert_eq!(ask(&named("overloaded")).await.status, 529);
    assert_eq!(got(&named("many_calls")).await.calls.len(), 100);
    assert_eq!(ask(&named("something else")).await.status, 404);
}
