//! Whether a word of a command line or an address holds a key. It may suspect too much: the server is left out then, with
//! the reason.

use url::Url;

/// Parts of names whose value is a key.
const NAMES: &[&str] = &["key", "token", "secret", "password", "passwd", "credential", "bearer", "auth"];
/// Beginnings of the keys of well-known services.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "eyJ",
    "ya29.",
    "hf_",
    "npm_",
    "Bearer ",
];
/// Shortest word of letters and digits that is taken for a key, and the digits that it has at least.
const RANDOM_CHARS_MIN: usize = 24;
const RANDOM_DIGITS_MIN: usize = 4;

/// Returns the number, from 1, of the argument that holds a key.
pub(super) fn in_arguments(arguments: &[String]) -> Option<usize> {
    let mut is_named = false;
    for (n, argument) in arguments.iter().enumerate() {
        if is_named && !argument.starts_with('-') || is_key(argument) {
            return Some(n + 1);
        }
        let (name, value) = argument.split_once('=').map_or((argument.as_str(), None), |(a, b)| (a, Some(b)));
        if value.is_some_and(|value| (names_key(name) && !value.is_empty()) || is_key(value)) {
            return Some(n + 1);
        }
        // `--api-key VALUE`
        is_named = value.is_none() && argument.starts_with('-') && names_key(argument);
    }
    None
}

/// Returns whether an address holds a key.
pub(super) fn in_address(url: &Url) -> bool {
    url.password().is_some()
        || !url.username().is_empty()
        || url.query_pairs().any(|(name, value)| names_key(&name) || is_key(&value))
        || url.path_segments().into_iter().flatten().any(is_key)
}

fn names_key(name: &str) -> bool {
    let name = name.to_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

fn is_key(word: &str) -> bool {
    let is_random = || {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let digits = word.chars().filter(char::is_ascii_digit).count();
        word.chars().count() >= RANDOM_CHARS_MIN && word.chars().all(is_part) && digits >= RANDOM_DIGITS_MIN
    };
    let has_password = || Url::parse(word).is_ok_and(|url| url.password().is_some());
    BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)) || has_password() || is_random()
}
