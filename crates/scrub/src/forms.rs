//! The forms in which programs print a secret.

use std::collections::BTreeSet;

/// JSON within JSON within JSON.
const NESTING_MAX: usize = 3;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_ADDRESSES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns the secret as text: as it is and reversed, both also escaped for JSON, and in base64.
pub(crate) fn of_text(secret: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = Vec::new();
    for text in [secret.to_owned(), secret.chars().rev().collect()] {
        let nested = std::iter::successors(Some(text), |text| Some(in_json(text)));
        forms.extend(nested.take(1 + NESTING_MAX));
    }
    // The form encoding of a web page; `View::text` decodes its percent-encoding.
    forms.push(secret.replace(' ', "+"));
    for alphabet in [STANDARD, FOR_ADDRESSES] {
        forms.extend((0..3).map(|before| in_base64(secret.as_bytes(), before, alphabet)));
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// Returns the secret in hexadecimal: byte by byte, and in words of two swapped bytes, from an even and from an odd
/// offset on (as `od -x` and `hexdump` print on a little-endian machine).
pub(crate) fn of_hex(secret: &[u8]) -> BTreeSet<Vec<u8>> {
    let hex = |bytes: &mut dyn Iterator<Item = u8>| -> Vec<u8> {
        bytes.flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
    };
    let swapped = |from: usize| {
        let words = secret.get(from..).unwrap_or_default().chunks_exact(2);
        hex(&mut words.flat_map(|word| word.iter().rev().copied()))
    };
    [hex(&mut secret.iter().copied()), swapped(0), swapped(1)].into()
}

/// Escapes the text as JSON does between quotation marks.
fn in_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted).to_owned()
}

/// Returns the base64 characters that depend only on the secret, with this many bytes before it (modulo three).
fn in_base64(secret: &[u8], before: usize, alphabet: &[u8; 64]) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.iter().copied()).collect();
    let bit = |at: usize| bytes.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
    // Leave out characters that hold a bit of the bytes before or after.
    let first = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    (first..end)
        .filter_map(|place| {
            let index = (0..6).fold(0, |index, at| index << 1 | usize::from(bit(place * 6 + at)));
            alphabet.get(index).map(|byte| char::from(*byte))
        })
        .collect()
}
