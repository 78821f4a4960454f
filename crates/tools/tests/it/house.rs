//! Setpoint's own house: no tool enters it, by any path, and no approval opens it.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};
use setpoint_protocol::tool::ErrorKind;
use setpoint_tools::House;

use crate::support::{World, output};

/// The content of every file of the house.
const SECRET: &str = "sk-house-4711";

/// The closed places, below the temporary folder.
const PLACES: [&str; 22] = [
    "home/data",
    "home/data/journal",
    "home/data/journal/journal.db",
    "home/data/journal/head",
    "home/data/journal/new",
    "home/data/memory",
    "home/data/memory/memory.db",
    "home/data/audit",
    "home/data/audit/log",
    "home/data/audit/key",
    "home/data/audit/checkpoints",
    "home/data/setpoint.log",
    "home/data/cassettes/a.jsonl",
    "home/data/workspaces/../journal/head",
    "home/data/new/file",
    "home/config",
    "home/config/setpoint.toml",
    "home/config/models.toml",
    "home/config/thinking.md",
    "home/config/playbooks/mine.toml",
    "usb/audit.key",
    "usb/checkpoints",
];

fn world() -> World {
    let mut world = World::new();
    let root = world.root();
    for file in [
        "home/data/journal/journal.db",
        "home/data/journal/head",
        "home/data/memory/memory.db",
        "home/data/audit/log",
        "home/data/audit/key",
        "home/data/audit/checkpoints",
        "home/data/setpoint.log",
        "home/data/cassettes/a.jsonl",
        "home/config/setpoint.toml",
        "home/config/models.toml",
        "home/config/thinking.md",
        "home/config/playbooks/mine.toml",
        "usb/audit.key",
        "usb/checkpoints",
        "home/data/workspaces/t0/result.md",
    ] {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let content = if file.contains("workspaces") { "a result" } else { SECRET };
        std::fs::write(path, format!("{content}\n")).unwrap();
    }
    world.file("other/a", "x\n");
    let house = House::new(
        vec![root.join("home/data"), root.join("home/config")],
        vec![root.join("usb/audit.key"), root.join("usb/checkpoints")],
        root.join("home/data/workspaces"),
    );
    world.registry = std::mem::take(&mut world.registry).with_house(house);
    world
}

fn state(world: &World) -> String {
    output(
        &world.root(),
        "find home/data home/config usb -printf '%p %y %s %n %m\\n' | sort; find home/data home/config usb -type f \
         -exec cat {} +",
    )
}

/// Returns every call that would read, list, compare, enter or change a path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("list_dir", json!({"path": path, "hidden": true})),
        ("file_facts", json!({"path": path})),
        ("hash_files", json!({"paths": [path]})),
        ("hash_files", json!({"root": path})),
        ("grep", json!({"pattern": ".", "path": path, "hidden": true})),
        ("glob", json!({"pattern": "**/*", "root": path, "hidden": true})),
        ("find_files", json!({"name": "*", "root": path})),
        ("count_lines", json!({"path": path, "hidden": true})),
        ("disk_usage", json!({"path": path})),
        ("compare_dirs", json!({"left": path, "right": "other"})),
        ("compare_dirs", json!({"left": "other", "right": path})),
        ("broken_links", json!({"path": path})),
        ("table_summary", json!({"path": path, "kind": "log"})),
        ("archive_list", json!({"archive": path})),
        ("archive_create", json!({"source": path, "archive": "$PROJECT/stolen.tar"})),
        ("archive_create", json!({"source": "other", "archive": format!("{path}/x.tar")})),
        ("manifest_create", json!({"root": path, "manifest": "$PROJECT/stolen.sums"})),
        ("manifest_create", json!({"root": "other", "manifest": path})),
        ("manifest_verify", json!({"manifest": path})),
        ("manifest_verify", json!({"manifest": "other/a", "root": path})),
        ("git_report", json!({"path": path})),
        ("rename_preview", json!({"dir": path, "find": "e", "replace": "x"})),
        ("rename_files", json!({"dir": path, "find": "e", "replace": "x"})),
        ("write_file", json!({"path": path, "content": "x", "overwrite": true})),
        ("write_file", json!({"path": format!("{path}/x"), "content": "x"})),
        ("edit_file", json!({"path": path, "find": SECRET, "replace": "x"})),
    ]
}

