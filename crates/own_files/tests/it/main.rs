//! What is opened and what is refused, on a real file system.

// Marked as tests so that the lints know the helpers in them for test code.
#[cfg(test)]
mod opening;
