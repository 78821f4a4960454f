//! Cutting text without breaking characters, always with a mark of what was cut.

/// At most `chars_max` characters of `text`, cut at a word where one is near, with `…` for the rest.
#[must_use]
pub fn clip(text: &str, chars_max: usize) -> String {
    if text.len() <= chars_max || text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let keep = chars_max.saturating_sub(1);
    let head: String = text.chars().take(keep).collect();
    let cut = match head.rfind(char::is_whitespace) {
        Some(at) if at * 4 >= head.len() * 3 => head.split_at(at).0.trim_end().to_owned(),
        _ => head,
    };
    cut + "…"
}

/// Head and tail of `text` (one third, two thirds) with a line that says how much was cut between them.
/// The result has at most `chars_max` characters plus the mark.
#[must_use]
pub fn head_and_tail(text: &str, chars_max: usize) -> String {
    if text.len() <= chars_max {
        return text.to_owned();
    }
    let total = text.chars().count();
    if total <= chars_max {
        return text.to_owned();
    }
    let head_chars = chars_max / 3;
    let tail_chars = chars_max - head_chars;
    let head: String = text.chars().take(head_chars).collect();
    let tail: String = text.chars().skip(total - tail_chars).collect();
    format!("{head}\n[… {} of {total} characters cut …]\n{tail}", total - chars_max)
}

/// Whether something was left out of `text`: whether it has a line that [`head_and_tail`] or [`facts_cut`] made.
/// A text may hold such a line of its own; so a cut is a reason to doubt, never to believe.
#[must_use]
pub fn is_cut(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("[… ") && line.ends_with(" cut …]"))
}

/// `text` with a last line that says that the structured data beside it were left out.
#[must_use]
pub fn facts_cut(text: &str) -> String {
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{gap}[… facts cut …]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_untouched() {
        assert_eq!(clip("日本語", 3), "日本語");
        assert_eq!(head_and_tail("日本語", 3), "日本語");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(clip("日本語テキスト", 4), "日本語…");
        assert_eq!(clip("one two three four", 15), "one two three…");
        let cut = head_and_tail(&"é".repeat(100), 9);
        assert_eq!(cut, "ééé\n[… 91 of 100 characters cut …]\néééééé");
    }

    #[test]
    fn a_cut_is_recognised_by_its_line() {
        assert!(is_cut(&head_and_tail(&"é".repeat(100), 9)));
        assert!(is_cut(&facts_cut("a")));
        assert!(is_cut(&facts_cut("")));
        assert_eq!(facts_cut("a\n"), "a\n[… facts cut …]");
        for text in ["", "cut", "a hair cut …]", "[… see [… 3 cut …] there"] {
            assert!(!is_cut(text), "{text}");
        }
    }
}
