//! The built binary as a user runs it: real files, real processes, a data directory of its own.

// Marked as tests so that the lints know the helpers in them for test code.
#[cfg(test)]
mod playbooks;
#[cfg(test)]
mod support;
#[cfg(test)]
mod version;
