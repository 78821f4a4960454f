//! What the table of cases cannot cover: faults that do not apply, that last, or that need their own sequence of
//! requests.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use setpoint_model_server::{Answer, Delay, Fault, Gate, ModelServer, SeenRequest, Turn, Wire};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::case::{TEXT, make};
use crate::client::{Client, End};
use crate::decode::decode;
use crate::requests;

#[tokio::test]
async fn an_inapplicable_fault_leaves_the_answer_unchanged() {
    let mut left = 0;
    for fault in Fault::all() {
        for wire in Wire::ALL {
            for is_streaming in [false, true] {
                if fault.applies(wire, is_streaming) {
                    continue;
                }
                let case = make(fault.clone(), wire, is_streaming, false).await;
                assert_eq!(case.server.served()[0].fault, None);
                case.says_everything(&case.whole());
                left += 1;
            }
        }
    }
    assert!(left > 40, "{left}");
}

#[tokio::test]
async fn without_tools_argument_faults_affect_a_json_text() {
    let said = r#"{"verdict":"met","count":3}"#;
    for (name, is_so) in [
        ("malformed_arguments", (|text| serde_json::from_str::<Value>(text).is_err()) as fn(&str) -> bool),
        ("truncated_arguments", |text| text == r#"{"verdict":"m"#),
        ("wrong_types", |text| text == r#"{"count":"3","verdict":42}"#),
        ("missing_fields", |text| text == r#"{"verdict":"met"}"#),
        ("duplicate_keys", |text| text.matches("count").count() == 2),
        ("deep_arguments", |text| text.contains(&"[".repeat(10_000))),
        ("number_nan", |text| text.contains("NaN")),
        ("text_nul", |text| {
            let value: Value = serde_json::from_str(text).unwrap();
            value["verdict"].as_str().unwrap().contains('\u{0}')
        }),
        ("role_confusion", |text| serde_json::from_str::<Value>(text).unwrap()["count"] == 3),
    ] {
        for wire in Wire::ALL {
            for is_streaming in [false, true] {
                let script =
                    move |_: &SeenRequest| Turn::from(Answer::text(said)).with(Fault::by_name(name).unwrap());
                let server = ModelServer::start(Arc::new(script)).await.unwrap();
                let mut client = Client::connect(server.address()).await;
                let reply = client.ask(&requests::plain(wire, is_streaming)).await;
                let got = decode(wire, is_streaming, &reply.text());
                assert!(is_so(&got.text) && got.calls.is_empty(), "{name} {wire}: {}", got.text);
            }
        }
    }
}

#[tokio::test]
async fn reused_ids_and_endless_calls_ignore_earlier_results() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"u"},
        {"role":"assistant","tool_calls":[{"id":"first","type":"function","function":{"name":"t","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"first","content":"r"}],
        "tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}]}"#;
    for (name, id) in [("reused_call_id", "first"), ("endless_call", "call_00_00")] {
        let script =
            move |_: &SeenRequest| Turn::from(Answer::text(TEXT)).with(Fault::by_name(name).unwrap());
        let server = ModelServer::start(Arc::new(script)).await.unwrap();
        let mut client = Client::connect(server.address()).await;
        let reply = client.ask(&requests::request(Wire::Chat, false, "m", body)).await;
        let got = decode(Wire::Chat, false, &reply.text());
        let call = &got.calls[0];
        assert_eq!((call.id.as_str(), call.name.as_str(), call.arguments.as_str()), (id, "t", "{}"));
    }
}

#[tokio::test]
async fn a_refusing_port_listens_again_after_its_gate_opens() {
    let gate = Gate::new();
    let lasting = Delay::Until(gate.clone());
    let script = move |seen: &SeenRequest| {
        let turn = Turn::from(Answer::text(TEXT));
        if seen.nth == 0 { turn.with(Fault::RefuseConnect(lasting.clone())) } else { turn }
    };
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let mut first = Client::connect(server.address()).await;
    let mut second = Client::connect(server.address()).await;
    assert_eq!(first.ask(&requests::plain(Wire::Chat, false)).await.end, End::Reset);
    assert!(TcpStream::connect(server.address()).await.is_err());
    // Open connections stay open.
    assert_eq!(second.ask(&requests::plain(Wire::Chat, false)).await.status, 200);
    gate.open();
    let mut third = loop {
        match TcpStream::connect(server.address()).await {
            Ok(stream) => break Client::over(stream),
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(third.ask(&requests::plain(Wire::Chat, false)).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_drip_takes_a_second_per_byte() {
    let script = |_: &SeenRequest| Turn::from(Answer::text(TEXT)).with(Fault::by_name("drip").unwrap());
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let before = Instant::now();
    let reply = client.ask(&requests::plain(Wire::Ollama, false)).await;
    assert_eq!(before.elapsed().as_secs(), reply.body.len() as u64);
    assert_eq!(decode(Wire::Ollama, false, &reply.text()).text, TEXT);
}

#[tokio::test(start_paused = true)]
async fn a_hang_lasts_until_the_client_gives_up() {
    let script = |_: &SeenRequest| Turn::from(Fault::Hang(Delay::Ever));
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(&requests::plain(Wire::Chat, true).bytes()).await;
    server.until_seen(1).await;
    let waited = tokio::time::timeout(Duration::from_secs(24 * 3600), client.reply()).await;
    assert!(waited.is_err(), "nothing came for a day");
    drop(client);
    server.until_idle().await;
    assert!(!server.served()[0].is_complete);
}

#[tokio::test]
async fn after_a_half_close_the_server_keeps_reading() {
    let gate = Gate::new();
    let held = gate.clone();
    let script = move |_: &SeenRequest| {
        Turn::from(Answer::text(TEXT)).with(Fault::HalfClose(Delay::Until(held.clone())))
    };
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.ask(&requests::plain(Wire::Chat, true)).await.end, End::Short);
    gate.arrivals(1).await;
    client.send(b"is anybody there?").await;
    assert_eq!(server.open_connections(), 1);
    client.close_writing().await;
    server.until_idle().await;
}
