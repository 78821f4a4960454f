//! Links, names and races: a change affects what was checked, and what was checked is what is shown.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use setpoint_protocol::tool::ErrorKind;
use setpoint_tools::approval_file::{ApprovalFile, Decision};

use crate::support::{World, output};

/// Calls per tool that a racer has to try to divert.
const RACES: usize = 300;

/// Creates a world with `outside` beside the working directory, whose content must not change.
fn world() -> World {
    let world = World::new();
    let root = world.root();
    std::fs::create_dir_all(root.join("outside/sub")).unwrap();
    for name in ["f", "g.tar", "sub/f", "own1", "own2"] {
        std::fs::write(root.join("outside").join(name), "precious").unwrap();
    }
    world
}

fn state(world: &World) -> String {
    output(
        &world.root().join("outside"),
        "find . -printf '%p %y %s %m %i %T@\\n' | sort; find . -type f -exec cat {} +",
    )
}

/// Creates links that lead out of a folder, in every position, in `folder`, which is beside `outside`.
fn lay_links(folder: &Path) {
    let outside = folder.parent().unwrap().join("outside");
    for (target, link) in [
        ("../outside", "link"),
        ("../outside/sub", "deep"),
        ("link", "two"),
        ("two", "three"),
        ("../outside/f", "file"),
        ("file", "file2"),
        ("../outside/none", "dangling"),
        ("dangling", "dangling2"),
        ("../outside/none/deep", "dangling3"),
        ("loop", "loop"),
        ("..", "up"),
        (".", "here"),
    ] {
        symlink(target, folder.join(link)).unwrap();
    }
    symlink(&outside, folder.join("absolute")).unwrap();
    symlink(outside.join("f"), folder.join("absolute file")).unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    symlink("../../outside", folder.join("sub/out")).unwrap();
    std::fs::hard_link(outside.join("f"), folder.join("hard")).unwrap();
    std::fs::hard_link(outside.join("f"), folder.join("sub/hard")).unwrap();
}

/// Paths through these links.
const PATHS: [&str; 44] = [
    "link/f",
    "link/new",
    "link/new/deep/x",
    "link/sub/../f",
    "link/./f",
    "link//f",
    "deep/../f",
    "deep/../new",
    "deep/../sub/../f",
    "deep/../../outside/f",
    "deep/f",
    "deep/new",
    "two/f",
    "two/new",
    "three/sub/f",
    "file",
    "./file",
    "file2",
    "dangling",
    "dangling2",
    "dangling3",
    "dangling/x",
    "dangling3/x/y",
    "dangling/../f",
    "loop",
    "loop/x",
    "up/outside/f",
    "up/outside/new",
    "here/link/f",
    "here/here/here/link/new",
    "absolute/f",
    "absolute/new",
    "absolute/sub/../../outside/f",
    "absolute file",
    "sub/out/f",
    "sub/out/new",
    "sub/../link/f",
    "sub/out/../outside/f",
    "hard",
    "sub/hard",
    "../outside/f",
    "../outside/new",
    "new/../../outside/f",
    "file/../f",
];

fn calls(folder: &str, path: &str) -> Vec<(&'static str, Value)> {
    let at = format!("{folder}/{path}");
    let parent = at.rsplit_once('/').map_or(".", |(parent, _)| parent);
    vec![
        ("write_file", json!({"path": at, "content": "evil", "overwrite": true})),
        ("edit_file", json!({"path": at, "find": "precious", "replace": "evil"})),
        ("manifest_create", json!({"root": "/proc/sys/kernel/random", "manifest": at})),
        ("archive_create", json!({"source": "/etc/hostname", "archive": format!("{at}.tar")})),
        ("rename_files", json!({"dir": parent, "find": "f", "replace": "evil"})),
    ]
}

#[tokio::test]
async fn no_link_redirects_a_change_unasked() {
    let world = world();
    lay_links(&world.at("."));
    lay_links(&world.in_space("."));
    let before = state(&world);
    let root = world.root();
    let rule = "path $PROJECT\npath $SPACE\n".replace("$SPACE", world.in_space("").to_str().unwrap());
    let file = ApprovalFile::parse(&rule, "allowed", &world.surroundings()).unwrap();
    let (mut tried, mut asked) = (0, 0);
    for folder in
        ["$PROJECT".to_owned(), world.in_space("").to_str().unwrap().trim_end_matches('/').to_owned()]
    {
        for path in PATHS {
            for (tool, input) in calls(&folder, path) {
                tried += 1;
                let Some(need) = world.run(tool, input.clone()).await.approval else { continue };
                asked += 1;
                for shown in need.writes.iter().chain(&need.deletes).map(PathBuf::from) {
                    let parent = shown.parent().unwrap();
                    let real = std::fs::canonicalize(parent);
                    assert!(real.is_err() || real.unwrap() == parent, "{tool} {input} shows {shown:?}");
                }
                // A rule about the link's place does not cover its target outside.
                if need.writes.iter().any(|path| Path::new(path).starts_with(root.join("outside"))) {
                    assert_eq!(
                        file.decide(&need),
                        Decision::Refuse { line: None },
                        "{tool} {path}: {need:?}"
                    );
                }
            }
            assert_eq!(state(&world), before, "{folder}/{path}");
        }
    }
    assert!(tried >= 400 && asked >= 150, "{tried} tricks, {asked} questions");
}

