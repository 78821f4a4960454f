//! The tests of the controller: hand-written cases, properties, and the committed vectors' identity. The
//! vectors themselves are run by `cargo xtask conformance` and its tests.

// Marked as tests so that the lints treat the helpers in them as test code.
#[cfg(test)]
mod cases;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod support;
