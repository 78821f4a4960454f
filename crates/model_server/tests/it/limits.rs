//! The large faults at their default sizes. The server repeats one block for each, so it holds none of them in memory.

use std::sync::Arc;

use setpoint_model_server::{Answer, Fault, ModelServer, SeenRequest, Turn, Wire};

use crate::client::Client;
use crate::requests;

async fn server(name: &'static str) -> ModelServer {
    let script = move |_: &SeenRequest| Turn::from(Answer::text("x")).with(Fault::by_name(name).unwrap());
    ModelServer::start(Arc::new(script)).await.unwrap()
}

/// Returns the number of bytes in the answer.
async fn count(name: &'static str, wire: Wire, is_streaming: bool) -> u64 {
    let server = server(name).await;
    let mut client = Client::connect(server.address()).await;
    let mut request = requests::plain(wire, is_streaming);
    request.headers.push(("connection", "close".to_owned()));
    client.send(&request.bytes()).await;
    let count = client.count().await;
    server.until_served(1).await;
    assert!(server.served()[0].is_complete);
    count
}

#[tokio::test]
async fn a_text_of_50_mebibytes_is_sent() {
    for is_streaming in [false, true] {
        let bytes = count("huge_text", Wire::Chat, is_streaming).await;
        assert!((50 << 20..52 << 20).contains(&bytes), "{bytes}");
    }
}

#[tokio::test]
async fn a_line_of_10_mebibytes_is_sent() {
    for is_streaming in [false, true] {
        let bytes = count("huge_line", Wire::Ollama, is_streaming).await;
        assert!((10 << 20..11 << 20).contains(&bytes), "{bytes}");
    }
}

#[tokio::test]
async fn a_bomb_of_one_gibibyte_takes_under_two_mebibytes() {
    let bytes = count("gzip_bomb", Wire::Anthropic, false).await;
    assert!(bytes < 2 << 20, "{bytes}");
}

#[tokio::test]
async fn an_endless_stream_ends_when_the_client_disconnects() {
    for wire in Wire::ALL {
        let server = server("endless_call_stream").await;
        let mut client = Client::connect(server.address()).await;
        // If there were an end after all, the test would see it instead of waiting for it.
        let mut request = requests::with_tool(wire, true);
        request.headers.push(("connection", "close".to_owned()));
        client.send(&request.bytes()).await;
        let bytes = client.take(1 << 20).await;
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.matches("read_file").count() > 100, "{wire}");
        drop(client);
        server.until_idle().await;
        assert!(!server.served()[0].is_complete, "{wire}");
    }
}
