//! `cargo xtask`: the project's own commands, so that contributors and CI run the same.
//!
//! It checks, generates and measures. It never edits a source file (except the generated ones, on `gen`) and is never
//! part of the shipped program. One file per command: [`mod@test`], [`tidy`], [`layers`], [`generate`], [`figures`],
//! [`conformance`], [`mod@bench`], [`clients`], [`mcp`], [`mod@dist`], [`fuzz`], [`trial`]. Shared by them: [`tree`] (the
//! files), [`scan`] (Rust source split into code and comments), [`finding`] (what a check reports).

mod bench;
mod clients;
mod conformance;
mod counts;
mod dist;
mod error;
mod figures;
mod finding;
mod fuzz;
mod generate;
mod layers;
mod mcp;
mod needs;
mod process;
mod scan;
mod test;
mod tidy;
mod tree;
mod trial;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::finding::Finding;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check and every test; the last line says `N passed, N failed`
    Test,
    /// Check the form of the tracked files
    Tidy,
    /// Check that the crates depend on each other as ARCHITECTURE.md says
    Layers,
    /// Write the generated files
    Gen {
        /// Write nothing; fail when a generated file is out of date
        #[arg(long)]
        check: bool,
    },
    /// Print how large the code is, by crate, and which files depend on each other in a circle
    Figures {
        /// Print the Rust files that the commits after REV touch (or those of A..B)
        #[arg(long, value_name = "REV")]
        since: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the published vectors against the controller and the memory
    Conformance {
        /// A file of vectors; the committed one without it
        file: Option<PathBuf>,
    },
    /// Install the official clients of the models' wires and run them against the model server
    Clients,
    /// Install the conformance tests of MCP and run them against the client of MCP servers
    Mcp,
    /// Run the benchmarks, built as the program is shipped
    Bench {
        /// One of them; all without it
        which: Option<bench::Which>,
    },
    /// Build the packages that others install, in target/dist
    Dist,
    /// Fuzz what reads the text of others, each target for a while
    Fuzz {
        /// How long each target is fuzzed
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// One target; every one without it
        target: Option<String>,
    },
    /// Run small tasks with a model and judge what comes of them; `cargo xtask trial -- --help` says more
    Trial {
        /// Try the release build
        #[arg(long)]
        release: bool,
        /// Names of trials and options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", error::chain(&error));
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Error> {
    let root = tree::root();
    match command {
        Command::Test => test::run(root),
        Command::Tidy => Ok(report("tidy", &tidy::run(root)?)),
        Command::Layers => Ok(report("layers", &layers::run(root)?)),
        Command::Gen { check: true } => Ok(report("gen", &generate::check(root)?)),
        Command::Gen { check: false } => write_generated(root),
        Command::Figures { since, json } => {
            figures::run(root, since.as_deref(), json).map(|()| ExitCode::SUCCESS)
        }
        Command::Conformance { file } => {
            let summary = conformance::run(file.as_deref())?;
            print!("{summary}");
            Ok(if summary.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Command::Clients => clients::run(root),
        Command::Mcp => mcp::run(root),
        Command::Dist => dist::run(root),
        Command::Bench { which } => bench::run(root, which),
        Command::Trial { release, arguments } => trial::run(root, release, &arguments),
        Command::Fuzz { seconds, target } => fuzz::run(root, seconds, target.as_deref()),
    }
}

fn report(command: &str, findings: &[Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("{command}: nothing found");
            ExitCode::SUCCESS
        }
        count => {
            println!("{command}: {count} found");
            ExitCode::FAILURE
        }
    }
}

fn write_generated(root: &Path) -> Result<ExitCode, Error> {
    let written = generate::write(root)?;
    for path in &written {
        println!("wrote {path}");
    }
    println!("gen: {} of {} files changed", written.len(), generate::GENERATED.len());
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }
}
