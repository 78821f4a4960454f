//! The key that tasks of the same kind share: the first words of their intent (SPEC 3).
//!
//! A slug is a tag for finding memories, not an identifier: different intents may, and should, share one.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::tags::INTENT_SPACE;

/// How many whitespace-separated words of an intent are used.
pub const WORDS_MAX: usize = 3;
/// At most this many characters (Unicode scalar values) of a word are kept.
pub const WORD_CHARS_MAX: usize = 24;

/// Returns the slug of an intent: its first [`WORDS_MAX`] whitespace-separated words in NFKC and lower case, only the
/// letters and numbers of each (general categories L* and N*), empty words dropped, each cut to
/// [`WORD_CHARS_MAX`] characters, joined by `_`; `_` if nothing is left. Never empty.
#[must_use]
pub fn slug(intent: &str) -> String {
    let words: Vec<String> =
        intent.split_whitespace().take(WORDS_MAX).map(fold).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { NOTHING.to_owned() } else { words.join("_") }
}

/// Returns the space of an intent's memories: `intent:<slug>` (SPEC 3).
#[must_use]
pub fn intent_space(intent: &str) -> String {
    format!("{INTENT_SPACE}{}", slug(intent))
}

/// Slug of an intent without any letter or number.
const NOTHING: &str = "_";

fn fold(word: &str) -> String {
    let lower_cased = word.nfkc().collect::<String>().to_lowercase();
    lower_cased.chars().filter(|&c| is_letter_or_number(c)).take(WORD_CHARS_MAX).collect()
}

/// Tests for general categories L* and N*. `char::is_alphanumeric` tests the property Alphabetic or N* instead,
/// and accepts combining vowel signs (Mn, Mc) and some circled letters (So).
fn is_letter_or_number(c: char) -> bool {
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(intent: &str, expected: &str) {
        assert_eq!(slug(intent), expected, "{intent:?}");
    }

    #[test]
    fn first_three_words_count_even_if_they_are_dropped() {
        check("Migrate database schema to v2", "migrate_database_schema");
        check("a | b | c", "a_b");
        check("| | | a", "_");
        check("  one\ttwo\u{3000}three four", "one_two_three");
        check("go", "go");
    }

    #[test]
    fn only_letters_and_numbers_are_kept() {
        check("List *.go files, please", "list_go_files");
        check("!!!", "_");
        check("", "_");
        check("snake_case kebab-case C++", "snakecase_kebabcase_c");
        check("½ Ⅷ ٣", "12_viii_٣");
    }

    /// Alphabetic marks are not letters: U+0947 (vowel sign e) is Mn, U+093F (vowel sign i) is Mc.
    #[test]
    fn combining_marks_are_dropped_even_if_alphabetic() {
        assert!('\u{947}'.is_alphanumeric() && '\u{93f}'.is_alphanumeric(), "the premise");
        check("हिन्दी", "हनद");
        check("ไม่ ที่", "ไม_ท");
        // U+0345 is Mn and Alphabetic; it composes with its letter, and is dropped alone.
        check("\u{345} x", "x");
        // U+1F150, a negative circled letter, is So and Alphabetic, and has no other form.
        check("🅐b", "b");
    }

    #[test]
    fn compatibility_forms_are_folded() {
        check("Ｆｕｌｌ ｗｉｄｔｈ", "full_width");
        check("ﬁle ²x Ⓐ", "file_2x_a");
        check("cafe\u{301} café", "café_café");
        // A no-break space separates words like any other whitespace.
        check("a\u{a0}b", "a_b");
    }

    #[test]
    fn lower_case_depends_on_the_whole_word() {
        check("ΟΔΟΣ Σ", "οδος_σ");
        check("İstanbul ẞ", "istanbul_ß");
    }

    #[test]
    fn scripts_without_case_or_spaces_are_kept() {
        check("下载 YouTube 视频 到桌面", "下载_youtube_视频");
        check(&"字".repeat(30), &"字".repeat(24));
    }

    #[test]
    fn a_word_is_cut_by_characters_after_folding() {
        check(&format!("{}b", "a".repeat(24)), &"a".repeat(24));
        check(&format!("{}b", "-a".repeat(23)), &format!("{}b", "a".repeat(23)));
        check(&"ﬃ".repeat(10), &"ffi".repeat(8));
    }

    #[test]
    fn intent_space_begins_with_its_prefix() {
        assert_eq!(intent_space("!!!"), "intent:_");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn slug_is_short_and_holds_only_letters_numbers_and_joints(intent in any::<String>()) {
            let slug = slug(&intent);
            prop_assert!(!slug.is_empty());
            prop_assert!(slug.chars().count() < WORDS_MAX * (WORD_CHARS_MAX + 1));
            prop_assert!(slug.chars().all(|c| c == '_' || is_letter_or_number(c)));
            prop_assert!(slug == NOTHING || slug.split('_').all(|word| !word.is_empty()));
        }
    }
}
