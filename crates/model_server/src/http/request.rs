//! Reads requests from a connection, within limits. Every failure has its own error.

use std::collections::BTreeMap;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Largest request line and headers together.
pub const HEAD_BYTES_MAX: usize = 64 << 10;
/// Largest body.
pub const BODY_BYTES_MAX: usize = 64 << 20;
/// Bytes that are read at once, and kept of what a client sends early.
const BUFFER_BYTES: usize = 64 << 10;
/// Longest line before a chunk: a length, and extensions that are ignored.
const CHUNK_LINE_BYTES_MAX: usize = 256;
/// The first byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// A request as received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Decoded, without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in lower case; repeated headers are joined with a comma.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// Whether the client accepts another answer on this connection.
    pub(crate) keeps_alive: bool,
}

/// Why a request could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("read from the client")]
    Io(#[from] io::Error),
    #[error("read a request: the client speaks TLS")]
    Tls,
    #[error("read a request: {0}")]
    Malformed(&'static str),
    #[error("read a request: its head is longer than {HEAD_BYTES_MAX} bytes")]
    HeadTooLarge,
    #[error("read a request: its body is longer than {BODY_BYTES_MAX} bytes")]
    BodyTooLarge,
}

/// The head of a request, and how its body is framed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    request: Request,
    framing: BodyFraming,
    expects_continue: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyFraming {
    Length(usize),
    Chunked,
}

/// The reading side of a connection, with the bytes that were read and not used yet.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    stream: R,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// Reads the next head; `None` if the client closed the connection between two requests.
    pub(crate) async fn head(&mut self) -> Result<Option<Head>, ReadError> {
        loop {
            // Empty lines before a request are allowed.
            while self.buffer.starts_with(b"\r\n") {
                self.buffer.drain(..2);
            }
            if self.buffer.first() == Some(&TLS_HANDSHAKE) {
                return Err(ReadError::Tls);
            }
            let end = find(&self.buffer, b"\r\n\r\n");
            if end.unwrap_or(self.buffer.len()) > HEAD_BYTES_MAX {
                return Err(ReadError::HeadTooLarge);
            }
            if let Some(end) = end {
                let rest = self.buffer.split_off(end + 4);
                let head = std::mem::replace(&mut self.buffer, rest);
                return parse(head.get(..end).unwrap_or_default()).map(Some);
            }
            if !self.fill().await? {
                let is_between = self.buffer.is_empty();
                return if is_between { Ok(None) } else { Err(ReadError::Malformed("it ends in its head")) };
            }
        }
    }

    /// Reads the body that belongs to a head.
    pub(crate) async fn body(&mut self, head: Head) -> Result<Request, ReadError> {
        let mut request = head.request;
        request.body = match head.framing {
            BodyFraming::Length(length) if length > BODY_BYTES_MAX => return Err(ReadError::BodyTooLarge),
            BodyFraming::Length(length) => self.take(length).await?,
            BodyFraming::Chunked => self.chunks().await?,
        };
        Ok(request)
    }

    /// Returns when the client has closed its side, even if it sends more before that.
    pub(crate) async fn closed(&mut self) {
        loop {
            if self.buffer.len() >= BUFFER_BYTES {
                return std::future::pending().await;
            }
            if !matches!(self.fill().await, Ok(true)) {
                return;
            }
        }
    }

    /// Reads and discards the rest, so that closing the connection does not reset it.
    pub(crate) async fn drain(&mut self) {
        let mut budget = BODY_BYTES_MAX;
        while budget > 0 {
            self.buffer.clear();
            if !matches!(self.fill().await, Ok(true)) {
                return;
            }
            budget = budget.saturating_sub(self.buffer.len());
        }
    }

    async fn chunks(&mut self) -> Result<Vec<u8>, ReadError> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
            let digits =
                std::str::from_utf8(digits).map_err(|_| ReadError::Malformed("a chunk has no length"))?;
            let length = usize::from_str_radix(digits.trim(), 16)
                .map_err(|_| ReadError::Malformed("a chunk has no length"))?;
            if length == 0 {
                // Trailers.
                while !self.line().await?.is_empty() {}
                return Ok(body);
            }
            if length.saturating_add(body.len()) > BODY_BYTES_MAX {
                return Err(ReadError::BodyTooLarge);
            }
            body.extend(self.take(length).await?);
            if !self.line().await?.is_empty() {
                return Err(ReadError::Malformed("a chunk is longer than it says"));
            }
        }
    }

    async fn line(&mut self) -> Result<Vec<u8>, ReadError> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let rest = self.buffer.split_off(end + 2);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.truncate(end);
                return Ok(line);
            }
            if self.buffer.len() > CHUNK_LINE_BYTES_MAX {
                return Err(ReadError::Malformed("the line before a chunk is too long"));
            }
            self.must_fill().await?;
        }
    }

    async fn take(&mut self, length: usize) -> Result<Vec<u8>, ReadError> {
        while self.buffer.len() < length {
            self.must_fill().await?;
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    async fn must_fill(&mut self) -> Result<(), ReadError> {
        if self.fill().await? { Ok(()) } else { Err(ReadError::Malformed("it ends in its body")) }
    }

    /// Reads more bytes; returns whether there were any.
    async fn fill(&mut self) -> io::Result<bool> {
        self.buffer.reserve(BUFFER_BYTES);
        Ok(self.stream.read_buf(&mut self.buffer).await? > 0)
    }
}

impl Head {
    /// Whether the client waits for permission to send the body.
    pub(crate) const fn expects_continue(&self) -> bool {
        self.expects_continue
    }
}

fn parse(head: &[u8]) -> Result<Head, ReadError> {
    let head = std::str::from_utf8(head).map_err(|_| ReadError::Malformed("its head is no UTF-8"))?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(ReadError::Malformed("its first line has not three words"));
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(ReadError::Malformed("it is no HTTP/1"));
    }
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Err(ReadError::Malformed("a header has no colon"));
        };
        if name.is_empty() || name.contains([' ', '\t']) {
            return Err(ReadError::Malformed("a header has no name"));
        }
        let value = value.trim();
        headers
            .entry(name.to_ascii_lowercase())
            .and_modify(|before| *before = format!("{before}, {value}"))
            .or_insert_with(|| value.to_owned());
    }
    let framing = framing(&headers)?;
    let connection = headers.get("connection").map(|value| value.to_ascii_lowercase()).unwrap_or_default();
    let keeps_alive = match version {
        "HTTP/1.1" => !connection.contains("close"),
        _ => connection.contains("keep-alive"),
    };
    // Clients send absolute URLs to a proxy.
    let target = match target.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("/".to_owned(), |(_, path)| format!("/{path}")),
        None => target.to_owned(),
    };
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let expects_continue =
        headers.get("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"));
    let request = Request {
        method: method.to_owned(),
        path: decoded(path),
        query: query.to_owned(),
        headers,
        body: Vec::new(),
        keeps_alive,
    };
    Ok(Head { request, framing, expects_continue })
}

