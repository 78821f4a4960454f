//! No value of a key leaves: a corpus of keys through every output, and a server that repeats its key.

mod corpus;
mod hostile;
mod sent;

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

/// Characters of a key that count as a leak, or all of a shorter one.
const PIECE_CHARS: usize = 16;

/// The names of the encodings, in the order of [`encoded`].
const ENCODINGS: [&str; 8] =
    ["raw", "reversed", "base64", "base64url", "hex", "HEX", "percent", "JSON numbers"];

/// Returns the value in each encoding.
fn encoded(value: &str) -> [String; 8] {
    let bytes = value.as_bytes();
    let each = |format: fn(u8) -> String| bytes.iter().map(|byte| format(*byte)).collect::<String>();
    [
        value.to_owned(),
        value.chars().rev().collect(),
        base64(bytes, b'+', b'/'),
        base64(bytes, b'-', b'_').trim_end_matches('=').to_owned(),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("{byte:02X}")),
        each(|byte| format!("%{byte:02X}")),
        value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
    ]
}

/// Encodes by the definition of RFC 4648: the code under test has a way of its own.
fn base64(bytes: &[u8], of_62: u8, of_63: u8) -> String {
    let digit = |value: u32| match value {
        0..=25 => b'A' + value as u8,
        26..=51 => b'a' + (value - 26) as u8,
        52..=61 => b'0' + (value - 52) as u8,
        62 => of_62,
        _ => of_63,
    };
    let group = |three: &[u8]| {
        let bits =
            three.iter().chain([0; 2].iter()).take(3).fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let digits = (0..4).map(move |at| char::from(digit(bits >> (18 - 6 * at) & 63)));
        let kept = three.len() + 1;
        digits.enumerate().map(move |(at, digit)| if at < kept { digit } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// Finds keys in outputs, in every encoding. Whitespace does not count, and the escapes of JSON and HTML are read as
/// they are and as what they mean, once and twice.
struct Search {
    names: Vec<String>,
    /// Every form as a whole.
    forms: AhoCorasick,
    /// The beginning and the end of every form.
    pieces: AhoCorasick,
}

impl Search {
    fn new(keys: &[String]) -> Self {
        let (mut names, mut forms, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
        for key in keys {
            for (form, encoding) in encoded(key).iter().zip(ENCODINGS) {
                let chars: Vec<char> = bare(form).chars().collect();
                let length = (chars.len() * PIECE_CHARS / key.chars().count()).min(chars.len());
                let (head, tail) = (chars.iter().take(length), chars.iter().skip(chars.len() - length));
                pieces.extend([head.collect::<String>(), tail.collect()]);
                forms.push(bare(form));
                names.push(format!("{key:.12} in {encoding}"));
            }
        }
        let search = |patterns: &[String]| AhoCorasick::new(patterns).unwrap();
        Search { names, forms: search(&forms), pieces: search(&pieces) }
    }

    /// Returns what is in the text as a whole.
    fn whole(&self, text: &str) -> BTreeSet<&str> {
        self.found(text, &self.forms, 1)
    }

    /// Returns what is in the text at least in part.
    fn leaks(&self, text: &str) -> BTreeSet<&str> {
        self.found(text, &self.pieces, 2)
    }

    fn found(&self, text: &str, search: &AhoCorasick, per_form: usize) -> BTreeSet<&str> {
        let plain = without_html(text);
        let once = without_json(&plain);
        let mut found = BTreeSet::new();
        for text in [text, &plain, &once, &without_json(&once)] {
            let hits = search
                .find_overlapping_iter(&bare(text))
                .map(|hit| hit.pattern().as_usize())
                .collect::<BTreeSet<_>>();
            found.extend(
                hits.into_iter().filter_map(|number| self.names.get(number / per_form)).map(String::as_str),
            );
        }
        found
    }
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn without_html(text: &str) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Takes the escapes of JSON strings away, wherever they are.
fn without_json(text: &str) -> String {
    let (mut plain, mut chars) = (Vec::new(), text.chars().peekable());
    let push = |c: char, plain: &mut Vec<u16>| plain.extend(c.encode_utf16(&mut [0; 2]).iter());
    while let Some(c) = chars.next() {
        if c != '\\' {
            push(c, &mut plain);
            continue;
        }
        match chars.next() {
            Some('n' | 't' | 'r') => push(' ', &mut plain),
            Some('u') => {
                let digits: String =
                    std::iter::from_fn(|| chars.next_if(char::is_ascii_hexdigit)).take(4).collect();
                match u16::from_str_radix(&digits, 16) {
                    Ok(unit) if digits.len() == 4 => plain.push(unit),
                    _ => format!("\\u{digits}").chars().for_each(|c| push(c, &mut plain)),
                }
            }
            Some(other) => push(other, &mut plain),
            None => {}
        }
    }
    String::from_utf16_lossy(&plain)
}

#[test]
fn encodings_are_those_of_other_programs() {
    let [raw, reversed, base64, base64url, hex, upper, percent, numbers] = encoded("a\u{fc}>?~");
    assert_eq!((raw.as_str(), reversed.as_str()), ("aü>?~", "~?>üa"));
    // printf 'aü>?~' | base64; … | xxd -p
    assert_eq!((base64.as_str(), base64url.as_str()), ("YcO8Pj9+", "YcO8Pj9-"));
    assert_eq!((hex.as_str(), upper.as_str()), ("61c3bc3e3f7e", "61C3BC3E3F7E"));
    assert_eq!(
        (percent.as_str(), numbers.as_str()),
        ("%61%C3%BC%3E%3F%7E", "\\u0061\\u00fc\\u003e\\u003f\\u007e")
    );
    assert_eq!(encoded("ab")[2], "YWI=");
    let search = Search::new(&["x\u{fc}b\"y-and-what-goes-on".to_owned()]);
    let found = |text: &str| search.leaks(text).into_iter().map(str::to_owned).collect::<Vec<_>>();
    for text in [
        "xüb\"y-and-what-goes-on",
        r#"{"a":"{\"b\":\"x\\u00fcb&quot;y-and\n-what-g"}"}"#,
        "y-and-what-goes-on",
    ] {
        assert_eq!(found(text).first().map(String::as_str), Some("xüb\"y-and-wh in raw"), "{text}");
    }
    assert_eq!(found("xüb\"y-and-w, what-goes-on"), Vec::<String>::new());
    assert!(search.whole("xüb\"y-and-what-goes-o").is_empty());
}
