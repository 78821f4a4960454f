//! Finding files and lines.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use setpoint_protocol::tool::ErrorKind;
use setpoint_tools::{Host, Registry};

use crate::support::{World, number, output};

fn tree(world: &World) {
    for name in ["src/main.rs", "src/deep/er/lib.rs", "docs/a b.md", "README", "data/x.csv", "data/y.CSV"] {
        world.file(name, "fn main() {}\nlet a = 1;\n");
    }
    world.file(".hidden/x.rs", "fn hidden() {}\n");
    world.file("node_modules/dep/index.js", "fn dep() {}\n");
    world.file("binary", b"fn main\0");
    symlink("..", world.at("src/loop")).unwrap();
}

async fn globbed(world: &World, input: Value) -> Vec<String> {
    let facts = world.facts("glob", input).await;
    let root = format!("{}/", world.at("").to_str().unwrap().trim_end_matches('/'));
    let paths = facts["paths"].as_array().unwrap().iter();
    paths.map(|path| path.as_str().unwrap().strip_prefix(&root).unwrap().to_owned()).collect()
}

#[tokio::test]
async fn glob_supports_all_wildcards() {
    let world = World::new();
    tree(&world);
    for (pattern, expected) in [
        ("*.rs", &["src/deep/er/lib.rs", "src/main.rs"][..]),
        ("**/*.rs", &["src/deep/er/lib.rs", "src/main.rs"]),
        ("src/*.rs", &["src/main.rs"]),
        ("./src/**/lib.*", &["src/deep/er/lib.rs"]),
        ("*.{csv,md}", &["data/x.csv", "docs/a b.md"]),
        ("data/*.[cC]*", &["data/x.csv", "data/y.CSV"]),
        ("README", &["README"]),
        ("$PROJECT/src/*", &["src/deep", "src/loop", "src/main.rs"]),
        ("$PROJECT/README", &["README"]),
        ("none", &[]),
    ] {
        assert_eq!(globbed(&world, json!({"pattern": pattern})).await, expected, "{pattern}");
    }
    assert_eq!(globbed(&world, json!({"pattern": "*.csv", "root": "$PROJECT/data"})).await, ["data/x.csv"]);
    let hidden = globbed(&world, json!({"pattern": "*.rs", "hidden": true})).await;
    assert_eq!(hidden, [".hidden/x.rs", "src/deep/er/lib.rs", "src/main.rs"]);
}

#[tokio::test]
async fn glob_counts_omitted_results() {
    let world = World::new();
    (0..30).for_each(|n| drop(world.file(format!("{n:02}.txt"), "")));
    let facts = world.facts("glob", json!({"pattern": "*.txt", "limit": 10})).await;
    assert_eq!(facts["paths"].as_array().unwrap().len(), 10);
    assert_eq!((facts["count"].clone(), facts["complete"].clone()), (json!(30), json!(false)));
    let nothing = world.run("glob", json!({"pattern": "*.none"})).await;
    assert!(nothing.ok && nothing.text.contains("`hidden` searches them too"), "{}", nothing.text);
    for input in [json!({"pattern": ""}), json!({"pattern": "["}), json!({"pattern": "{a"})] {
        assert_eq!(
            world.run("glob", input.clone()).await.error_kind,
            Some(ErrorKind::InvalidInput),
            "{input}"
        );
    }
    let missing = world.run("glob", json!({"pattern": "*", "root": "none"})).await;
    assert_eq!(missing.error_kind, Some(ErrorKind::NotFound));
}

#[tokio::test]
async fn grep_agrees_with_grep() {
    let world = World::new();
    tree(&world);
    world.file("crlf.txt", "fn main() {}\r\nno\r\nfn end");
    let facts = world.facts("grep", json!({"pattern": r"^fn \w+", "path": "."})).await;
    let by_grep = number(
        &world.at("."),
        r#"grep -rIn --exclude-dir=".[!.]*" --exclude-dir=node_modules -E "^fn [a-z]+" . | wc -l"#,
    );
    assert_eq!(facts["count"], json!(by_grep));
    assert_eq!(facts["complete"], json!(true));
    let first = &facts["matches"][0];
    assert_eq!(first["path"], json!(world.at("README")));
    assert_eq!((first["line"].clone(), first["text"].clone()), (json!(1), json!("fn main() {}")));
    let in_crlf: Vec<Value> = facts["matches"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|hit| hit["path"] == json!(world.at("crlf.txt")))
        .cloned()
        .collect();
    assert_eq!(in_crlf.len(), 2);
    assert_eq!(in_crlf[0]["text"], json!("fn main() {}"));
    assert_eq!((facts["binary"].clone(), facts["files"].clone()), (json!(1), json!(7)));
}

