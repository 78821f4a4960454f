//! What a line of an approval file denies, by every tool that changes something, where nothing would be asked.

use std::path::PathBuf;

use serde_json::{Value, json};
use setpoint_protocol::tool::ErrorKind;
use setpoint_tools::approval_file::{ApprovalFile, Denials};

use crate::sandbox::world as sandbox_world;
use crate::support::{World, output};

/// What is there: each path with its kind, permissions and target, and each file with its checksum.
fn snapshot(world: &World) -> String {
    output(&world.at(""), "find . -printf '%p %y %m %l\\n' | sort; find . -type f -exec cksum {} + | sort")
}

/// Returns a world with these lines, in which nothing that follows asks without them.
fn world(lines: &str) -> Option<World> {
    let mut world = sandbox_world()?.keeping();
    world.probe = false;
    for (name, text) in [("sub/old", "old\n"), ("sub/deep/x", "x\n"), ("t/y", "y\n"), ("beside", "b\n")] {
        world.file(name, text);
    }
    std::os::unix::fs::symlink("sub", world.at("lk")).unwrap();
    output(&world.at(""), "tar cf b.tar sub");
    let denials = Denials::default();
    denials.set(ApprovalFile::parse(lines, "approve.txt", &world.surroundings()).unwrap());
    world.registry = world.registry.clone().denying(denials);
    Some(world)
}

/// Runs calls, of which the last one is expected to change something, and returns its answer.
async fn last(world: &mut World, calls: &[(&str, Value)]) -> setpoint_protocol::tool::ToolAnswer {
    let mut last = setpoint_protocol::tool::ToolAnswer::default();
    for (tool, input) in calls {
        last = world.run(tool, input.clone()).await;
        assert!(last.approval.is_none(), "{tool} {input} asks: {:?}", last.approval);
        world.created.extend(last.created.iter().map(PathBuf::from));
    }
    world.registry.end_background(&world.task).await;
    last
}

fn shell(command: &str) -> Vec<(&'static str, Value)> {
    vec![("shell", json!({ "command": command }))]
}

fn write(path: &str) -> Vec<(&'static str, Value)> {
    vec![("write_file", json!({ "path": path, "content": "x" }))]
}

/// Ways to change something in `sub`.
fn changes() -> Vec<Vec<(&'static str, Value)>> {
    let patch = "--- a/sub/old\n+++ b/sub/old\n@@ -1 +1 @@\n-old\n+new\n";
    vec![
        write("sub/a"),
        write("./t/../sub/g"),
        write("lk/a"),
        write("sub/deep/new/z"),
        vec![("edit_file", json!({ "path": "sub/old", "find": "old", "replace": "new" }))],
        vec![("apply_patch", json!({ "patch": patch }))],
        vec![("rename_files", json!({ "dir": "sub", "find": "old", "replace": "new" }))],
        vec![("archive_create", json!({ "source": "t", "archive": "sub/t.tar.gz" }))],
        shell("echo x > sub/b"),
        shell("echo x > lk/b"),
        shell("cp -r t sub/t2"),
        shell("rm sub/old"),
        shell("rm -r sub"),
        shell("mv sub sub2"),
        shell("mv t/y sub/"),
        shell("chmod 700 sub"),
        shell("chmod 600 sub/deep/x"),
        shell("ln -sf ../t/y sub/old"),
        shell("tar xf b.tar; echo z > sub/deep/x"),
        vec![("run_code", json!({ "language": "python", "code": "open('su'+'b/c','w').write('x')" }))],
        vec![
            (
                "background",
                json!({ "action": "start", "command": "echo x > sub/d; echo ok", "wait_for": "ok" }),
            ),
            ("background", json!({ "action": "stop", "name": "p1" })),
        ],
    ]
}

