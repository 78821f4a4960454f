//! Tests of how models' answers are extracted.

// Marked as tests so that the lints know the helpers in them for test code.
#[cfg(test)]
#[path = "extract/corpus.rs"]
mod corpus;
#[cfg(test)]
#[path = "extract/properties.rs"]
mod properties;
