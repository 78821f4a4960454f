//! Renaming: the preview, the real thing, and conflicts.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use setpoint_protocol::tool::{ErrorKind, SideEffect};

use crate::support::{World, output};

async fn preview(world: &World, input: Value) -> Value {
    world.facts("rename_preview", input).await
}

fn names(world: &World) -> Vec<String> {
    output(&world.at("."), "find . -mindepth 1 -printf '%P\\0' | sort -z | tr '\\0' '\\n'")
        .lines()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn renaming_does_what_the_preview_showed() {
    let world = World::new();
    for name in ["IMG_1 IMG_2.jpg", "IMG_3.jpg", "other.txt", "sub/IMG_4.jpg", "IMG_dir/x", ".git/IMG_5"] {
        world.file(name, name);
    }
    symlink("IMG_3.jpg", world.at("IMG_link")).unwrap();
    let input = json!({"dir": ".", "find": "IMG_", "replace": "é "});
    let before = names(&world);
    let facts = preview(&world, input.clone()).await;
    assert_eq!(names(&world), before);
    let rename = |from: &str, to: &str| json!({"from": world.at(from), "to": world.at(to)});
    assert_eq!(
        facts["renames"],
        json!([
            rename("IMG_1 IMG_2.jpg", "é 1 é 2.jpg"),
            rename("IMG_3.jpg", "é 3.jpg"),
            rename("IMG_link", "é link")
        ])
    );
    assert_eq!((facts["count"].clone(), facts["conflicts"].clone()), (json!(3), json!([])));

    let answer = world.run_allowed("rename_files", input.clone()).await;
    assert!(answer.ok, "{}", answer.text);
    assert_eq!(answer.facts.unwrap()["renames"], facts["renames"]);
    assert_eq!(answer.side_effect, SideEffect::Reversible);
    assert_eq!(std::fs::read_to_string(world.at("é 1 é 2.jpg")).unwrap(), "IMG_1 IMG_2.jpg");
    assert_eq!(preview(&world, input).await["count"], json!(0));
    let deep = preview(&world, json!({"dir": ".", "find": "IMG_", "replace": "", "recursive": true})).await;
    assert_eq!(deep["renames"], json!([rename("sub/IMG_4.jpg", "sub/4.jpg")]));
}

#[tokio::test]
async fn links_that_follow_an_old_name_are_counted() {
    let world = World::new();
    for name in ["d/a.txt", "d/b.txt", "d/keep.md", "e/x"] {
        world.file(name, name);
    }
    for (link, target) in [
        ("d/near", "a.txt"),
        ("e/far", "../d/b.txt"),
        ("e/chain", "../d/near"),
        ("d/kept", "keep.md"),
        ("d/gone", "nothing.txt"),
        ("to-folder", "d"),
        ("through", "to-folder/a.txt"),
        (".git/own", "../d/a.txt"),
    ] {
        world.file(".git/HEAD", "");
        symlink(target, world.at(link)).unwrap();
    }
    let input = json!({"dir": "d", "find": ".txt", "replace": ".md"});
    let facts = preview(&world, input.clone()).await;
    let first = format!("{} to {}", world.at("d/near").display(), world.at("d/a.txt").display());
    assert_eq!(
        (&facts["links_to_old_names"], &facts["links_to_old_names_named"]),
        (&json!(4), &json!(first))
    );
    let answer = world.run_allowed("rename_files", input).await;
    assert_eq!(answer.facts.unwrap()["links_to_old_names"], json!(4), "{}", answer.text);
    let broken = output(&world.at("."), "find . -xtype l ! -path './.git/*' ! -name gone | wc -l");
    assert_eq!(broken.trim(), "4");
}

#[tokio::test]
async fn conflicts_are_shown_and_prevent_all_renames() {
    let world = World::new();
    for name in ["a1", "a2", "b1", "x", "xx", "keep a3"] {
        world.file(name, name);
    }
    std::fs::write(world.at(OsStr::from_bytes(b"a\xff")), "").unwrap();
    let before = names_raw(&world);
    for (find, replace, conflicts) in [
        ("a", "b", &["b1", "a\\xff [name is not UTF-8]"][..]),
        ("x", "", &["", ""]),
        ("1", "2", &["a2"]),
        ("a1", "a2", &["a2"]),
        ("keep a3", &"y".repeat(300), &[&"y".repeat(300)]),
    ] {
        let input = json!({"dir": ".", "find": find, "replace": replace});
        let facts = preview(&world, input.clone()).await;
        let found: Vec<&Value> =
            facts["conflicts"].as_array().unwrap().iter().map(|conflict| &conflict["to"]).collect();
        assert_eq!(found, conflicts, "{find}");
        let answer = world.run("rename_files", input).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{find}: {}", answer.text);
    }
    assert_eq!(names_raw(&world), before);
}

fn names_raw(world: &World) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> =
        std::fs::read_dir(world.at(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn chained_renames_succeed() {
    let mut world = World::new();
    for name in ["a", "aa", "aaaa"] {
        let path = world.file(format!("d/{name}"), name);
        world.created.insert(path);
    }
    let facts = preview(&world, json!({"dir": "d", "find": "a", "replace": "aa"})).await;
    assert_eq!(facts["conflicts"], json!([]), "every name is left by its file");
    let answer = world.run("rename_files", json!({"dir": "d", "find": "a", "replace": "aa"})).await;
    assert!(answer.ok, "the task's own files need no consent: {}", answer.text);
    for (name, content) in [("aa", "a"), ("aaaa", "aa"), ("aaaaaaaa", "aaaa")] {
        assert_eq!(std::fs::read_to_string(world.at("d").join(name)).unwrap(), content);
    }
    assert_eq!(answer.created.len(), 3);
    assert_eq!(output(&world.at("d"), "ls -A | wc -l").trim(), "3");
}

#[tokio::test]
async fn consent_covers_only_the_unchanged_files() {
    let world = World::new();
    world.file("a1", "one");
    let input = json!({"dir": ".", "find": "a", "replace": "b"});
    let need = world.need("rename_files", input.clone()).await;
    assert_eq!(need.writes, [world.at("a1").to_str().unwrap(), world.at("b1").to_str().unwrap()]);
    world.file("a2", "two");
    let more = world.run_under("rename_files", input.clone(), Some(need.digest.clone())).await;
    assert_eq!(more.error_kind, Some(ErrorKind::ApprovalRequired));
    assert!(world.at("a1").exists());
    std::fs::remove_file(world.at("a2")).unwrap();
    assert!(world.run_under("rename_files", input, Some(need.digest)).await.ok);
    assert!(world.at("b1").exists());
}

#[tokio::test]
async fn impossible_names_are_refused() {
    let world = World::new();
    world.file("a", "");
    for (input, field) in [
        (json!({"dir": ".", "find": "", "replace": "x"}), "find"),
        (json!({"dir": ".", "find": "a", "replace": "../x"}), "replace"),
        (json!({"dir": ".", "find": "a/b", "replace": "x"}), "find"),
        (json!({"dir": ".", "find": "a"}), "replace"),
    ] {
        for tool in ["rename_preview", "rename_files"] {
            let answer = world.run(tool, input.clone()).await;
            assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{input}");
            assert!(answer.text.contains(&format!("`{field}`")), "{}", answer.text);
        }
    }
    let file = world.run("rename_preview", json!({"dir": "a", "find": "a", "replace": "b"})).await;
    assert_eq!(file.error_kind, Some(ErrorKind::InvalidInput));
}