async fn is_refused(world: &World, path: &str, before: &str) -> usize {
    let mut refused = 0;
    for (tool, input) in calls(path) {
        for grant in [None, Some("0".repeat(64))] {
            let answer = world.run_under(tool, input.clone(), grant).await;
            assert!(!answer.ok, "{tool} {input}: {}", answer.text);
            let kind = answer.error_kind;
            // A name below a file does not exist at all.
            let is_nowhere = matches!(kind, Some(ErrorKind::NotFound | ErrorKind::InvalidInput))
                && input.to_string().contains(&format!("{path}/x"));
            assert!(
                is_nowhere || kind == Some(ErrorKind::Permission),
                "{tool} {input}: {kind:?} {}",
                answer.text
            );
            assert!(
                is_nowhere || answer.text.contains("belongs to Setpoint itself"),
                "{tool}: {}",
                answer.text
            );
            assert!(
                answer.approval.is_none() && !answer.text.contains(SECRET),
                "{tool} {input}: {}",
                answer.text
            );
            refused += 1;
        }
    }
    assert_eq!(state(world), before, "{path}");
    refused
}

#[tokio::test]
async fn no_tool_enters_the_house() {
    let world = world();
    let before = state(&world);
    for place in PLACES {
        let path = world.root().join(place);
        is_refused(&world, path.to_str().unwrap(), &before).await;
    }
    assert_eq!(output(&world.at("."), "find . -type f | sort").trim(), "./other/a");
}

#[tokio::test]
async fn no_alias_leads_into_the_house() {
    let world = world();
    let root = world.root();
    symlink(root.join("home/data"), world.at("whole")).unwrap();
    symlink("../home/data/journal", world.at("journal")).unwrap();
    symlink("journal/head", world.at("head")).unwrap();
    symlink("../home/data/workspaces", world.at("spaces")).unwrap();
    symlink(root.join("home/data/audit/key"), root.join("home/data/workspaces/t0/key")).unwrap();
    std::fs::create_dir(world.at("names")).unwrap();
    std::fs::hard_link(root.join("home/data/audit/key"), world.at("names/key")).unwrap();
    std::fs::hard_link(root.join("usb/audit.key"), world.at("names/usb key")).unwrap();
    let before = state(&world);
    for alias in [
        "$PROJECT/whole",
        "$PROJECT/whole/journal/head",
        "$PROJECT/journal",
        "$PROJECT/journal/..",
        "$PROJECT/journal/../audit/key",
        "$PROJECT/head",
        "$PROJECT/spaces/..",
        "$PROJECT/spaces/../setpoint.log",
        "$PROJECT/spaces/t0/key",
        "../home/data/journal",
        "~/data/./journal/../journal/head",
        "/proc/self/root$PROJECT/journal/head",
    ] {
        is_refused(&world, alias, &before).await;
    }
    for alias in ["names/key", "names/usb key"] {
        for (tool, input) in calls(alias).into_iter().filter(|(_, input)| !input.to_string().contains("/x")) {
            let answer = world.run(tool, input.clone()).await;
            assert!(!answer.ok && !answer.text.contains(SECRET), "{tool} {input}: {}", answer.text);
        }
    }
    assert_eq!(state(&world), before);
}

#[tokio::test]
async fn walks_skip_the_house_and_report_it() {
    let world = world();
    let root = world.root();
    std::fs::hard_link(root.join("home/data/audit/key"), world.at("alias")).unwrap();
    let before = state(&world);
    let top = root.to_str().unwrap();
    for (tool, input) in [
        ("grep", json!({"pattern": "sk-house", "path": top, "hidden": true})),
        ("glob", json!({"pattern": "*head*", "root": top, "hidden": true})),
        ("find_files", json!({"name": "journal.db", "root": top})),
        ("count_lines", json!({"path": top, "hidden": true})),
        ("disk_usage", json!({"path": top, "depth": 5})),
        ("hash_files", json!({"root": top})),
        ("broken_links", json!({"path": top})),
        ("list_dir", json!({"path": root.join("home"), "hidden": true})),
        ("compare_dirs", json!({"left": top, "right": "other"})),
        ("rename_preview", json!({"dir": top, "find": "head", "replace": "x", "recursive": true})),
        ("archive_create", json!({"source": top, "archive": "$PROJECT/all.tar"})),
        ("manifest_create", json!({"root": top, "manifest": "$PROJECT/all.sums"})),
    ] {
        let answer = world.run(tool, input.clone()).await;
        assert!(answer.ok, "{tool}: {}", answer.text);
        assert!(answer.text.contains("belong to Setpoint itself left out"), "{tool}: {}", answer.text);
        let facts = answer.facts.unwrap().0;
        assert!(facts["closed"].as_u64() >= Some(2), "{tool}: {facts}");
        let told = format!("{}{facts}", answer.text);
        for name in [SECRET, "journal.db", "/head", "memory.db"] {
            assert!(!told.contains(name), "{tool} tells {name}: {told}");
        }
        if ["compare_dirs", "archive_create", "manifest_create"].contains(&tool) {
            assert_ne!(
                facts.get("complete").filter(|_| tool != "compare_dirs"),
                Some(&json!(true)),
                "{tool}"
            );
            assert_ne!(facts.get("identical"), Some(&json!(true)), "{tool}");
        }
    }
    for file in ["all.tar", "all.sums"] {
        let content = String::from_utf8_lossy(&std::fs::read(world.at(file)).unwrap()).into_owned();
        assert!(!content.contains(SECRET) && !content.contains("journal.db"), "{file}");
    }
    assert_eq!(state(&world), before);
}

