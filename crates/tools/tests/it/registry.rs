//! The catalogue as a whole.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use setpoint_machine::CallReader;
use setpoint_protocol::Any;
use setpoint_protocol::tool::{Effect, ErrorKind, ToolCall};
use setpoint_tools::{Host, Limits, Registry};

use crate::support::World;

const READ_ONLY: &[&str] = &[
    "archive_list",
    "broken_links",
    "compare_dirs",
    "count_lines",
    "disk_usage",
    "file_facts",
    "find_files",
    "git_report",
    "glob",
    "grep",
    "hash_files",
    "list_dir",
    "manifest_verify",
    "read_document",
    "read_file",
    "rename_preview",
    "table_summary",
];
const CHANGING: &[&str] = &[
    "apply_patch",
    "archive_create",
    "edit_file",
    "http_fetch",
    "manifest_create",
    "rename_files",
    "run_code",
    "shell",
    "write_file",
];

#[test]
fn the_catalogue_depends_on_the_machine() {
    let registry = Registry::built_in(&Host::this());
    let names: BTreeSet<String> = registry.specs().into_iter().map(|spec| spec.name).collect();
    let mut expected: BTreeSet<String> =
        READ_ONLY.iter().chain(CHANGING).map(|name| (*name).to_owned()).collect();
    if cfg!(target_os = "macos") {
        expected.extend(["applescript", "shortcuts"].map(str::to_owned));
    }
    assert_eq!(names, expected);
    // Without Git there is no report.
    let bare = Registry::built_in(&Host::new("linux", [("PATH".into(), "/nowhere".into())]));
    assert!(bare.tool("git_report").is_none() && bare.tool("shell").is_some());
}

#[test]
fn macos_has_its_own_tools() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["osascript", "shortcuts"] {
        std::fs::write(folder.path().join(name), "").unwrap();
        std::fs::set_permissions(
            folder.path().join(name),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
    }
    let path = || [("PATH".into(), folder.path().into())];
    let mac = Registry::built_in(&Host::new("macos", path()));
    assert!(mac.tool("applescript").is_some() && mac.tool("shortcuts").is_some());
    let linux = Registry::built_in(&Host::new("linux", path()));
    assert!(linux.tool("applescript").is_none() && linux.tool("shortcuts").is_none());
}

#[tokio::test]
async fn macos_automation_always_needs_consent() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new();
    for name in ["osascript", "shortcuts"] {
        let script = "#!/bin/sh\nfor word in \"$@\"; do echo \"[$word]\"; done\n";
        std::fs::write(folder.path().join(name), script).unwrap();
        std::fs::set_permissions(
            folder.path().join(name),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
    }
    world.registry = Registry::built_in(&Host::new("macos", [("PATH".into(), folder.path().into())]));
    world.file("in.txt", "");
    for (tool, input, text) in [
        ("applescript", json!({"script": "beep\n2"}), "[-e]\n[beep\n2]\n".to_owned()),
        (
            "shortcuts",
            json!({"name": "-x", "input": "in.txt"}),
            format!("[run]\n[--input-path]\n[{}]\n[--]\n[-x]\n", world.at("in.txt").display()),
        ),
    ] {
        assert_eq!(world.read(tool, input.clone()).effect, Effect::Unsafe);
        let answer = world.run_allowed(tool, input).await;
        assert_eq!((answer.ok, answer.text), (true, text));
    }
}

#[test]
fn every_schema_is_valid_and_every_example_fits_it() {
    // With a sandbox there is one tool more.
    #[cfg(target_os = "linux")]
    let world = crate::sandbox::world().unwrap_or_else(World::new);
    #[cfg(not(target_os = "linux"))]
    let world = World::new();
    for spec in world.registry.specs() {
        let schema = &spec.input_schema.0;
        assert!(jsonschema::meta::is_valid(schema), "{}: {schema}", spec.name);
        let example = example(&spec.name);
        let validator = jsonschema::validator_for(schema).unwrap();
        assert!(validator.is_valid(&example), "{}: {} in {schema}", spec.name, example);
        assert_eq!(schema["type"], json!("object"), "{}", spec.name);
        assert!(schema.get("$ref").is_none() && schema.get("$defs").is_none(), "{}: {schema}", spec.name);
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property.get("description").is_some(), "{}: `{name}` is not described", spec.name);
        }
        assert!((20..500).contains(&spec.description.len()), "{}: {}", spec.name, spec.description);
        assert!(!spec.volatile);
    }
}

