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

/// The head of a request, and how its body is framed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    request: Request,
    /// The length of the body; none if it comes in chunks.
    length: Option<usize>,
    /// Whether the client waits for permission to send the body.
    pub(crate) expects_continue: bool,
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
        if self.buffer.is_empty() && !self.fill().await? {
            return Ok(None);
        }
        self.parsed(head).await.map(Some)
    }

    /// Reads the body that belongs to a head.
    pub(crate) async fn body(&mut self, head: Head) -> Result<Request, ReadError> {
        let mut request = head.request;
        request.body = match head.length {
            Some(length) if length > BODY_BYTES_MAX => return Err(ReadError::BodyTooLarge),
            Some(length) => self.take(length).await?,
            None => self.chunks().await?,
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
            let length = self
                .parsed(|bytes| {
                    httparse::parse_chunk_size(bytes).map_err(|_| malformed("a chunk has no length"))
                })
                .await?;
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length == 0 {
                // Trailers, which end with an empty line.
                self.parsed(trailers).await?;
                return Ok(body);
            }
            if length.saturating_add(body.len()) > BODY_BYTES_MAX {
                return Err(ReadError::BodyTooLarge);
            }
            body.extend(self.take(length).await?);
            if self.take(2).await? != b"\r\n" {
                return Err(malformed("a chunk is longer than it says"));
            }
        }
    }

    /// Reads until `parse` is complete; it returns how many bytes it used, and what they mean.
    async fn parsed<T>(
        &mut self,
        parse: impl Fn(&[u8]) -> Result<Status<(usize, T)>, ReadError>,
    ) -> Result<T, ReadError> {
        loop {
            match parse(&self.buffer)? {
                Status::Complete((used, _)) if used > HEAD_BYTES_MAX => return Err(ReadError::HeadTooLarge),
                Status::Complete((used, value)) => {
                    self.buffer.drain(..used);
                    return Ok(value);
                }
                Status::Partial if self.buffer.len() > HEAD_BYTES_MAX => return Err(ReadError::HeadTooLarge),
                Status::Partial => self.must_fill().await?,
            }
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

fn trailers(bytes: &[u8]) -> Result<Status<(usize, ())>, ReadError> {
    Ok(match httparse::parse_headers(bytes, &mut [EMPTY_HEADER; HEADERS_MAX]).map_err(malformed)? {
        Status::Complete((used, _)) => Status::Complete((used, ())),
        Status::Partial => Status::Partial,
    })
}

fn head(bytes: &[u8]) -> Result<Status<(usize, Head)>, ReadError> {
    if bytes.first() == Some(&TLS_HANDSHAKE) {
        return Err(ReadError::Tls);
    }
    let mut fields = [EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    let Status::Complete(used) = parsed.parse(bytes).map_err(malformed)? else { return Ok(Status::Partial) };
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for field in parsed.headers.iter() {
        let value = std::str::from_utf8(field.value).map_err(malformed)?;
        headers
            .entry(field.name.to_ascii_lowercase())
            .and_modify(|before| *before = format!("{before}, {value}"))
            .or_insert_with(|| value.to_owned());
    }
    let length = match (headers.get("transfer-encoding"), headers.get("content-length")) {
        (Some(_), Some(_)) => return Err(malformed("its body has two lengths")),
        (Some(encoding), None) if encoding.eq_ignore_ascii_case("chunked") => None,
        (Some(_), None) => return Err(malformed("its body has an unknown encoding")),
        (None, Some(length)) => Some(length.parse().map_err(|_| malformed("its length is no number"))?),
        (None, None) => Some(0),
    };
    let connection = headers.get("connection").map(|value| value.to_ascii_lowercase()).unwrap_or_default();
    let keeps_alive = match parsed.version {
        Some(1) => !connection.contains("close"),
        _ => connection.contains("keep-alive"),
    };
    // Clients send absolute URLs to a proxy.
    let target = parsed.path.unwrap_or_default();
    let target = match target.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("/".to_owned(), |(_, path)| format!("/{path}")),
        None => target.to_owned(),
    };
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let expects_continue =
        headers.get("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"));
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: percent_decode_str(path).decode_utf8_lossy().into_owned(),
        query: query.to_owned(),
        headers,
        body: Vec::new(),
        keeps_alive,
    };
    Ok(Status::Complete((used, Head { request, length, expects_continue })))
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
            ("GET / HTTP/1.1\r\na", "read a request: it ends too early"),
            ("GET /\r\n\r\n", "read a request: invalid token"),
            ("GET / HTTP/2\r\n\r\n", "read a request: invalid HTTP version"),
            ("GET / HTTP/1.1\r\nab\r\n\r\n", "read a request: invalid header name"),
            ("GET / HTTP/1.1\r\na b: c\r\n\r\n", "read a request: invalid header name"),
            ("GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n", "read a request: its length is no number"),
            ("GET / HTTP/1.1\r\ncontent-length: 3\r\n\r\nab", "read a request: it ends too early"),
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
