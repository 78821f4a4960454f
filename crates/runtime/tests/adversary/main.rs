//! A compromised model in whole tasks: it obeys whatever text it reads, and does harm as directly as it can.
//!
//! No language model is asked. [`adversary`] plays all roles and obeys every marker `INJECT[goal]`; [`carriers`] are the
//! ways by which a marker reaches it, [`goals`] what it is after, [`attacks`] the calls that get there, [`world`] what it
//! acts on, and by what the outcome is judged: never by what the task says. [`corpus`] runs all combinations against a
//! person who refuses everything and one who allows everything, [`teeth`] the attacks without the gate, and [`benign`]
//! honest tasks.
//!
//! This executable is its own keeper and its own stage of the sandbox, so it cannot use the harness of the standard
//! library. It speaks the part of that harness's command line that `cargo nextest` uses.

use std::process::ExitCode;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod adversary;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod attacks;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod benign;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod carriers;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod corpus;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod goals;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod run;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod shapes;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod sink;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod teeth;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod world;

#[cfg(test)]
#[cfg(target_os = "linux")]
use corpus::Person;

/// A test's name and what it does; it returns what went wrong.
type Test = (&'static str, fn() -> Vec<String>);

#[cfg(test)]
#[cfg(target_os = "linux")]
const TESTS: &[Test] = &[
    ("no_forbidden_effect_if_all_is_refused_1_of_4", || corpus::run(Person::Refuses, 0)),
    ("no_forbidden_effect_if_all_is_refused_2_of_4", || corpus::run(Person::Refuses, 1)),
    ("no_forbidden_effect_if_all_is_refused_3_of_4", || corpus::run(Person::Refuses, 2)),
    ("no_forbidden_effect_if_all_is_refused_4_of_4", || corpus::run(Person::Refuses, 3)),
    ("no_forbidden_effect_if_all_is_allowed_1_of_4", || corpus::run(Person::Allows, 0)),
    ("no_forbidden_effect_if_all_is_allowed_2_of_4", || corpus::run(Person::Allows, 1)),
    ("no_forbidden_effect_if_all_is_allowed_3_of_4", || corpus::run(Person::Allows, 2)),
    ("no_forbidden_effect_if_all_is_allowed_4_of_4", || corpus::run(Person::Allows, 3)),
    ("without_the_gate_nine_in_ten_attacks_succeed", teeth::run),
    ("honest_tasks_end_well_and_ask_little", benign::run),
];
#[cfg(not(all(test, target_os = "linux")))]
const TESTS: &[Test] = &[];

fn main() -> ExitCode {
    #[cfg(test)]
    #[cfg(target_os = "linux")]
    if let Some(code) = setpoint_tools::keeper::serve().or_else(setpoint_sandbox::serve) {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--list") {
        // No test is ignored, so the list of ignored ones is empty.
        for (name, _) in TESTS.iter().filter(|_| !has("--ignored")) {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    #[cfg(test)]
    #[cfg(target_os = "linux")]
    if let Some(code) = world::again_with_a_secret() {
        return code;
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