#[tokio::test]
async fn every_example_decodes() {
    let world = World::new();
    for spec in world.registry.specs() {
        let mut input = example(&spec.name);
        input["why"] = json!("models say why they make a call");
        let answer = world.run(&spec.name, input.clone()).await;
        assert!(!answer.text.contains("use the parameter"), "{}: {}", spec.name, answer.text);
        input["a field that no tool has"] = json!(1);
        let answer = world.run(&spec.name, input).await;
        let wanted =
            "failed to use the parameter `a field that no tool has`: the tool has no such parameter: ";
        assert!(answer.text.starts_with(wanted), "{}: {}", spec.name, answer.text);
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput));
    }
}

#[tokio::test]
async fn decoding_errors_name_the_field() {
    let world = World::new();
    for spec in world.registry.specs() {
        let empty = world.run(&spec.name, json!({})).await;
        assert_eq!(empty.error_kind, Some(ErrorKind::InvalidInput), "{}", spec.name);
        for required in spec.input_schema.0["required"].as_array().into_iter().flatten() {
            let mut input = example(&spec.name);
            input[required.as_str().unwrap()] = json!([[]]);
            let answer = world.run(&spec.name, input).await;
            assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{}", spec.name);
            assert!(
                answer.text.contains(&format!("`{}", required.as_str().unwrap())),
                "{}: {}",
                spec.name,
                answer.text
            );
        }
        for input in [json!("text"), json!([]), json!(3), Value::Null] {
            assert_eq!(
                world.run(&spec.name, input).await.error_kind,
                Some(ErrorKind::InvalidInput),
                "{}",
                spec.name
            );
        }
    }
}

#[test]
fn readings_give_the_effect_of_a_call() {
    let world = World::new();
    let read = |name: &str| world.read(name, example(name));
    for name in READ_ONLY {
        let reading = read(name);
        assert_eq!(reading.effect, Effect::ReadOnly, "{name}");
        assert_eq!(reading.tools.iter().map(|id| id.as_str()).collect::<Vec<_>>(), [*name]);
        assert!(!reading.target.is_empty());
    }
    for name in CHANGING.iter().filter(|name| **name != "shell") {
        assert_eq!(read(name).effect, Effect::Unsafe, "{name}");
    }
    // A second reading is equal, and an unknown field makes no difference.
    for spec in world.registry.specs() {
        let mut input = example(&spec.name);
        let once = world.read(&spec.name, input.clone());
        input["why"] = json!("because");
        assert_eq!(world.read(&spec.name, input), once);
    }
}

#[tokio::test]
async fn unknown_tools_are_missing_and_unsafe() {
    let world = World::new();
    let long = "x".repeat(1_000);
    for (name, hint) in [
        ("functions.Read-File", "did you mean read_file?"),
        ("SHELL", "did you mean shell?"),
        ("teleport", "there are apply_patch, archive_create, "),
        ("", "there are "),
        ("a b\n", "there are "),
        (long.as_str(), "there are "),
    ] {
        let call = ToolCall { tool: name.to_owned(), input: Any(json!({"x": 1})) };
        let reading = world.registry.read(&call, &world.surroundings());
        assert_eq!((reading.effect, reading.tools.len()), (Effect::Unsafe, 1), "{name:?}");
        let answer = world.run(name, json!({"x": 1})).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::MissingTool), "{name:?}");
        assert!(answer.text.contains(hint) && answer.text.len() < 600, "{}", answer.text);
    }
}

