//! Commands as real processes: their output, how they end, and that nothing of them is left.

use serde_json::json;
use setpoint_protocol::tool::{ErrorKind, SandboxTier, SideEffect, ToolAnswer};

use crate::support::{World, is_root, output};

#[tokio::test]
async fn process_output_and_exit_code() {
    let world = World::new();
    let answer = world.run("shell", json!({"command": "printf 'out\\n'; printf 'err\\n' >&2"})).await;
    assert!(answer.ok);
    assert_eq!(answer.text, "exit code zero\nout\n[errors]\nerr\n");
    assert_eq!(answer.exit_code, Some(0));
    assert_eq!((answer.side_effect, answer.tier), (SideEffect::None, Some(SandboxTier::None)));
    let facts = answer.facts.unwrap().0;
    assert_eq!(
        facts,
        json!({"exit_code": 0, "stdout": "out\n", "stderr": "err\n", "timed_out": false, "complete": true})
    );
}

#[tokio::test]
async fn process_each_ending_has_its_error_kind() {
    let world = World::new();
    for (command, code, kind) in [
        ("false", Some(1), ErrorKind::Exit),
        ("exit 42", Some(42), ErrorKind::Exit),
        ("no_such_program_at_all", Some(127), ErrorKind::MissingTool),
        ("./text", Some(126), ErrorKind::Permission),
        ("kill -KILL $$", None, ErrorKind::Signal),
    ] {
        world.file("text", "no program");
        let answer = run_anyhow(&world, command).await;
        assert!(!answer.ok, "{command}");
        assert_eq!((answer.exit_code, answer.error_kind), (code, Some(kind)), "{command}: {}", answer.text);
    }
}

#[tokio::test]
async fn process_gets_a_clean_environment_and_no_input() {
    let world = World::new();
    let answer =
        run_anyhow(&world, "cat; echo \"$TERM $NO_COLOR $PAGER $GIT_PAGER $HOME $PWD $CARGO_MANIFEST_DIR\"")
            .await;
    let root = world.root();
    let expected = format!("exit code zero\ndumb 1 cat cat {0}/home {0}/project \n", root.display());
    assert_eq!(answer.text, expected);
}

/// Yields to other calls, within which one that does not wait would be done.
const YIELDS: usize = 20_000;

#[tokio::test]
async fn nothing_changes_while_a_command_reads() {
    let world = World::new();
    let project = world.root().join("project");
    let gate = project.join("gate");
    output(&project, "mkfifo gate");
    let reads = world.run("shell", json!({"command": "cat gate a.txt"}));
    let writes = async {
        // This waits until the command reads.
        let open = move || std::fs::OpenOptions::new().write(true).open(gate);
        let opened = tokio::task::spawn_blocking(open).await.unwrap().unwrap();
        let mut write =
            std::pin::pin!(world.run("write_file", json!({"path": "a.txt", "content": "after\n"})));
        let time_enough = async {
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
        };
        // The command reads on when the change had time enough.
        tokio::select! {
            biased;
            written = &mut write => written,
            () = time_enough => {
                drop(opened);
                write.await
            }
        }
    };
    let (read, written) = tokio::join!(reads, writes);
    assert!(written.ok, "{}", written.text);
    assert!(read.text.contains("a.txt: No such file"), "{}", read.text);
}

#[tokio::test]
async fn a_look_through_a_link_says_so() {
    let world = World::new();
    for file in ["real.txt", "v1/a.txt"] {
        world.file(file, "one");
    }
    let project = world.root().join("project");
    std::os::unix::fs::symlink("real.txt", project.join("l.txt")).unwrap();
    std::os::unix::fs::symlink("v1", project.join("cur")).unwrap();
    for (tool, input, is_so) in [
        ("shell", json!({"command": "cat l.txt"}), true),
        ("shell", json!({"command": "cat 'cur/a.txt'"}), true),
        ("shell", json!({"command": "cat a.txt", "cwd": "cur"}), true),
        ("shell", json!({"command": "/bin/cat v1/a.txt"}), false),
        ("shell", json!({"command": "cat real.txt"}), false),
        ("read_file", json!({"path": "l.txt"}), true),
        ("read_file", json!({"path": "cur/a.txt"}), true),
        ("read_file", json!({"path": "v1/a.txt"}), false),
    ] {
        let answer = world.run(tool, input.clone()).await;
        assert!(answer.ok, "{input}: {}", answer.text);
        let links = answer.facts.and_then(|facts| facts.0.get("links").cloned());
        assert_eq!(links, is_so.then(|| true.into()), "{input}");
    }
}

