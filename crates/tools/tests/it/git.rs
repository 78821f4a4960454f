//! Reports on real repositories, including hostile ones.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use setpoint_protocol::tool::ErrorKind;

use crate::support::{World, number, output};

/// Runs git as a person with this name would.
fn git(world: &World, author: &str, command: &str) {
    let identity = format!("-c user.name='{author}' -c user.email=a@example.org -c init.defaultBranch=main");
    output(&world.at("repo"), &format!("GIT_CONFIG_GLOBAL=/dev/null git {identity} {command}"));
}

fn repository(world: &World) {
    std::fs::create_dir(world.at("repo")).unwrap();
    git(world, "Ada", "init -q");
    for (n, author) in ["Ada", "Ada Ö x", "Ada"].iter().enumerate() {
        world.file(format!("repo/f{n}"), "x");
        git(world, author, "add -A");
        git(world, author, &format!("commit -q -m 'commit {n}: ünïcode'"));
    }
}

async fn report(world: &World) -> Value {
    world.facts("git_report", json!({"path": "repo"})).await
}

#[tokio::test]
async fn process_a_report_agrees_with_git() {
    let world = World::new();
    repository(&world);
    world.file("repo/f0", "changed");
    world.file("repo/new dir/new\nfile", "");
    world.file("repo/staged", "");
    git(&world, "Ada", "add staged");
    std::fs::remove_file(world.at("repo/f1")).unwrap();
    let facts = report(&world).await;
    let repo = world.at("repo");
    assert_eq!(facts["branch"], json!("main"));
    assert_eq!(facts["commits"], json!(number(&repo, "git rev-list --count HEAD")));
    assert_eq!(facts["authors"], json!([{"name": "Ada", "commits": 2}, {"name": "Ada Ö x", "commits": 1}]));
    assert_eq!(facts["changed"], json!(["f0", "f1", "staged"]));
    assert_eq!(facts["untracked"], json!(["new dir/new\nfile"]));
    assert_eq!(facts["changed_count"], json!(3));
    let last = &facts["last_commit"];
    assert_eq!(last["hash"], json!(output(&repo, "git rev-parse HEAD").trim()));
    assert_eq!(last["subject"], json!("commit 2: ünïcode"));
    assert_eq!(last["time"], json!(output(&repo, "git log -1 --format=%cI").trim()));
    git(&world, "Ada", "checkout -q --detach");
    assert_eq!(report(&world).await["branch"], Value::Null);
}

#[tokio::test]
async fn process_empty_and_missing_repositories_are_reported() {
    let world = World::new();
    std::fs::create_dir(world.at("repo")).unwrap();
    git(&world, "Ada", "init -q");
    world.file("repo/a", "");
    let facts = report(&world).await;
    assert_eq!(
        (facts["commits"].clone(), facts["authors"].clone(), facts["last_commit"].clone()),
        (json!(0), json!([]), Value::Null)
    );
    assert_eq!((facts["branch"].clone(), facts["untracked"].clone()), (json!("main"), json!(["a"])));
    let none = world.run("git_report", json!({"path": "$PROJECT/.."})).await;
    assert_eq!(none.error_kind, Some(ErrorKind::InvalidData), "{}", none.text);
    assert_eq!(world.run("git_report", json!({"path": "none"})).await.error_kind, Some(ErrorKind::NotFound));
    assert_eq!(
        world.run("git_report", json!({"path": "repo/a"})).await.error_kind,
        Some(ErrorKind::InvalidInput)
    );
}

