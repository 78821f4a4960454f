//! The values in files that hold keys which look like keys: what a name like `API_KEY` or `password` has, the password
//! of a URL, private keys, and long words that mix letters and digits.
//!
//! Ordinary words do not count, or every answer would seem to hold a key. So a password that is one word of letters is
//! not known by its value.

use std::collections::BTreeSet;

use secrecy::SecretString;
use setpoint_scrub::SECRET_BYTES_MIN;

/// Parts of names whose values are keys; lower case.
const NAMES: &[&str] =
    &["key", "token", "secret", "passw", "passphrase", "pwd", "credential", "bearer", "auth", "dbpass"];
/// Minimum of different characters that a value chosen at random has.
const DIFFERENT_CHARS_MIN: usize = 5;
/// Shortest value of a name that counts although it has only letters, or only digits.
const PLAIN_CHARS_MIN: usize = 16;
/// Shortest number that counts; seconds and milliseconds are given in fewer digits.
const NUMBER_CHARS_MIN: usize = 12;
/// Fields before the password in a line of `.pgpass`.
const PGPASS_FIELDS: usize = 4;
/// Shortest word that counts without a name.
const WORD_CHARS_MIN: usize = 16;
/// Shortest part of such a word that mixes letters and digits.
const PART_CHARS_MIN: usize = 8;
/// Letters, and digits, that such a part has at least.
const MIXED_MIN: usize = 2;
/// Longest name before a value, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Begins and ends the first line of a private key.
const PRIVATE: (&str, &str) = ("-----BEGIN ", "PRIVATE KEY");

/// Returns the values of a text. `has_words` says whether words without a name count.
pub(super) fn in_text(text: &str, has_words: bool) -> Vec<SecretString> {
    let mut values: BTreeSet<&str> = BTreeSet::new();
    let mut is_in_block = false;
    for line in text.lines() {
        // Private keys are taken whole, and a certificate is public.
        is_in_block = (is_in_block || line.starts_with(PRIVATE.0)) && !line.starts_with("-----END");
        values.extend(named(line).filter(|value| is_telling(value)));
        values.extend(in_addresses(line).filter(|value| is_telling(value)));
        if has_words && !is_in_block {
            values.extend(words(line));
            values.extend(of_pgpass(line).filter(|value| is_telling(value)));
            values.extend(lone(line).filter(|value| is_telling(value)));
        }
    }
    let values = values.into_iter().map(str::to_owned).chain(private_keys(text));
    values.filter(|value| value.len() >= SECRET_BYTES_MIN).map(SecretString::from).collect()
}

/// Returns the password of a line of `.pgpass`: `host:port:database:user:password`.
fn of_pgpass(line: &str) -> Option<&str> {
    let mut fields = line.splitn(PGPASS_FIELDS + 1, ':');
    let is_port = |port: &str| port == "*" || port.parse::<u16>().is_ok();
    fields.nth(1).filter(|port| is_port(port))?;
    fields.nth(PGPASS_FIELDS - 2)
}

/// Returns the value of any name, and the last word of a line of one or two words, if letters and digits mix in it.
fn lone(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim();
    let is_short = line.split_whitespace().count() <= 2 && !line.starts_with('#');
    let last = line.split_whitespace().next_back().filter(|_| is_short);
    let given = line.split_once(['=', ':']).map(|(_, value)| value.trim().trim_matches(['"', '\'']));
    let is_one = |value: &&str| !value.contains([' ', '=', ':', '/']) && !value.starts_with('#');
    let is_random = |value: &&str| value.split(['-', '_', '.']).any(is_mixed);
    [last, given].into_iter().flatten().filter(is_one).filter(is_random)
}

/// Returns whether a text has a line such as `API_KEY=value`, also in a diff: settings, where code would have a blank or small
/// letters.
pub(super) fn has_settings(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(['+', '-', ' ']);
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, _)) = line.split_once('=') else { return false };
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        !name.is_empty() && name.chars().all(is_name) && named(line).any(is_telling)
    })
}

