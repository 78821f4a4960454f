//! The server over real connections: its answers, its faults, its log, and its end.

// Marked as tests so that the lints treat their helpers as test code.
#[cfg(test)]
mod client;
#[cfg(test)]
mod decode;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod http;
#[cfg(test)]
mod life;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod program;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod seen;
#[cfg(test)]
mod wires;