#[tokio::test]
async fn process_deny_path_refuses_what_would_not_be_asked_about() {
    if world("").is_none() {
        return;
    }
    for calls in changes() {
        let mut free = world("deny path elsewhere").unwrap();
        let before = snapshot(&free);
        let answer = last(&mut free, &calls).await;
        assert!(answer.ok, "{calls:?}: {}", answer.text);
        assert_ne!(snapshot(&free), before, "{calls:?}");

        for line in ["deny path sub", "path .\ndeny path ./t/../lk", "deny path su?", "deny path sub/**"] {
            // What only changes the folder itself is not below it.
            let is_of_folder = format!("{calls:?}").contains("chmod 700");
            if line.ends_with("**") && is_of_folder {
                continue;
            }
            let mut world = world(line).unwrap();
            let before = snapshot(&world);
            let answer = last(&mut world, &calls).await;
            assert_eq!(answer.error_kind, Some(ErrorKind::Consent), "{line}: {calls:?}: {}", answer.text);
            let number = line.lines().count();
            assert!(answer.text.contains(&format!("approve.txt:{number} denies it")), "{}", answer.text);
            assert_eq!(snapshot(&world), before, "{line}: {calls:?}");
        }
    }
}

/// A link that is made or changed later, a folder around it and another name of it do not get around a line.
#[tokio::test]
async fn process_deny_path_holds_for_every_way_to_it() {
    if world("").is_none() {
        return;
    }
    let then = |mut first: Vec<(&'static str, Value)>, next: Vec<(&'static str, Value)>| {
        first.extend(next);
        first
    };
    for (line, calls) in [
        // The path does not exist yet, and is made by a link.
        ("deny path new/secret", shell("ln -s t new")),
        ("deny path new/secret", shell("ln -s t new; mkdir new/secret; echo x > new/secret/f")),
        ("deny path new/secret", then(shell("mkdir new"), shell("ln -s deeper new/secret"))),
        ("deny path new/secret", then(shell("mkdir new"), write("new/secret/f"))),
        ("deny path new/secret", shell("mkdir -p s/secret; cp -r s new")),
        (
            "deny path new/secret",
            then(
                shell("ln -s t nuw"),
                vec![("rename_files", json!({ "dir": ".", "find": "nuw", "replace": "new" }))],
            ),
        ),
        // A link on the way, or at its end, that leads to something or to nothing.
        ("deny path lk/x", shell("ln -sfn t lk; echo x > lk/x")),
        ("deny path lk/x", shell("rm lk")),
        ("deny path gone", write("nowhere")),
        ("deny path gone/x", shell("mkdir nowhere; echo x > gone/x")),
        ("deny path gone/x", then(shell("mkdir nowhere"), write("gone/x"))),
        // Patterns.
        ("deny path s*/deep", shell("rm -r sub")),
        ("deny path **/x", shell("mv sub sub2")),
        ("deny path gone/*.csv", then(shell("mkdir nowhere"), write("gone/a.csv"))),
        ("deny path a[1]", write("a[1]")),
    ] {
        let world = |line: &str| {
            let mut world = world("deny path elsewhere").unwrap();
            std::os::unix::fs::symlink("nowhere", world.at("gone")).unwrap();
            let denials = Denials::default();
            denials.set(ApprovalFile::parse(line, "approve.txt", &world.surroundings()).unwrap());
            world.registry = world.registry.clone().denying(denials);
            world
        };
        let answer = last(&mut world("deny path elsewhere"), &calls).await;
        assert!(answer.ok, "{calls:?}: {}", answer.text);
        let mut world = world(line);
        let (last_call, before_it) = calls.split_last().unwrap();
        let _ = last(&mut world, before_it).await;
        let before = snapshot(&world);
        let answer = last(&mut world, std::slice::from_ref(last_call)).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Consent), "{line}: {calls:?}: {}", answer.text);
        assert_eq!(snapshot(&world), before, "{line}: {calls:?}");
    }
}

