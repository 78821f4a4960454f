//! The built binary as a user runs it: real files, real processes, a data directory per test.

// The modules are marked as tests so that the lints treat their helpers as test code.
#[cfg(test)]
mod approval_files;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod bad_places;
#[cfg(test)]
mod cancel;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod directives;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod first_configuration;
#[cfg(test)]
mod forks;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod insides;
#[cfg(test)]
mod language_models;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod models;
// `cargo xtask test` enables every feature.
#[cfg(test)]
mod accept;
#[cfg(test)]
mod net;
#[cfg(test)]
mod observing;
#[cfg(test)]
mod process_consent;
#[cfg(test)]
#[cfg(feature = "failpoints")]
mod process_crashes;
#[cfg(test)]
mod process_terminal;
#[cfg(test)]
mod proxies;
#[cfg(test)]
mod put_back;
#[cfg(test)]
mod retention;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod strange_files;
#[cfg(test)]
mod support;
#[cfg(test)]
mod time_travel;
#[cfg(test)]
mod trust;
mod undo;