#[tokio::test]
async fn process_runs_in_the_given_folder() {
    let world = World::new();
    world.file("sub dir/x", "");
    let answer = world.run("shell", json!({"command": "ls", "cwd": "$PROJECT/sub dir"})).await;
    assert_eq!(answer.text, "exit code zero\nx\n");
    let missing = world.run("shell", json!({"command": "ls", "cwd": "none"})).await;
    assert_eq!(missing.error_kind, Some(ErrorKind::NotFound), "{}", missing.text);
    let file = world.run("shell", json!({"command": "ls", "cwd": "sub dir/x"})).await;
    assert_eq!(file.error_kind, Some(ErrorKind::InvalidInput), "{}", file.text);
}

#[tokio::test]
async fn process_output_is_capped_while_it_is_read() {
    let world = World::new();
    let bytes = 64 * 1024 * 1024;
    let command = format!("head -c {bytes} /dev/zero | tr '\\0' x; echo; echo the end");
    let answer = run_anyhow(&world, &command).await;
    assert!(answer.ok, "{}", answer.text.chars().take(200).collect::<String>());
    assert!(answer.text.len() <= setpoint_protocol::limits::TOOL_OUTPUT_BYTES_MAX);
    assert!(answer.text.len() > 300 * 1024, "{}", answer.text.len());
    assert!(answer.text.starts_with("exit code zero\nxxx"));
    assert!(answer.text.ends_with("xxx\nthe end\n"));
    assert!(answer.text.contains(&format!("of {} bytes cut", bytes + 9)));
    let facts = answer.facts.unwrap();
    assert!(facts.to_bytes().len() <= setpoint_protocol::limits::FACTS_BYTES_MAX);
    assert_eq!(facts.get("complete"), Some(&json!(false)));
}

#[tokio::test]
async fn process_binary_output_is_decoded_lossily() {
    let world = World::new();
    let answer = world.run("shell", json!({"command": "printf 'a\\377b\\000c'"})).await;
    assert_eq!(answer.text, "exit code zero\na\u{fffd}b\0c");
}

#[tokio::test]
async fn process_a_timeout_stops_the_command() {
    let world = World::new();
    let answer =
        run_with(&world, json!({"command": "echo begun; sleep 300; echo survived", "timeout_s": 1})).await;
    assert!(!answer.ok);
    assert_eq!(answer.error_kind, Some(ErrorKind::Timeout));
    let text = "TIMED OUT after 1 s: it and everything it started was stopped. Output so far:\nbegun\n";
    assert_eq!(answer.text, text);
    assert_eq!(answer.facts.unwrap().get("timed_out"), Some(&json!(true)));
}

/// Git prints what it cannot parse in its own files. A repository is data, and its links may lead anywhere.
#[tokio::test]
async fn git_does_not_expose_targets_of_repository_links() {
    let world = World::new();
    let secret = world.root().join("home/secret");
    std::fs::write(&secret, "hush hush\n").unwrap();
    for (n, place) in [
        "packed-refs",
        "shallow",
        "objects/info/alternates",
        "info/exclude",
        "rebase-merge/head-name",
        "logs/HEAD",
        "config",
        "HEAD",
        "refs",
    ]
    .into_iter()
    .enumerate()
    {
        let folder = format!("r{n}");
        let link = world.at(&folder).join(".git").join(place);
        output(&world.at("."), &format!("git init -q {folder}; rm -rf {}", link.display()));
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        for command in ["git status", "git log", "git branch -a"] {
            let need = world.need("shell", json!({ "command": command, "cwd": folder })).await;
            assert!(need.reason.contains("is a link out of"), "{place}: {}", need.reason);
        }
        let report = world.run("git_report", json!({ "path": folder })).await;
        assert!(
            !report.ok && report.text.contains(place) && !report.text.contains("hush"),
            "{}",
            report.text
        );
    }
    // A working tree whose repository is elsewhere.
    world.file("tree/.git", "gitdir: ../r0/.git\n");
    world.need("shell", json!({ "command": "git log", "cwd": "tree" })).await;
    world.file("own/commondir", "../r0/.git\n");
    world.file("tree/.git", "gitdir: ../own\n");
    world.need("shell", json!({ "command": "git log", "cwd": "tree" })).await;
    // Links within the repository are Git's own.
    output(&world.at("."), "git init -q fine && cd fine/.git && ln -s HEAD OLD_HEAD");
    assert_eq!(world.run("shell", json!({ "command": "git status", "cwd": "fine" })).await.approval, None);
}

