//! Programs of everyday work, which must not notice the sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use setpoint_sandbox::linux::stage;
use setpoint_sandbox::{Access, Folder, Limits, Policy, Tier};

use crate::attempts::sections;
use crate::corpus::{Stage, has_program, missing, skip};
use crate::world::PATH;

const WORKLOADS: &str = include_str!("benign.txt");
/// Minimum number of programs that must run and succeed.
const PASSED_MIN: usize = 30;
/// What a workload prints last.
const DONE: &str = "all is well";

/// Returns the tools of Rust, which lie in a home folder.
fn rust() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let place = |variable: &str, name: &str| {
        std::env::var_os(variable).map_or_else(|| home.join(name), PathBuf::from)
    };
    let places = [place("CARGO_HOME", ".cargo"), place("RUSTUP_HOME", ".rustup")];
    places.into_iter().filter(|place| place.is_dir()).collect()
}

pub(crate) fn run() -> Vec<String> {
    let stage = Stage::new();
    if let Some(why) = missing(Tier::Full, &stage.path()) {
        skip(Tier::Full, &why);
        return Vec::new();
    }
    let (mut passed, mut skipped, mut wrong) = (0, Vec::new(), Vec::new());
    for (number, (head, script)) in sections(WORKLOADS).enumerate() {
        let (name, needed) = head.split_once(' ').unwrap_or((head, ""));
        let is_there = |program: &str| match program {
            "cargo" => rust().len() == 2,
            other => has_program(other),
        };
        if let Some(program) = needed.split_whitespace().find(|program| !is_there(program)) {
            skipped.push(format!("{name} ({program})"));
            continue;
        }
        // Both ways in which changes can be kept apart.
        match workload(&stage.path(), script, number % 2 == 0) {
            Ok(()) => passed += 1,
            Err(said) => wrong.push(format!("{name}: {said}")),
        }
    }
    println!(
        "full tier: {passed} everyday programs work; {} are not here: {}",
        skipped.len(),
        skipped.join(" ")
    );
    if passed < PASSED_MIN && skipped.is_empty() {
        wrong.push(format!("{passed} programs work, at least {PASSED_MIN} are needed"));
    }
    wrong
}

fn workload(stage: &Path, script: &str, is_kept: bool) -> Result<(), String> {
    let room = tempfile::tempdir().unwrap();
    let place = |name: &str| room.path().join(name);
    for name in ["work", "layer"] {
        fs::create_dir(place(name)).unwrap();
    }
    fs::write(place("work/there.txt"), "there\n").unwrap();
    let access = if is_kept { Access::Keep { layer: place("layer") } } else { Access::Discard };
    let mut folders = vec![Folder { path: place("work"), access }];
    folders.extend(rust().into_iter().map(|path| Folder { path, access: Access::Read }));
    let policy = Policy {
        folders,
        hidden: Vec::new(),
        home: place("home"),
        cwd: place("work"),
        limits: Limits::default(),
        beside: None,
    };
    let mut command = stage::command(stage, Tier::Full, &policy, "bash".as_ref()).unwrap();
    command.args(["-eu", "-o", "pipefail", "-c", script]).env_clear().env("HOME", place("home"));
    command.env("LANG", "C.UTF-8").env("PATH", PATH).stdin(Stdio::null());
    if let [cargo, rustup] = &rust()[..] {
        // The toolchain's own programs, since those of `rustup` want to write to its folder.
        command.env("CARGO_HOME", cargo).env("RUSTUP_HOME", rustup);
        command.env("PATH", format!("{}:{PATH}", toolchain().display()));
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let is_kept_apart = fs::read_dir(place("work")).unwrap().count() == 1
        && fs::read_to_string(place("work/there.txt")).unwrap() == "there\n";
    if output.status.success() && said.trim_end().ends_with(DONE) && is_kept_apart {
        return Ok(());
    }
    Err(format!(
        "{}, kept apart: {is_kept_apart}: {said}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn toolchain() -> PathBuf {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let root =
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    Path::new(&root).join("bin")
}
