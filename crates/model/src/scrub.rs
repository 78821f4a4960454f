//! Taking secrets out of what is written, in every coding in which they are likely to stand there.
//!
//! It looks for what it was told and guesses nothing: as it is, escaped for JSON (also within JSON within JSON), escaped
//! for addresses, in hexadecimal, and in base64 wherever the coding's groups of three bytes happen to begin.

use std::collections::BTreeSet;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// Shorter values are no secrets: they occur in any text.
pub const SECRET_BYTES_MIN: usize = 8;
/// What stands in place of a secret. It needs no escape in JSON.
pub const MARK: &str = "{secret}";
/// JSON within JSON within JSON.
const NESTING_MAX: usize = 3;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_ADDRESSES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The secrets that are taken out.
#[derive(Clone, Debug, Default)]
pub struct Scrub {
    /// Every form of every secret, the longest first, so that none leaves an end of another.
    forms: Vec<SecretString>,
}

impl Scrub {
    /// Of these secrets.
    #[must_use]
    pub fn of(secrets: &[SecretString]) -> Self {
        let mut forms = BTreeSet::new();
        for secret in secrets.iter().map(|secret| secret.expose_secret()) {
            // A key that was read from a file may have kept its line's end.
            for secret in [secret, secret.trim()] {
                if secret.len() >= SECRET_BYTES_MIN {
                    forms.extend(forms_of(secret));
                }
            }
        }
        let mut forms: Vec<String> = forms.into_iter().collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Scrub { forms: forms.into_iter().map(SecretString::from).collect() }
    }

    /// The text without them.
    #[must_use]
    pub fn text(&self, mut text: String) -> String {
        for form in self.forms.iter().map(|form| form.expose_secret()) {
            if text.contains(form) {
                text = text.replace(form, MARK);
            }
        }
        text
    }

    /// The value without them, of the same form: only its texts and the names of its fields change. It goes as deep as
    /// the value does, which whoever read it has bounded.
    #[must_use]
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.text(name), self.value(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }
}

/// Every form in which a secret may stand in a line.
fn forms_of(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let mut escaped = secret.to_owned();
    for _ in 0..NESTING_MAX {
        escaped = in_json(&escaped);
        forms.push(escaped.clone());
    }
    let upper = in_address(secret, |byte| format!("%{byte:02X}"));
    forms.push(upper.replace("%20", "+"));
    forms.push(upper);
    forms.push(in_address(secret, |byte| format!("%{byte:02x}")));
    forms.push(secret.bytes().map(|byte| format!("{byte:02x}")).collect());
    forms.push(secret.bytes().map(|byte| format!("{byte:02X}")).collect());
    for alphabet in [STANDARD, FOR_ADDRESSES] {
        forms.extend((0..3).map(|before| in_base64(secret.as_bytes(), before, alphabet)));
    }
    forms
}

/// As it stands between quotation marks.
fn in_json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted).to_owned()
}

/// As it stands in a query or a path.
fn in_address(text: &str, escape: impl Fn(u8) -> String) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => escape(byte),
        })
        .collect()
}

