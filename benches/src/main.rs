//! Whole-organisation benchmarks: what one task costs when model and tools answer at once.
//!
//! `cargo xtask bench` runs every scenario in a process of its own, so that memory peaks do not mix, and prints one
//! table. A task here is 1 plan, 5 parallel sub-tasks with one tool call each, 5 judgements and 1 merge: 17 model
//! calls, 18 with R1's.

mod instant;
mod measure;
mod scenario;

use std::process::{Command, ExitCode};

use scenario::{Outcome, Scenario, Store};

/// The allocator of the binary that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("--one") => one(&arguments),
        Some("--first-call") => scenario::first_call(),
        None => all(),
        Some(_) => Err("usage: cargo xtask bench (it takes no argument)".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Every scenario, each in a child process.
fn all() -> Result<(), String> {
    println!("one task = 18 model calls, 5 tool calls, all answered at once; CPU is the process's own\n");
    println!(
        "{:<8} {:>9} {:>7} {:>11} {:>13} {:>12} {:>9}",
        "journal", "in flight", "tasks", "tasks/s", "CPU ms/task", "peak MiB", "target"
    );
    for scenario in Scenario::all() {
        let outcome = child(&scenario)?;
        println!(
            "{:<8} {:>9} {:>7} {:>11.0} {:>13.3} {:>12.1} {:>9}",
            scenario.store.name(),
            scenario.in_flight,
            scenario.tasks,
            outcome.tasks_per_s,
            outcome.cpu_ms_per_task,
            outcome.peak_mib,
            scenario.target(&outcome),
        );
    }
    let starts = measure::starts(5)?;
    let median = starts.get(starts.len() / 2).copied().unwrap_or(f64::NAN);
    println!(
        "\nprocess start to first model call, journal on disk: {median:.1} ms (median of {starts:.1?}; target < 30)"
    );
    Ok(())
}

fn child(scenario: &Scenario) -> Result<Outcome, String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(me)
        .args(["--one", scenario.store.name(), &scenario.in_flight.to_string(), &scenario.tasks.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Outcome::read(&String::from_utf8_lossy(&output.stdout))
}

fn one(arguments: &[String]) -> Result<(), String> {
    let [_, store, in_flight, tasks] = arguments else {
        return Err("--one STORE IN_FLIGHT TASKS".to_owned());
    };
    let scenario = Scenario {
        store: Store::named(store)?,
        in_flight: in_flight.parse().map_err(|_| "not a number".to_owned())?,
        tasks: tasks.parse().map_err(|_| "not a number".to_owned())?,
    };
    println!("{}", scenario::run(&scenario)?.write());
    Ok(())
}
