//! What an MCP server sends: lists of tools, results, and anything else on a line.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use setpoint_mcp::{
    DEFINITION_BYTES_MAX, DESCRIPTION_CHARS_MAX, Endpoint, Launch, Launched, Listing, NAME_CHARS_MAX,
    Process, Server, TOOLS_MAX,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio_util::sync::CancellationToken;

/// Longest error in characters: a server's own words in it are cut.
const ERROR_CHARS_MAX: usize = 3_000;
/// Bytes between server and client.
const ROOM: usize = 64 * 1024;
/// What a person or a model may rely on.
const RELIED_ON: &[&str] = &[
    "/title",
    "/description",
    "/inputSchema",
    "/outputSchema",
    "/annotations/title",
    "/annotations/readOnlyHint",
    "/annotations/destructiveHint",
    "/annotations/idempotentHint",
    "/annotations/openWorldHint",
];

/// The lines of an input are what the server sends, one for each request after the handshake: a result, which gets the id
/// of the request, or, after a `!`, a line as it is. When they are used up, the server ends.
///
/// Whatever they are, what is listed is bounded and shows no control characters, and a tool is only called if the last
/// list describes it as the first one did.
pub(crate) fn run(input: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    // A machine without room for a runtime says nothing about the input.
    let Ok(runtime) = runtime else { return };
    runtime.block_on(talk(input));
}

async fn talk(input: &[u8]) {
    let lines = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let said = Arc::new(Said { lines: Mutex::new(lines), pages: Mutex::default(), called: Mutex::default() });
    let server = Server::new("odd", Endpoint::Stdio(Arc::new(Starter(Arc::clone(&said)))));
    let listing = match server.tools().await {
        Ok(listing) => listing,
        Err(error) => return assert_shown(&error.to_string()),
    };
    assert_bounded(&listing);
    let Some(tool) = listing.tools.first() else { return };
    let before = said.pages().len();
    match server.call(tool, Map::new(), &CancellationToken::new()).await {
        Ok(outcome) => assert!(!outcome.text.chars().any(is_hidden), "{}", outcome.text),
        Err(error) => assert_shown(&error.to_string()),
    }
    let pages = said.pages();
    for name in said.called.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        assert_eq!(*name, tool.name, "another tool was called");
        let shown = described(pages.iter().take(before), name);
        let now = described(pages.iter().skip(before), name);
        let first = now.first();
        assert!(
            first.is_some_and(|first| shown.contains(first)),
            "{name} was shown as {shown:?} and called as {now:?}"
        );
    }
}

/// Returns what pages of lists say of a tool, as far as people and models rely on it.
fn described<'p>(pages: impl Iterator<Item = &'p Value>, name: &str) -> Vec<Vec<Value>> {
    let is_it = |tool: &&Value| tool.get("name").and_then(Value::as_str) == Some(name);
    let field = |tool: &Value, at: &str| tool.pointer(at).cloned().unwrap_or(Value::Null);
    let tools = pages.filter_map(|page| page.get("tools")?.as_array()).flatten().filter(is_it);
    tools.map(|tool| RELIED_ON.iter().map(|at| field(tool, at)).collect()).collect()
}

fn assert_bounded(listing: &Listing) {
    assert!(listing.tools.len() + listing.left_out.len() <= TOOLS_MAX);
    for (n, tool) in listing.tools.iter().enumerate() {
        assert!((1..=NAME_CHARS_MAX).contains(&tool.name.chars().count()), "{}", tool.name);
        assert!(tool.description.chars().count() <= DESCRIPTION_CHARS_MAX);
        assert!(!tool.description.chars().any(is_hidden), "{}", tool.description);
        assert!(tool.input_schema.to_bytes().len() <= DEFINITION_BYTES_MAX);
        assert!(listing.tools.iter().skip(n + 1).all(|other| other.name != tool.name), "{} twice", tool.name);
    }
    for left_out in &listing.left_out {
        assert!(left_out.name.chars().count() <= NAME_CHARS_MAX);
        assert_shown(&left_out.name);
    }
}

fn assert_shown(text: &str) {
    assert!(text.chars().count() <= ERROR_CHARS_MAX, "an endless error");
    assert!(!text.chars().any(|c| is_hidden(c) || c == '\n'), "{text:?}");
}

/// Returns whether a character controls a terminal or reorders text.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What a server said and was asked.
struct Said {
    lines: Mutex<Vec<Vec<u8>>>,
    /// The results that it sent for lists.
    pages: Mutex<Vec<Value>>,
    /// The tools that were called.
    called: Mutex<Vec<String>>,
}

impl Said {
    fn pages(&self) -> Vec<Value> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn serve(self: Arc<Self>, stream: DuplexStream) {
        let (read, mut write) = tokio::io::split(stream);
        let mut asked = BufReader::new(read).lines();
        while let Ok(Some(line)) = asked.next_line().await {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { return };
            let Some(id) = message.get("id") else { continue };
            let Some(answer) = self.answer(&message, id) else { return };
            if write.write_all(&answer).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, message: &Value, id: &Value) -> Option<Vec<u8>> {
        let line = |message: Value| format!("{message}\n").into_bytes();
        let method = message.get("method").and_then(Value::as_str)?;
        let answer = match method {
            "server/discover" => json!({"error": {"code": -32601, "message": "Method not found"}}),
            "initialize" => json!({"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"}}}),
            method => {
                if method == "tools/call" {
                    let name = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
                    self.called.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
                }
                let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
                let next = (!lines.is_empty()).then(|| lines.remove(0))?;
                let raw = next.strip_prefix(b"!");
                let answer = match raw {
                    Some(raw) => serde_json::from_slice(raw).unwrap_or(Value::Null),
                    None => json!({ "result": serde_json::from_slice::<Value>(&next).ok()? }),
                };
                if let (true, Some(result)) = (method == "tools/list", answer.get("result")) {
                    self.pages.lock().unwrap_or_else(PoisonError::into_inner).push(result.clone());
                }
                if let Some(raw) = raw {
                    return Some([raw, b"\n"].concat());
                }
                answer
            }
        };
        let mut answer = answer;
        if let Value::Object(fields) = &mut answer {
            fields.insert("jsonrpc".to_owned(), json!("2.0"));
            fields.insert("id".to_owned(), id.clone());
        }
        Some(line(answer))
    }
}

/// Starts the server.
struct Starter(Arc<Said>);

#[async_trait]
impl Launch for Starter {
    async fn launch(&self) -> io::Result<Launched> {
        let (ours, theirs) = tokio::io::duplex(ROOM);
        tokio::spawn(Arc::clone(&self.0).serve(theirs));
        Ok(Launched { stream: Box::new(ours), process: Box::new(Silent) })
    }
}

/// A program that prints nothing.
struct Silent;

#[async_trait]
impl Process for Silent {
    async fn last_words(&self) -> String {
        String::new()
    }
}
