//! The words by which a text is found, in any language.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// At most this many characters of a word are kept.
pub const TERM_CHARS_MAX: usize = 24;
/// At most this many words of one text, the first ones.
pub const TERMS_MAX: usize = 64;
/// At most this many characters of a text are read.
pub const TEXT_CHARS_MAX: usize = 4_000;

/// Returns the distinct words of a text, in NFKC and lower case: runs of at least two letters and numbers (general
/// categories L* and N*). In a script without spaces between words (Chinese, Japanese), every two neighbouring characters
/// are a word, so that a word is found whatever surrounds it; so is a single character that is alone.
#[must_use]
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut terms = BTreeSet::new();
    let (mut word, mut unspaced) = (String::new(), Vec::new());
    let folded = text.chars().take(TEXT_CHARS_MAX).nfkc().flat_map(char::to_lowercase);
    for c in folded.chain([' ']) {
        let is_unspaced = is_unspaced(c);
        let is_letter = is_letter_or_number(c);
        if (!is_letter || is_unspaced) && !word.is_empty() {
            if word.chars().nth(1).is_some() && terms.len() < TERMS_MAX {
                terms.insert(word.chars().take(TERM_CHARS_MAX).collect());
            }
            word.clear();
        }
        if !is_unspaced && !unspaced.is_empty() {
            for pair in unspaced.chunks(1).chain(unspaced.windows(2)) {
                let is_term = pair.len() == 2 || unspaced.len() == 1;
                if is_term && terms.len() < TERMS_MAX {
                    terms.insert(pair.iter().collect());
                }
            }
            unspaced.clear();
        }
        if is_unspaced {
            unspaced.push(c);
        } else if is_letter {
            word.push(c);
        }
    }
    terms
}

fn is_letter_or_number(c: char) -> bool {
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// Returns whether it belongs to a script without spaces: Han, Hiragana, Katakana (Unicode's blocks for them).
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}')
        && is_letter_or_number(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn words_are_runs_of_letters_and_numbers() {
        check("This repo uses PNPM, not npm!", &["not", "npm", "pnpm", "repo", "this", "uses"]);
        check("shell/find; a b2 c++", &["b2", "find", "shell"]);
        check("naïve Straße ＡＢＣ ﬁle", &["abc", "file", "naïve", "straße"]);
        check("עברית العربية Ελληνικά", &["ελληνικά", "עברית", "العربية"]);
        check("", &[]);
        check("🙂 … — ★", &[]);
    }

    #[test]
    fn scripts_without_spaces_are_split_into_pairs() {
        check("数一数文件", &["一数", "数一", "数文", "文件"]);
        check("ファイルを数える", &["える", "を数", "ァイ", "イル", "ファ", "ルを", "数え"]);
        check("用pnpm装", &["pnpm", "用", "装"]);
        // Korean has spaces.
        check("파일 세기", &["세기", "파일"]);
    }

    #[test]
    fn number_and_length_of_words_are_bounded() {
        let text: String = (0..10_000).map(|n| format!("w{n} ")).collect();
        assert_eq!(terms(&text).len(), TERMS_MAX);
        assert_eq!(terms(&"x".repeat(9_999)).into_iter().next().unwrap().len(), TERM_CHARS_MAX);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn words_are_found_whatever_surrounds_them(a in "\\PC{0,40}", b in "[a-z]{2,20}", c in "\\PC{0,40}") {
            let text = format!("{b} {a}. {c}");
            prop_assert!(terms(&text).contains(&b), "{}", text);
            prop_assert!(terms(&a).iter().all(|term| !term.is_empty()));
        }
    }
}
