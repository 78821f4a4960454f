//! The large faults at the size of the list. The server makes them of one block each, so it holds none of them.

use std::sync::Arc;

use setpoint_model_server::{Answer, Fault, ModelServer, Seen, Turn, Wire};

use crate::client::Client;
use crate::requests;

async fn server(name: &'static str) -> ModelServer {
    let script = move |_: &Seen| Turn::from(Answer::text("x")).with(Fault::by_name(name).unwrap());
    ModelServer::start(Arc::new(script)).await.unwrap()
}

/// How many bytes the answer has.
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
async fn fifty_mebibytes_of_text() {
    for is_streaming in [false, true] {
        let bytes = count("huge_text", Wire::Chat, is_streaming).await;
        assert!((50 << 20..52 << 20).contains(&bytes), "{bytes}");
    }
}

#[tokio::test]
async fn a_line_of_ten_mebibytes() {
    for is_streaming in [false, true] {
        let bytes = count("huge_line", Wire::Ollama, is_streaming).await;
        assert!((10 << 20..11 << 20).contains(&bytes), "{bytes}");
    }
}

#[tokio::test]
async fn a_gibibyte_in_two_mebibytes() {
    let bytes = count("gzip_bomb", Wire::Anthropic, false).await;
    assert!(bytes < 2 << 20, "{bytes}");
}

#[tokio::test]
async fn a_stream_without_end_ends_when_the_client_goes() {
    for wire in Wire::ALL {
        let server = server("endless_call_stream").await;
        let mut client = Client::connect(server.address()).await;
        // Were there an end after all, it would be seen and not waited for.
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
