//! The ready-made scripts that clients of this crate's program get.

use setpoint_model_server::organisation::{CANARY, FILES};
use setpoint_model_server::scripts::{self, COST, HELLO, THOUGHT};
use setpoint_model_server::{Fault, ModelServer, Wire};

use crate::client::{Client, Reply, Request};
use crate::decode::{Got, decode};
use crate::requests;

async fn ask(script: &str, request: &Request) -> Reply {
    let script = scripts::by_name(script).unwrap();
    let server = ModelServer::start(script).await.unwrap();
    Client::connect(server.address()).await.ask(request).await
}

async fn got(script: &str, request: &Request) -> Got {
    decode(Wire::Chat, false, &ask(script, request).await.text())
}

#[tokio::test]
async fn hello_thinks_and_greets() {
    let got = got("hello", &requests::plain(Wire::Chat, false)).await;
    assert_eq!((got.text.as_str(), got.thinking.as_str()), (HELLO, THOUGHT));
    assert_eq!(got.usage, Some((COST.input as f64, COST.cached as f64, COST.output as f64)));
}

#[tokio::test]
async fn tools_calls_the_first_tool_and_repeats_its_result() {
    let request = requests::with_tool(Wire::Chat, false);
    let called = got("tools", &request).await.calls.remove(0);
    assert_eq!((called.name.as_str(), called.arguments.as_str()), ("read_file", r#"{"path":"example"}"#));
    let answered = r#"{"model":"m","messages":[{"role":"user","content":"u"},
        {"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"1","content":"42 lines"}]}"#;
    let answered = requests::request(Wire::Chat, false, "m", answered);
    assert_eq!(got("tools", &answered).await.text, "The tool said: 42 lines");
    assert_eq!(got("tools", &requests::plain(Wire::Chat, false)).await.text, "No tool was offered.");
}

#[tokio::test]
async fn schema_answers_with_the_smallest_value() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"u"}],"response_format":{"type":"json_schema",
        "json_schema":{"name":"a","schema":{"type":"object","required":["b"],"properties":{"b":{"type":"null"}}}}}}"#;
    let request = requests::request(Wire::Chat, false, "m", body);
    assert_eq!(got("schema", &request).await.text, r#"{"b":null}"#);
}

#[tokio::test]
async fn organisation_recognises_roles_by_their_questions() {
    let say = async |system: &str, user: &str| {
        let messages = serde_json::json!([
            { "role": "system", "content": system }, { "role": "user", "content": user },
        ]);
        let body = serde_json::json!({ "model": "m", "messages": messages }).to_string();
        got("organisation", &requests::request(Wire::Chat, false, "m", &body)).await.text
    };
    let intent = say("You turn what a person typed into a title.", "The person typed:\ncount it\nall").await;
    assert!(intent.contains(r#""title":"count it""#) && intent.contains(CANARY), "{intent}");
    let plan = say("You plan how a goal is reached on this machine.", "The goal: x").await;
    assert!(FILES.iter().all(|file| plan.contains(file)), "{plan}");
    let call =
        say("You do one sub-task, for real, with tools.", "The sub-task: read shelf-2.txt and say").await;
    assert!(call.contains(r#""input":{"path":"shelf-2.txt"}"#), "{call}");
    let answered = "The sub-task: read shelf-2.txt\nr3.2/1 attempt 1 read_file ok 3 ms {}\n  plum";
    let answer = say("You do one sub-task, for real, with tools.", answered).await;
    assert!(answer.contains(r#""status":"completed""#), "{answer}");
    let listed = "r3.2/1 attempt 1 read_file ok 3 ms {}\nr3.2/2 attempt 1 grep FAILED exit 3 ms {}\nJudge:\ns1.c1 it is so\n\nmore";
    for who in ["You judge criteria of a piece of work.", "Several pieces of work are done."] {
        let verdicts = say(who, listed).await;
        assert_eq!(verdicts.matches("criterion_id").count(), 1, "{verdicts}");
        assert!(verdicts.contains("s1.c1") && verdicts.contains("r3.2/1"), "{verdicts}");
        assert!(!verdicts.contains("r3.2/2"), "{verdicts}");
    }
    assert!(say("A task is being given up.", "").await.contains("achieved"));
    assert_eq!(say("Who are you?", "").await, "Nobody asks like that.");
}

#[tokio::test]
async fn by_model_takes_the_model_as_a_script_or_fault() {
    let named = |model: &str| requests::ask(Wire::Chat, false, true, model);
    assert_eq!(got("by-model", &named("hello")).await.text, HELLO);
    assert_eq!(got("by-model", &named("tools")).await.calls.len(), 1);
    assert_eq!(ask("by-model", &named("overloaded")).await.status, 529);
    assert_eq!(got("by-model", &named("many_calls")).await.calls.len(), 100);
    assert_eq!(ask("by-model", &named("something else")).await.status, 404);
}

#[test]
fn every_name_is_a_script_and_none_is_a_fault() {
    for name in scripts::NAMES {
        assert!(scripts::by_name(name).is_some() && Fault::by_name(name).is_none(), "{name}");
    }
    assert!(scripts::by_name("nothing").is_none());
}