#[tokio::test]
async fn a_hard_link_is_never_written_through() {
    let mut world = world();
    for name in ["space/hard", "project/hard"] {
        std::fs::hard_link(world.root().join("outside/f"), world.root().join(name)).unwrap();
    }
    world.created.insert(world.at("hard"));
    for path in [world.in_space("hard"), world.at("hard")] {
        let input = json!({"path": path, "find": "precious", "replace": "evil"});
        let need = world.need("edit_file", input.clone()).await;
        assert!(need.reason.contains("other names too"), "{}", need.reason);
        assert!(world.run_under("edit_file", input, Some(need.digest)).await.ok);
        assert_eq!(std::fs::read(&path).unwrap(), b"evil");
    }
    assert_eq!(std::fs::read(world.root().join("outside/f")).unwrap(), b"precious");
}

#[tokio::test]
async fn a_dangling_link_is_named_and_never_followed() {
    let world = world();
    symlink("../outside/none", world.at("dangling")).unwrap();
    let answer = world
        .run("write_file", json!({"path": "$PROJECT/dangling", "content": "x", "overwrite": true}))
        .await;
    assert_eq!(answer.error_kind, Some(ErrorKind::InvalidInput));
    assert!(answer.text.contains("project/dangling: it is a link that leads nowhere"), "{}", answer.text);
    assert!(answer.text.contains("outside/none"), "{}", answer.text);
    assert!(!world.root().join("outside/none").exists());
}

#[tokio::test]
async fn a_command_that_reads_goes_where_was_looked() {
    let world = World::new();
    world.file("x", "of the folder around the link\n");
    world.file("d1/x", "of the parent of its target\n");
    world.file("d1/d2/y", "");
    symlink("d1/d2", world.at("lk")).unwrap();
    for command in ["cd lk/.. && cat x", "cd -- lk/.. && cat x", "cat lk/../x"] {
        let answer = world.run("shell", json!({ "command": command })).await;
        assert_eq!(answer.text, "exit code zero\nof the parent of its target\n", "{command}");
    }
}

#[tokio::test]
async fn the_parent_of_a_link_is_resolved_like_the_kernel() {
    let world = world();
    world.file("f", "near");
    symlink("../outside/sub", world.at("deep")).unwrap();
    assert_eq!(world.run("read_file", json!({"path": "deep/../f"})).await.text, "precious");
    let facts = world.facts("file_facts", json!({"path": "deep/../f"})).await;
    assert_eq!(facts["path"], json!(world.root().join("outside/f")));
    let need =
        world.need("edit_file", json!({"path": "deep/../f", "find": "precious", "replace": "x"})).await;
    assert_eq!(need.writes, [world.root().join("outside/f").to_str().unwrap()]);
}

#[tokio::test]
async fn editing_exposes_nothing_of_a_process() {
    let world = world();
    for path in ["/proc/self/environ", "/proc/self/root/proc/self/environ"] {
        let answer = world.run("edit_file", json!({"path": path, "find": "PATH=", "replace": "x"})).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Permission), "{path}: {}", answer.text);
        assert!(answer.approval.is_none());
    }
}

