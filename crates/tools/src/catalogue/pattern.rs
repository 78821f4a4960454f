//! Globs over paths, as every tool of the catalogue takes them.

use globset::{GlobBuilder, GlobMatcher};

use crate::error::ToolError;

/// Longest glob in characters.
const GLOB_CHARS_MAX: usize = 1_000;

/// A glob over paths below a folder: `*` and `?` stay within a name, `**` goes through folders, `{a,b}` and `[a-z]` as
/// usual. A glob without a slash is one over names, at any depth; `./` in front keeps it to the folder itself.
pub(super) fn path_glob(field: &str, text: &str) -> Result<GlobMatcher, ToolError> {
    if !text.contains('/') {
        return build(field, &format!("**/{text}"), false);
    }
    build(field, text.strip_prefix("./").unwrap_or(text), false)
}

/// A glob over names, whatever their case.
pub(super) fn name_glob(field: &str, text: &str) -> Result<GlobMatcher, ToolError> {
    build(field, text, true)
}

/// Whether a text is a glob and not just a name.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn build(field: &str, text: &str, any_case: bool) -> Result<GlobMatcher, ToolError> {
    if text.is_empty() || text == "**/" {
        return Err(ToolError::parameter(field, "it is empty"));
    }
    if text.chars().count() > GLOB_CHARS_MAX {
        return Err(ToolError::parameter(field, format!("it is longer than {GLOB_CHARS_MAX} characters")));
    }
    GlobBuilder::new(text)
        .literal_separator(true)
        .case_insensitive(any_case)
        .empty_alternates(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::parameter(field, error.kind().to_string()))
}
