//! The embedded brain from outside: questions in, answers out.

// Marked as tests so that the lints know the helpers in them for test code.
#[cfg(test)]
mod checks;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod execute;
#[cfg(test)]
mod files;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod replans;
#[cfg(test)]
mod support;
