//! Words that stand for one of a few, as models write them.
//!
//! Only other forms of the same word. A word that says less, or something
//! else, such as `partial`, `done` or `pass?`, is not recognised.

/// Other forms of our words. A form counts only if its word is one of the wanted ones.
const FORMS: &[(&str, &[&str])] = &[
    ("pass", &["passed", "passes"]),
    ("fail", &["failed", "fails", "failure"]),
    ("completed", &["complete"]),
    ("failed", &["fail", "fails", "failure"]),
    ("logical", &["logic"]),
    ("environmental", &["environment"]),
];

/// Returns the one of `variants` that `text` means, in any of its forms.
pub(super) fn variant(text: &str, variants: &'static [&'static str]) -> Option<&'static str> {
    if text.contains('?') {
        return None;
    }
    let word: String = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is = |variant: &&&'static str| variant.chars().filter(|c| *c != '_').eq(word.chars());
    let same = variants.iter().find(is);
    let form = || {
        let (word, _) =
            FORMS.iter().find(|(ours, forms)| variants.contains(ours) && forms.contains(&word.as_str()))?;
        variants.iter().find(|variant| *variant == word)
    };
    same.or_else(form).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_in_any_of_its_forms_and_no_other() {
        const VERDICTS: &[&str] = &["pass", "fail"];
        for (text, expected) in [
            ("pass", Some("pass")),
            (" PASS ", Some("pass")),
            ("**Passed** ✅", Some("pass")),
            ("Fail.", Some("fail")),
            ("not met", None),
            ("pass?", None),
            ("pass/fail", None),
            ("partial", None),
            ("not pass", None),
            ("", None),
        ] {
            assert_eq!(variant(text, VERDICTS), expected, "{text}");
        }
        assert_eq!(variant("true", VERDICTS), None);
        assert_eq!(variant("fail", &["completed", "uncertain", "failed"]), Some("failed"));
    }
}
