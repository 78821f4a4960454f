//! Lists of words, written as text.

/// A list of words, separated by white space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordList(&'static str);

impl WordList {
    pub(crate) const fn new(words: &'static str) -> Self {
        WordList(words)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    pub(crate) fn has(self, word: &str) -> bool {
        self.iter().any(|one| one == word)
    }
}