#[tokio::test]
async fn a_probe_must_provably_change_nothing() {
    let mut world = World::new();
    world.file("old", "x");
    world.probe = true;
    for (tool, input) in [
        ("shell", json!({"command": "rm old"})),
        ("shell", json!({"command": "python3 -c 'print(1)'"})),
        ("write_file", json!({"path": "new/file", "content": ""})),
        ("write_file", json!({"path": "in_workspace", "content": ""})),
        ("edit_file", json!({"path": "old", "find": "x", "replace": "y"})),
        ("rename_files", json!({"dir": ".", "find": "none", "replace": "y"})),
    ] {
        let answer = world.run(tool, input.clone()).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Blocked), "{tool} {input}");
        // An approval does not make the call a probe.
        let answer = world.run_under(tool, input, Some("0".repeat(64))).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Blocked));
        assert!(answer.approval.is_none());
    }
    for (tool, input) in
        [("shell", json!({"command": "cat old | wc -c"})), ("file_facts", json!({"path": "old"}))]
    {
        assert!(world.run(tool, input).await.ok, "{tool}");
    }
    assert!(!world.at("new").exists() && !world.in_space("in_workspace").exists());
}

#[tokio::test]
async fn answers_stay_within_the_limits_of_a_record() {
    let mut world = World::new();
    let name = "n".repeat(100);
    (0..3_000).for_each(|n| drop(world.file(format!("{name}{n:04}"), format!("{n}"))));
    for (tool, input, list) in [
        ("list_dir", json!({"path": "."}), "entries"),
        ("glob", json!({"pattern": "*", "limit": 5_000}), "paths"),
        ("hash_files", json!({"root": "."}), "files"),
        ("grep", json!({"pattern": ".", "path": ".", "limit": 5_000}), "matches"),
    ] {
        let answer = world.run(tool, input).await;
        assert!(answer.ok, "{tool}: {}", answer.text);
        let facts = answer.facts.unwrap();
        assert!(facts.to_bytes().len() <= setpoint_protocol::limits::FACTS_BYTES_MAX, "{tool}");
        assert_eq!(facts["count"], json!(3_000), "{tool}");
        assert_eq!(facts["complete"], json!(false), "{tool}");
        assert!(
            answer.text.ends_with(&format!(
                "[cut from the facts: {} of `{list}`]",
                3_000 - facts[list].as_array().unwrap().len()
            )),
            "{tool}"
        );
    }
    let limits = Limits { output_bytes_max: 2_000, ..Limits::default() };
    world.registry = std::mem::take(&mut world.registry).with_limits(limits);
    for (tool, input) in [("list_dir", json!({"path": "."})), ("shell", json!({"command": "ls; ls >&2"}))] {
        let text = world.run(tool, input).await.text;
        assert!(text.len() <= 2_000 && text.contains("bytes cut"), "{tool}: {}", text.len());
    }
}

#[tokio::test]
async fn a_cancelled_call_is_reported() {
    let world = World::new();
    world.cancel.cancel();
    let answer = world.run("shell", json!({"command": "sleep 300"})).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Interrupted), "{}", answer.text);
}

/// The readings of two different calls must not compare equal.
#[test]
fn readings_differ_if_any_parameter_differs() {
    let world = World::new();
    for spec in world.registry.specs() {
        let example = example(&spec.name);
        let read = |input: &Value| {
            let reading = world.read(&spec.name, input.clone());
            (reading.tools, reading.target, reading.beyond.unwrap())
        };
        let plain = read(&example);
        let properties = spec.input_schema.get("properties").and_then(Value::as_object).unwrap();
        for (name, schema) in properties {
            let differs = others(schema).into_iter().any(|other| {
                let mut changed = example.clone();
                changed[name.as_str()] = other;
                read(&changed) != plain
            });
            assert!(differs, "{} reads the same whatever `{name}` is", spec.name);
        }
        let mut with_more = example.clone();
        with_more["why"] = json!("because");
        assert_eq!(read(&with_more), plain, "{}", spec.name);
    }
}

