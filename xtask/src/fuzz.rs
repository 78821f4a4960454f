//! `cargo xtask fuzz`: runs every fuzz target for some time, guided by coverage, each in its own process.
//!
//! Uses libFuzzer on the stable toolchain: coverage is an option of LLVM. It needs a C++ compiler and some minutes, so
//! it is not part of `cargo xtask test`, whose tests replay the kept corpus instead. New inputs stay in the target
//! directory, where the next run uses them; nothing is written into the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::needs::{Machine as _, ThisMachine};
use crate::process;

const PACKAGE: &str = "setpoint-fuzz";
/// The tracked inputs, one folder per target.
const CORPUS: &str = "fuzz/corpus";
/// Words from which inputs are built.
const WORDS: &str = "fuzz/words.dict";
/// Variable that tells the program its target.
const TARGET: &str = "SETPOINT_FUZZ_TARGET";
/// Longest input in bytes, as in the targets.
const INPUT_BYTES_MAX: u32 = 65_536;
const MEMORY_MIB_MAX: u32 = 256;
/// Longest time for one input, in seconds.
const INPUT_SECONDS_MAX: u32 = 1;

/// Makes the compiler count the edges taken, in a form that libFuzzer reads.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table";

/// Fuzzes one target or all of them; fails if one of them crashed.
pub(crate) fn run(root: &Path, seconds: u32, only: Option<&str>) -> Result<ExitCode, Error> {
    if std::env::var_os("CXX").is_none() && !ThisMachine.has("c++") {
        println!("missing: c++ (compiles libFuzzer): apt-get install -y --no-install-recommends g++");
        return Ok(ExitCode::FAILURE);
    }
    let known = targets(root)?;
    let wanted: Vec<&str> =
        known.iter().map(String::as_str).filter(|name| only.is_none_or(|only| only == *name)).collect();
    if wanted.is_empty() {
        println!("there is no such target; there are: {}", known.join(", "));
        return Ok(ExitCode::FAILURE);
    }
    let place = Place::of(root)?;
    if !place.build(root)? {
        return Ok(ExitCode::FAILURE);
    }
    let mut has_crashed = false;
    for name in wanted {
        println!("{name}: {seconds} s");
        if !place.fuzz(root, name, seconds)? {
            has_crashed = true;
            println!(
                "{name} crashed; the input is named above\n\
                 replay it:  cargo run --package {PACKAGE} -- {name} INPUT\n\
                 keep it:    cp INPUT {CORPUS}/{name}/   (with the commit that mends it)"
            );
        }
    }
    Ok(if has_crashed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the targets, each of which has a corpus.
fn targets(root: &Path) -> Result<Vec<String>, Error> {
    let folder = root.join(CORPUS);
    let failed = |source| Error::Read { path: folder.clone(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The paths that a run uses.
struct Place {
    /// Target directory of this program.
    built: PathBuf,
    /// Target triple of the program. It is given explicitly so that build scripts are compiled without coverage.
    host: String,
}

impl Place {
    fn of(root: &Path) -> Result<Self, Error> {
        let this = std::env::current_exe()
            .map_err(|source| Error::Read { path: PathBuf::from("this program"), source })?;
        let built = this.parent().and_then(Path::parent).unwrap_or(root).to_owned();
        Ok(Place { built, host: process::host(root)? })
    }

    /// Builds the program with visible output; returns whether that succeeded.
    fn build(&self, root: &Path) -> Result<bool, Error> {
        let mut command = Command::new(process::cargo());
        command.args(["build", "--profile", "fuzz", "--package", PACKAGE, "--target", &self.host]);
        command.arg("--target-dir").arg(&self.built);
        command.current_dir(root).env("RUSTFLAGS", RUSTFLAGS).env_remove("CARGO_ENCODED_RUSTFLAGS");
        Ok(process::run_on_terminal(command)?.success())
    }

    /// Fuzzes one target; returns whether it survived. libFuzzer prints the crash, its input and the figures.
    fn fuzz(&self, root: &Path, name: &str, seconds: u32) -> Result<bool, Error> {
        let found = self.folder(&["fuzz-corpus", name])?;
        let crashes = self.folder(&["fuzz-crashes"])?;
        let program = self.built.join(&self.host).join("fuzz").join(PACKAGE);
        let mut command = Command::new(program);
        // libFuzzer writes new inputs to the first folder.
        command.arg(&found).arg(root.join(CORPUS).join(name));
        command
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-max_len={INPUT_BYTES_MAX}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
            .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
            .arg(format!("-dict={}", root.join(WORDS).display()))
            .arg(format!("-artifact_prefix={}/{name}-", crashes.display()))
            .args(["-print_final_stats=1", "-verbosity=0"])
            .env(TARGET, name)
            .env("RUST_BACKTRACE", "0");
        Ok(process::run_on_terminal(command)?.success())
    }

    fn folder(&self, parts: &[&str]) -> Result<PathBuf, Error> {
        let path = parts.iter().fold(self.built.clone(), |path, part| path.join(part));
        fs::create_dir_all(&path).map_err(|source| Error::Write { path: path.clone(), source })?;
        Ok(path)
    }
}
