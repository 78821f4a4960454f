//! A client that records bytes as they come and how a connection ended. It repairs nothing.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection, with the bytes that came after the last answer.
pub(crate) struct Client {
    stream: TcpStream,
    rest: Vec<u8>,
}

/// The reply to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    /// All of its bytes.
    pub(crate) raw: Vec<u8>,
    /// The status; 0 if there was none.
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    /// The body without chunk framing.
    pub(crate) body: Vec<u8>,
    pub(crate) end: End,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As its framing says; the connection is still open.
    Complete,
    /// The connection was closed, which ended a body without announced length.
    Closed,
    /// The connection was closed although more was announced.
    Short,
    /// The connection was reset.
    Reset,
}

/// A request to send.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) target: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(address).await.unwrap(), rest: Vec::new() }
    }

    pub(crate) fn over(stream: TcpStream) -> Self {
        Self { stream, rest: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn ask(&mut self, request: &Request) -> Reply {
        self.send(&request.bytes()).await;
        self.reply().await
    }

    /// Reads the next reply, as far as it comes.
    pub(crate) async fn reply(&mut self) -> Reply {
        let mut raw = std::mem::take(&mut self.rest);
        loop {
            if let Some(length) = answer_length(&raw) {
                self.rest = raw.split_off(length);
                return reply(raw, End::Complete);
            }
            match self.stream.read_buf(&mut raw).await {
                Ok(0) => {
                    let end = if is_open_ended(&raw) { End::Closed } else { End::Short };
                    return reply(raw, end);
                }
                Ok(_) => {}
                Err(_) => return reply(raw, End::Reset),
            }
        }
    }

    /// Reads exactly `count` bytes.
    pub(crate) async fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).await.unwrap();
        bytes
    }

    /// Counts the bytes that still come, without keeping them.
    pub(crate) async fn count(&mut self) -> u64 {
        tokio::io::copy(&mut self.stream, &mut tokio::io::sink()).await.unwrap()
    }

    /// Closes the client's side; the server may still answer.
    pub(crate) async fn close_writing(&mut self) {
        self.stream.shutdown().await.unwrap();
    }
}

impl Request {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self { method, target, headers, body } = self;
        let mut text =
            format!("{method} {target} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{text}\r\n{body}").into_bytes()
    }
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

fn head_length(raw: &[u8]) -> Option<usize> {
    raw.windows(4).position(|window| window == b"\r\n\r\n").map(|end| end + 4)
}

fn headers(raw: &[u8]) -> BTreeMap<String, String> {
    let head = String::from_utf8_lossy(&raw[..head_length(raw).unwrap_or(0)]).into_owned();
    let lines = head.split("\r\n").skip(1).filter_map(|line| line.split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the length of the reply if it is complete and has its own framing.
fn answer_length(raw: &[u8]) -> Option<usize> {
    let start = head_length(raw)?;
    let headers = headers(raw);
    if headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked") {
        return chunks(&raw[start..]).1.map(|length| start + length);
    }
    let length: usize = headers.get("content-length")?.parse().ok()?;
    (raw.len() >= start + length).then_some(start + length)
}

fn is_open_ended(raw: &[u8]) -> bool {
    let headers = headers(raw);
    head_length(raw).is_some()
        && !headers.contains_key("content-length")
        && !headers.contains_key("transfer-encoding")
}

/// Returns the content of the chunks, and their total length once the last one is there.
fn chunks(mut framed: &[u8]) -> (Vec<u8>, Option<usize>) {
    let whole = framed.len();
    let mut body = Vec::new();
    while let Some(end) = framed.windows(2).position(|window| window == b"\r\n") {
        let line = std::str::from_utf8(&framed[..end]).unwrap();
        let length = usize::from_str_radix(line, 16).unwrap();
        framed = &framed[end + 2..];
        if length == 0 {
            return (body, framed.starts_with(b"\r\n").then(|| whole - framed.len() + 2));
        }
        if framed.len() < length + 2 {
            body.extend(&framed[..length.min(framed.len())]);
            return (body, None);
        }
        body.extend(&framed[..length]);
        framed = &framed[length + 2..];
    }
    (body, None)
}

fn reply(raw: Vec<u8>, end: End) -> Reply {
    let headers = headers(&raw);
    let start = head_length(&raw);
    let body = match start {
        Some(start) if headers.contains_key("transfer-encoding") => chunks(&raw[start..]).0,
        Some(start) => raw[start..].to_vec(),
        None => Vec::new(),
    };
    let line = String::from_utf8_lossy(&raw);
    let status = line.split(' ').nth(1).filter(|_| start.is_some()).and_then(|status| status.parse().ok());
    Reply { status: status.unwrap_or(0), headers, body, end, raw }
}
