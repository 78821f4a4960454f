//! Lists of words, written as text, and whole words in a text.

/// A list of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordList(&'static [&'static str]);

impl WordList {
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        WordList(words)
    }

    pub(crate) fn has(self, word: &str) -> bool {
        self.0.contains(&word)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }
}

/// Makes a [`WordList`] of a text in which white space separates the words. The compiler splits it: splitting at every
/// look-up took up to a sixth of the instructions of a task.
macro_rules! word_list {
    ($text:expr) => {{
        const WORDS: [&str; $crate::words::count($text)] = $crate::words::split($text);
        $crate::words::WordList::new(&WORDS)
    }};
}
pub(crate) use word_list;

pub(crate) const fn count(text: &str) -> usize {
    let mut rest = text.trim_ascii();
    let mut count = 0;
    while !rest.is_empty() {
        rest = rest.split_at(end_of_word(rest)).1.trim_ascii_start();
        count += 1;
    }
    count
}

pub(crate) const fn split<const COUNT: usize>(text: &'static str) -> [&'static str; COUNT] {
    let mut words = [""; COUNT];
    let mut rest = text;
    let mut n = 0;
    while n < COUNT {
        rest = rest.trim_ascii_start();
        let (word, others) = rest.split_at(end_of_word(rest));
        words[n] = word;
        rest = others;
        n += 1;
    }
    words
}

const fn end_of_word(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && !bytes[at].is_ascii_whitespace() {
        at += 1;
    }
    at
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
