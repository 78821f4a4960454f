//! Which keys the answer of a call may hold: known keys, whether they are removed from it or not; what is in files that by
//! their names hold keys, known by the name that the call or a line of its answer writes, or by the values, however they
//! were read; and what is a key by its form.
//!
//! Not noticed is a key that has no such form in a file without such a name, and a value in an encoding that
//! `setpoint-scrub` does not know.

mod forms;
mod known;
mod names;
mod values;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use setpoint_protocol::Any;
use setpoint_protocol::text::clip;
use setpoint_protocol::tool::{ErrorKind, Secret, ToolAnswer};

use self::names::is_key_file;
use crate::place::Place;

pub(crate) use self::known::{KeyFiles, KnownKeys};

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

/// Programs that read what is stored in a history or an archive.
const STORES: &[&str] = &[
    "7z", "7za", "ar", "bsdtar", "bunzip2", "bzcat", "cpio", "git", "gunzip", "gzip", "tar", "unxz", "unzip",
    "unzstd", "xz", "xzcat", "zcat", "zstd", "zstdcat",
];

/// What Git puts before the paths of a diff.
const SIDES: &[&str] = &["a/", "b/", "c/", "i/", "o/", "w/"];

/// Returns what this answer to a call of `tool` may hold.
pub(crate) fn of(tool: &str, input: &Any, answer: &ToolAnswer, keys: &KnownKeys) -> Vec<Secret> {
    let facts = answer.facts.as_ref().map(Any::to_text).unwrap_or_default();
    let texts = [answer.text.as_str(), facts.as_str()];
    let mut secrets: BTreeSet<Secret> = BTreeSet::new();
    for text in texts {
        secrets.extend(keys.own.names_in(text).into_iter().map(Secret::Key));
        secrets.extend(keys.of_files_in(text));
    }
    let has_run = answer.ok || answer.exit_code.is_some() || answer.error_kind == Some(ErrorKind::Timeout);
    if has_run && !WITHOUT_CONTENT.contains(&tool) {
        let mut paths = BTreeSet::new();
        named(&input.0, &mut paths);
        paths.extend(answer.text.lines().filter_map(begun).filter(|path| is_key_file(path)));
        secrets.extend(paths.into_iter().map(|path| Secret::File(clip(path, PATH_CHARS_MAX))));
        if reads_stored(&input.0) && values::has_settings(&answer.text) {
            secrets.insert(Secret::Form("a key in a history or an archive".to_owned()));
        }
        let kinds = texts.into_iter().flat_map(forms::in_text);
        secrets.extend(kinds.map(|kind| Secret::Form(kind.to_owned())));
    }
    secrets.into_iter().take(SECRETS_MAX).collect()
}

/// Returns the files with keys among paths that a command changed or removed: it may have put what they hold elsewhere.
pub(crate) fn changed(paths: impl Iterator<Item = impl AsRef<str>>) -> BTreeSet<Secret> {
    let paths = paths.filter(|path| is_key_file(path.as_ref()));
    paths.take(SECRETS_MAX).map(|path| Secret::File(clip(path.as_ref(), PATH_CHARS_MAX))).collect()
}

/// Returns the files with keys that a call names, as it names them.
pub(crate) fn named_in(input: &Any) -> BTreeSet<Secret> {
    let mut paths = BTreeSet::new();
    named(&input.0, &mut paths);
    paths.into_iter().take(SECRETS_MAX).map(|path| Secret::File(clip(path, PATH_CHARS_MAX))).collect()
}

/// Returns the paths of files with keys that a call names, or that its answer says it created.
pub(crate) fn to_look_at(input: &Any, created: &[String], place: &Place) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    named(&input.0, &mut paths);
    paths.extend(created.iter().map(String::as_str).filter(|path| is_key_file(path)));
    paths.into_iter().take(SECRETS_MAX).filter_map(|path| place.path("path", path).ok()).collect()
}

