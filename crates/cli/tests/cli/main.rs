//! The command line with a scripted organisation: what a person sees, what another program reads, how it
//! ends.

// The modules are marked as tests so that the lints treat their helpers as test code.
#[cfg(test)]
mod arguments;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod board;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod cost;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod live;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod page;
#[cfg(test)]
mod page_limits;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod run;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod time_travel;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod view;