#[tokio::test]
async fn git_does_not_read_the_house() {
    let world = world();
    output(&world.root(), "git init -q home && git init -q project && git init -q --bare home/data/bare.git");
    output(&world.at("."), "git config core.worktree ../../home/data/journal");
    let led = world.run("git_report", json!({"path": "."})).await;
    assert_eq!(led.error_kind, Some(ErrorKind::Permission), "{}", led.text);
    std::fs::remove_dir_all(world.at(".git")).unwrap();
    world.file(".git", "gitdir: ../home/data/bare.git\n");
    let led = world.run("git_report", json!({"path": "."})).await;
    assert_eq!(led.error_kind, Some(ErrorKind::Permission), "{}", led.text);
    std::fs::write(world.root().join("home/mine"), "x").unwrap();
    let around = world.run("git_report", json!({"path": "~"})).await;
    let facts = around.facts.unwrap().0;
    assert_eq!(facts["untracked"], json!(["data/workspaces/t0/result.md", "mine"]), "{}", around.text);
    assert!(facts["closed"].as_u64() > Some(5) && around.text.contains("left out"), "{}", around.text);
}

#[tokio::test]
async fn results_in_workspaces_may_be_read() {
    let world = world();
    let result = world.root().join("home/data/workspaces/t0/result.md");
    let answer = world.run("read_file", json!({"path": result})).await;
    assert_eq!(answer.text, "a result\n");
    let listed = world.facts("list_dir", json!({"path": "~/data/workspaces"})).await;
    assert_eq!(listed["count"], json!(1));
    // The results belong to another task.
    let input = json!({"path": result, "content": "x", "overwrite": true});
    assert_eq!(world.run("write_file", input).await.error_kind, Some(ErrorKind::ApprovalRequired));
    let input = json!({"path": "~/data/workspaces/t0/new.md", "content": "x"});
    assert_eq!(world.run("write_file", input).await.error_kind, Some(ErrorKind::ApprovalRequired));
}

#[tokio::test]
async fn a_task_in_the_house_is_rejected() {
    let mut world = world();
    world.cwd = "home/data";
    for (tool, input) in [
        ("read_file", json!({"path": "journal/head"})),
        ("list_dir", json!({"path": "."})),
        ("write_file", json!({"path": "sub/x", "content": ""})),
        ("glob", json!({"pattern": "*"})),
    ] {
        assert_eq!(world.run(tool, input).await.error_kind, Some(ErrorKind::Permission), "{tool}");
    }
    assert!(world.run("read_file", json!({"path": "workspaces/t0/result.md"})).await.ok);
    let own: PathBuf = world.in_space("report.md");
    assert!(world.run("write_file", json!({"path": own, "content": ""})).await.ok && own.exists());
}

/// `~` is awk's match operator and `/` a division; beside a `*` they were once read as "everything in the home folder".
#[tokio::test]
async fn operators_in_a_programs_text_are_not_paths() {
    let world = world();
    world.file("sales.csv", "a,east,x,10\na,west,x,200\n");
    let sums = "awk -F, '$4 ~ /^[0-9]+(\\.[0-9]+)?$/ { c[$2] += int($4 * 100 + 0.5) } END { for (r in c) print r, c[r] / 100 }' \
                sales.csv | sort";
    let input = json!({ "command": sums });
    let answer = world.run("shell", input).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{}", answer.text);
    for command in [
        "sh -c 'cd ~; cat */*'",
        "bash <<'E'\ncd ~\ncat */*\nE",
        "bash <<E\ncat ~/data/*\nE",
        "python3 -c 'import os; os.system(\"cd ~ ; cat * / * \")'",
        "(cd ~; cat data/*)",
    ] {
        let answer = world.run("shell", json!({ "command": command })).await;
        assert!(answer.text.contains("belongs to Setpoint itself"), "{command}: {}", answer.text);
    }
}
