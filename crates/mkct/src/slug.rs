//! The key that tasks of the same kind share: the first words of their intent (SPEC 3).
//!
//! It is a tag to find memories by, not an identifier: different intents may share it, and should.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::tags::INTENT_SPACE;

/// How many whitespace-separated words of an intent are looked at.
pub const WORDS_MAX: usize = 3;
/// How many characters (Unicode scalar values) of a word are kept.
pub const WORD_CHARS_MAX: usize = 24;

/// The slug of an intent: its first [`WORDS_MAX`] whitespace words in NFKC and lower case, of each only the
/// letters and numbers (general categories L* and N*), empty words dropped, each cut to
/// [`WORD_CHARS_MAX`] characters, joined by `_`; `_` when nothing is left. Never empty.
#[must_use]
pub fn slug(intent: &str) -> String {
    let words: Vec<String> =
        intent.split_whitespace().take(WORDS_MAX).map(fold).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { NOTHING.to_owned() } else { words.join("_") }
}

/// The space under which memories of an intent lie: `intent:<slug>` (SPEC 3).
#[must_use]
pub fn intent_space(intent: &str) -> String {
    format!("{INTENT_SPACE}{}", slug(intent))
}

/// What stands for an intent without any letter or number.
const NOTHING: &str = "_";

fn fold(word: &str) -> String {
    let lower_cased = word.nfkc().collect::<String>().to_lowercase();
    lower_cased.chars().filter(|&c| is_letter_or_number(c)).take(WORD_CHARS_MAX).collect()
}

/// General categories L* and N*. `char::is_alphanumeric` is not that: it is the property Alphabetic or N*,
/// and lets in combining vowel signs (Mn, Mc) and some circled letters (So).
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
    fn the_first_three_words_count_even_when_they_vanish() {
        check("Migrate database schema to v2", "migrate_database_schema");
        check("a | b | c", "a_b");
        check("| | | a", "_");
        check("  one\ttwo\u{3000}three four", "one_two_three");
        check("go", "go");
    }

    #[test]
    fn only_letters_and_numbers_stay() {
        check("List *.go files, please", "list_go_files");
        check("!!!", "_");
        check("", "_");
        check("snake_case kebab-case C++", "snakecase_kebabcase_c");
        check("½ Ⅷ ٣", "12_viii_٣");
    }

    /// Alphabetic marks are no letters: U+0947 (vowel sign e) is Mn, U+093F (vowel sign i) is Mc.
    #[test]
    fn combining_marks_go_even_where_they_are_alphabetic() {
        assert!('\u{947}'.is_alphanumeric() && '\u{93f}'.is_alphanumeric(), "the premise");
        check("हिन्दी", "हनद");
        check("ไม่ ที่", "ไม_ท");
        // U+0345 is Mn and Alphabetic; with its letter it composes, alone it goes.
        check("\u{345} x", "x");
        // U+1F150, a negative circled letter, is So and Alphabetic, and has no other form.
        check("🅐b", "b");
    }

    #[test]
    fn compatibility_forms_are_folded() {
        check("Ｆｕｌｌ ｗｉｄｔｈ", "full_width");
        check("ﬁle ²x Ⓐ", "file_2x_a");
        check("cafe\u{301} café", "café_café");
        // A no-break space separates words as any other whitespace does.
        check("a\u{a0}b", "a_b");
    }

    #[test]
    fn lower_case_is_that_of_the_whole_word() {
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
    fn the_space_names_its_kind() {
        assert_eq!(intent_space("!!!"), "intent:_");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_slug_is_short_and_holds_nothing_but_letters_numbers_and_its_joints(intent in any::<String>()) {
            let slug = slug(&intent);
            prop_assert!(!slug.is_empty());
            prop_assert!(slug.chars().count() < WORDS_MAX * (WORD_CHARS_MAX + 1));
            prop_assert!(slug.chars().all(|c| c == '_' || is_letter_or_number(c)));
            prop_assert!(slug == NOTHING || slug.split('_').all(|word| !word.is_empty()));
        }
    }
}
