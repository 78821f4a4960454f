//! Which files are opened and which are refused, on a real file system.

// Marked as tests so that the lints treat the helpers in it as test code.
#[cfg(test)]
mod opening;