fn framing(headers: &BTreeMap<String, String>) -> Result<BodyFraming, ReadError> {
    match (headers.get("transfer-encoding"), headers.get("content-length")) {
        (Some(_), Some(_)) => Err(ReadError::Malformed("its body has two lengths")),
        (Some(encoding), None) if encoding.eq_ignore_ascii_case("chunked") => Ok(BodyFraming::Chunked),
        (Some(_), None) => Err(ReadError::Malformed("its body has an unknown encoding")),
        (None, Some(length)) => match length.parse() {
            Ok(length) => Ok(BodyFraming::Length(length)),
            Err(_) => Err(ReadError::Malformed("its length is no number")),
        },
        (None, None) => Ok(BodyFraming::Length(0)),
    }
}

/// Decodes `%20` and the like; invalid escapes stay as they are.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let code = pair.filter(|_| *first == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads requests from bytes that arrive in pieces of `size`, and compares the results.
    async fn check(size: usize, bytes: &[u8], expected: &[&str]) {
        let (mut client, server) = tokio::io::duplex(size);
        let bytes = bytes.to_vec();
        let writing = tokio::spawn(async move {
            // A reader that has given up closes the pipe; the rest is lost, as on a socket.
            let _written = tokio::io::AsyncWriteExt::write_all(&mut client, &bytes).await;
        });
        let mut reader = Reader::new(server);
        let mut seen = Vec::new();
        loop {
            let request = match reader.head().await {
                Ok(Some(head)) => reader.body(head).await,
                Ok(None) => break,
                Err(error) => Err(error),
            };
            match request {
                Ok(Request { method, path, query, headers, body, keeps_alive }) => {
                    let headers: Vec<_> =
                        headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    let body = String::from_utf8_lossy(&body);
                    seen.push(format!("{method} {path} ?{query} {headers:?} {body:?} {keeps_alive}"));
                }
                Err(error) => {
                    seen.push(error.to_string());
                    break;
                }
            }
        }
        drop(reader);
        writing.await.unwrap();
        assert_eq!(seen, expected);
    }

    #[tokio::test]
    async fn requests_are_read_in_pieces_of_any_size() {
        let bytes = b"\r\nPOST /v1beta/models/m%3Ax?alt=sse&a=%20 HTTP/1.1\r\nA: 1\r\nContent-Length: 5\r\na:  2 \r\n\r\nhello\
            GET http://host:1/p%zz HTTP/1.1\r\nconnection: close\r\n\r\n\
            POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nt: 1\r\n\r\n";
        for size in [1, 7, 4096] {
            check(
                size,
                bytes,
                &[
                    r#"POST /v1beta/models/m:x ?alt=sse&a=%20 ["a=1, 2", "content-length=5"] "hello" true"#,
                    r#"GET /p%zz ? ["connection=close"] "" false"#,
                    r#"POST / ? ["transfer-encoding=chunked"] "abcde" false"#,
                ],
            )
            .await;
        }
    }

    #[tokio::test]
    async fn every_invalid_request_has_its_error() {
        let long = format!("GET / HTTP/1.1\r\na: {}", "x".repeat(2 * HEAD_BYTES_MAX));
        for (bytes, expected) in [
            ("\u{16}\u{3}\u{1}", "read a request: the client speaks TLS"),
            ("GET / HTTP/1.1\r\na", "read a request: it ends in its head"),
            ("GET /\r\n\r\n", "read a request: its first line has not three words"),
            ("GET / HTTP/2\r\n\r\n", "read a request: it is no HTTP/1"),
            ("GET / HTTP/1.1\r\nab\r\n\r\n", "read a request: a header has no colon"),
            ("GET / HTTP/1.1\r\na b: c\r\n\r\n", "read a request: a header has no name"),
            ("GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n", "read a request: its length is no number"),
            ("GET / HTTP/1.1\r\ncontent-length: 3\r\n\r\nab", "read a request: it ends in its body"),
            (
                "GET / HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n",
                "read a request: its body has two lengths",
            ),
            (
                "GET / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
                "read a request: its body has an unknown encoding",
            ),
            (
                "GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
                "read a request: a chunk has no length",
            ),
            (
                "GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n",
                "read a request: a chunk is longer than it says",
            ),
            (
                "GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nfffffff\r\n",
                "read a request: its body is longer than 67108864 bytes",
            ),
            (
                "GET / HTTP/1.1\r\ncontent-length: 67108865\r\n\r\n",
                "read a request: its body is longer than 67108864 bytes",
            ),
            (long.as_str(), "read a request: its head is longer than 65536 bytes"),
        ] {
            check(4096, bytes.as_bytes(), &[expected]).await;
        }
    }
}
