//! Which keys the answer of a call may hold: what is in files that by their names hold keys, and known keys, whether they
//! are removed from it or not.
//!
//! A file is known by its name alone, as the call or a line of its answer writes it. Not noticed is a key in any other
//! file, and a file that a command reads without naming it.

use std::collections::BTreeSet;

use serde_json::Value;
use setpoint_protocol::Any;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, Secret, ToolAnswer};
use setpoint_scrub::Scrub;

/// Maximum keys that one answer is marked with.
const SECRETS_MAX: usize = 20;
/// Longest path of a mark, in characters.
const PATH_CHARS_MAX: usize = 200;

/// Tools whose answers hold no content of a local file.
const WITHOUT_CONTENT: &[&str] = &[
    "archive_create",
    "archive_list",
    "broken_links",
    "compare_dirs",
    "count_lines",
    "disk_usage",
    "file_facts",
    "find_files",
    "glob",
    "hash_files",
    "http_fetch",
    "languages",
    "list_dir",
    "manifest_create",
    "manifest_verify",
    "rename_files",
    "rename_preview",
    "web_search",
    "write_file",
];

/// Names of files that hold keys; lower case.
const NAMES: &[&str] = &[
    ".dockercfg",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "_netrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "kubeconfig",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "service-account.json",
];

/// Ends of such names.
const ENDS: &[&str] = &[".env", ".jks", ".kdbx", ".key", ".keystore", ".p12", ".pem", ".pfx", ".ppk"];

/// Ends of names that show the form of such a file without the keys.
const SAMPLES: &[&str] = &[".dist", ".example", ".sample", ".template"];

/// Returns what this answer to a call of `tool` may hold.
pub(crate) fn of(tool: &str, input: &Any, answer: &ToolAnswer, keys: &Scrub) -> Vec<Secret> {
    let facts = answer.facts.as_ref().map(Any::to_text).unwrap_or_default();
    let mut names = keys.names_in(&answer.text);
    names.extend(keys.names_in(&facts));
    let mut secrets: BTreeSet<Secret> = names.into_iter().map(Secret::Key).collect();
    let has_run = answer.ok || answer.exit_code.is_some() || answer.error_kind == Some(ErrorKind::Timeout);
    if has_run && !WITHOUT_CONTENT.contains(&tool) {
        let mut paths = BTreeSet::new();
        named(&input.0, &mut paths);
        // `grep` and the programs like it begin a line with the path and a colon.
        let begun = answer.text.lines().filter_map(|line| line.split_once(':').map(|(path, _)| path.trim()));
        paths.extend(begun.filter(|path| is_key_file(path)));
        secrets.extend(paths.into_iter().map(|path| Secret::File(clip(path, PATH_CHARS_MAX))));
    }
    secrets.into_iter().take(SECRETS_MAX).collect()
}

/// Collects the words of a call that name such files. Recurses as deep as the value does, which its reader has bounded.
fn named<'v>(value: &'v Value, paths: &mut BTreeSet<&'v str>) {
    match value {
        Value::String(text) => {
            let is_between = |c: char| c.is_whitespace() || "'\"`;|&<>()=,:@".contains(c);
            paths.extend(text.split(is_between).chain([text.as_str()]).filter(|word| is_key_file(word)));
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, paths)),
        Value::Object(fields) => fields.values().for_each(|item| named(item, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns whether a file of this path holds keys, by its name.
fn is_key_file(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
    if SAMPLES.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    let is_identity = name.starts_with("id_") && !name.ends_with(".pub") && !name.contains('.');
    name.starts_with(".env.")
        || (is_identity && ["rsa", "dsa", "ecdsa", "ed25519"].iter().any(|kind| name.contains(kind)))
        || NAMES.contains(&name.as_str())
        || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(tool: &str, input: Value, text: &str) -> Vec<String> {
        let answer = ToolAnswer { ok: true, text: text.to_owned(), ..ToolAnswer::default() };
        let keys = Scrub::named(&[("TOKEN".to_owned(), "sk-proj-Zq81LmXv0TtR5bNcYw7HdGf2".into())]);
        of(tool, &Any(input), &answer, &keys).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_with_keys_are_known_by_their_names() {
        for path in [
            ".env",
            "a/.env.local",
            "prod.env",
            "/home/ada/.ssh/id_ed25519",
            "tls/server.PEM",
            "~/.aws/credentials",
            ".netrc",
        ] {
            assert!(is_key_file(path), "{path}");
        }
        for path in
            [".env.example", "id_ed25519.pub", "environment.md", "src/env.rs", "keys.md", "id_card.txt", ""]
        {
            assert!(!is_key_file(path), "{path}");
        }
    }

    #[test]
    fn an_answer_is_marked_by_what_the_call_and_its_lines_name() {
        assert_eq!(read("read_file", json!({ "path": "/w/.env" }), "A=1"), ["keys in /w/.env"]);
        assert_eq!(read("shell", json!({ "command": "cat <./.env|head" }), "A=1"), ["keys in ./.env"]);
        let found =
            read("grep", json!({ "pattern": "KEY", "path": "." }), "conf/x.key:3: KEY\nsrc/a.rs:1: KEY");
        assert_eq!(found, ["keys in conf/x.key"]);
        assert_eq!(
            read("mcp__files__read", json!({ "at": { "p": ["/w/a.pem"] } }), ""),
            ["keys in /w/a.pem"]
        );
        // Names alone are not keys.
        assert_eq!(read("list_dir", json!({ "path": "/w" }), ".env: 3 bytes"), [""; 0]);
        assert_eq!(read("read_file", json!({ "path": "/w/a.rs" }), "let x = 1;"), [""; 0]);
    }

    #[test]
    fn a_known_key_marks_an_answer_also_after_it_was_removed() {
        let with = "sk-proj-Zq81LmXv0TtR5bNcYw7HdGf2";
        assert_eq!(read("list_dir", json!({}), with), ["where the key TOKEN is"]);
        assert_eq!(read("shell", json!({ "command": "env" }), "T=[key TOKEN]"), ["where the key TOKEN is"]);
        assert_eq!(read("shell", json!({ "command": "env" }), "T=[key OTHER]"), [""; 0]);
    }

    #[test]
    fn a_call_that_did_not_run_read_nothing() {
        let answer = ToolAnswer { error_kind: Some(ErrorKind::NotFound), ..ToolAnswer::default() };
        assert_eq!(of("read_file", &Any(json!({ "path": ".env" })), &answer, &Scrub::default()), []);
    }
}
