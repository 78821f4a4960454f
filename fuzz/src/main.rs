//! Runs a target: on files, or, as `cargo xtask fuzz` builds it, on inputs of libFuzzer.
//!
//! `cargo run -p setpoint-fuzz -- TARGET FILE…` replays inputs without a fuzzer. Under libFuzzer the command line is
//! libFuzzer's, so the target is named by an environment variable.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod fuzzing {
    use std::sync::OnceLock;

    /// The environment variable in which `cargo xtask fuzz` names the target.
    const TARGET: &str = "SETPOINT_FUZZ_TARGET";

    static RUN: OnceLock<fn(&[u8])> = OnceLock::new();

    libfuzzer_sys::fuzz_target!(|input: &[u8]| {
        let run = RUN.get_or_init(|| {
            let name = std::env::var(TARGET).unwrap_or_default();
            let target = setpoint_fuzz::target(&name);
            assert!(target.is_some(), "${TARGET} names no target: {name:?}");
            target.map_or(|_| {}, |target| target.run)
        });
        run(input);
    });
}

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(target) = setpoint_fuzz::target(&name.to_string_lossy()) else {
        eprintln!("usage: setpoint-fuzz TARGET FILE…; the targets are");
        for target in setpoint_fuzz::TARGETS {
            eprintln!("  {:10} {}", target.name, target.about);
        }
        return std::process::ExitCode::from(2);
    };
    for path in arguments.map(std::path::PathBuf::from) {
        match std::fs::read(&path) {
            Ok(input) => (target.run)(&input),
            Err(error) => {
                eprintln!("error: failed to read {}: {error}", path.display());
                return std::process::ExitCode::from(2);
            }
        }
        println!("{}: nothing found", path.display());
    }
    std::process::ExitCode::SUCCESS
}
