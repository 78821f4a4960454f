//! Headers that a caller adds to a request.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Maximum headers of a request, beside the client's own.
pub const REQUEST_HEADERS_MAX: usize = 8;
/// Longest name of such a header, in bytes.
pub const HEADER_NAME_BYTES_MAX: usize = 64;
/// Longest value of such a header, in bytes.
pub const HEADER_VALUE_BYTES_MAX: usize = 8 * 1024;

/// Headers that decide how a request is routed, framed or kept open, that say who asks, or that name another method.
const RESERVED: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    // Parts of an answer could hold parts of a key, which nothing would recognise.
    "if-range",
    "keep-alive",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
];
/// Beginnings of the names of such headers.
const RESERVED_PREFIXES: &[&str] = &["proxy-", "sec-", "x-forwarded-"];

/// Why a header cannot be sent. Its text does not repeat the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// More than [`REQUEST_HEADERS_MAX`].
    #[error("it has more than {REQUEST_HEADERS_MAX} headers: send fewer")]
    TooMany,
    /// The name is not one of a header, or is too long.
    #[error(
        "a header has 1 to {HEADER_NAME_BYTES_MAX} letters, digits and hyphens as its name: use one such as Authorization"
    )]
    Name,
    /// The header is the client's own.
    #[error("the header {0} is set by the client or not at all: leave it out")]
    Reserved(String),
    /// The header is named twice.
    #[error("the header {0} is named twice: name it once")]
    Twice(String),
    /// The value has characters that a header cannot have, or is too long.
    #[error(
        "the value of the header {0} has line breaks, control characters or characters outside of ASCII, or more than \
         {HEADER_VALUE_BYTES_MAX} bytes: write it in printable ASCII"
    )]
    Value(String),
}

/// Headers that a caller adds to a request. They are sent to one place: a redirect that leads elsewhere is not followed.
#[derive(Clone, Default)]
pub struct Headers(HeaderMap);

impl Headers {
    /// Adds a header.
    ///
    /// # Errors
    /// If it cannot be sent, or must not be set by a caller.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), HeaderError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !(1..=HEADER_NAME_BYTES_MAX).contains(&name.len()) || !name.chars().all(is_plain) {
            return Err(HeaderError::Name);
        }
        let name = name.to_ascii_lowercase();
        if RESERVED.contains(&name.as_str())
            || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        {
            return Err(HeaderError::Reserved(name));
        }
        if self.0.len() >= REQUEST_HEADERS_MAX {
            return Err(HeaderError::TooMany);
        }
        if !is_header_value(value) {
            return Err(HeaderError::Value(name));
        }
        let (Ok(key), Ok(mut value)) = (HeaderName::try_from(&name), HeaderValue::try_from(value)) else {
            return Err(HeaderError::Value(name));
        };
        value.set_sensitive(true);
        match self.0.insert(key, value) {
            Some(_) => Err(HeaderError::Twice(name)),
            None => Ok(()),
        }
    }

    pub(crate) fn map(&self) -> &HeaderMap {
        &self.0
    }
}

/// Shows only the names.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// Returns whether a header may have this value: printable ASCII and blanks, at most [`HEADER_VALUE_BYTES_MAX`] bytes.
#[must_use]
pub fn is_header_value(value: &str) -> bool {
    value.len() <= HEADER_VALUE_BYTES_MAX && value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_smuggle_are_refused() {
        let add = |name: &str, value: &str| Headers::default().add(name, value);
        for name in
            ["Host", "COOKIE", "Transfer-Encoding", "content-length", "Proxy-Authorization", "Sec-Fetch-Site"]
        {
            assert_eq!(add(name, "x"), Err(HeaderError::Reserved(name.to_ascii_lowercase())));
        }
        for name in ["", "a b", "a:", "a\r\nb", "ä", "a_b", &"x".repeat(HEADER_NAME_BYTES_MAX + 1)] {
            assert_eq!(add(name, "x"), Err(HeaderError::Name), "{name:?}");
        }
        let long = "x".repeat(HEADER_VALUE_BYTES_MAX + 1);
        for value in ["a\r\nHost: b", "a\nb", "a\0b", "a\tb", "ü", &long] {
            assert_eq!(add("X-Key", value), Err(HeaderError::Value("x-key".to_owned())), "{value:.20}");
        }
        let mut headers = Headers::default();
        for n in 0..REQUEST_HEADERS_MAX {
            assert_eq!(headers.add(&format!("X-{n}"), "the value"), Ok(()));
        }
        assert_eq!(headers.add("X-More", "x"), Err(HeaderError::TooMany));
        assert!(!format!("{headers:?}").contains("the value"));
        let mut headers = Headers::default();
        assert_eq!(headers.add("X-A", "1"), Ok(()));
        assert_eq!(headers.add("x-a", "2"), Err(HeaderError::Twice("x-a".to_owned())));
    }
}