#[tokio::test]
async fn a_search_does_not_print_malformed_rules() {
    let world = World::new();
    world.file("a.txt", "x");
    std::fs::write(world.root().join("home/secret"), "hush = [z-a\n").unwrap();
    std::os::unix::fs::symlink(world.root().join("home/secret"), world.at(".ignore")).unwrap();
    let answer = world.run("shell", json!({ "command": "rg x" })).await;
    assert!(answer.ok && !answer.text.contains("hush"), "{}", answer.text);
}

/// A core file would be an effect that was not allowed.
#[tokio::test]
async fn process_no_call_writes_a_core_file() {
    let world = World::new();
    let answer = world.run_allowed("shell", json!({ "command": "ulimit -Hc" })).await;
    assert_eq!(answer.facts.unwrap().0["stdout"], "0\n");
}

#[tokio::test]
async fn git_sees_the_changes_that_the_person_sees() {
    let world = World::new();
    let home = world.root().join("home");
    let git = |command: &str| output(&world.at("."), &format!("export HOME='{}'; {command}", home.display()));
    git(
        "git config --global core.autocrlf true && git config --global user.name a && git config --global user.email a@b",
    );
    git("git init -q . && printf 'one\\r\\ntwo\\r\\n' > t && git add t 2>/dev/null && git commit -q -m one");
    // While the time equals that in its index, Git does not read the content.
    git("touch -d 2001-01-01 t");
    assert_eq!(git("GIT_OPTIONAL_LOCKS=0 git status -s"), "");
    let facts = world.facts("shell", json!({ "command": "git status -s" })).await;
    assert_eq!(facts["stdout"], "");
    // The repository's own setting takes precedence.
    git("git config core.autocrlf false");
    assert_eq!(git("GIT_OPTIONAL_LOCKS=0 git status -s"), " M t\n");
    let facts = world.facts("shell", json!({ "command": "git status -s" })).await;
    assert_eq!(facts["stdout"], " M t\n");
    git("git config --unset core.autocrlf");

    // Only the person's own configuration has the filter.
    git(
        "git config --global filter.up.clean 'tr a-z A-Z' && git config --global filter.up.smudge 'tr A-Z a-z'",
    );
    for attributes in [".gitattributes", "sub/.gitattributes", ".git/info/attributes"] {
        world.file(attributes, "*.bin filter=up\n");
        world.file("sub/x.bin", "x");
        git("git add -A . 2>/dev/null");
        let need = world.need("shell", json!({ "command": "git status -s" })).await;
        assert!(need.reason.contains("x.bin passes through a filter"), "{attributes}: {}", need.reason);
        assert!(world.run("shell", json!({ "command": "git log --oneline" })).await.ok);
        git(&format!("rm {attributes} sub/x.bin && git add -A . 2>/dev/null"));
    }

    // A repository of another owner that the person trusts.
    if is_root() {
        git("chown -R 12345:12345 .");
        let refused = world.run("shell", json!({ "command": "git log --oneline" })).await;
        assert!(!refused.ok && refused.text.contains("dubious ownership"), "{}", refused.text);
        git("git config --global --add safe.directory \"$PWD\"");
        assert!(world.run("shell", json!({ "command": "git log --oneline" })).await.ok);
    }
}

/// A command that runs without a question has limited memory.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn process_unasked_commands_have_a_memory_limit() {
    let world = World::new();
    // `tail` has to keep the end of piped input in memory.
    let keep = |bytes: u64| format!("printf %{}s x | tail -c {bytes} | wc -c", bytes + 1);
    let held = world.run("shell", json!({ "command": keep(1_200_000_000) })).await;
    assert!(held.text.contains("memory exhausted"), "{}", held.text);
    let free = world.run("shell", json!({ "command": keep(1_000_000) })).await;
    assert!(free.ok && free.text.contains("1000000"), "{}", free.text);
}

