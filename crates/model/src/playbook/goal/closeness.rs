//! Finds the playbook closest to a goal that none matches.

use std::collections::BTreeSet;

use super::words::{Goal, fold};

/// The significant words of texts, without endings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    stems: BTreeSet<String>,
}

/// Words that say nothing about a goal's subject.
const SAID_EVERYWHERE: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "at", "by", "do", "for", "from", "get", "give", "have", "how",
    "in", "into", "is", "it", "list", "me", "my", "of", "on", "or", "print", "show", "some", "tell", "that",
    "the", "their", "there", "this", "to", "under", "us", "what", "which", "with",
];

impl Vocabulary {
    /// Returns the significant words of a goal, without quoted texts and paths.
    pub(crate) fn of(goal: &Goal) -> Self {
        let mut vocabulary = Vocabulary::default();
        let words = goal.words().iter().filter(|word| !word.quoted && !word.text.contains(['/', '.', '~']));
        words.for_each(|word| vocabulary.add(&word.fold));
        vocabulary
    }

    pub(crate) fn add(&mut self, text: &str) {
        self.stems.extend(text.split(|c: char| !c.is_alphanumeric()).filter_map(stem));
    }

    /// Returns the overlap of two vocabularies, from 0 to 1 (Dice's coefficient).
    pub(crate) fn closeness(&self, other: &Vocabulary) -> f64 {
        let shared = self.stems.intersection(&other.stems).count();
        let (Ok(shared), Ok(all)) =
            (u32::try_from(shared), u32::try_from(self.stems.len() + other.stems.len()))
        else {
            return 0.0;
        };
        if all == 0 { 0.0 } else { f64::from(2 * shared) / f64::from(all) }
    }
}

/// Returns a word without its grammatical ending; `None` for a word without significance.
fn stem(word: &str) -> Option<String> {
    let word = fold(word);
    if word.is_empty() || SAID_EVERYWHERE.contains(&word.as_str()) {
        return None;
    }
    let mut stem = word;
    for (ending, instead, chars_min) in
        [("ies", "y", 5), ("s", "", 4), ("ing", "", 6), ("ed", "", 5), ("e", "", 4)]
    {
        if stem.chars().count() >= chars_min
            && let Some(before) = stem.strip_suffix(ending)
        {
            stem = format!("{before}{instead}");
        }
    }
    Some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_significant_words_count() {
        let of = |goal: &str| Vocabulary::of(&Goal::read(goal).unwrap());
        let known = of("find duplicate files in ./photos");
        assert!((known.closeness(&of("show me duplicated file finding")) - 1.0).abs() < 1e-9);
        assert!((known.closeness(&of("find my music")) - 0.4).abs() < 1e-9);
        assert!(known.closeness(&of("what is in ./photos")).abs() < 1e-9);
        assert!(known.closeness(&of("book a flight")).abs() < 1e-9);
    }
}