#[tokio::test]
async fn grep_supports_its_options() {
    let world = World::new();
    world.file("a.txt", "a.b\naxb\nA.B\n");
    world.file("b.md", "a.b\n");
    world.file(".h", "a.b\n");
    for (input, count) in [
        (json!({"pattern": "a.b", "path": "."}), 3),
        (json!({"pattern": "a.b", "path": ".", "fixed": true}), 2),
        (json!({"pattern": "a.b", "path": ".", "fixed": true, "ignore_case": true}), 3),
        (json!({"pattern": "a.b", "path": ".", "glob": "*.md"}), 1),
        (json!({"pattern": "a.b", "path": ".", "hidden": true}), 4),
        (json!({"pattern": "a.b", "path": "a.txt"}), 2),
        (json!({"pattern": "a.b", "path": ".h"}), 1),
        (json!({"pattern": "nowhere", "path": "."}), 0),
        (json!({"pattern": "a.b", "path": ".", "limit": 1}), 3),
    ] {
        let facts = world.facts("grep", input.clone()).await;
        assert_eq!(facts["count"], json!(count), "{input}");
        // Results beyond the limit are still counted.
        assert_eq!(facts["complete"], json!(true), "{input}");
        let given = input.get("limit").and_then(Value::as_u64).unwrap_or(count);
        assert_eq!(facts["matches"].as_array().unwrap().len() as u64, given, "{input}");
    }
    for (input, kind) in [
        (json!({"pattern": "(", "path": "."}), ErrorKind::InvalidInput),
        (json!({"pattern": "x{1000}{1000}", "path": "."}), ErrorKind::InvalidInput),
        (json!({"pattern": "x", "path": "none"}), ErrorKind::NotFound),
    ] {
        assert_eq!(world.run("grep", input.clone()).await.error_kind, Some(kind), "{input}");
    }
}

#[tokio::test]
async fn grep_bounds_lines_and_shows_any_name() {
    let world = World::new();
    world.file("long", format!("{}needle{}\n", "x".repeat(100), "é".repeat(5_000_000)));
    std::fs::write(world.at(OsStr::from_bytes(b"caf\xe9\n.txt")), b"a \xff needle\n").unwrap();
    let answer = world.run("grep", json!({"pattern": "needle", "path": "."})).await;
    let facts = answer.facts.unwrap();
    assert_eq!(facts["count"], json!(2));
    assert_eq!(facts["matches"][0]["text"], json!("a \u{fffd} needle"));
    assert!(facts["matches"][1]["text"].as_str().unwrap().chars().count() <= 400);
    assert!(answer.text.contains("caf\\xe9\\n.txt [name is not UTF-8]:1: a"), "{}", answer.text);
}