#[tokio::test]
async fn impossible_inputs_are_rejected() {
    let world = World::new();
    for (input, field) in [
        (json!({}), "command"),
        (json!({"command": 3}), "command"),
        (json!({"command": "ls", "timeout_s": 0}), "timeout_s"),
        (json!({"command": "ls", "timeout_s": -1}), "timeout_s"),
        (json!({"command": "ls", "cwd": "$NOWHERE"}), "cwd"),
        (json!({"command": "l\u{0}s"}), "command"),
    ] {
        let answer = world.run("shell", input.clone()).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput), "{input}");
        assert!(answer.text.contains(&format!("`{field}`")), "{}", answer.text);
    }
}

pub(crate) async fn run_anyhow(world: &World, command: &str) -> ToolAnswer {
    run_with(world, json!({"command": command})).await
}

/// Runs a command, with an approval if it needs one.
pub(crate) async fn run_with(world: &World, input: serde_json::Value) -> ToolAnswer {
    let answer = world.run("shell", input.clone()).await;
    match answer.approval {
        Some(need) => world.run_under("shell", input, Some(need.digest)).await,
        None => answer,
    }
}

#[tokio::test]
async fn changes_of_a_command_are_reported() {
    let world = World::new();
    world.file("kept.txt", "kept");
    world.file("edited.txt", "old");
    let outside = world.root().join("home/seen.txt");
    std::fs::write(&outside, "seen").unwrap();
    let outside = outside.to_str().unwrap();
    for command in [
        "for n in 1 2; do cat kept.txt; done",
        "cat kept.txt; exit 3",
        "mkdir -p __pycache__; echo x > __pycache__/kept.pyc",
    ] {
        let answer = run_anyhow(&world, command).await;
        let changed = answer.facts.unwrap().0["changed"].clone();
        assert_eq!((answer.side_effect, changed["count"].as_u64()), (SideEffect::None, Some(0)), "{command}");
        assert!(!answer.text.contains("[files"), "{}", answer.text);
    }
    let again = run_anyhow(&world, "echo y > __pycache__/kept.pyc; true").await;
    assert_eq!(again.side_effect, SideEffect::None, "{}", again.text);
    // It changes something and fails.
    let answer = run_anyhow(&world, "echo new > edited.txt; echo x > made.txt; exit 1").await;
    assert_eq!((answer.side_effect, answer.exit_code), (SideEffect::Irreversible, Some(1)));
    assert!(answer.text.ends_with("[files: changed edited.txt, made made.txt]"), "{}", answer.text);
    // Nothing changes here; changes elsewhere cannot be observed.
    for command in
        ["curl --version > /dev/null; true", &format!("for n in 1; do cat {outside}; done"), "git push; true"]
    {
        let answer = run_anyhow(&world, command).await;
        assert_eq!(answer.side_effect, SideEffect::Irreversible, "{command}: {}", answer.text);
    }
}

#[tokio::test]
async fn process_removed_paths_are_reported() {
    let mut world = World::new();
    for name in ["a.txt", "b.txt", "sub/c.txt", "sub/d.txt", "sub/e/f.txt"] {
        world.file(name, "x");
    }
    std::fs::write(world.root().join("home/seen.txt"), "seen").unwrap();
    std::fs::write(world.root().join("home/kept.txt"), "kept").unwrap();
    let outside = world.root().join("home/seen.txt");
    let outside = outside.to_str().unwrap();
    for (command, line) in [
        ("rm b.txt", "removed b.txt"),
        ("rm sub/c.txt", "removed sub/c.txt"),
        ("rm -r sub/e", "removed sub/e, removed sub/e/f.txt"),
        ("rm -f none.txt", ""),
        ("mkdir new", "made new"),
        (&format!("rm {outside}"), &format!("removed {outside}")),
    ] {
        let answer = run_anyhow(&world, command).await;
        let told = answer.text.split_once("[files: ").map_or("", |(_, line)| line.trim_end_matches(']'));
        assert_eq!(told, line, "{command}: {}", answer.text);
    }
    // Through a link to the working directory it is the same file.
    std::os::unix::fs::symlink("project", world.root().join("alias")).unwrap();
    world.cwd = "alias";
    let answer = run_anyhow(&world, "rm sub/d.txt").await;
    assert!(answer.text.ends_with("[files: removed sub/d.txt]"), "{}", answer.text);
}
