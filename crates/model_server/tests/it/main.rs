//! The server over real connections: what it answers, what it breaks, what it writes down, and that it ends.

// Marked as tests so that the lints know the helpers in them for test code.
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
