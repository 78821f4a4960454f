//! Undo: what calls change is kept before the change, so it needs no consent in the working directory, and it can be put
//! back.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use setpoint_protocol::tool::{SideEffect, Source, ToolAnswer};
use setpoint_tools::RunLevel;
use setpoint_tools::undo::{KEPT_FILE_BYTES_MAX, Undoing, Verb};

use crate::sandbox::world as sandbox_world;
use crate::support::{TASK, World, task};

fn world() -> World {
    World::new().keeping()
}

/// Returns everything below a folder: permissions, and content or target.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        let content = if meta.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().as_bytes().to_vec()
        } else if meta.is_dir() {
            all.extend(snapshot(&path));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        all.insert(path, (meta.mode(), content));
    }
    all
}

async fn ran(world: &mut World, tool: &str, input: Value) -> ToolAnswer {
    let answer = world.run(tool, input).await;
    assert!(answer.ok, "{} {:?}", answer.text, answer.approval);
    world.created.extend(answer.created.iter().map(PathBuf::from));
    world.call += 1;
    answer
}

async fn edit(world: &mut World, path: &str, find: &str, replace: &str) -> ToolAnswer {
    ran(world, "edit_file", json!({ "path": path, "find": find, "replace": replace })).await
}

/// Returns what a task reads by working here, which is not the one that wrote the files.
async fn read_here(world: &World) -> Vec<String> {
    let survey = crate::survey::survey(world, &[]).await;
    survey.after.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn files_written_after_reading_elsewhere_carry_that() {
    let mut world = world();
    world.file("old", "one\ntwo\n");
    ran(&mut world, "write_file", json!({ "path": "clean", "content": "x\n" })).await;
    assert_eq!(read_here(&world).await, [""; 0]);
    world.sources.insert(Source::Web("a.example".to_owned()));
    ran(&mut world, "write_file", json!({ "path": "new/notes", "content": "from a page\n" })).await;
    let read = ["files written after reading pages of a.example"];
    assert_eq!(read_here(&world).await, read);
    fs::remove_dir_all(world.at("new")).unwrap();
    assert_eq!(read_here(&world).await, [""; 0]);
    edit(&mut world, "old", "one", "three").await;
    assert_eq!(read_here(&world).await, read);
    // Under another name it is the same file.
    ran(&mut world, "rename_files", json!({ "dir": ".", "find": "old", "replace": "other" })).await;
    assert!(world.at("other").exists());
    assert_eq!(read_here(&world).await, read);
    fs::write(world.at("other"), "by hand").unwrap();
    assert_eq!(read_here(&world).await, [""; 0]);
}

#[tokio::test]
async fn process_files_of_a_command_carry_what_its_task_had_read() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    world.sources.insert(Source::Server("wiki".to_owned()));
    ran(&mut world, "shell", json!({ "command": "mkdir d; echo x > d/made" })).await;
    assert_eq!(read_here(&world).await, ["files written after reading the MCP server wiki"]);
}

fn undone(world: &World) -> Undoing {
    let mut undoing = world.undoing(|_| true, false);
    undoing.apply();
    undoing
}

#[tokio::test]
async fn a_thousand_changed_files_come_back_byte_for_byte() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    for n in 0..1_000 {
        let name = format!("d{}/f{n}.txt", n % 7);
        let path = world.file(name, format!("content of {n}\n").repeat(n % 5 + 1));
        fs::set_permissions(path, Permissions::from_mode(if n % 3 == 0 { 0o600 } else { 0o644 })).unwrap();
    }
    world.file(OsStr::from_bytes(b"d0/caf\xe9.txt"), b"\xff\0\n");
    fs::create_dir(world.at("empty")).unwrap();
    fs::set_permissions(world.at("empty"), Permissions::from_mode(0o711)).unwrap();
    symlink("d1/f1.txt", world.at("link")).unwrap();
    let before = snapshot(&world.at(""));

    let answer = ran(&mut world, "rename_files", json!({ "dir": "d2", "find": "f", "replace": "g" })).await;
    assert_eq!(answer.side_effect, SideEffect::Reversible);
    let script = "for f in d3/*; do echo more >> $f; done; rm -r d4 d0 empty; rm link; ln -s d1/f8.txt link; \
                  mkdir -p new/deep; echo x > new/deep/x; chmod 700 d1 d1/f1.txt; mv d5 moved; \
                  rm d6/f6.txt; mkdir d6/new; echo y > d6/new/y; mv d2/g2.txt d2/t; mv d2/g9.txt d2/g2.txt";
    let answer = ran(&mut world, "shell", json!({ "command": script })).await;
    assert_eq!(answer.side_effect, SideEffect::Reversible);
    edit(&mut world, "d3/f3.txt", "more", "less").await;
    let file = json!({ "path": "moved/f5.txt", "content": "other", "overwrite": true });
    ran(&mut world, "write_file", file).await;
    ran(&mut world, "shell", json!({ "command": "rm -r moved new/deep" })).await;
    let changed = snapshot(&world.at(""));
    let same = before.iter().filter(|(path, state)| changed.get(*path) == Some(state)).count();
    assert!(same < 300, "{same}");

    let undoing = undone(&world);
    assert!(undoing.left().is_empty(), "{:?}", undoing.left());
    assert_eq!(snapshot(&world.at("")), before);
    assert!(world.undoing(|_| true, false).is_empty());
}

