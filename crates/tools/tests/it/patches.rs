//! `apply_patch`: what `git diff` writes is applied as `git apply` does it, or not at all.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};
use setpoint_protocol::tool::{ErrorKind, SideEffect, ToolAnswer};

use crate::support::{World, output};

/// Returns all files below the working directory, with contents and whether they can be executed.
fn files(root: &Path) -> BTreeMap<String, (String, bool)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with(".git") {
                    folders.push(path);
                }
                continue;
            }
            let mode = path.metadata().unwrap().permissions().mode();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, (std::fs::read_to_string(&path).unwrap(), mode & 0o111 != 0));
        }
    }
    found
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

/// A folder before a change.
fn before(world: &World) {
    world.file("src/long.txt", numbered(60));
    world.file("src/old name.txt", numbered(30));
    world.file("gone.txt", "one\ntwo");
    world.file("run.sh", "#!/bin/sh\necho a\n");
    std::fs::set_permissions(world.at("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    world.file("grün.txt", "ü\n");
}

/// What changes it.
const CHANGE: &str = "sed -i -e '3s/.*/third/' -e '40,42d' -e '55a more' src/long.txt \
     && mkdir -p new/deep && printf 'fresh\\nlines' > new/deep/file.txt && printf '#!/bin/sh\\n' > tool.sh && chmod 755 tool.sh \
     && git mv -f 'src/old name.txt' moved.txt && sed -i '7s/.*/seventh/' moved.txt && rm gone.txt && sed -i 's/echo a/echo b/' run.sh \
     && printf 'ü\\nö\\n' > grün.txt && : > empty.txt";

/// Returns the difference that Git sees, and what the folder becomes.
fn by_git(options: &str) -> (String, BTreeMap<String, (String, bool)>) {
    let world = World::new();
    before(&world);
    let git = "git -c user.name=a -c user.email=a@b -c core.autocrlf=false";
    let root = world.at(".");
    output(&root, &format!("git init -q . && git add . && {git} commit -q -m a && {CHANGE} && git add -A"));
    (output(&root, &format!("git -c core.quotepath=false diff --cached {options}")), files(&root))
}

async fn patch(world: &World, patch: &str) -> ToolAnswer {
    world.run("apply_patch", json!({ "patch": patch })).await
}

#[tokio::test]
async fn a_difference_of_git_is_applied_as_git_does() {
    for options in ["-M", "--no-renames", "-M -U1", "-M -U10"] {
        let (difference, after) = by_git(options);
        let world = World::new().keeping();
        before(&world);
        let answer = patch(&world, &difference).await;
        assert!(answer.ok, "{options}: {}", answer.text);
        assert_eq!(files(&world.at(".")), after, "{options}");
        assert_eq!(answer.side_effect, SideEffect::Reversible);
    }
}

#[tokio::test]
async fn the_answer_says_what_became_of_each_file() {
    let world = World::new().keeping();
    before(&world);
    let (difference, _) = by_git("-M");
    let answer = patch(&world, &difference).await;
    let root = format!("{}/", world.at("").display()).replace("//", "/");
    expect_test::expect![[r#"
        patched 8 files
        created empty.txt (+0 -0)
        deleted gone.txt (+0 -2)
        changed grün.txt (+1 -0)
        renamed src/old name.txt to moved.txt (+1 -1)
        created new/deep/file.txt (+2 -0)
        changed run.sh (+1 -1)
        changed src/long.txt (+2 -4)
        created tool.sh (+1 -0)
        the old content is kept for an undo"#]]
    .assert_eq(&answer.text.replace(&root, ""));
    let facts = answer.facts.unwrap().0;
    assert_eq!(facts["count"], json!(8));
    assert_eq!(facts["files"].as_array().unwrap().len(), 8);
    let created: Vec<String> = answer.created.iter().map(|path| path.replace(&root, "")).collect();
    // A file that only got another name was not created by the task.
    assert_eq!(created, ["new", "new/deep", "empty.txt", "new/deep/file.txt", "tool.sh"]);
}

#[tokio::test]
async fn a_patch_is_undone_whole() {
    let world = World::new().keeping();
    before(&world);
    let was = files(&world.at("."));
    let (difference, after) = by_git("-M");
    assert!(patch(&world, &difference).await.ok);
    assert!(files(&world.at(".")) == after && was != after);
    world.undoing(|_| true, false).apply();
    assert_eq!(files(&world.at(".")), was);
    assert!(!world.at("new").exists());
}

#[tokio::test]
async fn a_bad_hunk_changes_nothing() {
    let world = World::new().keeping();
    before(&world);
    let was = files(&world.at("."));
    let (difference, _) = by_git("-M");
    let bad = difference.replace("line 41\n", "line forty-one\n");
    assert_ne!(bad, difference);
    let answer = patch(&world, &bad).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{}", answer.text);
    assert!(answer.text.contains("long.txt: hunk 2 (line "), "{}", answer.text);
    assert!(
        answer.text.contains("\"line forty-one\\n\"") && answer.text.ends_with("nothing was changed"),
        "{}",
        answer.text
    );
    assert_eq!(files(&world.at(".")), was);
}

#[tokio::test]
async fn a_hunk_that_moved_is_reported() {
    let world = World::new().keeping();
    world.file("f", format!("new\nnew\n{}", numbered(9)));
    let answer = patch(&world, "--- f\n+++ f\n@@ -4,3 +4,3 @@\n line 4\n-line 5\n+fifth\n line 6\n").await;
    assert!(answer.text.contains("; hunk 1 stood at line 6 instead of 4"), "{}", answer.text);
    assert_eq!(answer.facts.unwrap().0["files"][0]["moved_hunks"], json!(1));
    assert_eq!(
        std::fs::read_to_string(world.at("f")).unwrap(),
        format!("new\nnew\n{}", numbered(9).replace("line 5", "fifth"))
    );
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_reason() {
    let world = World::new().keeping();
    before(&world);
    world.file("bin", b"\xff\xfe\0");
    std::fs::create_dir(world.at("folder")).unwrap();
    let was = std::fs::read_dir(world.at(".")).unwrap().count();
    let change = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-ü\n+u\n");
    let twice = format!("{0}{0}", change("grün.txt"));
    for (text, said) in [
        ("no patch".to_owned(), "it must be a unified diff"),
        (String::new(), "it must be a unified diff"),
        ("--- a/f\n+++ b/f\n@@ -1,5 +1,2 @@\n-a\n+b\n".to_owned(), "file 1 of it: it cannot be read"),
        // Lines that no hunk counts, and a file in another form, would be left out.
        ("--- a/gone.txt\n+++ b/gone.txt\n@@ -1 +1 @@\n-one\n+1\n-nonsense\n".to_owned(), "no hunk counts"),
        (format!("diff --git a/gone.txt b/gone.txt\n--- a/gone.txt\n+++ b/gone.txt\n@@ -1 +1 @@\n-one\n+1\n{}", change("grün.txt")), "no hunk counts"),
        (change("none.txt"), "No such file"),
        (change("bin"), "it is not UTF-8 text"),
        (change("folder"), "it is not a regular file"),
        (twice, "more than once"),
        ("--- /dev/null\n+++ b/gone.txt\n@@ -0,0 +1 @@\n+x\n".to_owned(), "something is there"),
        ("--- /dev/null\n+++ b/src\n@@ -0,0 +1 @@\n+x\n".to_owned(), "something is there"),
        ("--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n".to_owned(), "leaves lines of it"),
        ("--- a/gone.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-one\n+1\n".to_owned(), "it names two files"),
        ("diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100644\n".to_owned(), "it changes permissions"),
        ("diff --git a/l b/l\nnew file mode 120000\nindex 0000000..1de5659\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n".to_owned(), "it is a link"),
        ("x".repeat(setpoint_tools::PATCH_BYTES_MAX + 1), "split it"),
        ((0..=setpoint_tools::PATCH_FILES_MAX).map(|n| format!("--- /dev/null\n+++ b/n{n}\n@@ -0,0 +1 @@\n+x\n")).collect(), "split it"),
    ] {
        let answer = patch(&world, &text).await;
        assert!(!answer.ok && answer.approval.is_none() && answer.text.contains(said), "{said}: {}", answer.text);
        assert_eq!(std::fs::read_dir(world.at(".")).unwrap().count(), was, "{said}");
    }
}

#[tokio::test]
async fn a_patch_elsewhere_or_to_what_is_obeyed_asks() {
    let world = World::new().keeping();
    before(&world);
    let outside = world.root().join("outside.txt");
    std::fs::write(&outside, "one\n").unwrap();
    symlink(&outside, world.at("link")).unwrap();
    for path in ["../outside.txt", outside.to_str().unwrap(), "link"] {
        let text = format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-one\n+two\n");
        let need = world.need("apply_patch", json!({ "patch": text })).await;
        assert_eq!(need.writes, [outside.to_str().unwrap()]);
        assert!(need.preview.unwrap().contains("-one\n+two"));
    }
    for (path, why) in [(".github/x", "hidden"), (".git/hooks/x", "")] {
        let text = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
        let need = world.need("apply_patch", json!({ "patch": text })).await;
        assert!(need.reason.contains(why), "{}", need.reason);
    }
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "one\n");
}

#[tokio::test]
async fn a_large_question_shows_what_is_obeyed_first() {
    let world = World::new().keeping();
    let new = |path: &str, line: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n");
    let padding: String = (0..90).map(|n| new(&format!("a{n}"), &"x".repeat(900))).collect();
    let text = format!("{padding}{}", new("m/.envrc", "rm -rf everything"));
    let need = world.need("apply_patch", json!({ "patch": text })).await;
    let preview = need.preview.unwrap();
    assert!(preview.find("rm -rf everything").unwrap() < preview.find("xxx").unwrap(), "{preview}");
    assert!(preview.ends_with("more files is not shown]"), "{preview}");
}

#[tokio::test]
async fn consent_is_for_one_patch_on_one_state() {
    let world = World::new();
    before(&world);
    let text = "--- a/grün.txt\n+++ b/grün.txt\n@@ -1 +1 @@\n-ü\n+u\n";
    let need = world.need("apply_patch", json!({ "patch": text })).await;
    let other = text.replace("+u", "+x");
    let answer = world.run_under("apply_patch", json!({ "patch": other }), Some(need.digest.clone())).await;
    assert!(answer.approval.is_some(), "{}", answer.text);
    let answer = world.run_under("apply_patch", json!({ "patch": text }), Some(need.digest)).await;
    assert!(answer.ok && answer.text.contains("the old content was not kept"), "{}", answer.text);
    assert_eq!(answer.side_effect, SideEffect::Irreversible);
}

#[test]
fn equal_patches_have_one_target() {
    use setpoint_machine::CallReader;
    let world = World::new();
    let call = |text: &str| setpoint_protocol::tool::ToolCall {
        tool: "apply_patch".to_owned(),
        input: setpoint_protocol::Any(json!({ "patch": text }) as Value),
    };
    let target = |text: &str| world.registry.read(&call(text), &world.surroundings()).target;
    let text = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
    assert!(target(text).starts_with(world.at("f").to_str().unwrap()), "{}", target(text));
    assert!(target(text) == target(text) && target(text) != target(&text.replace("+b", "+c")));
}
