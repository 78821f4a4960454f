//! The body of a page as text.

use encoding_rs::{Encoding, UTF_8};

/// Bytes of an HTML page in which it must declare its encoding, as in browsers.
const META_BYTES_MAX: usize = 1_024;

/// Media types that are text although they do not begin with `text/`.
const TEXTS: &[&str] = &[
    "application/ecmascript",
    "application/javascript",
    "application/json",
    "application/jsonl",
    "application/toml",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
];

/// What is in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text {
        text: String,
        /// Whether it is HTML.
        is_html: bool,
        /// Bytes that were read.
        bytes: usize,
        /// Whether that is all of it.
        is_complete: bool,
        /// Whether some bytes were not text in its encoding; U+FFFD replaces them.
        is_lossy: bool,
    },
    /// Something else, which was not read.
    Other {
        /// Its size, as the server tells it.
        bytes: Option<u64>,
    },
}

/// A media type, as a server names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Media {
    /// Type and subtype in lower case.
    pub(crate) essence: String,
    charset: Option<&'static Encoding>,
}

impl Media {
    pub(crate) fn of(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.filter_map(|part| part.split_once('=')).find_map(|(name, value)| {
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| Encoding::for_label(value.trim().trim_matches('"').as_bytes())).flatten()
        });
        Media { essence, charset }
    }

    pub(crate) fn is_text(&self) -> bool {
        let essence = self.essence.as_str();
        let is_text = essence.starts_with("text/") || essence.ends_with("+json") || essence.ends_with("+xml");
        is_text && !essence.starts_with("image/") || TEXTS.contains(&essence)
    }

    fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }

    /// Decodes a body: by its mark of byte order, the server's word, the page's word, or as UTF-8.
    pub(crate) fn decoded(&self, bytes: &[u8], is_complete: bool) -> Body {
        let is_html = self.is_html();
        let declared = || if is_html { declared(bytes) } else { None };
        let encoding = self.charset.or_else(declared).unwrap_or(UTF_8);
        let mut decoder = encoding.new_decoder();
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default());
        // The end of what was cut may be half a character, which is not a fault.
        let (_, _, is_lossy) = decoder.decode_to_string(bytes, &mut text, is_complete);
        Body::Text { text, is_html, bytes: bytes.len(), is_complete, is_lossy }
    }
}

/// Returns the encoding that a page declares in a `meta` element.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..META_BYTES_MAX).unwrap_or(bytes).to_ascii_lowercase();
    let start = String::from_utf8_lossy(&start);
    let (_, meta) = start.split_once("<meta")?;
    let (_, label) = meta.split_once("charset")?;
    let label = label.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let label = label.split(['"', '\'', '>', ';', '/', ' ']).next()?;
    // A page that could be read this far as ASCII is not UTF-16.
    Encoding::for_label(label.as_bytes()).map(Encoding::output_encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str, bytes: &[u8]) -> (String, bool) {
        match Media::of(header).decoded(bytes, true) {
            Body::Text { text, is_lossy, .. } => (text, is_lossy),
            Body::Other { .. } => panic!("no text"),
        }
    }

    #[test]
    fn text_is_decoded_by_what_names_its_encoding() {
        for (header, bytes, text) in [
            ("text/plain", "grün".as_bytes(), "grün"),
            ("text/plain; charset=ISO-8859-1", b"gr\xfcn", "grün"),
            ("text/plain; Charset=\"windows-1252\"", b"\x80", "€"),
            ("text/plain; charset=nonsense", "grün".as_bytes(), "grün"),
            ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbfgr\xc3\xbcn", "grün"),
            ("text/html", b"<meta charset=latin1>gr\xfcn", "<meta charset=latin1>grün"),
            (
                "text/html",
                b"<META http-equiv=x content='text/html; charset=koi8-r'>\xc1",
                "<META http-equiv=x content='text/html; charset=koi8-r'>а",
            ),
            ("text/html", "<meta charset=utf-16>ü".as_bytes(), "<meta charset=utf-16>ü"),
            ("text/html; charset=utf-8", "<meta charset=latin1>ü".as_bytes(), "<meta charset=latin1>ü"),
            ("text/plain", b"<meta charset=latin1>x", "<meta charset=latin1>x"),
        ] {
            assert_eq!(read(header, bytes), (text.to_owned(), false), "{header}");
        }
        assert_eq!(read("text/plain", b"gr\xfcn"), ("gr\u{fffd}n".to_owned(), true));
    }

    #[test]
    fn half_a_character_at_a_cut_is_no_loss() {
        let Body::Text { text, is_lossy, is_complete, .. } =
            Media::of("text/plain").decoded("aü".as_bytes().split_at(2).0, false)
        else {
            panic!("no text")
        };
        assert_eq!((text.as_str(), is_lossy, is_complete), ("a", false, false));
    }

    #[test]
    fn only_text_is_text() {
        for header in [
            "text/html; charset=x",
            "TEXT/Plain",
            "application/json",
            "application/ld+json",
            "application/atom+xml",
            "application/xhtml+xml",
        ] {
            assert!(Media::of(header).is_text(), "{header}");
        }
        for header in [
            "",
            "application/octet-stream",
            "image/png",
            "image/svg+xml",
            "application/pdf",
            "video/mp4",
            "application/zip",
        ] {
            assert!(!Media::of(header).is_text(), "{header}");
        }
    }
}
