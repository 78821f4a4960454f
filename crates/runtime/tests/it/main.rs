//! The runtime from outside, with parts that a test controls.

#[cfg(test)]
mod again;
#[cfg(test)]
mod append_before_effect;
#[cfg(test)]
mod audit;
mod budgets;
#[cfg(test)]
mod cassettes;
#[cfg(test)]
mod forks;
#[cfg(test)]
mod loops;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod models;
#[cfg(test)]
mod panics;
#[cfg(test)]
mod pruning;
#[cfg(test)]
mod resume;
#[cfg(test)]
mod stops;
#[cfg(test)]
mod support;
#[cfg(test)]
mod telemetry;
