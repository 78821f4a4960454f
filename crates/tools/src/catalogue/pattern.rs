//! Globs over paths, as all tools of the catalogue accept them.

use globset::{GlobBuilder, GlobMatcher};

use crate::error::ToolError;

/// Longest glob in characters.
const GLOB_CHARS_MAX: usize = 1_000;

/// Parses a glob over paths below a folder: `*` and `?` stay within a name, `**` crosses folders, `{a,b}` and `[a-z]`
/// as usual. A glob without a slash matches names at any depth; a leading `./` limits it to the folder itself.
pub(super) fn path_glob(field: &str, text: &str) -> Result<GlobMatcher, ToolError> {
    if !text.contains('/') {
        return build(field, &format!("**/{text}"), false);
    }
    build(field, text.strip_prefix("./").unwrap_or(text), false)
}

/// Parses a case-insensitive glob over names.
pub(super) fn name_glob(field: &str, text: &str) -> Result<GlobMatcher, ToolError> {
    build(field, text, true)
}

/// Returns whether a text is a glob and not a literal name.
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
