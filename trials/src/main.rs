//! `cargo xtask trial`: twelve small tasks, run with a real model and judged from outside.
//!
//! Each trial generates its workspace in a temporary folder, lets the built `setpoint` work in it as a person would (at
//! a terminal, where every question is answered), then judges the result by means that were never in the workspace. It
//! measures what the model received and returned, and can run a plain tool loop for comparison.
//!
//! Reading order: [`trial`] (what a trial is), [`tasks`], [`ground`] and [`python`] (means of generators and checkers),
//! [`runner`] with [`place`], [`organisation`], [`terminal`], [`plain`] and [`relay`], then [`recording`] and
//! [`report`].

mod count;
#[cfg(test)]
mod end_to_end_tests;
mod error;
mod ground;
mod organisation;
mod place;
mod plain;
mod python;
mod random;
mod recording;
mod relay;
mod report;
mod runner;
mod tasks;
mod terminal;
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::error::TrialError;
use crate::recording::Files;
use crate::report::Row;
use crate::runner::{Model, Runner};

/// The model's address by default.
const OPENAI: &str = "https://api.openai.com/v1";

/// Run small tasks with a model and judge what comes of them
#[derive(Debug, Parser)]
#[command(name = "cargo xtask trial")]
struct Arguments {
    /// The trials; all without any
    names: Vec<String>,
    /// Use this model; OPENAI_MODEL without it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Run the same model in a plain tool loop, too, and compare
    #[arg(long)]
    plain: bool,
    /// Keep a recording of each trial in DIR
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Let the recordings of DIR answer, and fail where something differs from what was kept beside them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["model", "plain"])]
    replay: Option<PathBuf>,
    /// Run the model's commands in the sandbox, where the machine holds it
    #[arg(long, conflicts_with_all = ["record", "replay"])]
    sandbox: bool,
    /// Leave the temporary folders and say where they are
    #[arg(long)]
    keep: bool,
    /// Generate the workspaces from this seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop a run after this many minutes
    #[arg(long, default_value_t = 240)]
    minutes: u64,
    /// Write the table as JSON
    #[arg(long)]
    json: bool,
    /// List the trials with their states and goals, and run none
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    // Must come first: a keeper is started for every program that a tool of the plain loop runs.
    if let Some(exit) = setpoint_tools::keeper::serve() {
        return exit;
    }
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let ended = match runtime {
        Ok(runtime) => runtime.block_on(async {
            tokio::select! {
                ended = run(&arguments) => ended,
                // Drops what runs, and with it the terminal, which hangs up the program there.
                () = interrupted() => Ok(ExitCode::from(130)),
            }
        }),
        Err(source) => Err(TrialError::Relay { source }),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", error::chain(&error));
            ExitCode::from(2)
        }
    }
}

/// Waits for Ctrl-C or SIGTERM.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

async fn run(arguments: &Arguments) -> Result<ExitCode, TrialError> {
    let mut trials = runner::named(&arguments.names)?;
    if arguments.list {
        for trial in trials {
            println!("{} ({})\n  {}\n", trial.name, trial.state.name(), trial.goal.replace('\n', "\n  "));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let own = std::env::current_exe().map_err(TrialError::file("find", Path::new("this program")))?;
    // `cargo xtask trial` builds it beside this program.
    let setpoint = own.with_file_name("setpoint");
    if !setpoint.is_file() {
        return Err(TrialError::NotBuilt { path: setpoint });
    }
    let runner = Runner {
        setpoint,
        seed: arguments.seed,
        limit: Duration::from_secs(arguments.minutes.saturating_mul(60)),
        has_sandbox: arguments.sandbox,
        keeps: arguments.keep,
        keeper: Some(own),
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut differences = Vec::new();
    if let Some(folder) = &arguments.replay {
        if arguments.names.is_empty() {
            trials.retain(|trial| Files::of(folder, trial.name).are_there());
        }
        for trial in trials {
            eprintln!("{}: replaying", trial.name);
            let (row, differs) = runner.replay(trial, folder).await?;
            differences.extend(differs.into_iter().map(|said| format!("{}: {said}", trial.name)));
            rows.push(row);
        }
    } else {
        let model = model(arguments)?;
        for trial in trials {
            eprintln!("{}: running with {}", trial.name, model.name);
            let row = runner.run(trial, &model, arguments.plain, arguments.record.as_deref()).await?;
            eprint!("{}", report::table(std::slice::from_ref(&row)));
            rows.push(row);
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        print!("{}", report::table(&rows));
    }
    for difference in &differences {
        eprintln!("differs: {difference}");
    }
    let is_well = differences.is_empty() && (arguments.replay.is_some() || rows.iter().all(Row::is_well));
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the model that the arguments and the environment name.
fn model(arguments: &Arguments) -> Result<Model, TrialError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let name = arguments.model.clone().or_else(|| variable("OPENAI_MODEL")).ok_or(TrialError::NoModel)?;
    let base = variable("OPENAI_BASE_URL").unwrap_or_else(|| OPENAI.to_owned());
    Ok(Model { name, base, key: variable("OPENAI_API_KEY") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn an_unknown_name_is_rejected_with_the_known_ones() {
        let named = |name: &str| runner::named(&[name.to_owned()]);
        assert_eq!(named("middle-bug").map(|trials| trials.len()).ok(), Some(1));
        let refused = named("middle").map(|trials| trials.len()).unwrap_err();
        assert!(
            error::chain(&refused).contains("failed to find a trial called `middle`; there are middle-bug, ")
        );
    }
}
