//! Reads requests from a connection, within limits. Every failure has its own error.

use std::collections::BTreeMap;
use std::io;

use httparse::{EMPTY_HEADER, Status};
use percent_encoding::percent_decode_str;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Largest request line and headers together.
pub const HEAD_BYTES_MAX: usize = 64 << 10;
/// Largest body.
const BODY_BYTES_MAX: usize = 64 << 20;
/// Most headers of a request.
const HEADERS_MAX: usize = 100;
/// Bytes that are read at once, and kept of what a client sends early.
const BUFFER_BYTES: usize = 64 << 10;
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
    Malformed(String),
    #[error("read a request: its head is longer than {HEAD_BYTES_MAX} bytes")]
    HeadTooLarge,
    #[error("read a request: its body is longer than {BODY_BYTES_MAX} bytes")]
    BodyTooLarge,
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

    /// Reads the next request; `None` if the client closed the connection between two requests.
    pub(crate) async fn request(&mut self) -> Result<Option<Request>, ReadError> {
        if self.buffer.is_empty() && !self.fill().await? {
            return Ok(None);
        }
        let (used, length, mut request) = loop {
            match head(&self.buffer)? {
                Some(head) => break head,
                None if self.buffer.len() > HEAD_BYTES_MAX => return Err(ReadError::HeadTooLarge),
                None => self.must_fill().await?,
            }
        };
        if used > HEAD_BYTES_MAX {
            return Err(ReadError::HeadTooLarge);
        }
        if length > BODY_BYTES_MAX {
            return Err(ReadError::BodyTooLarge);
        }
        while self.buffer.len() < used + length {
            self.must_fill().await?;
        }
        let rest = self.buffer.split_off(used + length);
        request.body = std::mem::replace(&mut self.buffer, rest).split_off(used);
        Ok(Some(request))
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

    async fn must_fill(&mut self) -> Result<(), ReadError> {
        if self.fill().await? { Ok(()) } else { Err(malformed("it ends too early")) }
    }

    /// Reads more bytes; returns whether there were any.
    async fn fill(&mut self) -> io::Result<bool> {
        self.buffer.reserve(BUFFER_BYTES);
        Ok(self.stream.read_buf(&mut self.buffer).await? > 0)
    }
}

fn malformed(reason: impl ToString) -> ReadError {
    ReadError::Malformed(reason.to_string())
}

/// Parses a head, once all of it is there: its length, that of the body, and the request without it.
fn head(bytes: &[u8]) -> Result<Option<(usize, usize, Request)>, ReadError> {
    if bytes.first() == Some(&TLS_HANDSHAKE) {
        return Err(ReadError::Tls);
    }
    let mut fields = [EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    let Status::Complete(used) = parsed.parse(bytes).map_err(malformed)? else { return Ok(None) };
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for field in parsed.headers.iter() {
        let value = std::str::from_utf8(field.value).map_err(malformed)?;
        headers
            .entry(field.name.to_ascii_lowercase())
            .and_modify(|before| *before = format!("{before}, {value}"))
            .or_insert_with(|| value.to_owned());
    }
    if headers.contains_key("transfer-encoding") {
        return Err(malformed("its body comes in chunks"));
    }
    let length = headers.get("content-length").map_or(Ok(0), |length| length.parse());
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: percent_decode_str(path).decode_utf8_lossy().into_owned(),
        query: query.to_owned(),
        keeps_alive: !headers.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")),
        headers,
        body: Vec::new(),
    };
    Ok(Some((used, length.map_err(|_| malformed("its length is no number"))?, request)))
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
            match reader.request().await {
                Ok(None) => break,
                Ok(Some(Request { method, path, query, headers, body, keeps_alive })) => {
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
            GET /p%zz HTTP/1.1\r\nconnection: close\r\n\r\n";
        for size in [1, 7, 4096] {
            check(
                size,
                bytes,
                &[
                    r#"POST /v1beta/models/m:x ?alt=sse&a=%20 ["a=1, 2", "content-length=5"] "hello" true"#,
                    r#"GET /p%zz ? ["connection=close"] "" false"#,
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
            ("GET / HTTP/1.1\r\na", "read a request: it ends too early"),
            ("GET /\r\n\r\n", "read a request: invalid token"),
            ("GET / HTTP/2\r\n\r\n", "read a request: invalid HTTP version"),
            ("GET / HTTP/1.1\r\nab\r\n\r\n", "read a request: invalid header name"),
            ("GET / HTTP/1.1\r\na b: c\r\n\r\n", "read a request: invalid header name"),
            ("GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n", "read a request: its length is no number"),
            ("GET / HTTP/1.1\r\ncontent-length: 3\r\n\r\nab", "read a request: it ends too early"),
            (
                "GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
                "read a request: its body comes in chunks",
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
