//! What is a key by its form: the kinds of keys that begin with a mark of their own.
//!
//! Hashes, UUIDs and other random words have no such mark and are not taken for keys.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// Who makes keys of a form, and the form. The expressions are searched without backtracking, in linear time.
const FORMS: &[(&str, &str)] = &[
    (
        "a private key",
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n)+[A-Za-z0-9+/]{4}",
    ),
    ("a key of GitHub", r"\b(?:gh[opsur]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40})"),
    ("a key of GitLab", r"\bglpat-[A-Za-z0-9_-]{20}"),
    ("a key of Anthropic", r"\bsk-ant-[A-Za-z0-9_-]{32}"),
    ("a key of OpenAI", r"\bsk-(?:proj-|svcacct-)[A-Za-z0-9_-]{32}|\bsk-[A-Za-z0-9]{32}"),
    ("a key of AWS", r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    ("a key of Google", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a key of Slack", r"\bxox[abeprs]-[A-Za-z0-9-]{20}|\bxapp-1-[A-Za-z0-9-]{20}"),
    ("a key of Slack", r"\bhooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20}"),
    ("a key of Azure", r"\bAccountKey=[A-Za-z0-9+/]{64}"),
    ("a key of DigitalOcean", r"\bdop_v1_[a-f0-9]{64}"),
    ("a key of Vault", r"\bhvs\.[A-Za-z0-9_-]{24}"),
    ("a key of age", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50}"),
    ("a key of Stripe", r"\b[rs]k_live_[A-Za-z0-9]{20}"),
    ("a key of npm", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a key of PyPI", r"\bpypi-AgE[A-Za-z0-9_-]{40}"),
    ("a key of Hugging Face", r"\bhf_[A-Za-z0-9]{34}"),
    ("a key of SendGrid", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{40}"),
    ("a signed token (JWT)", r"\beyJ[A-Za-z0-9_-]{16,4096}\.eyJ[A-Za-z0-9_-]{16,8192}\.[A-Za-z0-9_-]{32}"),
];

/// Ends the key that documentation of AWS shows.
const SAMPLE: &str = "EXAMPLE";
/// A placeholder has fewer different characters after its mark.
const DIFFERENT_CHARS_MIN: usize = 10;
/// The last characters of a match, which no mark reaches.
const RANDOM_CHARS: usize = 16;

static SEARCHES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let search = |(kind, form): &(&'static str, &str)| Some((*kind, Regex::new(form).ok()?));
    FORMS.iter().filter_map(search).collect()
});

/// Returns the kinds of keys that a text seems to hold.
pub(super) fn in_text(text: &str) -> BTreeSet<&'static str> {
    let searches = SEARCHES.iter();
    let is_there = |search: &Regex, kind: &str| {
        search.find_iter(text).any(|found| kind == "a private key" || is_random(found.as_str()))
    };
    searches.filter(|(kind, search)| is_there(search, kind)).map(|(kind, _)| *kind).collect()
}

/// Returns whether a key was made at random: it is not a placeholder.
fn is_random(key: &str) -> bool {
    let random: BTreeSet<char> = key.chars().rev().take(RANDOM_CHARS).collect();
    let has_digit = key.bytes().any(|byte| byte.is_ascii_digit());
    !key.ends_with(SAMPLE) && has_digit && random.len() >= DIFFERENT_CHARS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_searched_for() {
        assert_eq!(SEARCHES.len(), FORMS.len());
    }

    #[test]
    fn keys_are_known_by_their_form() {
        // Put together here, so that no scanner of repositories finds a key.
        let begin = "-----BEGIN ";
        let word = "Zq81LmXv0TtR5bNcYw7HdGf2KpAeUi3oJsQ9xVnB4gWkMz6hCyDrSlEaPtFjOuIb";
        for (key, kind) in [
            (format!("ghp_{word:.36}"), "a key of GitHub"),
            (format!("github_pat_{word:.59}"), "a key of GitHub"),
            (format!("glpat-{word:.20}"), "a key of GitLab"),
            (format!("sk-ant-api03-{word}"), "a key of Anthropic"),
            (format!("sk-proj-{word}"), "a key of OpenAI"),
            (format!("sk-{word:.48}"), "a key of OpenAI"),
            (format!("AKIA{}", "Q7ZL3MNXV5T2RBWC"), "a key of AWS"),
            (format!("AIza{word:.35}"), "a key of Google"),
            (format!("xoxb-17653672481-{word:.24}"), "a key of Slack"),
            (format!("https://hooks.slack.com/services/T0A1B2C3D/B4E5F6G7H/{word:.24}"), "a key of Slack"),
            (format!("AccountName=x;AccountKey={word}{word:.22}=="), "a key of Azure"),
            (
                format!("dop_v1_{}{}", "0a1b2c3d4e5f6789", "9f8e7d6c5b4a3210".repeat(3)),
                "a key of DigitalOcean",
            ),
            (format!("hvs.{word:.40}"), "a key of Vault"),
            (format!("AGE-SECRET-KEY-1{}", word.to_uppercase()), "a key of age"),
            (format!("sk_live_{word:.24}"), "a key of Stripe"),
            (format!("npm_{word:.36}"), "a key of npm"),
            (format!("pypi-AgEIcHlwaS5vcmc{word}"), "a key of PyPI"),
            (format!("hf_{word:.34}"), "a key of Hugging Face"),
            (format!("SG.{word:.22}.{word:.43}"), "a key of SendGrid"),
            (format!("eyJhbGciOiJIUzI1NiJ9.eyJ{word:.40}.{word:.43}"), "a signed token (JWT)"),
            (format!("{begin}PRIVATE KEY-----\nMIIEabc\n"), "a private key"),
            (format!("+{begin}OPENSSH PRIVATE KEY-----\n+b3BlbnNz"), "a private key"),
            (format!("{begin}RSA PRIVATE KEY-----\\nMIIE"), "a private key"),
        ] {
            assert_eq!(in_text(&format!("x = \"{key}\";")), [kind].into(), "{key}");
        }
    }

    #[test]
    fn ordinary_text_has_no_keys() {
        for text in [
            "commit 4f9c02be71d38a65e04f9c02be71d38a65e04f9c",
            "integrity sha512-Zq81LmXv0TtR5bNcYw7HdGf2KpAeUi3oJsQ9xVnB4gWkMz6hCyDrSlEaPtFjOuIb==",
            "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
            "123e4567-e89b-12d3-a456-426614174000",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-ant-your-key-goes-here-your-key-goes-here",
            "class=\"sk-circle-fade-dot sk-folding-cube-in-the-middle-of-it\"",
            "if text.starts_with(\"-----BEGIN PRIVATE KEY-----\") {",
            "-----BEGIN CERTIFICATE-----\nMIIDabcdefgh",
            "-----BEGIN PRIVATE KEY-----\n...",
        ] {
            assert_eq!(in_text(text), [""; 0].into(), "{text}");
        }
    }
}