#[tokio::test]
async fn process_a_hostile_repository_runs_nothing() {
    let world = World::new();
    repository(&world);
    let ran = world.at("ran");
    let trap = world.file("trap", format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\ncat\n", ran.display()));
    std::fs::set_permissions(&trap, Permissions::from_mode(0o755)).unwrap();
    let trap = trap.display();
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.askPass",
        "core.editor",
        "core.alternateRefsCommand",
        "diff.external",
        "gpg.program",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.Two.dots.clean",
        "filter.a=b.clean",
        "diff.evil.textconv",
        "diff.evil.command",
        "pager.log",
        "pager.status",
        "pager.shortlog",
        "alias.status",
        "alias.log",
    ] {
        git(&world, "Ada", &format!("config {setting} '{trap}'"));
    }
    for (setting, value) in [
        ("log.showSignature", "true"),
        ("filter.evil.required", "true"),
        ("core.hooksPath", &world.at(".").display().to_string()),
    ] {
        git(&world, "Ada", &format!("config {setting} '{value}'"));
    }
    world.file("repo/.gitattributes", "f0 filter=evil diff=evil\nf1 filter=Two.dots\nf2 filter=a=b\n");
    for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"] {
        std::fs::copy(world.at("trap"), world.at(hook)).unwrap();
        std::fs::copy(world.at("trap"), world.at("repo/.git/hooks").join(hook)).unwrap();
    }
    // Same size as before, so that Git has to read the content.
    world.file("repo/f0", "y");
    world.file("repo/f1", "y");
    world.file("repo/f2", "y");
    let index = std::fs::read(world.at("repo/.git/index")).unwrap();
    let facts = report(&world).await;
    // Only the filters, which do not run, could tell whether it changed.
    assert_eq!((&facts["changed"], &facts["unsure"]), (&json!([]), &json!(["f0", "f1", "f2"])));
    assert_eq!(facts["commits"], json!(3));
    assert!(!ran.exists(), "{}", std::fs::read_to_string(&ran).unwrap_or_default());
    assert_eq!(std::fs::read(world.at("repo/.git/index")).unwrap(), index, "the index was written");
    // The trap works: without the protection it goes off.
    output(&world.at("repo"), "GIT_CONFIG_GLOBAL=/dev/null git status >/dev/null 2>&1 || true");
    assert!(ran.exists());
}

/// The report sees the same changes as the person's own `git status`, or says that it cannot.
#[tokio::test]
async fn process_a_report_uses_the_persons_settings() {
    let world = World::new();
    std::fs::create_dir(world.at("repo")).unwrap();
    let home = world.root().join("home");
    let git =
        |command: &str| output(&world.at("repo"), &format!("export HOME='{}'; {command}", home.display()));
    git("git config --global user.name a && git config --global user.email a@b && git init -q .");
    git(
        "printf '[core]\\n\\tautocrlf = true\\n' > ~/more && git config --global includeIf.gitdir:/**.path ~/more",
    );
    git("git config --global core.excludesFile '~/ignored' && echo '*.tmp' > ~/ignored && touch x.tmp");
    git("printf 'one\\r\\n' > t && git add t 2>/dev/null && git commit -q -m one && touch -d 2001-01-01 t");
    assert_eq!(git("GIT_OPTIONAL_LOCKS=0 git status -s"), "");
    let facts = report(&world).await;
    assert_eq!((&facts["changed"], &facts["untracked"]), (&json!([]), &json!([])), "{facts}");

    git(
        "git config --global filter.up.clean 'tr a-z A-Z' && git config --global filter.up.smudge 'tr A-Z a-z'",
    );
    git("echo '*.bin filter=up' > ~/attributes && git config --global core.attributesFile '~/attributes'");
    git("echo hello > x.bin && touch -d 2000-01-01 x.bin && git add x.bin && git commit -q -m two");
    assert_eq!(report(&world).await["changed"], json!([]), "its time is the one in the index");
    git("touch -d 2001-01-01 x.bin");
    let facts = report(&world).await;
    assert_eq!(
        (&facts["changed"], &facts["unsure"], &facts["complete"]),
        (&json!([]), &json!(["x.bin"]), &json!(false))
    );
}

/// A new commit in a submodule is a change; its uncommitted changes are reported as not examined.
#[tokio::test]
async fn process_submodules_are_reported_without_entering_them() {
    let world = World::new();
    repository(&world);
    let repo = world.at("repo");
    output(
        &repo,
        "export GIT_CONFIG_GLOBAL=/dev/null; g() { git -c user.name=a -c user.email=a@b -c protocol.file.allow=always \"$@\"; }; \
         g clone -q . ../sub 2>&1 && g submodule add -q ../sub sub 2>&1 && g commit -q -m sub && \
         cd sub && g commit -q --allow-empty -m more",
    );
    let facts = report(&world).await;
    assert_eq!(
        (&facts["changed"], &facts["submodules_looked_into"]),
        (&json!(["sub"]), &json!(false)),
        "{facts}"
    );
    // Git itself wrote these pointers, so there is nothing to ask about.
    for command in ["git -C repo/sub log --oneline", "git -C repo/sub status -s"] {
        let answer = world.run("shell", json!({ "command": command })).await;
        assert!(answer.ok, "{command}: {}", answer.text);
    }
    output(&repo, "git -C sub config core.worktree /");
    let need = world.need("shell", json!({ "command": "git -C repo/sub log" })).await;
    assert!(need.reason.contains("another directory"), "{}", need.reason);
}
