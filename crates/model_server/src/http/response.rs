//! Responses before they are bytes.

use http::StatusCode;

/// An HTTP response.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<Piece>,
    pub(crate) framing: Framing,
}

/// A part of a body, and how many times it is sent. A body of any length consists of few parts.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    pub(crate) times: u64,
}

/// How a client finds the end of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By the content length.
    Length,
    /// By this value instead of the content length.
    Claimed(String),
    /// By chunks, one per piece.
    Chunked,
    /// By the end of the connection.
    Close,
}

impl<T: Into<Vec<u8>>> From<T> for Piece {
    fn from(bytes: T) -> Self {
        Self { bytes: bytes.into(), times: 1 }
    }
}

impl Response {
    /// Creates a response with a body of JSON or text and its length.
    pub(crate) fn whole(status: u16, media_type: &str, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: vec![("content-type", media_type.to_owned())],
            body: vec![body.into().into()],
            framing: Framing::Length,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body_bytes(&self) -> u64 {
        let bytes =
            |piece: &Piece| u64::try_from(piece.bytes.len()).unwrap_or(u64::MAX).saturating_mul(piece.times);
        self.body.iter().map(bytes).fold(0, u64::saturating_add)
    }

    /// Returns the status line and the headers.
    pub(crate) fn head(&self, keeps_alive: bool) -> Piece {
        let status = StatusCode::from_u16(self.status).ok();
        let reason = status.and_then(|status| status.canonical_reason()).unwrap_or("Unknown");
        let mut head = format!("HTTP/1.1 {} {reason}\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        match &self.framing {
            Framing::Length => head.push_str(&format!("content-length: {}\r\n", self.body_bytes())),
            Framing::Claimed(length) => head.push_str(&format!("content-length: {length}\r\n")),
            Framing::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
            Framing::Close => {}
        }
        if !keeps_alive || self.framing == Framing::Close {
            head.push_str("connection: close\r\n");
        }
        head.push_str("\r\n");
        head.into()
    }

    /// Returns the body as sent, including its end.
    pub(crate) fn framed_body(&self) -> Vec<Piece> {
        if self.framing != Framing::Chunked {
            return self.body.clone();
        }
        let filled = self.body.iter().filter(|piece| !piece.bytes.is_empty() && piece.times > 0);
        let framed = filled.map(|piece| Piece { bytes: chunk(&piece.bytes), times: piece.times });
        framed.chain(["0\r\n\r\n".into()]).collect()
    }

    /// Splits the body into chunks of at most this many bytes, at any place.
    pub(crate) fn in_pieces_of(mut self, bytes_max: usize) -> Self {
        let cut = self.body.into_iter().flat_map(|Piece { bytes, times }| match times {
            1 => bytes.chunks(bytes_max.max(1)).map(Piece::from).collect(),
            _ => vec![Piece { bytes, times }],
        });
        self.body = cut.collect();
        self
    }
}

pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}