/// Returns what a line gives to names of keys: `A_KEY=x`, `key: x`, `"key": "x"`, `'KEY', 'x'`, `<key>x<`, `password x`.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let given = line.char_indices().filter_map(|(at, sign)| {
        let (before, rest) = line.split_at_checked(at)?;
        if !matches!(sign, '=' | ':' | '>' | ',') || !names_key(before, sign) {
            return None;
        }
        // `:=`, `=>`, `==`
        let rest = rest.trim_start_matches(['=', ':', '>', ',']).trim_start();
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'));
        Some(match quote {
            Some(quote) => rest.split(quote).nth(1).unwrap_or_default(),
            None if sign == '>' => rest.split('<').next().unwrap_or_default(),
            None => rest
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .trim_end_matches([',', ';', '}', ')', ']', '"', '\'']),
        })
    });
    // The form of `.netrc`.
    let mut words = line.split_whitespace();
    let spaced = std::iter::from_fn(move || {
        words.by_ref().find(|word| matches!(*word, "password" | "passwd"))?;
        words.next()
    });
    given.chain(spaced)
}

/// Returns whether the name at the end of a text is that of a key.
fn names_key(before: &str, sign: char) -> bool {
    let before = before.trim_end();
    let bare = before.trim_end_matches(['"', '\'', '`']);
    // A comma comes after many words; after a quoted one it may separate it from its value.
    if sign == ',' && bare.len() == before.len() {
        return false;
    }
    let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = bare.chars().rev().take_while(is_part).take(NAME_CHARS_MAX).collect();
    let name = name.chars().rev().collect::<String>().to_lowercase();
    NAMES.iter().any(|part| name.contains(part)) || name.ends_with("pass")
}

/// Returns whether the value of a name is unlikely to be an ordinary word.
fn is_telling(value: &str) -> bool {
    let chars = value.chars().count();
    let different = value.chars().collect::<BTreeSet<char>>().len();
    let is_word = value.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '_' | '.' | ' '));
    let is_number = value.chars().all(|c| c.is_ascii_digit() || c == '.');
    value.len() >= SECRET_BYTES_MIN
        && different >= DIFFERENT_CHARS_MIN
        && (chars >= PLAIN_CHARS_MIN || !(is_word || is_number) || (is_number && chars >= NUMBER_CHARS_MIN))
        && !is_reference(value)
        && !is_place(value)
}

/// Returns whether a value only says where another one is: `$TOKEN`, `${TOKEN}`, `{{ token }}`, `<your token>`.
fn is_reference(value: &str) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    ["${", "$(", "{{", "<", "%("].iter().any(|begin| value.starts_with(begin))
        || value.strip_prefix('$').is_some_and(is_name)
}

/// Returns whether a value is a path, the name of a host, or an address.
fn is_place(value: &str) -> bool {
    let is_low = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | '/');
    let is_path = ["/", "./", "../", "~/"].iter().any(|begin| value.starts_with(begin));
    let host = value.rsplit('@').next().unwrap_or(value);
    let host = host.split(':').next().unwrap_or(host);
    let is_host = host.contains('.')
        && host.chars().all(is_low)
        && host.rsplit('.').next().is_some_and(|end| end.chars().all(|c| c.is_ascii_lowercase()));
    value.contains("://") || (is_path && value.trim_start_matches('~').chars().all(is_low)) || is_host
}

/// Returns the passwords of URLs in a line, and users without one: `https://TOKEN@github.com`.
fn in_addresses(line: &str) -> impl Iterator<Item = &str> {
    line.split("://").skip(1).filter_map(|rest| {
        let authority = rest.split(|c: char| c.is_whitespace() || "/?#\"'`<>".contains(c)).next()?;
        let (user, _) = authority.rsplit_once('@')?;
        Some(user.split_once(':').map_or(user, |(_, password)| password))
    })
}

/// Returns the long words of a line that mix letters and digits.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| !(c.is_ascii_alphanumeric() || "_-+/=".contains(c));
    line.split(is_between).map(|word| word.trim_matches('=')).filter(|word| {
        let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
        // Base64 may have a slash; so has a path, which rarely has capital letters and digits too.
        let is_path = word.contains('/') && !(has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit));
        word.len() >= WORD_CHARS_MIN && !is_path && word.split(['-', '_', '=']).any(is_mixed)
    })
}

fn is_mixed(part: &str) -> bool {
    let count = |is: fn(&u8) -> bool| part.bytes().filter(is).count();
    part.len() >= PART_CHARS_MIN
        && count(u8::is_ascii_alphabetic) >= MIXED_MIN
        && count(u8::is_ascii_digit) >= MIXED_MIN
}

