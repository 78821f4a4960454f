//! Commands in the sandbox that use up more than they may: what ends them, and what is left.

use std::fs;

use serde_json::json;
use setpoint_protocol::tool::{ErrorKind, SideEffect, ToolAnswer};
use setpoint_tools::Bounds;

use crate::sandbox::with_bounds;
use crate::support::World;
use crate::survivors::left_of;

/// Never ends.
const STAY: &str = "tail -f /dev/null";

fn world(bounds: Bounds) -> Option<World> {
    let mut world = with_bounds(World::new(), bounds)?;
    world.probe = false;
    Some(world.keeping())
}

async fn shell(world: &World, command: &str) -> ToolAnswer {
    let answer = world.run("shell", json!({ "command": command })).await;
    assert!(answer.approval.is_none(), "{:?}", answer.approval);
    answer
}

/// Checks that nothing of a command is in place, on the disk, or running.
fn check_gone(world: &World, files: &[&str]) {
    for file in files {
        assert!(!world.at(file).exists(), "{file} is in place");
    }
    let layers = world.root().join("layers");
    let left = fs::read_dir(&layers).map(Iterator::count).unwrap_or(0);
    assert_eq!(left, 0, "changes are left in {}", layers.display());
    assert_eq!(left_of(&world.root().join("project")), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn process_a_command_that_fills_the_disk_is_ended() {
    let bounds = Bounds { changes_bytes_max: 16 << 20, ..Bounds::default() };
    let Some(world) = world(bounds) else { return };
    let fill = |n: u32| format!("for i in $(seq {n}); do head -c 1000000 /dev/zero > f$i; done");
    let answer = shell(&world, &format!("echo begun; {}; {STAY}", fill(30))).await;
    assert_eq!((answer.ok, answer.error_kind), (false, Some(ErrorKind::Blocked)));
    assert!(answer.text.contains("what it wrote is more than 16.0 MiB"), "{}", answer.text);
    assert!(answer.text.contains("begun") && answer.text.contains("`outside`"), "{}", answer.text);
    assert_eq!(answer.side_effect, SideEffect::None);
    check_gone(&world, &["f1"]);
    // Less is put in place.
    assert!(shell(&world, &fill(3)).await.ok);
    assert_eq!(fs::metadata(world.at("f3")).unwrap().len(), 1_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn process_files_without_a_name_count() {
    let bounds = Bounds { changes_bytes_max: 16 << 20, memory_bytes_max: 64 << 20, ..Bounds::default() };
    let Some(world) = world(bounds) else { return };
    let fill = "import os,sys,time\nfor n in range(100):\n  os.write(f, b'x'*1000000)\ntime.sleep(60)\n";
    for (open, excess) in [
        ("f=os.open('gone',os.O_RDWR|os.O_CREAT); os.unlink('gone')", "what it wrote is more than 16.0 MiB"),
        ("f=os.memfd_create('x')", "its processes took more than 64.0 MiB of memory"),
    ] {
        let code = fill.replacen("\n", &format!("\n{open}\n"), 1);
        let answer = world.run("run_code", json!({ "language": "python", "code": code })).await;
        assert!(answer.text.contains(excess), "{open}: {}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn process_a_command_that_makes_many_files_is_ended() {
    let Some(world) = world(Bounds { changes_max: 50, ..Bounds::default() }) else { return };
    let answer = shell(&world, &format!("for i in $(seq 60); do : > f$i; done; {STAY}")).await;
    assert!(answer.text.contains("it made or changed more than 50 files and folders"), "{}", answer.text);
    check_gone(&world, &["f1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn process_the_memory_of_all_processes_counts() {
    let Some(world) = world(Bounds { memory_bytes_max: 200 << 20, ..Bounds::default() }) else { return };
    // Each alone is below the limit.
    world.file(
        "eat.py",
        "import time\nx = b'x' * (90 << 20)\nopen('eaten', 'w')\nwhile True: time.sleep(9)\n",
    );
    let answer = shell(&world, "python3 eat.py & python3 eat.py & python3 eat.py").await;
    assert_eq!((answer.ok, answer.error_kind), (false, Some(ErrorKind::Blocked)));
    assert!(answer.text.contains("its processes took more than 200.0 MiB of memory"), "{}", answer.text);
    check_gone(&world, &["eaten"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn process_a_file_of_holes_is_not_put_in_place() {
    let Some(world) = world(Bounds { changes_bytes_max: 16 << 20, ..Bounds::default() }) else { return };
    let answer = shell(&world, "truncate -s 1G hole").await;
    assert!(!answer.ok && answer.text.contains("have 1.0 GiB, more than 16.0 MiB"), "{}", answer.text);
    check_gone(&world, &["hole"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn process_changes_without_space_are_not_put_in_place() {
    const FILE_BYTES: u64 = 4 << 30;
    let Some(world) = world(Bounds { changes_bytes_max: u64::MAX, ..Bounds::default() }) else { return };
    let free = rustix::fs::statvfs(world.root()).unwrap();
    let count = free.f_bavail * free.f_frsize / FILE_BYTES + 2;
    for n in 0..count {
        world.file(format!("f{n}"), "before");
    }
    // Files of holes, which take no space in the view.
    let command =
        format!("for n in $(seq 0 {}); do truncate -s {FILE_BYTES} f$n; done; touch new", count - 1);
    let answer = shell(&world, &command).await;
    assert_eq!((answer.ok, answer.error_kind), (false, Some(ErrorKind::Storage)), "{}", answer.text);
    assert!(answer.text.contains("so nothing was put in place; free some space"), "{}", answer.text);
    assert_eq!(fs::read_to_string(world.at("f0")).unwrap(), "before");
    check_gone(&world, &["new"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn process_a_full_disk_lets_nothing_start() {
    let full = Bounds { disk_free_bytes_min: u64::MAX, free_parts: 1, ..Bounds::default() };
    let Some(world) = world(full) else { return };
    for (tool, input) in [
        ("shell", json!({ "command": "touch new" })),
        ("run_code", json!({ "language": "python", "code": "open('new', 'w')" })),
        ("background", json!({ "action": "start", "command": "touch new" })),
    ] {
        let answer = world.run(tool, input).await;
        assert_eq!(answer.error_kind, Some(ErrorKind::Storage), "{tool}: {}", answer.text);
        assert!(answer.text.contains("the disk is nearly full"), "{}", answer.text);
        assert!(answer.text.contains("free some space first"), "{}", answer.text);
        check_gone(&world, &["new"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn process_the_background_gives_the_disk_back_at_once() {
    let Some(world) = world(Bounds { changes_bytes_max: 16 << 20, ..Bounds::default() }) else { return };
    let fill = format!("head -c 20000000 /dev/zero > big; {STAY}");
    let input = json!({ "action": "start", "command": fill, "wait_for": "never", "wait_s": 60 });
    let begun = world.run("background", input).await;
    assert!(
        begun.text.contains("p1 has ended: it was ended, because what it wrote is more"),
        "{}",
        begun.text
    );
    check_gone(&world, &["big"]);
    let stopped = world.run("background", json!({ "action": "stop", "name": "p1" })).await;
    assert!(stopped.text.contains("Nothing that it changed is kept"), "{}", stopped.text);
}
