//! The normal form of a call's input: equal calls share one text, different calls do not.

/// Longest target in characters; the end of a longer one is replaced by a hash of the whole.
pub(crate) const TARGET_CHARS_MAX: usize = 1_000;

/// Builds the normal form: the subject of the call, then its other parameters.
#[derive(Clone, Debug)]
pub(crate) struct Target(String);

impl Target {
    /// Starts with the path, query or text that the call is about.
    pub(crate) fn new(about: impl Into<String>) -> Self {
        Target(about.into())
    }

    /// Adds a parameter; a missing one adds nothing, so a call with an omitted default equals one without it.
    pub(crate) fn with(mut self, name: &str, value: Option<impl std::fmt::Display>) -> Self {
        if let Some(value) = value {
            self.0.push_str(&format!(" {name}={value}"));
        }
        self
    }

    /// Adds a switch that is on.
    pub(crate) fn when(mut self, name: &str, on: bool) -> Self {
        if on {
            self.0.push(' ');
            self.0.push_str(name);
        }
        self
    }

    /// Adds a long content by its hash.
    pub(crate) fn content(self, name: &str, content: &str) -> Self {
        let hash = short_hash(content.as_bytes());
        self.with(name, Some(hash))
    }

    /// Returns the text, bounded.
    pub(crate) fn into_text(self) -> String {
        bounded(self.0)
    }
}

/// Returns `text`, or its beginning with a hash of the whole if it is longer than [`TARGET_CHARS_MAX`].
pub(crate) fn bounded(text: String) -> String {
    if text.len() <= TARGET_CHARS_MAX || text.chars().count() <= TARGET_CHARS_MAX {
        return text;
    }
    let head: String = text.chars().take(TARGET_CHARS_MAX - 20).collect();
    format!("{head}… #{}", short_hash(text.as_bytes()))
}

fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_parameters_add_nothing() {
        let plain = Target::new("/x").with("limit", None::<u32>).when("hidden", false);
        assert_eq!(plain.into_text(), "/x");
        let full = Target::new("/x").with("limit", Some(3)).when("hidden", true);
        assert_eq!(full.into_text(), "/x limit=3 hidden");
    }

    #[test]
    fn long_targets_stay_distinct() {
        let one = bounded("a".repeat(5_000));
        let other = bounded("a".repeat(5_001));
        assert!(one.chars().count() <= TARGET_CHARS_MAX, "{}", one.len());
        assert_ne!(one, other);
    }
}