#[tokio::test]
async fn a_mark_that_a_task_made_does_not_cover_what_others_write() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    let build = "mkdir -p out/deep; cd out; printf x | tee CACHEDIR.TAG a deep/b c gone >/dev/null";
    ran(&mut world, "shell", json!({ "command": build })).await;
    ran(&mut world, "shell", json!({ "command": "cd out; echo again > a; rm gone" })).await;
    // Until the next tick of the clock of the file system, the times cannot be told apart.
    let settled = fs::metadata(world.root().join("kept").join(TASK).join("settled")).unwrap().ctime_nsec();
    while fs::metadata(world.file("out/c", "a person's")).unwrap().ctime_nsec() == settled {}
    world.file("out/deep/diary", "a person's");
    world.file("out/diary", "a person's");
    let script = "cd out; echo lost > c; rm diary; rm -r deep; echo more > a";
    ran(&mut world, "shell", json!({ "command": script })).await;
    let script = "cd out; rm c; echo again > diary; mkdir deep; echo x > deep/diary";
    ran(&mut world, "shell", json!({ "command": script })).await;
    ran(&mut world, "shell", json!({ "command": "cd out; echo late > c; rm diary" })).await;

    let undoing = undone(&world);
    for name in ["out/c", "out/diary", "out/deep/diary"] {
        assert_eq!(
            fs::read_to_string(world.at(name)).ok().as_deref(),
            Some("a person's"),
            "{name} {undoing:?}"
        );
    }
    assert!(!world.at("out/gone").exists());
}

#[tokio::test]
async fn what_a_person_changed_since_is_left_alone() {
    let mut world = world();
    for name in ["a", "b", "c"] {
        world.file(name, "old");
        edit(&mut world, name, "old", "new").await;
    }
    ran(&mut world, "write_file", json!({ "path": "n/made", "content": "x" })).await;
    world.file("b", "a person's");
    fs::remove_file(world.at("c")).unwrap();
    world.file("n/mine", "a person's");
    let undoing = undone(&world);
    let left: Vec<_> = undoing.left().keys().cloned().collect();
    assert_eq!((left, undoing.changed_since()), (vec![world.at("b"), world.at("c"), world.at("n")], 2));
    assert_eq!(fs::read(world.at("a")).unwrap(), b"old");
    assert_eq!(fs::read(world.at("b")).unwrap(), b"a person's");
    assert!(!world.at("c").exists() && !world.at("n/made").exists() && world.at("n/mine").exists());
    // A person may want the old content all the same.
    let mut forced = world.undoing(|_| true, true);
    let path = |name| world.at(name);
    let outcomes = vec![(Verb::Revert, path("b"), None), (Verb::Restore, path("c"), None)];
    assert_eq!(forced.outcomes(), outcomes);
    forced.apply();
    assert_eq!(
        (fs::read(path("b")).unwrap(), fs::read(path("c")).unwrap()),
        (b"old".to_vec(), b"old".to_vec())
    );
}

#[tokio::test]
async fn a_renamed_file_that_a_person_changed_keeps_its_name() {
    let mut world = world();
    for name in ["a.txt", "b.txt"] {
        world.file(name, "old");
    }
    ran(&mut world, "rename_files", json!({ "dir": ".", "find": ".txt", "replace": ".md" })).await;
    fs::write(world.at("b.md"), "a person's").unwrap();
    let undoing = undone(&world);
    assert_eq!(undoing.left().keys().collect::<Vec<_>>(), [&world.at("b.md")]);
    assert!(world.at("a.txt").exists() && world.at("b.md").exists() && !world.at("a.md").exists());
}

