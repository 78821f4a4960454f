//! Programs of probes, on a view of the working directory.

use std::path::{Path, PathBuf};

use serde_json::json;
use setpoint_machine::CallReader;
use setpoint_protocol::Any;
use setpoint_protocol::tool::{Effect, ErrorKind, SideEffect, ToolCall};
use setpoint_tools::{Bounds, Registry, Sandbox};

use crate::support::{World, host};

const STAGE: &str = env!("CARGO_BIN_EXE_tools-keeper");

/// Returns a world for probes with a sandbox; `None` if this machine cannot hold one.
pub(crate) fn world() -> Option<World> {
    with_sandbox(World::new())
}

/// Gives a world a sandbox, and probes that may run programs in it.
pub(crate) fn with_sandbox(world: World) -> Option<World> {
    with_bounds(world, Bounds::default())
}

/// The same, for commands that may use up so much.
pub(crate) fn with_bounds(mut world: World, bounds: Bounds) -> Option<World> {
    let probed = setpoint_sandbox::probe(Path::new(STAGE), &world.root()).unwrap();
    if !probed.missing.is_empty() {
        eprintln!("not tried, because the sandbox does not hold here: {:?}", probed.missing);
        return None;
    }
    let hidden = vec![world.at("own")];
    let sandbox = Sandbox {
        stage: PathBuf::from(STAGE),
        readable: Vec::new(),
        hidden,
        home: world.root().join("home"),
        layers: world.root().join("layers"),
        bounds,
    };
    world.registry = Registry::built_in(&host().with_sandbox(sandbox));
    (world.probe, world.has_sandbox) = (true, true);
    Some(world)
}

#[tokio::test]
async fn a_probe_may_run_any_program_and_changes_nothing() {
    let Some(world) = world() else { return };
    world.file("old", "before\n");
    world.file("own/key", "secret\n");
    let command = "cat old own/key; echo after > old; rm -r own; mkdir new && echo x > new/f; ls; exit 4";
    let answer = world.run("shell", json!({"command": command})).await;
    assert_eq!((answer.ok, answer.exit_code, answer.error_kind), (false, Some(4), Some(ErrorKind::Exit)));
    assert_eq!(answer.side_effect, SideEffect::None);
    assert!(answer.text.contains("before") && !answer.text.contains("secret"), "{}", answer.text);
    assert!(answer.text.contains("new\nold"), "{}", answer.text);
    assert_eq!(std::fs::read_to_string(world.at("old")).unwrap(), "before\n");
    assert!(!world.at("new").exists() && world.at("own/key").exists());
}

#[tokio::test]
async fn a_probe_starts_in_its_own_folder_and_names_what_it_executes() {
    let Some(world) = world() else { return };
    world.file("sub/test.sh", "pwd; cat ../beside\n");
    world.file("beside", "seen\n");
    let answer = world.run("shell", json!({"command": "sh ./test.sh", "cwd": "sub"})).await;
    assert!(answer.ok && answer.text.contains("/project/sub\nseen"), "{}", answer.text);
    let executed: Vec<_> = answer.executed_files.iter().map(|file| file.path.clone()).collect();
    assert_eq!(executed, [world.at("sub/test.sh").to_string_lossy()]);
}

#[tokio::test]
async fn a_probe_of_a_place_out_of_sight_is_refused() {
    let Some(world) = world() else { return };
    let beside = world.root().join("home/old.log");
    std::fs::write(&beside, "x").unwrap();
    let command = format!("sh -c '! cat {}'", beside.display());
    let answer = world.run("shell", json!({"command": command})).await;
    assert_eq!(answer.error_kind, Some(ErrorKind::Blocked), "{}", answer.text);
}

#[tokio::test]
async fn only_programs_of_probes_run_in_the_sandbox() {
    let Some(mut world) = world() else { return };
    world.file("old", "x");
    let effect = |world: &World, tool: &str, input| {
        let call = ToolCall { tool: tool.to_owned(), input: Any(input) };
        world.registry.read_probe(&call, &world.surroundings()).effect
    };
    assert_eq!(effect(&world, "shell", json!({"command": "rm old"})), Effect::ReadOnly);
    assert_eq!(effect(&world, "write_file", json!({"path": "a", "content": ""})), Effect::Unsafe);
    let refused = world.run("write_file", json!({"path": "a", "content": ""})).await;
    assert_eq!(refused.error_kind, Some(ErrorKind::Blocked), "{}", refused.text);
    // As work the same command asks a person, and in a task that began without a sandbox it is not a probe.
    world.probe = false;
    assert!(world.run("shell", json!({"command": "rm old"})).await.approval.is_some());
    (world.probe, world.has_sandbox) = (true, false);
    let refused = world.run("shell", json!({"command": "rm old"})).await;
    assert_eq!(refused.error_kind, Some(ErrorKind::Blocked), "{}", refused.text);
    assert!(world.at("old").exists());
}
