//! Reading, writing, editing and listing.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use setpoint_protocol::tool::{Effect, ErrorKind, SideEffect};

use crate::support::{World, is_root, output};

#[tokio::test]
async fn read_file_returns_the_exact_text() {
    let world = World::new();
    world.file("a b.txt", "first\n日本\r\n\nlast without end");
    let answer = world.run("read_file", json!({"path": "a b.txt"})).await;
    assert_eq!(answer.text, "first\n日本\r\n\nlast without end");
    assert!(answer.facts.is_none(), "a check reads the text itself as JSON");
    assert_eq!(world.run("read_file", json!({"path": "$PROJECT/a b.txt"})).await.text, answer.text);
    // Only the kernel knows the parent of a name, because the name may be a link.
    assert_eq!(
        world.read("read_file", json!({"path": "./x/../a b.txt"})).target,
        world.at("x/../a b.txt").to_str().unwrap()
    );
}

#[tokio::test]
async fn read_file_returns_a_range_and_the_next_offset() {
    let world = World::new();
    world.file("n", (1..=10).map(|n| format!("{n}\n")).collect::<String>());
    let read = |offset: u64, limit: u64| {
        world.run("read_file", json!({"path": "n", "offset": offset, "limit": limit}))
    };
    assert_eq!(read(3, 2).await.text, "3\n4\n[… 6 more lines; go on with offset 5 …]");
    assert_eq!(read(9, 5).await.text, "9\n10\n");
    assert_eq!(read(10, 1).await.text, "10\n");
    assert_eq!(read(11, 1).await.text, "[there is nothing from there on: the file has 10 lines]");
    assert_eq!(read(0, 1).await.text, "1\n[… 9 more lines; go on with offset 2 …]");
}

#[tokio::test]
async fn read_file_bounds_its_answer() {
    let world = World::new();
    world.file("long", format!("{}\nnext\n", "é".repeat(1_000_000)));
    let answer = world.run("read_file", json!({"path": "long"})).await;
    assert!(answer.text.len() < 300 * 1024 && !answer.text.contains('\u{fffd}'));
    assert!(
        answer.text.ends_with("[… 1 more line; go on with offset 2 …]"),
        "{:?}",
        answer.text.chars().rev().take(80).collect::<String>()
    );
    assert_eq!(world.run("read_file", json!({"path": "long", "offset": 2})).await.text, "next\n");
}

#[tokio::test]
async fn read_file_rejects_binary_files() {
    let world = World::new();
    world.file("binary", b"ELF\0\0");
    world.file("latin", b"caf\xe9\n");
    world.file("empty", "");
    for (path, kind) in [
        ("binary", ErrorKind::InvalidData),
        ("none", ErrorKind::NotFound),
        (".", ErrorKind::InvalidInput),
        ("binary/x", ErrorKind::InvalidInput),
        ("/dev/zero", ErrorKind::InvalidInput),
        ("", ErrorKind::InvalidInput),
    ] {
        let answer = world.run("read_file", json!({"path": path})).await;
        assert_eq!(answer.error_kind, Some(kind), "{path}: {}", answer.text);
        assert!(!answer.ok);
    }
    assert_eq!(world.run("read_file", json!({"path": "empty"})).await.text, "[the file is empty]");
    let latin = world.run("read_file", json!({"path": "latin"})).await;
    assert_eq!(latin.text, "caf\u{fffd}\n\n[some bytes are no UTF-8 and stand as U+FFFD]");
}

#[tokio::test]
async fn read_file_reports_denied_access() {
    let world = World::new();
    let path = world.file("secret", "x");
    std::fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    let answer = world.run("read_file", json!({"path": "secret"})).await;
    if is_root() {
        assert_eq!(answer.text, "x");
    } else {
        assert_eq!(answer.error_kind, Some(ErrorKind::Permission));
    }
}