#[tokio::test]
async fn only_the_calls_that_are_named_are_undone() {
    let mut world = world();
    world.file("a", "one");
    edit(&mut world, "a", "one", "two").await;
    edit(&mut world, "a", "two", "three").await;
    let mut part = world.undoing(|call| call > 1, false);
    assert_eq!(
        part.difference(&world.at("a")).as_deref(),
        Some("@@ -1 +1 @@\n-two\n\\ No newline at end of file\n+three\n\\ No newline at end of file")
    );
    part.apply();
    assert_eq!(fs::read(world.at("a")).unwrap(), b"two");
    undone(&world);
    assert_eq!(fs::read(world.at("a")).unwrap(), b"one");
    world.registry.forget(&task()).unwrap();
    assert!(!world.root().join("kept").join(TASK).exists());
}

#[tokio::test]
async fn a_note_of_a_change_that_was_not_made_changes_nothing() {
    let mut world = world();
    world.file("a", "one");
    edit(&mut world, "a", "one", "two").await;
    // The process died between the note and the change, and while it wrote another.
    world.file("a", "one");
    let log = world.root().join("kept").join(TASK).join("log.jsonl");
    let whole = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{whole}{{\"call\":\"r3/9\",\"pa")).unwrap();
    assert!(world.undoing(|_| true, false).is_empty());
    // After a damaged line, the order of the changes is not known any more.
    fs::write(&log, format!("{{\"call\":\"r3/9\",\"pa\n{whole}")).unwrap();
    let read = Undoing::of(log.parent().unwrap(), |_| true, false);
    assert!(read.unwrap_err().to_string().contains("kept"));
}

#[tokio::test]
async fn a_damaged_copy_is_not_put_back() {
    let mut world = world();
    world.file("a", "one");
    edit(&mut world, "a", "one", "two").await;
    let contents = world.root().join("kept").join(TASK).join("contents");
    for kept in fs::read_dir(contents).unwrap() {
        fs::write(kept.unwrap().path(), "another").unwrap();
    }
    let undoing = undone(&world);
    assert!(undoing.left()[&world.at("a")].contains("damaged"), "{:?}", undoing.left());
    assert_eq!(fs::read(world.at("a")).unwrap(), b"two");
}

#[tokio::test]
async fn what_is_kept_and_obeyed_by_nobody_needs_no_consent() {
    let mut world = world();
    world.file("a", "old");
    edit(&mut world, "a", "old", "new").await;
    ran(&mut world, "write_file", json!({ "path": "a", "content": "newer", "overwrite": true })).await;
    let replace = |path: &str| json!({ "path": path, "content": "x", "overwrite": true });
    world.file(".envrc", "old");
    world.file("AGENTS.md", "old");
    fs::write(world.root().join("outside"), "old").unwrap();
    fs::hard_link(world.file("one", "old"), world.at("other")).unwrap();
    fs::File::create(world.at("huge")).unwrap().set_len(KEPT_FILE_BYTES_MAX + 1).unwrap();
    for path in [".envrc", "AGENTS.md", "../outside", "one", "huge"] {
        world.need("write_file", replace(path)).await;
    }
    world.caution = true;
    world.need("write_file", replace("a")).await;
    world.caution = false;
    world.registry = world.registry.clone().with_level(RunLevel::L0);
    for input in [replace("a"), json!({ "path": "new", "content": "x" })] {
        let need = world.need("write_file", input).await;
        assert!(need.reason.contains("L0"), "{}", need.reason);
    }
    // Its own workspace needs none at any level.
    let path = world.in_space("x");
    ran(&mut world, "write_file", json!({ "path": path, "content": "x" })).await;
}

#[tokio::test]
async fn deleting_what_holds_a_repository_is_asked_about() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    world.file("plain/deep/a", "old");
    world.file("repo/deep/.git/HEAD", "ref: refs/heads/main");
    let remove = |name: &str| json!({ "command": format!("rm -r {name}") });
    ran(&mut world, "shell", remove("plain")).await;
    world.need("shell", remove("repo")).await;
    assert!(!world.at("plain").exists() && world.at("repo/deep/.git/HEAD").exists());
    undone(&world);
    assert_eq!(fs::read(world.at("plain/deep/a")).unwrap(), b"old");
}