/// Returns whether a call may read what is stored in a repository's history or in an archive, where files have no names that
/// were looked at before.
fn reads_stored(input: &Value) -> bool {
    match input {
        Value::String(text) => {
            let is_between = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
            text.split(is_between).any(|word| STORES.contains(&word))
        }
        Value::Array(items) => items.iter().any(reads_stored),
        Value::Object(fields) => fields.values().any(reads_stored),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the path that a line of output says its text is from: `PATH: …` as `grep` writes it, or the head of a diff, with
/// or without the letter before its paths.
fn begun(line: &str) -> Option<&str> {
    let of_diff = ["+++ ", "--- "].iter().find_map(|head| line.strip_prefix(head));
    let of_diff = of_diff.map(|path| SIDES.iter().find_map(|side| path.strip_prefix(side)).unwrap_or(path));
    of_diff.or_else(|| line.split_once(':').map(|(path, _)| path)).map(str::trim)
}

/// Collects the words of a call that name such files. Recurses as deep as the value does, which its reader has bounded.
fn named<'v>(value: &'v Value, paths: &mut BTreeSet<&'v str>) {
    match value {
        Value::String(text) => {
            let is_between = |c: char| c.is_whitespace() || "'\"`;|&<>()=,:@".contains(c);
            paths.extend(text.split(is_between).filter(|word| is_key_file(word)));
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, paths)),
        Value::Object(fields) => fields.values().for_each(|item| named(item, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use setpoint_scrub::Scrub;

    use super::*;

    fn read(tool: &str, input: Value, text: &str) -> Vec<String> {
        let answer = ToolAnswer { ok: true, text: text.to_owned(), ..ToolAnswer::default() };
        let own = Scrub::named(&[("TOKEN".to_owned(), "sk-proj-Zq81LmXv0TtR5bNcYw7HdGf2".into())]);
        let keys = KnownKeys::of_machine(own);
        of(tool, &Any(input), &answer, &keys).iter().map(ToString::to_string).collect()
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
        let diff = "diff --git a/.env b/.env\n+++ b/.env\n+A=1";
        assert_eq!(read("shell", json!({ "command": "git log -p" }), diff), ["keys in .env"]);
        let diff = "--- i/conf/prod.env\n+++ w/conf/prod.env\n+A=1";
        assert_eq!(read("shell", json!({ "command": "git stash show -p" }), diff), ["keys in conf/prod.env"]);
        let key = format!("ghp_{}", "KpAeUi3oJsQ9xVnB4gWkMz6hCyDrSlEaPtFj");
        assert_eq!(read("read_file", json!({ "path": "a.txt" }), &key), ["what looks like a key of GitHub"]);
        // Anyone can put the form of a key on a page.
        assert_eq!(read("http_fetch", json!({ "url": "https://a.example" }), &key), [""; 0]);
        // Names alone are not keys.
        assert_eq!(read("list_dir", json!({ "path": "/w" }), ".env: 3 bytes"), [""; 0]);
        assert_eq!(read("read_file", json!({ "path": "/w/a.rs" }), "let x = 1;"), [""; 0]);
    }

    #[test]
    fn settings_with_keys_in_a_history_or_an_archive_mark_an_answer() {
        let stored = ["what looks like a key in a history or an archive"];
        for command in [
            "git cat-file -p 4f9c02b",
            "git show HEAD~3",
            "tar -xOf a.tar",
            "cd d && unzip -p a.zip",
            "zcat x.gz",
        ] {
            for text in [
                "API_KEY=hunter2secret99",
                "+export DB_PASSWORD='p4ss, word!'",
                " x\n-SLACK_TOKEN=t0ken-a-b-c",
            ] {
                assert_eq!(read("shell", json!({ "command": command }), text), stored, "{command}: {text}");
            }
            for text in
                ["key = parse(\"abc123def\")", "+API_KEY=", "commit 4f9c02be", "MAX_KEY=100", "TOKEN=$OTHER"]
            {
                assert_eq!(read("shell", json!({ "command": command }), text), [""; 0], "{command}: {text}");
            }
        }
        assert_eq!(read("shell", json!({ "command": "cat notes.md" }), "API_KEY=hunter2secret99"), [""; 0]);
    }

    #[test]
    fn a_known_key_marks_an_answer_also_after_it_was_removed() {
        let with = "sk-proj-Zq81LmXv0TtR5bNcYw7HdGf2";
        assert_eq!(read("list_dir", json!({}), with), ["where the key TOKEN is"]);
        assert_eq!(read("shell", json!({ "command": "env" }), "T=[key TOKEN]"), ["where the key TOKEN is"]);
        assert_eq!(read("shell", json!({ "command": "env" }), "T=[key OTHER]"), [""; 0]);
    }

    #[test]
    fn files_that_a_call_names_or_makes_are_looked_at() {
        let place = Place::new(&setpoint_protocol::record::Surroundings {
            cwd: "/w".to_owned(),
            ..Default::default()
        });
        let created = ["/w/d/new.env".to_owned(), "/w/d/a.txt".to_owned()];
        let found = to_look_at(&Any(json!({ "command": "cat .env" })), &created, &place);
        assert_eq!(found, ["/w/.env", "/w/d/new.env"].map(PathBuf::from).into());
    }

    #[test]
    fn a_call_that_did_not_run_read_nothing() {
        let answer = ToolAnswer { error_kind: Some(ErrorKind::NotFound), ..ToolAnswer::default() };
        assert_eq!(of("read_file", &Any(json!({ "path": ".env" })), &answer, &KnownKeys::default()), []);
    }
}
