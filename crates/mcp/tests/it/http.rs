//! Streamable HTTP, against a server on bare sockets.

use std::sync::{Arc, Mutex};

use secrecy::SecretString;
use serde_json::{Value, json};
use setpoint_mcp::{Endpoint, MESSAGE_BYTES_MAX, McpError, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::scripted::{Reply, arguments, usual};

/// The heads of the requests that arrived.
type Heads = Arc<Mutex<Vec<String>>>;

/// Returns the address of a server that answers each message so, and the heads of its requests.
async fn listening(answer: impl Fn(&Value) -> String + Send + Sync + 'static) -> (String, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heads = Heads::default();
    let (seen, answer) = (Arc::clone(&heads), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(talk(stream, Arc::clone(&seen), Arc::clone(&answer)));
        }
    });
    (address, heads)
}

/// Answers one request per connection.
async fn talk(mut stream: TcpStream, heads: Heads, answer: Arc<impl Fn(&Value) -> String>) {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        bytes.extend(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                break (head.to_owned(), body.to_owned());
            }
        }
        if count == 0 {
            return;
        }
    };
    let answer = if head.starts_with("POST") {
        answer(&serde_json::from_str(&body).unwrap())
    } else {
        status("405 Method Not Allowed", "text/plain", "")
    };
    heads.lock().unwrap().push(head);
    drop(stream.write_all(answer.as_bytes()).await);
    drop(stream.shutdown().await);
}

fn status(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Answers a message as the usual server does.
fn answered(message: &Value) -> String {
    let Some(id) = message.get("id") else { return status("202 Accepted", "text/plain", "") };
    let body = match usual(message["method"].as_str().unwrap(), &message["params"]) {
        Reply::Result(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Reply::Error(code, text) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
        }
        _ => Value::Null,
    };
    status("200 OK", "application/json", &body.to_string())
}

fn server(url: &str, key: Option<&str>) -> Server {
    Server::new("web", Endpoint::Http { url: url.to_owned(), bearer: key.map(SecretString::from) })
}

#[tokio::test]
async fn a_server_over_http_answers_and_gets_the_key() {
    let (url, heads) = listening(answered).await;
    let server = server(&url, Some("k-4711"));
    let listing = server.tools().await.unwrap();
    let outcome = server.call(&listing.tools[0], arguments("hi"), &CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.text, "hi");
    let heads = heads.lock().unwrap();
    assert!(heads.len() >= 4);
    for head in heads.iter() {
        assert!(head.to_ascii_lowercase().contains("authorization: bearer k-4711"), "{head}");
    }
    server_debug_hides_the_key(&server);
}

fn server_debug_hides_the_key(server: &Server) {
    assert!(!format!("{server:?}").contains("4711"));
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    let (elsewhere, heads) = listening(answered).await;
    let (url, _) = listening(move |_| {
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    })
    .await;
    let error = server(&url, Some("k-4711")).tools().await.unwrap_err();
    assert!(matches!(error, McpError::NotConnected { .. }), "{error}");
    assert!(heads.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_not_read() {
    let (url, _) = listening(|message| match message["method"].as_str() {
        Some("tools/call") => status("200 OK", "application/json", &"x".repeat(MESSAGE_BYTES_MAX + 1)),
        _ => answered(message),
    })
    .await;
    let server = server(&url, None);
    let listing = server.tools().await.unwrap();
    let error = server.call(&listing.tools[0], arguments("x"), &CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("exceeded the maximum size of 8388608 bytes"), "{error}");
}

#[tokio::test]
async fn a_server_that_refuses_or_is_not_there_is_told_so() {
    let (url, _) = listening(|_| status("401 Unauthorized", "text/plain", "who are you?\u{1b}[2J")).await;
    let error = server(&url, Some("wrong-4711")).tools().await.unwrap_err().to_string();
    assert!(error.contains("401"), "{error}");
    assert!(!error.contains("4711") && !error.contains('\u{1b}'), "{error}");
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", closed.local_addr().unwrap());
    drop(closed);
    let error = server(&url, None).tools().await.unwrap_err();
    assert!(matches!(error, McpError::NotConnected { .. }), "{error}");
}

#[tokio::test]
async fn an_older_server_that_knows_no_probe_gets_the_handshake() {
    let (url, _) = listening(|message| match message["method"].as_str() {
        Some("server/discover") => status("404 Not Found", "text/html", "<h1>no such method</h1>"),
        _ => answered(message),
    })
    .await;
    assert_eq!(server(&url, None).tools().await.unwrap().revision, "2025-11-25");
}

#[tokio::test]
async fn a_server_that_wants_a_login_is_told_so() {
    let (url, _) = listening(|_| {
        "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer resource_metadata=\"https://a.example\"\r\ncontent-length: 0\r\n\
         connection: close\r\n\r\n"
            .to_owned()
    })
    .await;
    let error = server(&url, None).tools().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "connect to the MCP server web: it wants a key that it accepts (401 or 403); `bearer_env` names the variable that \
         holds one, and OAuth is not spoken; check `url`"
    );
}
