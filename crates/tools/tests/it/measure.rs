//! Measurements: every figure is compared with another program's on the same files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use setpoint_protocol::tool::{Effect, ErrorKind};
use setpoint_tools::Limits;

use crate::support::{World, number, output};

/// Creates names that break programs which split lines or assume text, hidden and empty files, links, and a file with
/// two names.
fn tree(world: &World) {
    for (name, bytes) in [
        ("a b/one.txt", 10),
        ("a b/c/two", 2_000),
        (".git/objects/x", 300),
        ("new\nline", 40),
        ("日本/語.md", 5),
        ("empty", 0),
    ] {
        world.file(name, "x".repeat(bytes));
    }
    std::fs::write(world.at(OsStr::from_bytes(b"caf\xe9")), "7 bytes").unwrap();
    std::fs::hard_link(world.at("a b/one.txt"), world.at("second name")).unwrap();
    symlink("a b", world.at("link")).unwrap();
    symlink("loop", world.at("loop")).unwrap();
}

#[tokio::test]
async fn disk_usage_agrees_with_find_and_du() {
    let world = World::new();
    tree(&world);
    let facts = world.facts("disk_usage", json!({"path": ".", "depth": 2, "files": 3})).await;
    let sum = |folder: &str| {
        number(
            &world.at("."),
            &format!("find '{folder}' -type f -printf '%s\\n' | awk '{{ s += $1 }} END {{ print s + 0 }}'"),
        )
    };
    assert_eq!(facts["total_bytes"], json!(sum(".")));
    assert_eq!(facts["files"], json!(number(&world.at("."), "find . -type f -printf x | wc -c")));
    let folders = facts["directories"].as_array().unwrap();
    let disk =
        |folder: &str| number(&world.at("."), &format!("du -s -x -B1 '{folder}' | awk '{{ print $1 }}'"));
    let mut expected: Vec<(u64, &str, u64)> =
        [("a b", 2), ("a b/c", 1), (".git", 1), (".git/objects", 1), ("日本", 1)]
            .map(|(folder, files)| (disk(folder), folder, files))
            .into();
    expected.sort_by(|one, other| (other.0, one.1).cmp(&(one.0, other.1)));
    let expected: Vec<Value> = expected
        .iter()
        .map(|(disk, folder, files)| {
            json!({"path": world.at(folder), "bytes": sum(folder), "disk_bytes": disk, "files": files})
        })
        .collect();
    assert_eq!(folders, &expected);
    assert_eq!(facts["disk_bytes"], json!(disk(".")));
    let largest: Vec<u64> = facts["largest_files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["bytes"].as_u64().unwrap())
        .collect();
    assert_eq!(largest, [2_000, 300, 40]);
    assert_eq!(facts["linked_bytes"], json!(10));
    // `du` counts a file with two names once.
    let once = number(&world.at("."), "find . -type f -print0 | du -bc --files0-from=- | tail -n 1");
    assert_eq!(facts["total_bytes"].as_u64().unwrap() - 10, once);
    assert_eq!(facts["complete"], json!(true));
}

#[tokio::test]
async fn disk_usage_handles_files_and_missing_paths() {
    let world = World::new();
    world.file("f", "12345");
    let facts = world.facts("disk_usage", json!({"path": "f"})).await;
    assert_eq!((facts["total_bytes"].clone(), facts["directories"].clone()), (json!(5), json!([])));
    assert_eq!(facts["largest_files"], json!([{"path": world.at("f"), "bytes": 5}]));
    assert_eq!(world.run("disk_usage", json!({"path": "none"})).await.error_kind, Some(ErrorKind::NotFound));
}

#[tokio::test]
async fn disk_usage_returns_the_requested_number() {
    let world = World::new();
    for n in 0..20 {
        world.file(format!("d{n:02}/f"), "x".repeat(n * 10_000));
    }
    let facts = world.facts("disk_usage", json!({"path": ".", "limit": 3, "files": 0})).await;
    let folders: Vec<&Value> =
        facts["directories"].as_array().unwrap().iter().map(|folder| &folder["bytes"]).collect();
    assert_eq!(folders, [190_000, 180_000, 170_000]);
    assert_eq!(facts["largest_files"], json!([]));
    let text = world.run("disk_usage", json!({"path": ".", "limit": 3})).await.text;
    assert!(text.contains("… 17 more folders"), "{text}");
}

#[tokio::test]
async fn a_walk_reports_reaching_a_limit() {
    let mut world = World::new();
    (0..50).for_each(|n| drop(world.file(format!("d/{n:02}"), "same")));
    world.registry =
        std::mem::take(&mut world.registry).with_limits(Limits { entries_max: 20, ..Limits::default() });
    for (tool, input) in [
        ("disk_usage", json!({"path": "."})),
        ("hash_files", json!({"root": "."})),
        ("count_lines", json!({"path": "."})),
        ("broken_links", json!({"path": "."})),
        ("compare_dirs", json!({"left": ".", "right": "."})),
        ("glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "same", "path": "."})),
        ("find_files", json!({"name": "0", "root": "."})),
        ("rename_preview", json!({"dir": "d", "find": "0", "replace": "1"})),
        ("list_dir", json!({"path": "d"})),
    ] {
        let answer = world.run(tool, input).await;
        assert!(answer.ok, "{tool}: {}", answer.text);
        assert_eq!(answer.facts.unwrap()["complete"], json!(false), "{tool}");
        assert!(answer.text.contains("INCOMPLETE"), "{tool}: {}", answer.text);
    }
    // Half an archive, manifest or renaming would be worse than none.
    for (tool, input) in [
        ("archive_create", json!({"source": "d", "archive": "$PROJECT/a.tar"})),
        ("manifest_create", json!({"root": "d", "manifest": "$PROJECT/m"})),
        ("rename_files", json!({"dir": "d", "find": "0", "replace": "1"})),
    ] {
        assert!(!world.run(tool, input).await.ok, "{tool}");
    }
    assert_eq!(output(&world.at("."), "ls -A").trim(), "d");
}

#[tokio::test]
async fn hash_files_agrees_with_sha256sum() {
    let world = World::new();
    tree(&world);
    let facts = world.facts("hash_files", json!({"root": "."})).await;
    let hashes: BTreeSet<&str> =
        facts["files"].as_array().unwrap().iter().map(|file| file["hash"].as_str().unwrap()).collect();
    let printed =
        output(&world.at("."), "find . -type f -exec sh -c 'sha256sum < \"$1\"' _ {} \\; | cut -c 1-64");
    assert_eq!(hashes, printed.lines().collect());
    assert_eq!(facts["count"], json!(number(&world.at("."), "find . -type f -printf x | wc -c")));
    assert_eq!(facts["files"][0]["path"], json!(world.at(".git/objects/x")));

    let some = world
        .facts("hash_files", json!({"paths": ["empty", "~/../project/second name"], "algorithm": "sha512"}))
        .await;
    let expected = output(&world.at("."), "sha512sum < empty | cut -c 1-128");
    assert_eq!(some["files"][0]["hash"], json!(expected.trim()));
    assert_eq!(some["count"], json!(2));
    let blake = world.facts("hash_files", json!({"paths": ["empty"], "algorithm": "blake3"})).await;
    assert_eq!(blake["files"][0]["hash"], json!(blake3::hash(b"").to_hex().to_string()));
}

#[tokio::test]
async fn hash_files_groups_equal_contents() {
    let world = World::new();
    for name in ["a", "b b", "c/new\nline"] {
        world.file(name, "the same");
    }
    for name in ["x", "y"] {
        world.file(name, "also equal, and longer");
    }
    world.file("same size", "the some");
    world.file("alone", "alone");
    world.file("e1", "");
    world.file("e2", "");
    let facts = world.facts("hash_files", json!({"root": ".", "only_duplicates": true})).await;
    let groups = facts["duplicates"].as_array().unwrap();
    let printed = output(
        &world.at("."),
        "find . -type f -exec sh -c 'sha256sum < \"$1\"' _ {} \\; | sort | uniq -d | cut -c 1-64",
    );
    let hashes: BTreeSet<&str> = groups.iter().map(|group| group["hash"].as_str().unwrap()).collect();
    assert_eq!(hashes, printed.lines().collect());
    let sizes: Vec<(u64, usize)> = groups
        .iter()
        .map(|group| (group["bytes"].as_u64().unwrap(), group["paths"].as_array().unwrap().len()))
        .collect();
    assert_eq!(sizes, [(22, 2), (8, 3), (0, 2)], "the groups that hold most come first");
    assert_eq!(groups[1]["paths"], json!([world.at("a"), world.at("b b"), world.at("c/new\nline")]));
    assert_eq!((facts["files"].clone(), facts["count"].clone()), (json!([]), json!(9)));
}

#[tokio::test]
async fn hash_files_needs_paths_or_a_root() {
    let world = World::new();
    world.file("a", "");
    for input in [json!({}), json!({"root": ".", "paths": ["a"]}), json!({"root": ".", "algorithm": "md5"})] {
        assert_eq!(
            world.run("hash_files", input.clone()).await.error_kind,
            Some(ErrorKind::InvalidInput),
            "{input}"
        );
    }
    assert_eq!(
        world.run("hash_files", json!({"paths": ["a", "none"]})).await.error_kind,
        Some(ErrorKind::NotFound)
    );
    let one = world.read("hash_files", json!({"paths": ["b", "a", "./b"]}));
    let other = world
        .read("hash_files", json!({"paths": ["a", "b"], "algorithm": "sha256", "only_duplicates": false}));
    assert_eq!(one, other);
    assert_eq!(one.effect, Effect::ReadOnly);
}

#[tokio::test]
async fn count_lines_agrees_with_grep_and_wc() {
    let world = World::new();
    world.file("src/a.rs", "fn main() {\n\n}\n");
    world.file("src/b.rs", "// no end");
    world.file("run.sh", "#!/bin/sh\n \t\nls\n");
    world.file("README", "\n");
    world.file("empty.py", "");
    world.file("logo.png", b"\x89PNG\0\0\n\n\n");
    world.file(".hidden.rs", "hidden\n");
    let facts = world.facts("count_lines", json!({"path": ".", "by": "language"})).await;
    let files = "find . -type f ! -name '.*' ! -name '*.png' -print0";
    let lines = number(
        &world.at("."),
        &format!("{files} | xargs -0 grep -hc '' | awk '{{ s += $1 }} END {{ print s }}'"),
    );
    let blank = number(
        &world.at("."),
        &format!("{files} | xargs -0 grep -hc '^[[:space:]]*$' | awk '{{ s += $1 }} END {{ print s }}'"),
    );
    assert_eq!(facts["total"], json!({"files": 5, "lines": lines, "blank": blank}));
    // `wc` does not count the one line without a line end.
    assert_eq!(lines, 1 + number(&world.at("."), &format!("{files} | xargs -0 cat | wc -l")));
    let language = |name: &str, files: u64, lines: u64, blank: u64| json!({"language": name, "files": files, "lines": lines, "blank": blank});
    assert_eq!(
        facts["languages"],
        json!([
            language("Rust", 2, 4, 1),
            language("Shell", 1, 3, 1),
            language("other", 1, 1, 1),
            language("Python", 1, 0, 0)
        ])
    );
    assert_eq!(facts["binary"], json!(1));
    let hidden = world.facts("count_lines", json!({"path": ".", "hidden": true})).await;
    assert_eq!(hidden["total"]["files"], json!(6));
    let one = world.facts("count_lines", json!({"path": "src/b.rs"})).await;
    assert_eq!(one["total"], json!({"files": 1, "lines": 1, "blank": 0}));
}

#[tokio::test]
async fn file_facts_describe_every_kind_of_file() {
    let world = World::new();
    world.file("a.txt", "one\ntwo");
    world.file("binary", b"a\0b\n");
    std::fs::create_dir(world.at("dir")).unwrap();
    symlink("a.txt", world.at("link")).unwrap();
    symlink("nowhere", world.at("broken")).unwrap();
    symlink("circle", world.at("circle")).unwrap();
    let facts = world.facts("file_facts", json!({"path": "a.txt"})).await;
    let sha256 = output(&world.at("."), "sha256sum a.txt | cut -c 1-64");
    let modified = output(&world.at("."), "TZ=UTC date -r a.txt +%Y-%m-%dT%H:%M:%SZ");
    assert_eq!(
        facts,
        json!({
            "path": world.at("a.txt"), "exists": true, "kind": "file", "bytes": 7, "sha256": sha256.trim(), "lines": 2,
            "modified": modified.trim(), "link_target": null,
        })
    );
    for (path, exists, kind, lines) in [
        ("binary", true, "file", Value::Null),
        ("dir", true, "directory", Value::Null),
        ("link", true, "file", json!(2)),
        ("broken", false, "broken_symlink", Value::Null),
        ("circle", false, "broken_symlink", Value::Null),
        ("none", false, "none", Value::Null),
        ("a.txt/below", false, "none", Value::Null),
        ("/dev/null", true, "other", Value::Null),
    ] {
        let facts = world.facts("file_facts", json!({"path": path})).await;
        assert_eq!(
            (facts["exists"].clone(), facts["kind"].clone(), facts["lines"].clone()),
            (json!(exists), json!(kind), lines),
            "{path}"
        );
    }
}

#[tokio::test]
async fn compare_dirs_agrees_with_diff() {
    let world = World::new();
    for side in ["left", "right"] {
        std::fs::create_dir_all(world.at(side)).unwrap();
        world.file(format!("{side}/same/a b"), "same");
        world.file(format!("{side}/.hidden"), "same");
        symlink("same", world.at(side).join("link")).unwrap();
    }
    let compare = || world.facts("compare_dirs", json!({"left": "left", "right": "right"}));
    let facts = compare().await;
    assert_eq!((facts["identical"].clone(), facts["same"].clone()), (json!(true), json!(3)));
    assert_eq!(number(&world.at("."), "diff -rq left right | wc -l"), 0);

    world.file("left/size", "1");
    world.file("right/size", "12");
    world.file("left/bytes", "ab");
    world.file("right/bytes", "ac");
    world.file("left/only/deep/x", "");
    world.file("right/new\nline", "");
    std::fs::create_dir(world.at("right/empty")).unwrap();
    world.file("left/kind", "");
    std::fs::create_dir(world.at("right/kind")).unwrap();
    symlink("one", world.at("left/to")).unwrap();
    symlink("other", world.at("right/to")).unwrap();
    let facts = compare().await;
    assert_eq!(facts["only_left"], json!(["only/deep/x"]));
    assert_eq!(facts["only_right"], json!(["empty", "new\nline"]));
    assert_eq!(facts["different"], json!(["bytes", "kind", "size", "to"]));
    assert_eq!((facts["identical"].clone(), facts["same"].clone()), (json!(false), json!(3)));
    assert_eq!(
        world.run("compare_dirs", json!({"left": "left", "right": "left/size"})).await.error_kind,
        Some(ErrorKind::InvalidInput)
    );
    assert_eq!(
        world.run("compare_dirs", json!({"left": "left", "right": "none"})).await.error_kind,
        Some(ErrorKind::NotFound)
    );
}

#[tokio::test]
async fn broken_links_agrees_with_find() {
    let world = World::new();
    tree(&world);
    symlink("gone", world.at("a b/dangling")).unwrap();
    symlink("/no/such/place", world.at(".git/absolute")).unwrap();
    symlink("empty/below", world.at("through a file")).unwrap();
    let facts = world.facts("broken_links", json!({"path": "."})).await;
    // `find` reports a cycle as an error, not as a broken link.
    assert_eq!(
        facts["count"],
        json!(1 + number(&world.at("."), "find . -xtype l -printf x 2>/dev/null | wc -c"))
    );
    let links: Vec<(Value, Value)> = facts["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| (link["path"].clone(), link["target"].clone()))
        .collect();
    let expected = [
        (".git/absolute", "/no/such/place"),
        ("a b/dangling", "gone"),
        ("loop", "loop"),
        ("through a file", "empty/below"),
    ];
    assert_eq!(links, expected.map(|(path, target)| (json!(world.at(path)), json!(target))));
}
