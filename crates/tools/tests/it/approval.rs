//! The gate from outside: every way to change something, with and without consent.

use serde_json::{Value, json};
use setpoint_protocol::tool::{ErrorKind, SideEffect};
use setpoint_tools::approval_file::{ApprovalFile, Decision};

use crate::support::{World, output};

/// Returns every call that would change `old`, a file that the task did not create.
fn changing() -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": "$PROJECT/old", "content": "new", "overwrite": true})),
        ("edit_file", json!({"path": "$PROJECT/old", "find": "old", "replace": "new"})),
        ("rename_files", json!({"dir": "$PROJECT", "find": "old", "replace": "new"})),
        ("archive_create", json!({"source": "$PROJECT/source", "archive": "$PROJECT/old.tar"})),
        ("manifest_create", json!({"root": "$PROJECT/source", "manifest": "$PROJECT/old"})),
        ("shell", json!({"command": "rm old"})),
        ("shell", json!({"command": "echo new > old"})),
        ("shell", json!({"command": "sed -i s/old/new/ old"})),
        ("shell", json!({"command": "mv old new"})),
        ("shell", json!({"command": "perl -e 'open(F, q(>), q(old))'"})),
        ("shell", json!({"command": "find . -name old -delete"})),
    ]
}

fn world() -> World {
    let world = World::new();
    world.file("old", "old");
    world.file("old.tar", "old");
    world.file("source/a", "a");
    world
}

fn state(world: &World) -> String {
    output(&world.at("."), "find . -type f -print -exec cat {} ';' | sort; ls -A ../space ../home")
}

#[tokio::test]
async fn without_consent_nothing_changes() {
    let world = world();
    let before = state(&world);
    for (tool, input) in changing() {
        let answer = world.run(tool, input.clone()).await;
        assert!(!answer.ok, "{tool} {input}");
        assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{tool} {input}: {}", answer.text);
        assert_eq!(answer.side_effect, SideEffect::None, "{tool} {input}");
        let need = answer.approval.unwrap();
        assert_eq!(need.digest.len(), 64);
        assert!(!need.reason.is_empty() && !need.command.is_empty(), "{need:?}");
        for wrong in ["", "0", &"0".repeat(64), &need.digest.to_uppercase()] {
            let answer = world.run_under(tool, input.clone(), Some(wrong.to_owned())).await;
            assert_eq!(
                answer.error_kind,
                Some(ErrorKind::ApprovalRequired),
                "{tool} {input} under {wrong:?}"
            );
        }
        assert_eq!(state(&world), before, "{tool} {input}");
    }
}

#[tokio::test]
async fn an_approval_of_one_call_allows_no_other() {
    let world = world();
    let before = state(&world);
    let mut digests = Vec::new();
    for (tool, input) in changing() {
        digests.push(world.need(tool, input).await.digest);
    }
    for (n, (tool, input)) in changing().into_iter().enumerate() {
        for (m, digest) in digests.iter().enumerate().filter(|(m, _)| *m != n) {
            let answer = world.run_under(tool, input.clone(), Some(digest.clone())).await;
            assert_eq!(
                answer.error_kind,
                Some(ErrorKind::ApprovalRequired),
                "{tool} {input} under that of {m}"
            );
        }
    }
    assert_eq!(state(&world), before);
}

#[tokio::test]
async fn a_changed_byte_needs_a_new_approval() {
    for (tool, input) in changing() {
        let world = world();
        let need = world.need(tool, input.clone()).await;
        // A need that cannot list its paths is bound to its text alone.
        if need.writes.is_empty() && need.deletes.is_empty() {
            continue;
        }
        world.file("old", "olD old");
        world.file("old.tar", "olD old");
        let before = state(&world);
        let answer = world.run_under(tool, input.clone(), Some(need.digest.clone())).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{tool} {input}: {}", answer.text);
        assert_ne!(answer.approval.unwrap().digest, need.digest);
        assert_eq!(state(&world), before, "{tool} {input}");
    }
}

#[tokio::test]
async fn with_consent_a_call_does_what_was_shown_once() {
    for (tool, input) in changing() {
        let world = world();
        let before = state(&world);
        let answer = world.run_allowed(tool, input.clone()).await;
        assert!(answer.ok, "{tool} {input}: {}", answer.text);
        assert_ne!(answer.side_effect, SideEffect::None, "{tool} {input}");
        assert_ne!(state(&world), before, "{tool} {input}");
        assert!(answer.approval.is_none());
    }
}

#[tokio::test]
async fn own_files_need_consent_only_under_caution() {
    for (tool, input) in changing().into_iter().filter(|(tool, _)| *tool != "shell") {
        let mut world = world();
        world.created.extend([world.at("old"), world.at("old.tar")]);
        world.caution = true;
        let careful = world.run(tool, input.clone()).await;
        assert_eq!(careful.error_kind, Some(ErrorKind::ApprovalRequired), "{tool} {input}");
        assert!(careful.approval.unwrap().reason.contains("caution"));
        world.caution = false;
        let answer = world.run(tool, input.clone()).await;
        assert!(answer.ok, "{tool} {input}: {}", answer.text);
    }
}

#[tokio::test]
async fn caution_does_not_apply_to_reading() {
    let mut world = world();
    world.caution = true;
    for (tool, input) in [
        ("shell", json!({"command": "cat old"})),
        ("read_file", json!({"path": "old"})),
        ("rename_preview", json!({"dir": ".", "find": "old", "replace": "new"})),
    ] {
        assert!(world.run(tool, input).await.ok, "{tool}");
    }
    let created = world.run("write_file", json!({"path": "a/b", "content": ""})).await;
    assert_eq!(created.error_kind, Some(ErrorKind::ApprovalRequired));
}

#[tokio::test]
async fn creating_self_acting_files_needs_consent() {
    let world = world();
    for path in ["~/.bashrc", "$PROJECT/.git/hooks/pre-commit", "~/.ssh/authorized_keys", "$PROJECT/.envrc"] {
        let answer = world.run("write_file", json!({"path": path, "content": "x"})).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::ApprovalRequired), "{path}");
    }
    assert!(world.run_allowed("write_file", json!({"path": "$PROJECT/.envrc", "content": "x"})).await.ok);
}

#[tokio::test]
async fn an_approval_file_answers_what_the_gate_asks() {
    let world = world();
    let text = "path $PROJECT\ndeny path $PROJECT/old.tar\ncommand perl -e 'open(F, q(>), q(old))'\n";
    // The paths of a shell command are known only if it does nothing but remove or create.
    let is_opaque =
        |command: &str| ["echo", "sed", "mv", "find"].iter().any(|program| command.starts_with(program));
    let file = ApprovalFile::parse(text, "allowed", &world.surroundings()).unwrap();
    for (tool, input) in changing() {
        let need = world.need(tool, input.clone()).await;
        let expected = match tool {
            "archive_create" => Decision::Refuse { line: Some(2) },
            // Its list of files includes old.tar.
            "rename_files" => Decision::Refuse { line: Some(2) },
            _ if need.command.starts_with("perl") => Decision::Allow { line: 3 },
            "shell" if is_opaque(&need.command) => Decision::Refuse { line: None },
            _ => Decision::Allow { line: 1 },
        };
        assert_eq!(file.decide(&need), expected, "{tool} {input}: {need:?}");
    }
}
