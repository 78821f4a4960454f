//! Whether a word of a command line or an address holds a key. It may suspect too much: the server is left out then, with
//! the reason.

use url::Url;

/// Parts of names whose value is a key.
const NAMES: &[&str] =
    &["key", "token", "secret", "password", "passwd", "passphrase", "pwd", "credential", "bearer", "auth"];
/// Short options whose value may be a password.
const SHORT: &[&str] = &["-p", "-P"];
/// Signs that passwords have, and names of packages, paths and options do not.
const SIGNS: &[char] = &['!', '#', '$', '%', '^', '&', '*'];
/// Shortest word that is taken for a password.
const PASSWORD_CHARS_MIN: usize = 8;
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
        if is_named && !argument.starts_with('-') || holds_key(argument) {
            return Some(n + 1);
        }
        // `--api-key VALUE`, and `-p VALUE` unless it is a port.
        let next = arguments.get(n + 1);
        let is_port = next.is_some_and(|value| value.chars().all(|c| c.is_ascii_digit() || c == ':'));
        is_named = argument.starts_with('-')
            && !argument.contains('=')
            && (names_key(argument) || SHORT.contains(&argument.as_str()) && !is_port);
    }
    None
}

/// Returns whether a text holds a key, as a word or as the value of a name: `X-Api-Key: VALUE`, `Host=a;Password=VALUE`.
fn holds_key(text: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | ',' | '"' | '\'');
    let has_key_word = text.split(is_between).flat_map(|word| word.split(['=', ':'])).any(is_key);
    let is_value = |part: &str| {
        let (name, value) = part.split_once('=').or_else(|| part.split_once(": ")).unwrap_or((part, ""));
        names_key(name) && !value.trim().is_empty()
    };
    is_key(text) || has_key_word || text.split([';', '&', '\n']).any(is_value)
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
    // Letters of both kinds, digits and signs.
    let is_password = || {
        let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
        word.chars().count() >= PASSWORD_CHARS_MIN
            && has(char::is_ascii_uppercase)
            && has(char::is_ascii_lowercase)
            && has(char::is_ascii_digit)
            && word.contains(SIGNS)
    };
    BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
        || has_password()
        || is_random()
        || is_password()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_hold_a_key_are_found() {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for list in [
            &["--header", "Authorization: Bearer ghp_0123"][..],
            &["--header", "Authorization: hunter22"],
            &["-H", "X-API-Key: abc"],
            &["--header=X-API-Key:sk-abc"],
            &["-p", "S3cr3tS3cr3t"],
            &["--connection-string", "Server=db;User=sa;Password=hunter2"],
            &["P@ssw0rd!2024"],
            &["--api-key", "abc"],
            &["--token=abc"],
        ] {
            assert!(in_arguments(&words(list)).is_some(), "{list:?}");
        }
        for list in [
            &["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/home/ada/Work"][..],
            &["-p", "8080"],
            &["-p", "127:80"],
            &["--header", "Accept: text/plain"],
            &["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
            &["--config", "a=b;c=d"],
        ] {
            assert_eq!(in_arguments(&words(list)), None, "{list:?}");
        }
    }
}
