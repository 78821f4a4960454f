//! A server that answers line by line as a script says. It knows nothing of the library that the client uses.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use setpoint_mcp::{Endpoint, Launch, Launched, Process, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// What a server does with a request.
pub(crate) enum Reply {
    /// Answers with this result.
    Result(Value),
    /// Answers with this error.
    Error(i32, &'static str),
    /// Sends these bytes.
    Raw(Vec<u8>),
    /// Sends these bytes for as long as somebody reads.
    Endless(Vec<u8>),
    /// Says nothing.
    Silence,
    /// Ends.
    Death,
}

/// Answers a method with its parameters, the request's id, and the number of the connection, from 1.
type Script = dyn Fn(&str, &Value, &Value, u32) -> Option<Reply> + Send + Sync;

/// Starts scripted servers, and keeps what they were asked.
pub(crate) struct Scripted {
    script: Box<Script>,
    starts: AtomicU32,
    pub(crate) asked: Mutex<Vec<(String, Value)>>,
}

struct Words;

#[async_trait]
impl Process for Words {
    async fn last_words(&self) -> String {
        "warming up\u{1b}[2J\n".to_owned()
    }
}

/// Starts a scripted server.
struct Starter(Arc<Scripted>);

#[async_trait]
impl Launch for Starter {
    async fn launch(&self) -> io::Result<Launched> {
        let start = self.0.starts.fetch_add(1, Ordering::SeqCst) + 1;
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(Arc::clone(&self.0).serve(theirs, start));
        Ok(Launched { stream: Box::new(ours), process: Box::new(Words) })
    }
}

impl Scripted {
    /// Returns a server, and its script's other side. What the script leaves out is answered as usual.
    pub(crate) fn server(
        script: impl Fn(&str, &Value, &Value, u32) -> Option<Reply> + Send + Sync + 'static,
    ) -> (Server, Arc<Self>) {
        let scripted = Arc::new(Scripted {
            script: Box::new(script),
            starts: AtomicU32::new(0),
            asked: Mutex::default(),
        });
        (Server::new("odd", Endpoint::Stdio(Arc::new(Starter(Arc::clone(&scripted))))), scripted)
    }

    pub(crate) fn starts(&self) -> u32 {
        self.starts.load(Ordering::SeqCst)
    }

    /// Returns the methods it was asked for.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|(method, _)| method.clone()).collect()
    }

    async fn serve(self: Arc<Self>, stream: DuplexStream, start: u32) {
        let (read, mut write) = tokio::io::split(stream);
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(method) = message["method"].as_str() else { continue };
            self.asked.lock().unwrap().push((method.to_owned(), message["params"].clone()));
            let Some(id) = message.get("id") else { continue };
            let reply = (self.script)(method, &message["params"], id, start);
            let bytes = match reply.unwrap_or_else(|| usual(method, &message["params"])) {
                Reply::Result(result) => text(&json!({"jsonrpc": "2.0", "id": id, "result": result})),
                Reply::Error(code, message) => {
                    text(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
                }
                Reply::Raw(bytes) => bytes,
                Reply::Endless(bytes) => {
                    while write.write_all(&bytes).await.is_ok() {}
                    return;
                }
                Reply::Silence => continue,
                Reply::Death => return,
            };
            if write.write_all(&bytes).await.is_err() {
                return;
            }
        }
    }
}

/// Returns a message as a line.
pub(crate) fn text(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Answers as a server of the older revision with one tool, which returns its argument.
pub(crate) fn usual(method: &str, params: &Value) -> Reply {
    match method {
        "initialize" => Reply::Result(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "1"},
        })),
        "tools/list" => Reply::Result(json!({"tools": [tool("echo", "Returns its text")]})),
        "tools/call" => Reply::Result(json!({
            "content": [{"type": "text", "text": params["arguments"]["text"]}],
        })),
        _ => Reply::Error(-32601, "Method not found"),
    }
}

/// Returns the definition of a tool.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    })
}

/// Returns the arguments of the usual tool.
pub(crate) fn arguments(text: &str) -> serde_json::Map<String, Value> {
    json!({ "text": text }).as_object().unwrap().clone()
}

/// Returns how a server of the newer revision introduces itself.
pub(crate) fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "odd", "version": "1"},
        "ttlMs": 0,
        "cacheScope": "private",
    })
}