/// Returns the base64 of each private key in a text, without what is around it.
fn private_keys(text: &str) -> Vec<String> {
    // In JSON a key is one line.
    let text = text.replace("\\n", "\n");
    let blocks = text.split(PRIVATE.0).skip(1).filter_map(|block| {
        let (kind, rest) = block.split_once(PRIVATE.1)?;
        let is_kind = kind.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
        let body = rest.split("-----END").next()?;
        // `Proc-Type: 4,ENCRYPTED` and the like.
        let lines = body.lines().skip(1).map(str::trim).filter(|line| !line.contains(':'));
        is_kind.then(|| lines.collect::<String>())
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn taken(text: &str) -> Vec<String> {
        in_text(text, true).iter().map(|value| value.expose_secret().to_owned()).collect()
    }

    #[test]
    fn values_of_keys_are_taken_in_the_forms_of_their_files() {
        for (text, value) in [
            ("API_KEY=hunter2secret99", "hunter2secret99"),
            ("export DB_PASSWORD='p4ss, word!'", "p4ss, word!"),
            ("token: s3cret-a-b-c  # comment", "s3cret-a-b-c"),
            ("  \"clientSecret\" : \"ab12;cd34\",", "ab12;cd34"),
            ("password = \"tr0ub4dor&3\"", "tr0ub4dor&3"),
            ("define( 'DB_PASSWORD', 'x9!yz0?ab' );", "x9!yz0?ab"),
            ("'secret' => 'p4ssw0rd99',", "p4ssw0rd99"),
            ("<password>un1que-val</password>", "un1que-val"),
            ("machine h.example login ada password q1w2e3r4t5", "q1w2e3r4t5"),
            ("DATABASE_URL=postgres://ada:s3cr3tpw@db.example.com:5432/x", "s3cr3tpw"),
            ("https://gh0token1234567@github.com", "gh0token1234567"),
            ("//registry.example.org/:_authToken=np0m1a2b3c", "np0m1a2b3c"),
            ("correct = 4f9c02be71d38a65e04f9c02be71d38a", "4f9c02be71d38a65e04f9c02be71d38a"),
            ("API_TOKEN=correct-horse-battery", "correct-horse-battery"),
            ("h:5432:db:user:hunterTwo99x", "hunterTwo99x"),
            ("h:5432:db:user:p4ss:w0rd99", "p4ss:w0rd99"),
            ("STRIPE: hunterTwo99x", "hunterTwo99x"),
            ("FOO=\"hunterTwo99x\"", "hunterTwo99x"),
            ("admin hunterTwo99x", "hunterTwo99x"),
            ("hunterTwo99x", "hunterTwo99x"),
            ("PIN_TOKEN=1234567890123", "1234567890123"),
            (
                "  \"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEabcd\\nEFGH\\n-----END PRIVATE KEY-----\\n\"",
                "MIIEabcdEFGH",
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEabcd\nEFGH\n-----END",
                "MIIEabcdEFGH",
            ),
        ] {
            assert!(taken(text).contains(&value.to_owned()), "{text}: {:?}", taken(text));
        }
    }

    #[test]
    fn ordinary_words_are_no_keys() {
        for text in [
            "PASSWORD=password",
            "AUTH_MODE=production",
            "AUTH_HOST=login.example.com",
            "AUTH_MAIL=ada@example.com",
            "TOKEN_URL=https://login.example.com/oauth/token",
            "TOKEN=$OTHER_TOKEN",
            "TOKEN=${OTHER_TOKEN}",
            "KEY_FILE=/etc/ssl/private/server1.key",
            "TOKEN=xxxxxxxxxxxxxxxxxxxx",
            "TOKEN_SECONDS=86400000",
            "DEBUG=true",
            "NAME=my-company-production-2024",
            "IMAGE=node20-alpine3",
            "STARTED: 2024-05-01",
            "VERSION=1.22.333",
            "# see issue4711b2",
            "PATH=/usr/local/lib/python3.12/site-packages",
            "-----BEGIN CERTIFICATE-----\nMIID4f9c02be71d38a65e04f9c02be71d3\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
        ] {
            assert_eq!(taken(text), [""; 0], "{text}");
        }
        assert_eq!(in_text("x: 4f9c02be71d38a65e0", false).len(), 0);
    }
}
