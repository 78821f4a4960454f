//! Finds the files that describe how a project is worked on, and the test command that a manifest names or implies.

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use setpoint_protocol::record::ProjectFile;

use super::guides;
use crate::files::open;
use crate::halt::Halt;
use crate::show;

/// Maximum bytes of a manifest that are read.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;
/// Maximum characters of a test command.
const COMMAND_CHARS_MAX: usize = 120;
/// Files that are reported after those of [`guides`], in this order.
const FILES: &[&str] = &[
    "CONTRIBUTING.md",
    "README.md",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "setup.py",
    "requirements.txt",
    "go.mod",
    "Makefile",
    "justfile",
    "CMakeLists.txt",
    "pom.xml",
    "build.gradle",
    "Gemfile",
    "composer.json",
    "mix.exs",
];

pub(super) fn files(root: &Path, halt: &Halt) -> Vec<ProjectFile> {
    let is_there = |name: &&&str| {
        // A link is not one of the project's own files, and may lead anywhere.
        std::fs::symlink_metadata(root.join(name))
            .is_ok_and(|meta| meta.is_file() && !halt.rooms().is_closed(&meta))
    };
    let file = |name: &&str| ProjectFile { name: (*name).to_owned(), test: test(root, name, halt) };
    // Another program's file says what `AGENTS.md` says, or less.
    let guide = guides::NAMES.iter().find(|name| is_there(name));
    guide.into_iter().chain(FILES.iter().filter(is_there)).map(file).collect()
}

fn test(root: &Path, name: &str, halt: &Halt) -> Option<String> {
    let text = || read(&root.join(name), halt);
    let has_tests = || std::fs::symlink_metadata(root.join("tests")).is_ok_and(|meta| meta.is_dir());
    match name {
        "Cargo.toml" => Some("cargo test".to_owned()),
        "go.mod" => Some("go test ./...".to_owned()),
        "pytest.ini" => Some("pytest".to_owned()),
        "pyproject.toml" => (text()?.contains("[tool.pytest") || has_tests()).then(|| "pytest".to_owned()),
        "setup.py" => has_tests().then(|| "pytest".to_owned()),
        "setup.cfg" => text()?.contains("[tool:pytest]").then(|| "pytest".to_owned()),
        "tox.ini" => Some("tox".to_owned()),
        "package.json" => {
            let manifest: Value = serde_json::from_str(&text()?).ok()?;
            let script = manifest.pointer("/scripts/test")?.as_str()?;
            let script: String = show::line(script).chars().take(COMMAND_CHARS_MAX).collect();
            Some(format!("npm test ({script})"))
        }
        "Makefile" => {
            let text = text()?;
            let has = |target: &str| text.lines().any(|line| line.split(':').next() == Some(target));
            ["test", "check"].into_iter().find(|target| has(target)).map(|target| format!("make {target}"))
        }
        "justfile" => text()?.lines().any(|line| line.starts_with("test")).then(|| "just test".to_owned()),
        _ => None,
    }
}

fn read(path: &Path, halt: &Halt) -> Option<String> {
    let mut bytes = Vec::new();
    open::regular(path, halt).ok()?.take(MANIFEST_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
