//! Lists of words, written as text, and whole words in a text.

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

/// Returns whether `text` contains `part` where neither neighbour belongs to a longer word.
pub(crate) fn contains_whole(text: &str, part: &str, is_of_word: impl Fn(char) -> bool) -> bool {
    !part.is_empty()
        && text.match_indices(part).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + part.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(&is_of_word) && !after.is_some_and(&is_of_word)
        })
}