/// The characters that depend on the secret alone when so many bytes, modulo three, stand before it.
fn in_base64(secret: &[u8], before: usize, alphabet: &[u8; 64]) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.iter().copied()).collect();
    let bit = |at: usize| bytes.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
    // Characters that hold a bit of what stands before, or behind, are left out.
    let first = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    (first..end)
        .filter_map(|place| {
            let index = (0..6).fold(0, |index, at| index << 1 | usize::from(bit(place * 6 + at)));
            alphabet.get(index).map(|byte| char::from(*byte))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has what every coding changes.
    const SECRET: &str = "sk-a\"b\\c d+e/f=ü9";

    fn scrubbed(line: &str) -> String {
        Scrub::of(&[SecretString::from(SECRET)]).text(line.to_owned())
    }

    #[test]
    fn a_secret_is_found_as_it_is() {
        assert_eq!(scrubbed(&format!("Bearer {SECRET}.")), "Bearer {secret}.");
    }

    #[test]
    fn a_secret_is_found_escaped_for_json_and_within_json_in_json() {
        let once = serde_json::to_string(SECRET).unwrap();
        let twice = serde_json::to_string(&once).unwrap();
        let thrice = serde_json::to_string(&twice).unwrap();
        assert_eq!(scrubbed(&once), r#""{secret}""#);
        assert_eq!(scrubbed(&twice), r#""\"{secret}\"""#);
        assert_eq!(scrubbed(&thrice), r#""\"\\\"{secret}\\\"\"""#);
    }

    #[test]
    fn a_secret_is_found_in_an_address() {
        assert_eq!(scrubbed("?key=sk-a%22b%5Cc%20d%2Be%2Ff%3D%C3%BC9&x=1"), "?key={secret}&x=1");
        assert_eq!(scrubbed("?key=sk-a%22b%5Cc+d%2Be%2Ff%3D%C3%BC9"), "?key={secret}");
        assert_eq!(scrubbed("?key=sk-a%22b%5cc%20d%2be%2ff%3d%c3%bc9"), "?key={secret}");
    }

    #[test]
    fn a_secret_is_found_in_hexadecimal() {
        assert_eq!(scrubbed("x736b2d6122625c6320642b652f663dc3bc39."), "x{secret}.");
        assert_eq!(scrubbed("736B2D6122625C6320642B652F663DC3BC39"), "{secret}");
    }

    #[test]
    fn a_secret_is_found_in_base64_whatever_stands_around_it() {
        // "", "a:" and "ab:" before it, as other programs code them.
        for (coded, left) in [
            ("c2stYSJiXGMgZCtlL2Y9w7w5", ""),
            ("YTpzay1hImJcYyBkK2UvZj3DvDk=", "YTp"),
            ("YWI6c2stYSJiXGMgZCtlL2Y9w7w5", "YWI6"),
            ("Onx6c2stYSJiXGMgZCtlL2Y9w7w5Onp6", "Onx6"),
        ] {
            let found = scrubbed(coded);
            assert!(
                found.contains(MARK) && found.starts_with(left) && found.len() < left.len() + 14,
                "{found}"
            );
        }
        let secret = SecretString::from("key>>>???~~~key");
        let coded = "a2V5Pj4-Pz8_fn5-a2V5";
        assert_eq!(Scrub::of(&[secret]).text(coded.to_owned()), MARK);
    }

    #[test]
    fn what_ends_with_its_line_is_found_without_it_and_what_is_too_short_is_no_secret() {
        let scrub =
            Scrub::of(&[SecretString::from("s3cr3t-key\n"), SecretString::from("a"), SecretString::from("")]);
        assert_eq!(scrub.text("a s3cr3t-key b".to_owned()), "a {secret} b");
        let short = "x".repeat(SECRET_BYTES_MIN - 1);
        let shortest = format!("{short}y");
        let scrub = Scrub::of(&[SecretString::from(short.as_str()), SecretString::from(shortest.as_str())]);
        assert_eq!(scrub.text(format!("{short} {shortest}")), format!("{short} {{secret}}"));
        assert!(!format!("{scrub:?}").contains("xxx"));
    }

    #[test]
    fn a_secret_that_begins_like_another_leaves_nothing_of_it() {
        let scrub = Scrub::of(&[SecretString::from("sk-begin"), SecretString::from("sk-begin-and-two")]);
        assert_eq!(scrub.text("sk-begin-and-two, sk-begin".to_owned()), "{secret}, {secret}");
    }

    #[test]
    fn a_value_keeps_its_form() {
        let scrub = Scrub::of(&[SecretString::from("s3cr3t-key")]);
        let value =
            serde_json::json!({ "path": "s3cr3t-key", "s3cr3t-key": [1, "a s3cr3t-key", null], "n": 7.5 });
        let expected =
            serde_json::json!({ "path": "{secret}", "{secret}": [1, "a {secret}", null], "n": 7.5 });
        assert_eq!(scrub.value(value), expected);
    }
}
