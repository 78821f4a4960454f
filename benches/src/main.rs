//! Measures the cost of a task when model and tools answer at once, and of memory's store ([`memory`]) and the
//! Auditor's log ([`audit`]).
//!
//! `cargo xtask bench tasks` runs every scenario in its own process, so that memory peaks do not mix, and prints one
//! table. A task here is 1 plan, 5 parallel sub-tasks with one tool call each, 5 judgements and 1 merge: 17 model
//! calls, 18 with R1's.

mod audit;
mod http;
mod instant;
mod measure;
mod memory;
mod scenario;

use std::process::{Command, ExitCode};

use measure::Spread;
use scenario::{Answers, Outcome, Scenario, Store};

/// The allocator of the binary that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("--one") => one(&arguments),
        Some("--http") => http::run(&arguments),
        Some("--serve") => http::serve(),
        Some("--first-call") => scenario::first_call(),
        Some("--memory") => memory::one(&arguments),
        Some("--audit") => audit::one(),
        Some("tasks") => all(),
        Some("memory") => memory::table(),
        Some("audit") => audit::table(),
        _ => Err("usage: cargo xtask bench [tasks | memory | audit]".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs of every scenario. Other load on the machine makes a run slower, never faster, so one run says little, and the
/// spread of several shows how far to trust them.
const ROUNDS: usize = 5;
/// Tasks in flight for measuring the cost of answers that have to be waited for.
const WAITING_IN_FLIGHT: usize = 100;

/// Runs every scenario in child processes, in turns, so that a busy minute of the machine does not affect one scenario
/// alone.
fn all() -> Result<(), String> {
    println!(
        "one task = 18 model calls, 5 tool calls, all answered at once; CPU is the process's own, the median of {ROUNDS}\n\
         runs, in brackets the least and the most; the peak is the highest, one run in which all wait at one moment among them\n"
    );
    let scenarios = Scenario::all();
    let mut outcomes = vec![Vec::new(); scenarios.len()];
    for _ in 0..ROUNDS {
        for (scenario, outcomes) in scenarios.iter().zip(&mut outcomes) {
            outcomes.push(child(scenario)?);
        }
    }
    println!(
        "{:<8} {:>9} {:>7} {:>9} {:>23} {:>10} {:>8}",
        "journal", "in flight", "tasks", "tasks/s", "CPU ms/task", "peak MiB", "target"
    );
    for (scenario, outcomes) in scenarios.iter().zip(&outcomes) {
        let cpu = Spread::of(outcomes.iter().map(|outcome| outcome.cpu_ms_per_task));
        let median = Outcome {
            tasks_per_s: Spread::of(outcomes.iter().map(|outcome| outcome.tasks_per_s)).median,
            cpu_ms_per_task: cpu.median,
            peak_mib: Spread::of(outcomes.iter().chain([&child(&scenario.together())?]).map(|o| o.peak_mib))
                .most,
        };
        println!(
            "{:<8} {:>9} {:>7} {:>9.0} {:>23} {:>10.1} {:>8}",
            scenario.store.name(),
            scenario.in_flight,
            scenario.tasks,
            median.tasks_per_s,
            cpu.text(),
            median.peak_mib,
            scenario.target(&median),
        );
    }
    println!("\nwhen each of the model's answers has to be waited for, a turn at least:");
    for scenario in scenarios.iter().filter(|scenario| scenario.in_flight == WAITING_IN_FLIGHT) {
        let costs: Result<Vec<f64>, String> =
            (0..ROUNDS).map(|_| Ok(child(&scenario.waiting())?.cpu_ms_per_task)).collect();
        let cpu = Spread::of(costs?);
        println!("{:<8} {:>9} {:>41}", scenario.store.name(), scenario.in_flight, cpu.text());
    }
    let starts = Spread::of(measure::starts(ROUNDS)?);
    println!(
        "\nprocess start to first model call, journal on disk: {:.1} ms [{:.1}, {:.1}]; target < 30",
        starts.median, starts.least, starts.most
    );
    http::table()?;
    Ok(())
}

fn child(scenario: &Scenario) -> Result<Outcome, String> {
    let me = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(me)
        .args(["--one", scenario.store.name(), scenario.answers.name()])
        .args([scenario.in_flight, scenario.tasks].map(|number| number.to_string()))
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Outcome::read(&String::from_utf8_lossy(&output.stdout))
}

fn one(arguments: &[String]) -> Result<(), String> {
    let [_, store, answers, in_flight, tasks] = arguments else {
        return Err("--one STORE ANSWERS IN_FLIGHT TASKS".to_owned());
    };
    let scenario = Scenario {
        store: Store::named(store)?,
        answers: Answers::named(answers)?,
        in_flight: in_flight.parse().map_err(|_| "not a number".to_owned())?,
        tasks: tasks.parse().map_err(|_| "not a number".to_owned())?,
    };
    println!("{}", scenario::run(&scenario)?.write());
    Ok(())
}
