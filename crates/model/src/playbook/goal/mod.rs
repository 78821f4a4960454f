//! Parses a person's goal: words, patterns of words, and the values of parameters.
//!
//! Nothing here checks whether a path exists, and nothing guesses: a goal matches a pattern as a whole or not at all.

mod closeness;
mod matching;
mod number;
mod param;
mod parse;
mod pattern;
mod words;

pub(crate) use closeness::Vocabulary;
pub(crate) use matching::{Match, PathLimit, find, find_within};
pub(crate) use param::{Choice, Param, ParamDefault, ParamKind, PathRequirement, always_means_a_place};
pub use parse::PatternError;
pub(crate) use parse::is_name;
pub(crate) use pattern::Pattern;
pub(crate) use words::{Goal, Word, fold};