#[tokio::test]
async fn unreadable_folders_make_a_result_partial() {
    let world = World::new();
    tree(&world);
    world.file("locked/x", "fn main\n");
    std::fs::set_permissions(world.at("locked"), Permissions::from_mode(0o000)).unwrap();
    if crate::support::is_root() {
        // Nothing is locked for root; what it finds instead shows that the folder was searched.
        let facts = world.facts("grep", json!({"pattern": "fn main", "path": "locked"})).await;
        assert_eq!((facts["count"].clone(), facts["unreadable"].clone()), (json!(1), json!(0)));
        return;
    }
    for (tool, input) in [
        ("grep", json!({"pattern": "fn main", "path": "."})),
        ("glob", json!({"pattern": "*.rs"})),
        ("disk_usage", json!({"path": "."})),
        ("count_lines", json!({"path": "."})),
        ("hash_files", json!({"root": "."})),
        ("broken_links", json!({"path": "."})),
    ] {
        let facts = world.facts(tool, input).await;
        assert_eq!(facts["unreadable"], json!(1), "{tool}");
    }
    std::fs::set_permissions(world.at("locked"), Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn find_files_walks_without_an_index() {
    let mut world = World::new();
    tree(&world);
    world.registry = Registry::built_in(&Host::new("linux", [("PATH".into(), "/nowhere".into())]));
    let find = |name: &str| world.facts("find_files", json!({"name": name, "root": "."}));
    let facts = find("LIB").await;
    assert_eq!(facts["paths"], json!([world.at("src/deep/er/lib.rs")]));
    assert_eq!(facts["indexed"], json!(false));
    assert_eq!(find("*.csv").await["count"], json!(2));
    assert_eq!(find("nothing like it").await["count"], json!(0));
    let limited = world.facts("find_files", json!({"name": "r", "root": ".", "limit": 1})).await;
    assert_eq!((limited["paths"].as_array().unwrap().len(), limited["complete"].clone()), (1, json!(false)));
    assert_eq!(
        world.run("find_files", json!({"name": "a/b"})).await.error_kind,
        Some(ErrorKind::InvalidInput)
    );
    let unnamed = world.facts("find_files", json!({"name": "main"})).await;
    assert_eq!(unnamed["count"], json!(1), "it looks in the working directory");
}

#[tokio::test]
async fn process_find_files_asks_the_index_but_trusts_the_disk() {
    let mut world = World::new();
    tree(&world);
    let listed = [
        world.at("src/main.rs"),
        world.at("src/deleted/main.rs"),
        world.root().join("home/main.rs"),
        world.at("docs/a b.md"),
    ];
    let listed: Vec<String> = listed.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
    // One in the project would not be started.
    let bin = world.root().join("home/bin");
    std::fs::create_dir(&bin).unwrap();
    let index = bin.join("plocate");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {}\nprintf '{}\\0'\n",
        world.at("asked").display(),
        listed.join("\\0")
    );
    std::fs::write(&index, script).unwrap();
    std::fs::set_permissions(&index, Permissions::from_mode(0o755)).unwrap();
    std::fs::write(world.root().join("home/main.rs"), "").unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    world.registry = Registry::built_in(&Host::new("linux", [("PATH".into(), path.into())]));
    let facts = world.facts("find_files", json!({"name": "*ain.RS", "root": "."})).await;
    assert_eq!(facts["paths"], json!([world.at("src/main.rs")]));
    assert_eq!(facts["indexed"], json!(true));
    assert_eq!(output(&world.at("."), "cat asked").trim(), "-i -b -0 -- ain.rs");
    // The index has no match, so the folders are walked.
    let facts = world.facts("find_files", json!({"name": "lib.rs", "root": "."})).await;
    assert_eq!((facts["count"].clone(), facts["indexed"].clone()), (json!(1), json!(false)));
}

/// What a search leaves out and would have found is in its facts: its absence is not shown.
#[tokio::test]
async fn matches_among_hidden_and_ignored_files_are_told() {
    let world = World::new();
    for (name, text) in [
        (".git/debug.log", "TODO"),
        ("node_modules/debug.log", "TODO"),
        (".gitignore", "debug.log\n"),
        ("debug.log", "a\nTODO b\n"),
        (".config/old.log", "x\n"),
        ("a.txt", "x\n"),
    ] {
        world.file(name, text);
    }
    let root = world.at("").to_str().unwrap().trim_end_matches('/').to_owned();
    let logs = json!([format!("{root}/.config/old.log"), format!("{root}/debug.log")]);
    for (tool, input, expected) in [
        ("glob", json!({"pattern": "*.log"}), logs.clone()),
        ("glob", json!({"pattern": "*.log", "hidden": true}), json!(null)),
        ("glob", json!({"pattern": "*.csv"}), json!(null)),
        ("find_files", json!({"name": "*.log", "root": "."}), logs),
        ("grep", json!({"pattern": "TODO", "path": "."}), json!([format!("{root}/debug.log:2: TODO b")])),
        ("grep", json!({"pattern": "nothing", "path": "."}), json!(null)),
        ("list_dir", json!({"path": "."}), json!([".config", ".gitignore"])),
    ] {
        let facts = world.facts(tool, input.clone()).await;
        assert_eq!(facts["left_out"], expected, "{tool} {input}");
    }
    let answer = world.run("glob", json!({"pattern": "*.log"})).await;
    assert!(
        answer.text.ends_with("(2 matches among the hidden and ignored files left out)"),
        "{}",
        answer.text
    );
}