/// Returns the input of an ordinary call.
fn example(tool: &str) -> Value {
    match tool {
        "applescript" => json!({ "script": "tell application \"Finder\" to get name of every disk" }),
        "archive_create" => json!({ "source": "photos", "archive": "/backup/photos.tar.gz" }),
        "archive_list" => json!({ "archive": "/backup/photos.tar.gz" }),
        "background" => json!({ "action": "start", "command": "make", "wait_for": "done", "wait_s": 5 }),
        "broken_links" => json!({ "path": "~/bin" }),
        "compare_dirs" => json!({ "left": "~/photos", "right": "/media/backup/photos" }),
        "count_lines" => json!({ "path": "src", "by": "language" }),
        "disk_usage" => json!({ "path": "~", "depth": 2, "limit": 10, "files": 10 }),
        "edit_file" => {
            json!({ "path": "src/main.rs", "find": "let limit = 10;", "replace": "let limit = 20;" })
        }
        "file_facts" => json!({ "path": "dist/app.tar.gz" }),
        "find_files" => json!({ "name": "*.pdf", "root": "~/Documents", "limit": 20 }),
        "git_report" => json!({ "path": "." }),
        "glob" => json!({ "pattern": "docs/**/*.md", "root": "$HOME/notes", "limit": 100 }),
        "grep" => {
            json!({ "pattern": r"fn\s+main", "path": ".", "glob": "*.rs", "ignore_case": false, "limit": 50 })
        }
        "hash_files" => json!({ "root": "~/Pictures", "algorithm": "blake3", "only_duplicates": true }),
        "http_fetch" => json!({ "url": "https://example.org/docs?page=2", "raw": false, "max_chars": 5_000 }),
        "apply_patch" => json!({ "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" }),
        "read_document" => json!({ "path": "~/costs.xlsx", "sheet": "2", "from": 2, "to": 9 }),
        "list_dir" => json!({ "path": "~/Documents", "hidden": true }),
        "manifest_create" => {
            json!({ "root": "~/Pictures", "manifest": "~/pictures.sha256", "algorithm": "sha256" })
        }
        "manifest_verify" => json!({ "manifest": "~/pictures.sha256", "root": "~/Pictures" }),
        "read_file" => json!({ "path": "src/main.rs", "offset": 100, "limit": 50 }),
        "run_code" => json!({ "language": "python", "code": "print(1)", "timeout_s": 5 }),
        "rename_files" => {
            json!({ "dir": "~/Pictures", "find": ".jpeg", "replace": ".jpg", "recursive": true })
        }
        "rename_preview" => json!({ "dir": "~/Pictures", "find": "IMG_", "replace": "holiday-" }),
        "shell" => json!({ "command": "ls -l | head -n 5", "timeout_s": 10 }),
        "shortcuts" => json!({ "name": "Resize Images", "input": "~/Pictures/a.png" }),
        "table_summary" => json!({ "path": "data/sales.csv", "kind": "csv", "delimiter": ";" }),
        "write_file" => json!({ "path": "report.md", "content": "# Report\n" }),
        other => panic!("no example of {other}"),
    }
}

/// Returns other values of a parameter.
fn others(schema: &Value) -> Vec<Value> {
    let words = schema.to_string();
    let said = schema.pointer("/enum").or(schema.pointer("/anyOf/0/enum")).and_then(Value::as_array);
    match said {
        Some(said) => said.clone(),
        None if words.contains("\"boolean\"") => vec![json!(true), json!(false)],
        None if words.contains("\"integer\"") => vec![json!(7), json!(8)],
        None if words.contains("\"array\"") => vec![json!(["other.txt"])],
        None => vec![json!("other.txt"), json!(";")],
    }
}

#[test]
fn equal_commands_share_a_reading() {
    let world = World::new();
    let read = |command: &str| {
        let reading = world.read("shell", json!({ "command": command }));
        (reading.target, reading.beyond.unwrap())
    };
    for (one, other) in [
        ("ls -l", " ls   -l # again"),
        ("grep 'a b' c", "grep \"a b\" c"),
        ("grep a\\ b c", "grep 'a b' c"),
        ("cat a\ncat b", "cat a; cat b"),
        ("ls 2>/dev/null", "ls  2> /dev/null"),
    ] {
        assert_eq!(read(one), read(other), "{one} and {other}");
    }
    for (one, other) in [
        ("ls > a", "ls > b"),
        ("ls 2> a", "ls 2 > a"),
        ("wc -l < a", "wc -l < b"),
        ("a && b", "a || b"),
        ("a; b", "a | b"),
        ("echo '*'", "echo *"),
        ("echo '$HOME'", "echo \"$HOME\""),
        ("cat <<E\nx\nE", "cat <<E\ny\nE"),
        ("{ ls; } > a", "{ ls; } > b"),
        ("if a; then b; fi", "if a; then b; else c; fi"),
        ("(cd x; ls)", "cd x; ls"),
    ] {
        assert_ne!(read(one), read(other), "{one} and {other}");
    }
}