/// Where a person, or a program outside of the sandbox, exchanged a folder for a link, the line is about both places.
#[tokio::test]
async fn process_deny_path_follows_links_that_others_make() {
    let Some(mut world) = world("deny path a/secret\ndeny path sub/deep/*.csv") else { return };
    output(&world.at(""), "ln -s t a; mv sub old; ln -s t sub; mkdir t/deep");
    for path in ["a/secret/f", "t/secret", "t/deep/a.csv", "sub/deep/b.csv"] {
        let answer = last(&mut world, &write(path)).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Consent), "{path}: {}", answer.text);
    }
    assert!(last(&mut world, &write("t/deep/a.txt")).await.ok);
}

#[tokio::test]
async fn process_a_file_keeps_its_mode_under_other_names() {
    let Some(mut world) = world("deny path sub") else { return };
    output(&world.at(""), "chmod 640 sub/old; ln sub/old hard");
    let need = world.need("shell", json!({ "command": "chmod 600 hard" })).await;
    let before = snapshot(&world);
    let answer = world.run_under("shell", json!({ "command": "chmod 600 hard" }), Some(need.digest)).await;
    assert!(answer.ok, "{}", answer.text);
    assert_ne!(snapshot(&world), before);
    assert_eq!(output(&world.at(""), "stat -c %a sub/old hard"), "640\n600\n");
    // Within one command both names are one file; what is put in place is a copy.
    let answer = last(&mut world, &shell("ln sub/old again; echo x > again")).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Consent), "{}", answer.text);
    for command in ["ln sub/old again", "echo x > again"] {
        let answer = last(&mut world, &shell(command)).await;
        assert!(answer.ok, "{}", answer.text);
    }
    assert_eq!(output(&world.at(""), "cat sub/old again"), "old\nx\n");
}

#[tokio::test]
async fn process_deny_leaves_reading_and_the_rest_alone() {
    let Some(mut world) = world("deny path sub\ndeny path new/secret\ndeny path lk") else { return };
    for calls in [
        shell("cat sub/old; python3 -c 'print(open(\"sub/old\").read())'; echo x > t/z"),
        vec![("read_file", json!({ "path": "sub/old" }))],
        write("new/plain"),
        write("subject"),
        shell("mkdir -p new/more; echo y > beside"),
    ] {
        let answer = last(&mut world, &calls).await;
        assert!(answer.ok, "{calls:?}: {}", answer.text);
    }
    // The link itself would lead elsewhere.
    let answer = last(&mut world, &shell("ln -sfn t lk")).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Consent), "{}", answer.text);
}

#[tokio::test]
async fn process_deny_command_refuses_what_runs_without_a_question() {
    let lines = "deny command ls -l\ndeny command make test\ndeny command sleep 60";
    let Some(mut world) = world(lines) else { return };
    for (calls, line) in [
        (shell("ls -l"), 1),
        (shell(" make test\n"), 2),
        (shell("ls t; ls  '-l' | wc -l"), 1),
        (shell("touch x && make test; true"), 2),
        (shell("touch x; sh -c 'make test'"), 2),
        (vec![("background", json!({ "action": "start", "command": "sleep 60" }))], 3),
    ] {
        let answer = last(&mut world, &calls).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Consent), "{calls:?}: {}", answer.text);
        assert!(answer.text.contains(&format!("approve.txt:{line} denies it")), "{}", answer.text);
    }
    assert!(last(&mut world, &shell("ls -l t")).await.ok);
}

#[tokio::test]
async fn no_grant_overrides_a_line_that_denies() {
    let Some(world) = world("deny path .envrc\ndeny host docs.example.org") else { return };
    for (tool, input, line) in [
        ("write_file", json!({ "path": ".envrc", "content": "x" }), 1),
        ("http_fetch", json!({ "url": "http://docs.example.org/" }), 2),
    ] {
        let need = world.need(tool, input.clone()).await;
        let answer = world.run_under(tool, input, Some(need.digest)).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Consent), "{}", answer.text);
        assert!(answer.text.contains(&format!("approve.txt:{line} denies it")), "{}", answer.text);
    }
    assert!(!world.at(".envrc").exists());
}