#[tokio::test]
async fn write_file_creates_files_without_consent() {
    let world = World::new();
    let answer = world.run("write_file", json!({"path": "sub/deep/a.txt", "content": "x\n"})).await;
    assert!(answer.ok, "{}", answer.text);
    let created: Vec<String> =
        ["sub", "sub/deep", "sub/deep/a.txt"].map(|name| world.at(name).to_str().unwrap().to_owned()).into();
    assert_eq!(answer.created, created);
    assert_eq!(answer.side_effect, SideEffect::Reversible);
    assert_eq!(std::fs::read(world.at("sub/deep/a.txt")).unwrap(), b"x\n");
    let facts = answer.facts.unwrap();
    assert_eq!(
        facts.get("sha256").and_then(Value::as_str).unwrap(),
        output(&world.at("sub/deep"), "sha256sum a.txt").split(' ').next().unwrap()
    );
    let mode = std::fs::metadata(world.at("sub/deep/a.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0, "a written file is no program");
}

#[tokio::test]
async fn a_bare_name_refers_to_the_working_directory() {
    let world = World::new();
    for path in ["report.md", "./report2.md"] {
        assert!(world.run("write_file", json!({"path": path, "content": "generated"})).await.ok);
        assert!(world.at(path).exists() && !world.in_space(path).exists());
        assert_eq!(world.run("read_file", json!({"path": path})).await.text, "generated");
    }
    // A bare name does not refer to a file in the workspace.
    let scratch = world.in_space("scratch.md");
    assert!(world.run("write_file", json!({"path": scratch, "content": "x"})).await.ok && scratch.exists());
    assert!(!world.run("read_file", json!({"path": "scratch.md"})).await.ok);
    for (path, made) in [("../out.txt", "out.txt"), ("~/home.txt", "home/home.txt")] {
        let input = json!({"path": path, "content": ""});
        let need = world.need("write_file", input.clone()).await;
        assert!(need.reason.contains("outside the working directory"), "{}", need.reason);
        assert!(!world.root().join(made).exists());
        assert!(world.run_allowed("write_file", input).await.ok);
        assert!(world.root().join(made).exists());
    }
}

#[tokio::test]
async fn write_file_replaces_only_on_request() {
    let mut world = World::new();
    let path = world.file("dir/a", "old");
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let plain = world.run("write_file", json!({"path": "dir/a", "content": "new"})).await;
    assert_eq!(plain.error_kind, Some(ErrorKind::InvalidInput));
    let input = json!({"path": "dir/a", "content": "new", "overwrite": true});
    let answer = world.run_allowed("write_file", input.clone()).await;
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!((answer.side_effect, answer.created.len()), (SideEffect::Irreversible, 0));
    assert!(answer.text.contains("was not kept"), "{}", answer.text);
    assert_eq!(names(&world, "dir"), ["a"]);

    // The task may overwrite what it created without the `overwrite` parameter.
    world.created.insert(path.clone());
    assert!(world.run("write_file", json!({"path": "dir/a", "content": "newer"})).await.ok);
    assert_eq!(std::fs::read(&path).unwrap(), b"newer");
}

#[tokio::test]
async fn write_file_does_not_follow_links_out_of_the_workspace() {
    let world = World::new();
    let outside = world.file("dir/outside", "precious");
    symlink(&outside, world.in_space("link")).unwrap();
    let link = world.in_space("link");
    let answer = world.run("write_file", json!({"path": link, "content": "x", "overwrite": true})).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired));
    assert_eq!(answer.approval.unwrap().writes, [outside.to_str().unwrap()]);
    symlink("/nowhere/at/all", world.in_space("dangling")).unwrap();
    let dangling = world.in_space("dangling");
    let dangling = world.run("write_file", json!({"path": dangling, "content": "x"})).await;
    assert_eq!(dangling.error_kind, Some(ErrorKind::InvalidInput), "{}", dangling.text);
    assert_eq!(std::fs::read(outside).unwrap(), b"precious");
}

#[tokio::test]
async fn write_file_reports_conflicts() {
    let world = World::new();
    world.file("file", "");
    for (path, kind) in [
        ("$PROJECT", ErrorKind::InvalidInput),
        ("file/below", ErrorKind::InvalidInput),
        ("/dev/null", ErrorKind::InvalidInput),
        ("$NOPE/x", ErrorKind::InvalidInput),
        ("/proc/nowhere/x", ErrorKind::ApprovalRequired),
    ] {
        let answer = world.run("write_file", json!({"path": path, "content": "x", "overwrite": true})).await;
        assert!(!answer.ok, "{path}");
        assert_eq!(answer.error_kind, Some(kind), "{path}: {}", answer.text);
    }
    assert_eq!(world.read("write_file", json!({"path": "a", "content": "x"})).effect, Effect::Unsafe);
    let one = world.read("write_file", json!({"path": "a", "content": "x"})).target;
    assert_ne!(one, world.read("write_file", json!({"path": "a", "content": "y"})).target);
}

