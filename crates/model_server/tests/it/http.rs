//! HTTP as clients use it: connections that are kept alive, `100 Continue`, and input that is not HTTP.

use std::sync::Arc;

use setpoint_model_server::{Answer, Fault, HEAD_BYTES_MAX, ModelServer, Turn, Wire};

use crate::client::{Client, End};
use crate::requests;

async fn server() -> ModelServer {
    ModelServer::start(Arc::new(Turn::from(Answer::text("Yes.")))).await.unwrap()
}

#[tokio::test]
async fn a_connection_is_kept_alive_unless_close_is_requested() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    for is_streaming in [false, true, false] {
        let reply = client.ask(&requests::plain(Wire::Chat, is_streaming)).await;
        assert_eq!((reply.status, reply.end), (200, End::Complete));
    }
    let mut request = requests::plain(Wire::Chat, false);
    request.headers.push(("connection", "close".to_owned()));
    let reply = client.ask(&request).await;
    assert_eq!(reply.header("connection"), "close");
    assert_eq!(client.count().await, 0, "the server closes");
    assert_eq!(server.seen().iter().map(|seen| seen.nth).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = server().await;
    let mut client = Client::connect(server.address()).await;
    let request = requests::plain(Wire::Ollama, true).bytes();
    client.send(&[request.clone(), request].concat()).await;
    assert_eq!(client.reply().await.end, End::Complete);
    assert_eq!(client.reply().await.end, End::Complete);
}

#[tokio::test]
async fn an_invalid_request_gets_an_error_and_a_close() {
    let server = server().await;
    let long = format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "x".repeat(HEAD_BYTES_MAX));
    // What follows the refusal is drained: otherwise closing would be a reset and the refusal might be lost.
    let large = format!("POST / HTTP/1.1\r\ncontent-length: 67108865\r\n\r\n{}", "x".repeat(1 << 20));
    for (bytes, status) in [("HELO there\r\n\r\n", 400), (large.as_str(), 413), (long.as_str(), 431)] {
        let mut client = Client::connect(server.address()).await;
        client.send(bytes.as_bytes()).await;
        let reply = client.reply().await;
        assert_eq!((reply.status, reply.end), (status, End::Complete));
        assert_eq!(client.count().await, 0);
        client.close_writing().await;
        server.until_idle().await;
    }
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn a_tls_handshake_is_answered_with_garbage() {
    let server = server().await;
    let base = server.base_with(Wire::Chat, &Fault::TlsGarbage);
    assert_eq!(base, format!("https://{}/v1", server.address()));
    let mut client = Client::connect(server.address()).await;
    // The beginning of a ClientHello.
    client.send(&[0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]).await;
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.end), (0, End::Short));
    assert!(reply.raw.starts_with(&[0, 0xff]), "no TLS record begins so");
}