#[tokio::test]
async fn an_undo_does_not_follow_a_link() {
    let mut world = world();
    world.file("d/a", "old");
    edit(&mut world, "d/a", "old", "new").await;
    fs::rename(world.at("d"), world.root().join("elsewhere")).unwrap();
    symlink(world.root().join("elsewhere"), world.at("d")).unwrap();
    let undoing = undone(&world);
    assert_eq!(undoing.left().len(), 1);
    assert_eq!(fs::read(world.root().join("elsewhere/a")).unwrap(), b"new");
}

#[tokio::test]
async fn what_was_in_a_folder_that_is_gone_is_put_nowhere_else() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    for name in ["d/a", "d/b"] {
        world.file(name, "old");
    }
    edit(&mut world, "d/a", "old", "new").await;
    ran(&mut world, "shell", json!({ "command": "rm d/b" })).await;
    fs::remove_dir_all(world.at("d")).unwrap();
    for is_forced in [false, true] {
        let mut undoing = world.undoing(|_| true, is_forced);
        assert!(undoing.is_empty() && undoing.left().len() == 2, "{undoing:?}");
        undoing.apply();
        assert_eq!(fs::read_dir(world.at("")).unwrap().count(), 0);
    }
    // The folder goes away after the plan was made.
    fs::create_dir(world.at("d")).unwrap();
    let mut undoing = world.undoing(|_| true, true);
    assert!(!undoing.is_empty());
    fs::remove_dir(world.at("d")).unwrap();
    undoing.apply();
    assert_eq!((undoing.left().len(), fs::read_dir(world.at("")).unwrap().count()), (2, 0));
}

#[tokio::test]
async fn what_a_person_wrote_in_between_comes_back() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    ran(&mut world, "write_file", json!({ "path": "n", "content": "mine" })).await;
    world.file("n", "a person's");
    ran(&mut world, "shell", json!({ "command": "rm n" })).await;
    undone(&world);
    assert_eq!(fs::read(world.at("n")).unwrap(), b"a person's");
}

#[tokio::test]
async fn a_folder_that_became_a_file_comes_back_at_once() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    for name in ["d/a", "d/e/b"] {
        world.file(name, name);
    }
    let before = snapshot(&world.at(""));
    ran(&mut world, "shell", json!({ "command": "rm -r d; echo now > d" })).await;
    let undoing = undone(&world);
    assert!(undoing.left().is_empty(), "{:?}", undoing.left());
    assert_eq!(snapshot(&world.at("")), before);
}

#[tokio::test]
async fn a_pipe_takes_no_file_with_it() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    world.file("d/a", "old");
    crate::support::output(&world.at("d"), "mkfifo pipe");
    let answer = world.run_allowed("shell", json!({ "command": "rm -r d" })).await;
    assert_eq!((answer.ok, answer.side_effect), (true, SideEffect::Irreversible), "{}", answer.text);
    let undoing = undone(&world);
    assert_eq!(undoing.left().keys().collect::<Vec<_>>(), [&world.at("d/pipe")]);
    assert_eq!(fs::read(world.at("d/a")).unwrap(), b"old");
}

/// Returns what the task has changed so far, as its judge reads it.
async fn told(world: &mut World) -> String {
    world.probe = true;
    let answer = ran(world, "task_changes", json!({})).await;
    world.probe = false;
    answer.text
}

#[tokio::test]
async fn a_judge_is_told_the_whole_change_of_a_task() {
    let mut world = world();
    assert_eq!(told(&mut world).await, "all files that the task touched are as before it");
    for name in ["kept", "gone", "moved", "both"] {
        world.file(name, format!("{name}\nend\n"));
    }
    world.file("port", format!("{{{} \"port\": 10, {} \"k\": 1}}\n", "x".repeat(4_000), "y".repeat(4_000)));
    edit(&mut world, "kept", "kept", "other").await;
    edit(&mut world, "kept", "other", "kept").await;
    ran(&mut world, "write_file", json!({ "path": "sub/new", "content": "one\r\ntwo\n" })).await;
    ran(&mut world, "rename_files", json!({ "dir": ".", "find": "moved", "replace": "elsewhere" })).await;
    ran(
        &mut world,
        "apply_patch",
        json!({ "patch": "--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-gone\n-end\n" }),
    )
    .await;
    edit(&mut world, "both", "end", "END").await;
    fs::set_permissions(world.at("both"), Permissions::from_mode(0o755)).unwrap();
    edit(&mut world, "port", "\"port\": 10", "\"port\": 20").await;
    let text = told(&mut world).await;
    let expected = "removed gone\n  -gone\n  -end\nrenamed elsewhere, which was moved\nchanged both, mode 0644 -> 0755\n  \
        @@ -1,2 +1,2 @@\n   both\n  -end\n  +END\nchanged port\n";
    let (begin, rest) = text.split_at(expected.len().min(text.len()));
    assert_eq!(begin, expected, "{text}");
    assert!(rest.contains("\"port\": 10,") && rest.contains("\"port\": 20,"), "{text}");
    assert!(rest.ends_with("made sub/new\n  +one\\r\n  +two\n"), "{text}");
}