#[tokio::test]
async fn edit_file_changes_exactly_the_given_text() {
    let mut world = World::new();
    let path = world.file("a.txt", "one two\ntwo three\r\n");
    world.created.insert(path.clone());
    let edit = |find: &str, replace: &str, all: bool| {
        world.run("edit_file", json!({"path": "a.txt", "find": find, "replace": replace, "all": all}))
    };
    let twice = edit("two", "2", false).await;
    assert_eq!(twice.error_kind, Some(ErrorKind::InvalidInput));
    assert!(twice.text.contains("stands there 2 times"), "{}", twice.text);
    assert_eq!(edit("four", "4", true).await.error_kind, Some(ErrorKind::InvalidInput));
    assert_eq!(edit("", "4", true).await.error_kind, Some(ErrorKind::InvalidInput));
    assert_eq!(edit("one", "one", true).await.error_kind, Some(ErrorKind::InvalidInput));
    let answer = edit("two\ntwo", "zwei\nzwei", false).await;
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(std::fs::read(&path).unwrap(), b"one zwei\nzwei three\r\n");
    assert!(edit("zwei", "", true).await.ok);
    assert_eq!(std::fs::read(&path).unwrap(), b"one \n three\r\n");
}

#[tokio::test]
async fn edit_file_needs_consent_for_foreign_files() {
    let world = World::new();
    let path = world.file("a.txt", "one");
    let input = json!({"path": "a.txt", "find": "one", "replace": "two"});
    let need = world.need("edit_file", input.clone()).await;
    assert_eq!(need.writes, [path.to_str().unwrap()]);
    let other = json!({"path": "a.txt", "find": "one", "replace": "three"});
    assert!(!world.run_under("edit_file", other, Some(need.digest.clone())).await.ok);
    assert_eq!(std::fs::read(&path).unwrap(), b"one");
    let answer = world.run_under("edit_file", input, Some(need.digest)).await;
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
}

#[tokio::test]
async fn edit_file_only_edits_existing_text_files() {
    let world = World::new();
    world.file("latin", b"caf\xe9");
    for (path, kind) in
        [("none", ErrorKind::NotFound), ("latin", ErrorKind::InvalidData), (".", ErrorKind::InvalidInput)]
    {
        let answer = world.run("edit_file", json!({"path": path, "find": "a", "replace": "b"})).await;
        assert_eq!(answer.error_kind, Some(kind), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn list_dir_lists_any_name() {
    let world = World::new();
    world.file("b", "12345");
    world.file(".hidden", "");
    world.file("a b/x", "");
    world.file("new\nline", "");
    world.file("日本.txt", "");
    std::fs::write(world.at(OsStr::from_bytes(b"caf\xe9")), "").unwrap();
    symlink("b", world.at("link")).unwrap();
    let facts = world.facts("list_dir", json!({"path": "."})).await;
    let entry = |name: &str, kind: &str, size: Value| json!({"name": name, "kind": kind, "size": size});
    assert_eq!(
        facts["entries"],
        json!([
            entry("a b", "directory", Value::Null),
            entry("b", "file", json!(5)),
            entry("caf\\xe9 [name is not UTF-8]", "file", json!(0)),
            entry("link", "symlink", Value::Null),
            entry("new\nline", "file", json!(0)),
            entry("日本.txt", "file", json!(0)),
        ])
    );
    assert_eq!((facts["count"].clone(), facts["complete"].clone()), (json!(6), json!(true)));
    let hidden = world.facts("list_dir", json!({"path": ".", "hidden": true})).await;
    let all: u64 =
        output(&world.at("."), "find . -mindepth 1 -maxdepth 1 -printf x | wc -c").trim().parse().unwrap();
    assert_eq!(hidden["count"], json!(all));
    let text = world.run("list_dir", json!({"path": "."})).await.text;
    assert!(text.lines().any(|line| line == "new\\nline  0 bytes"), "{text}");
    assert!(text.ends_with("(1 hidden left out)"), "{text}");
}

#[tokio::test]
async fn list_dir_rejects_unreadable_folders() {
    let world = World::new();
    world.file("file", "");
    std::fs::create_dir(world.at("locked")).unwrap();
    std::fs::set_permissions(world.at("locked"), Permissions::from_mode(0o000)).unwrap();
    let kind = |path: &'static str| {
        let call = world.run("list_dir", json!({"path": path}));
        async move { call.await.error_kind }
    };
    assert_eq!(kind("none").await, Some(ErrorKind::NotFound));
    assert_eq!(kind("file").await, Some(ErrorKind::InvalidInput));
    assert_eq!(kind("locked").await, if is_root() { None } else { Some(ErrorKind::Permission) });
}

fn names(world: &World, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(world.at(folder)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
