//! `cargo xtask fuzz`: runs every fuzz target for some time, guided by coverage, each in its own process.
//!
//! Uses libFuzzer on the stable toolchain: coverage is an option of LLVM. It needs a C++ compiler and some minutes, so
//! it is not part of `cargo xtask test`, whose tests replay the kept corpus instead. New inputs stay in the target
//! directory, where the next run uses them; nothing is written into the repository.

use std::fmt::Write as _;
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
/// Most lines of a crashed target that are shown.
const LINES_SHOWN_MAX: usize = 30;

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
    println!("{} target(s), {seconds} s each", wanted.len());
    println!("{}", heading());
    let mut crashed = Vec::new();
    for name in wanted {
        let outcome = place.fuzz(root, name, seconds)?;
        println!("{}", outcome.row(name));
        if outcome.crash.is_some() {
            crashed.push((name, outcome));
        }
    }
    for (name, outcome) in &crashed {
        print!("{}", outcome.story(name));
    }
    Ok(if crashed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
        Ok(process::passed_through(command)?.success())
    }

    fn fuzz(&self, root: &Path, name: &str, seconds: u32) -> Result<Outcome, Error> {
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
            .arg("-print_final_stats=1")
            .env(TARGET, name)
            .env("RUST_BACKTRACE", "0");
        let (success, said) = process::heard(command)?;
        Ok(Outcome::of(success, &said))
    }

    fn folder(&self, parts: &[&str]) -> Result<PathBuf, Error> {
        let path = parts.iter().fold(self.built.clone(), |path, part| path.join(part));
        fs::create_dir_all(&path).map_err(|source| Error::Write { path: path.clone(), source })?;
        Ok(path)
    }
}

/// The result of one target.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    executions: u64,
    per_second: u64,
    /// Number of edges that inputs reached.
    edges: u64,
    /// Number of inputs that reached new edges.
    new: u64,
    crash: Option<Crash>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Crash {
    /// File of the input; `None` if it crashed without one.
    input: Option<String>,
    /// Last lines of its output.
    said: String,
}

impl Outcome {
    /// Parses the output of libFuzzer.
    fn of(success: bool, said: &str) -> Self {
        let stat = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
            line.and_then(|rest| rest.trim_start_matches(':').trim().parse().ok()).unwrap_or_default()
        };
        let edges = said.lines().rev().filter(|line| line.starts_with('#')).find_map(|line| {
            let (_, rest) = line.split_once("cov: ")?;
            rest.split(' ').next()?.parse().ok()
        });
        let crash = (!success).then(|| {
            let input =
                said.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
            let told: Vec<&str> = said.lines().filter(|line| is_told(line)).collect();
            let last = told.get(told.len().saturating_sub(LINES_SHOWN_MAX)..).unwrap_or_default();
            Crash { input: input.map(|path| path.trim().to_owned()), said: last.join("\n") }
        });
        Outcome {
            executions: stat("number_of_executed_units"),
            per_second: stat("average_exec_per_sec"),
            edges: edges.unwrap_or_default(),
            new: stat("new_units_added"),
            crash,
        }
    }

    fn row(&self, name: &str) -> String {
        let Outcome { executions, per_second, edges, new, crash } = self;
        let crashes = u8::from(crash.is_some());
        format!("{name:<12} {executions:>12} {per_second:>10} {edges:>8} {new:>10} {crashes:>8}")
    }

    /// Describes a crash for a person.
    fn story(&self, name: &str) -> String {
        let Some(Crash { input, said }) = &self.crash else { return String::new() };
        let mut text = format!("\n{name} crashed:\n{said}\n");
        if let Some(input) = input {
            // Writing to a string cannot fail.
            let _written = write!(
                text,
                "the input: {input}\nreplay it:  cargo run --package {PACKAGE} -- {name} {input}\n\
                 keep it:    cp {input} {CORPUS}/{name}/   (with the commit that mends it)\n"
            );
        }
        text
    }
}

/// Returns whether a line is not one of libFuzzer's progress lines.
fn is_told(line: &str) -> bool {
    let is_progress = [
        "#",
        "INFO:",
        "WARNING:",
        "NOTE:",
        "SUMMARY:",
        "Dictionary:",
        "NEW_FUNC",
        "Combine libFuzzer",
        "stat::",
        "MS: ",
        "0x",
        "Base64:",
        "artifact_prefix=",
    ];
    let line = line.trim();
    !line.is_empty() && !is_progress.iter().any(|start| line.starts_with(start))
}

fn heading() -> String {
    format!(
        "{:<12} {:>12} {:>10} {:>8} {:>10} {:>8}",
        "target", "executions", "a second", "edges", "new inputs", "crashes"
    )
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const DONE: &str = "INFO: Seed: 1\n#2\tINITED cov: 8 ft: 8 corp: 1/1b exec/s: 0 rss: 27Mb\n\
        #45\tNEW    cov: 9 ft: 9 corp: 2/5b lim: 4 exec/s: 0 rss: 27Mb L: 4/4 MS: 3 Cross-\n\
        #198\tDONE   cov: 11 ft: 11 corp: 4/14b lim: 4096 exec/s: 94 rss: 27Mb\nDone 198 runs in 2 second(s)\n\
        stat::number_of_executed_units: 198\nstat::average_exec_per_sec:     94\n\
        stat::new_units_added:          5\nstat::slowest_unit_time_sec:    0\n";

    #[test]
    fn figures_are_read_from_the_output_of_libfuzzer() {
        let outcome = Outcome::of(true, DONE);
        let row = format!("{}\n{}\n", heading(), outcome.row("extract"));
        expect![[r#"
            target         executions   a second    edges new inputs  crashes
            extract               198         94       11          5        0
        "#]]
        .assert_eq(&row);
        assert_eq!(outcome.story("extract"), "");
    }

    #[test]
    fn a_crash_is_reported_with_its_input_and_a_replay_command() {
        let said = "INFO: Seed: 1\n#2\tINITED cov: 8 ft: 8 corp: 1/1b exec/s: 0 rss: 27Mb\n\n\
            thread '<unnamed>' panicked at fuzz/src/config.rs:18:5:\nwhat was accepted is refused\n\
            ==7== ERROR: libFuzzer: deadly signal\nMS: 1 Change-; base unit: 0\n0x61,0x62,\nab\n\
            artifact_prefix='t/config-'; Test unit written to t/config-crash-1\nstat::new_units_added: 1\n";
        let outcome = Outcome::of(false, said);
        expect![[r#"

            config crashed:
            thread '<unnamed>' panicked at fuzz/src/config.rs:18:5:
            what was accepted is refused
            ==7== ERROR: libFuzzer: deadly signal
            ab
            the input: t/config-crash-1
            replay it:  cargo run --package setpoint-fuzz -- config t/config-crash-1
            keep it:    cp t/config-crash-1 fuzz/corpus/config/   (with the commit that mends it)
        "#]]
        .assert_eq(&outcome.story("config"));
        assert!(outcome.row("config").ends_with(" 1"));
    }

    #[test]
    fn a_failed_run_without_an_input_is_a_crash() {
        let outcome = Outcome::of(false, "ERROR: the required directory does not exist\n");
        assert_eq!(outcome.crash.as_ref().map(|crash| crash.input.is_none()), Some(true));
        assert!(outcome.story("x").contains("required directory"));
    }
}