#[tokio::test]
async fn a_judge_is_told_true_sizes_and_modes_of_folders() {
    let Some(mut world) = sandbox_world().map(World::keeping) else { return };
    world.probe = false;
    let line = "a line of a large file\n";
    for name in ["large", "mode"] {
        world.file(name, line.repeat(100_000));
    }
    world.file("d/a", "one\n");
    let command = "head -n 60000 large > t; cat t > large; rm t; chmod 600 mode; chmod 700 d; echo two >> d/a; \
        cat mode mode > new";
    ran(&mut world, "shell", json!({ "command": command })).await;
    let text = told(&mut world).await;
    let size = line.len() * 100_000;
    let changed = format!("changed large\n  [no preview: {size} bytes become {}]\n", line.len() * 60_000);
    let mode = "changed mode, mode 0644 -> 0600\n  [the content stays as it is]\n";
    let made = format!("made new\n  [no preview: 0 bytes become {}]\n", size * 2);
    for part in [changed.as_str(), mode, "changed d (a folder), mode 0755 -> 0700\nchanged d/a\n", &made] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn a_judge_is_told_of_changes_that_are_not_kept() {
    let mut world = world();
    for name in ["new", "old"] {
        world.file(name, "x\n");
    }
    world.created.insert(world.at("new"));
    world.created.insert(world.at("came-and-went"));
    edit(&mut world, "new", "x", "y").await;
    world.file("other", "z\n");
    world.created.insert(world.at("other"));
    let touched: Vec<_> =
        ["new", "old", "gone", "came-and-went", "other"].into_iter().map(|name| world.at(name)).collect();
    world.probe = true;
    let answer = ran(&mut world, "task_changes", json!({ "touched": touched, "unwatched": 1 })).await;
    let why = "what it was is not known: it changed outside the sandbox, where nothing is kept";
    let expected = [
        &format!("removed gone; {why}"),
        "changed new\n  @@ -1 +1 @@\n  -x\n  +y",
        &format!("changed old; {why}"),
        "made other\n  +z",
        "[1 call may have changed files where nothing was watched]",
    ];
    assert_eq!(answer.text, expected.join("\n"));
}

#[tokio::test]
async fn a_large_change_hides_no_small_one() {
    let mut world = world();
    for n in 0..300 {
        world.file(format!("a{n:03}"), format!("head {n}\nfoo {n}\nend {n}\n"));
    }
    world.file("zz", "keep\nme\n");
    for n in 0..300 {
        edit(&mut world, &format!("a{n:03}"), "foo", "bar").await;
    }
    edit(&mut world, "zz", "me\n", "").await;
    let long: String = (0..2_000).map(|n| format!("line {n}\n")).collect();
    ran(&mut world, "write_file", json!({ "path": "b.md", "content": long })).await;
    ran(&mut world, "write_file", json!({ "path": "c.md", "content": "small\n" })).await;
    let text = told(&mut world).await;
    // What a judge sees of a probe.
    assert!(text.chars().count() < 22_000, "{}", text.len());
    assert!(text.ends_with("made c.md\n  +small\n"), "{text}");
    assert!(
        text.contains("changed zz\n  -me\nmade b.md\n  +line 0\n") && text.contains(" more lines]"),
        "{text}"
    );
    assert_eq!((text.matches("  -foo ").count(), text.matches("  +bar ").count()), (300, 300));
    for n in 0..150 {
        ran(&mut world, "write_file", json!({ "path": format!("d{n}"), "content": "d\n" })).await;
    }
    assert!(told(&mut world).await.ends_with("[not named: 53 made]\n"));
}
