//! Programs that try to get out of the sandbox, and programs that must not notice it.
//!
//! This executable is its own stage, so it cannot use the harness of the standard library, which starts threads before
//! anything else can run. It speaks the part of that harness's command line that `cargo nextest` uses.

use std::process::ExitCode;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod attempts;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod benign;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod beside;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod corpus;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod cost;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod odd;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod signals;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod world;

/// A test's name and what it does; it returns what went wrong.
type Test = (&'static str, fn() -> Vec<String>);

/// Names that begin with `process_` join the group of tests that run one at a time.
#[cfg(test)]
#[cfg(target_os = "linux")]
const TESTS: &[Test] = &[
    ("process_no_attempt_escapes", corpus::run),
    ("process_neighbours_share_a_network_and_nothing_else", beside::run),
    ("process_benign_programs_work", benign::run),
    ("process_odd_policies_hold", odd::run),
    ("process_signals_reach_the_program", signals::run),
    ("process_cost_is_printed", cost::run),
];
#[cfg(not(all(test, target_os = "linux")))]
const TESTS: &[Test] = &[];

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(code) = setpoint_sandbox::linux::stage::serve() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    #[cfg(test)]
    #[cfg(target_os = "linux")]
    if let Some(folder) = args.iter().skip_while(|arg| *arg != signals::CALLER).nth(1) {
        return signals::call(folder.as_ref());
    }
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--list") {
        // No test is ignored, so the list of ignored ones is empty.
        for (name, _) in TESTS.iter().filter(|_| !has("--ignored")) {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| {
        let matches =
            |filter: &&String| if has("--exact") { *filter == name } else { name.contains(*filter) };
        filters.is_empty() || filters.iter().any(matches)
    };
    let mut is_failed = false;
    for (name, test) in TESTS.iter().filter(|(name, _)| is_wanted(name)) {
        let wrong = test();
        for line in &wrong {
            println!("{name}: {line}");
        }
        println!("test {name} ... {}", if wrong.is_empty() { "ok" } else { "FAILED" });
        is_failed |= !wrong.is_empty();
    }
    if is_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