/// Each swap is made between the question and the call with the grant.
#[tokio::test]
async fn a_swap_after_the_question_invalidates_the_approval() {
    type Swap = fn(&World);
    let swaps: [(&str, Swap); 8] = [
        ("the folder becomes a link", |world| {
            std::fs::rename(world.at("d"), world.at("d2")).unwrap();
            symlink("../outside", world.at("d")).unwrap();
        }),
        ("the folder becomes a link to an equal one", |world| {
            output(&world.root(), "cp -a project/d outside/equal && mv project/d project/d2");
            symlink("../outside/equal", world.at("d")).unwrap();
        }),
        ("the folder above becomes a link to an equal one", |world| {
            output(&world.root(), "cp -a project outside/project && mv project project2");
            symlink("outside/project", world.root().join("project")).unwrap();
        }),
        ("the file becomes a link", |world| {
            std::fs::remove_file(world.at("d/f")).unwrap();
            symlink("../../outside/f", world.at("d/f")).unwrap();
        }),
        ("the file becomes a link that leads nowhere", |world| {
            std::fs::remove_file(world.at("d/f")).unwrap();
            symlink("../../outside/none", world.at("d/f")).unwrap();
        }),
        ("the file becomes another's name", |world| {
            std::fs::remove_file(world.at("d/f")).unwrap();
            std::fs::hard_link(world.root().join("outside/g.tar"), world.at("d/f")).unwrap();
        }),
        ("the file becomes a folder", |world| {
            std::fs::remove_file(world.at("d/f")).unwrap();
            std::fs::create_dir(world.at("d/f")).unwrap();
        }),
        ("the file changes", |world| std::fs::write(world.at("d/f"), "preciouS precious").unwrap()),
    ];
    for (what, swap) in swaps {
        for (tool, input) in [
            ("write_file", json!({"path": "d/f", "content": "evil", "overwrite": true})),
            ("edit_file", json!({"path": "d/f", "find": "old", "replace": "evil"})),
            ("manifest_create", json!({"root": "/proc/sys/kernel/random", "manifest": "d/f"})),
            ("rename_files", json!({"dir": "d", "find": "f", "replace": "evil"})),
        ] {
            let world = world();
            world.file("d/f", "old");
            let need = world.need(tool, input.clone()).await;
            swap(&world);
            let before = state(&world);
            let answer = world.run_under(tool, input.clone(), Some(need.digest)).await;
            // Renaming files that no longer exist does nothing.
            assert!(!answer.ok || answer.text.starts_with("0 files"), "{what}: {tool}: {}", answer.text);
            assert_eq!(state(&world), before, "{what}: {tool}");
        }
    }
}

/// Keeps swapping a folder of the project with a link to `outside`, until it is dropped.
struct Racer {
    is_over: Arc<AtomicBool>,
    rounds: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Racer {
    fn start(world: &World, name: &str) -> Racer {
        let (is_over, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&rounds));
        let (at, aside) = (world.at(name), world.at("aside"));
        symlink(world.root().join("outside"), &aside).unwrap();
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // There and back, so that the folder is in place at the end.
                for _ in 0..2 {
                    renameat_with(CWD, &at, CWD, &aside, RenameFlags::EXCHANGE).unwrap();
                    std::thread::yield_now();
                }
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Racer { is_over, rounds, thread: Some(thread) }
    }

    fn end(mut self) -> usize {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.rounds.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_racer_diverts_no_change() {
    for tool in
        ["write_file", "write_file deep", "edit_file", "rename_files", "manifest_create", "archive_create"]
    {
        let mut world = world();
        for name in ["own1", "own2"] {
            let path = world.file(format!("d/{name}"), "0");
            world.created.insert(path);
        }
        world.created.extend(["new1", "new2", "own1", "own2"].map(|name| world.at("d").join(name)));
        world.file("source/a", "a");
        let before = state(&world);
        let racer = Racer::start(&world, "d");
        let mut done = 0;
        for n in 0..RACES {
            let other = |n: usize| ["own", "new"][n % 2];
            let input = match tool {
                "write_file" => json!({"path": format!("d/n{n}"), "content": "evil"}),
                "write_file deep" => json!({"path": format!("d/x{n}/y/z"), "content": "evil"}),
                "edit_file" => {
                    json!({"path": "d/own1", "find": if done % 2 == 0 { "0" } else { "1" }, "replace": if done % 2 == 0 { "1" } else { "0" }})
                }
                "rename_files" => json!({"dir": "d", "find": other(done), "replace": other(done + 1)}),
                "manifest_create" => json!({"root": "source", "manifest": format!("d/m{n}")}),
                _ => json!({"source": "source", "archive": format!("d/a{n}.tar")}),
            };
            let name = tool.split(' ').next().unwrap();
            let answer = world.run(name, input).await;
            done += usize::from(answer.ok);
        }
        let rounds = racer.end();
        assert_eq!(state(&world), before, "{tool}: {done} of {RACES} calls done in {rounds} swaps");
        assert!(rounds > 0, "{tool}");
    }
}

#[tokio::test]
async fn a_racer_diverts_no_approved_change() {
    let world = world();
    let path = world.file("d/f", "old");
    let input = json!({"path": "d/f", "content": "old", "overwrite": true});
    let need = world.need("write_file", input.clone()).await;
    let before = state(&world);
    let racer = Racer::start(&world, "d");
    for _ in 0..RACES {
        drop(world.run_under("write_file", input.clone(), Some(need.digest.clone())).await);
    }
    let rounds = racer.end();
    assert_eq!(state(&world), before, "{rounds} swaps");
    assert_eq!(std::fs::read(path).unwrap(), b"old");
}
