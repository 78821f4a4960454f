//! The server starts, stops, records everything and leaves nothing behind.

use std::sync::Arc;
use std::time::Duration;

use setpoint_model_server::{
    Answer, Delay, Fault, Gate, Hosted, Listing, ModelServer, RequestOutcome, Script, SeenRequest, Turn,
    Usage, Wire, refused_address,
};
use tokio::net::TcpStream;

use crate::client::{Client, End};
use crate::requests;

#[tokio::test]
async fn dropping_the_server_ends_all_tasks_and_connections() {
    let script = Arc::new(Turn::from(Fault::Hang(Delay::Ever)));
    let server = ModelServer::start(script.clone()).await.unwrap();
    let address = server.address();
    let mut client = Client::connect(address).await;
    client.send(&requests::plain(Wire::Chat, true).bytes()).await;
    server.until_seen(1).await;
    drop(server);
    // Only the end is received, and then nothing listens.
    let reply = client.reply().await;
    assert!(reply.raw.is_empty() && reply.end != End::Complete, "{reply:?}");
    assert!(TcpStream::connect(address).await.is_err());
    assert_eq!(Arc::strong_count(&script), 1, "no task holds the script any more");
}

#[tokio::test]
async fn stopping_the_server_waits_for_its_tasks() {
    let script = Arc::new(Turn::from(Answer::text("Yes.")));
    let server = ModelServer::start(script.clone()).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.ask(&requests::plain(Wire::Chat, false)).await;
    server.stop().await;
    assert_eq!(Arc::strong_count(&script), 1);
    assert_eq!(client.count().await, 0);
}

#[test]
fn a_hosted_server_runs_without_a_test_runtime() {
    use std::io::{Read as _, Write as _};
    let server = Hosted::start(Arc::new(Turn::from(Answer::text("Yes.")))).unwrap();
    let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
    let mut request = requests::plain(Wire::Ollama, false);
    request.headers.push(("connection", "close".to_owned()));
    stream.write_all(&request.bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("Yes."), "{text}");
    assert_eq!(server.seen().len(), 1);
    drop(server);
}

#[tokio::test]
async fn every_answer_is_logged_with_cost_and_completeness() {
    let usage = Usage { input: 7, cached: 0, output: 3, reasoning: 0 };
    let gate = Gate::new();
    let held = gate.clone();
    let script = move |seen: &SeenRequest| match seen.nth {
        0 => Turn::from(Answer::text("a b c").costing(usage)),
        1 => Turn::from(Fault::Forbidden),
        _ => Turn::from(Answer::text("a b c").costing(usage))
            .with(Fault::PauseInBody(Delay::Until(held.clone()))),
    };
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.ask(&requests::plain(Wire::Chat, false)).await;
    client.ask(&requests::plain(Wire::Anthropic, false)).await;
    client.send(&requests::plain(Wire::Gemini, true).bytes()).await;
    gate.arrivals(1).await;
    drop(client);
    server.until_served(3).await;
    server.until_idle().await;
    let served = |nth, wire, fault, cost: Option<(i128, i128)>, is_complete| RequestOutcome {
        nth,
        wire,
        fault,
        input_tokens: cost.map(|(input, _)| input),
        output_tokens: cost.map(|(_, output)| output),
        is_complete,
    };
    assert_eq!(
        server.served(),
        [
            served(0, Wire::Chat, None, Some((7, 3)), true),
            served(1, Wire::Anthropic, Some("forbidden"), None, true),
            served(2, Wire::Gemini, Some("pause_in_body"), Some((7, 3)), false),
        ]
    );
    assert_eq!(server.open_connections(), 0);
}

#[tokio::test]
async fn a_gate_holds_an_answer_until_it_is_opened() {
    let gate = Gate::new();
    let script = Turn::from(Answer::text("Yes.")).after(Delay::Until(gate.clone()));
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(&requests::plain(Wire::Chat, false).bytes()).await;
    gate.arrivals(1).await;
    assert_eq!(server.served(), []);
    gate.open();
    assert_eq!(client.reply().await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_skips_delays() {
    let hour = Duration::from_secs(3600);
    let script = Turn::from(Answer::text("Yes.")).after(Delay::For(hour));
    let server = ModelServer::start(Arc::new(script)).await.unwrap();
    let before = tokio::time::Instant::now();
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.ask(&requests::plain(Wire::Chat, false)).await.status, 200);
    assert!(before.elapsed() >= hour);
}

struct NoKey;

impl Script for NoKey {
    fn turn(&self, _: &SeenRequest) -> Turn {
        Turn::default()
    }

    fn listing(&self, _: &SeenRequest) -> Listing {
        Listing { fault: Some(Fault::Unauthorized), ..Listing::default() }
    }
}

#[tokio::test]
async fn a_listing_can_fail_too() {
    let server = ModelServer::start(Arc::new(NoKey)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(b"GET /v1/models HTTP/1.1\r\n\r\n").await;
    let reply = client.reply().await;
    assert_eq!(reply.status, 401);
    assert!(reply.text().contains("invalid_api_key"));
    assert_eq!(server.served()[0].fault, Some("unauthorized"));
}

#[tokio::test]
async fn refused_and_unknown_addresses_are_available() {
    let refused = refused_address().unwrap();
    let error = TcpStream::connect(refused.address).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    assert_eq!(refused.base(Wire::Chat), format!("http://{}/v1", refused.address));
    // The top-level domain is reserved: it never resolves.
    let server = ModelServer::start(Arc::new(Turn::from(Answer::default()))).await.unwrap();
    assert_eq!(server.base_with(Wire::Chat, &Fault::DnsFailure), "http://model-server.invalid/v1");
    assert_eq!(server.base_with(Wire::Chat, &Fault::Forbidden), server.base(Wire::Chat));
}
