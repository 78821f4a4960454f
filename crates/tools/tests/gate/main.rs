//! The gate as a whole, compared with real bash: commands with an effect ask, read-only commands run, and whatever runs
//! without a question has no effect.

#![cfg(target_os = "linux")]

#[cfg(test)]
mod bash;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod effects;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod listener;
#[cfg(test)]
mod looking;
#[cfg(test)]
mod sandboxed;
#[cfg(test)]
mod snapshot;
#[cfg(test)]
mod workers;
#[cfg(test)]
mod world;
