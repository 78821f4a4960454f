//! Cuts text between characters and marks every cut; classifies texts; writes errors as text.

use std::borrow::Cow;

/// An excerpt of a text, and the line that marks what was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt<'t> {
    head: &'t str,
    /// `None` if nothing was cut.
    mark: Option<String>,
    tail: &'t str,
}

impl Excerpt<'_> {
    /// Returns the excerpt, with `indent` before the mark.
    #[must_use]
    pub fn to_text(&self, indent: &str) -> String {
        let Some(mark) = &self.mark else { return self.head.to_owned() };
        let gap = if self.head.is_empty() || self.head.ends_with('\n') { "" } else { "\n" };
        let end = if self.tail.is_empty() { "" } else { "\n" };
        [self.head, gap, indent, mark, end, self.tail].concat()
    }
}

/// Cuts `text` to at most `chars_max` characters, at a word if one is near, and adds `…` for the rest.
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

/// Returns an error with its sources, in one line: "failed to …".
#[must_use]
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = format!("failed to {error}");
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

/// Follows a name whose bytes are not UTF-8; each such byte is written as `\xNN`.
pub const NOT_UTF8_MARK: &str = " [name is not UTF-8]";

/// Returns a marked name as lossy decoding shows it: U+FFFD for each `\xNN`. Returns other texts unchanged.
#[must_use]
pub fn as_decoded(name: &str) -> Cow<'_, str> {
    let Some(name) = name.strip_suffix(NOT_UTF8_MARK) else { return Cow::Borrowed(name) };
    let mut pieces = name.split("\\x");
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let escaped = piece.split_at_checked(2);
        match escaped.and_then(|(digits, rest)| Some((u8::from_str_radix(digits, 16).ok()?, rest))) {
            Some((byte @ 0x80.., rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest.as_bytes());
            }
            _ => bytes.extend_from_slice(&[b"\\x", piece.as_bytes()].concat()),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether a text contains syntax of a regular expression: `^fn`, `fn.*main`, `[Tt]odo`, `a|b`, `\d`. Common
/// code does not count: `f(x)`, `a.b`, `x[]`, `c++`.
#[must_use]
pub fn reads_as_pattern(text: &str) -> bool {
    let is_anchored = text.len() > 1 && (text.starts_with('^') || text.ends_with('$'));
    let mut sets = text.split('[').skip(1).map(|after| after.find(']'));
    let signs = ["\\", "*", "|", ".+", "]+", ")+"];
    is_anchored
        || sets.any(|end| end.is_some_and(|at| at > 0))
        || signs.iter().any(|sign| text.contains(sign))
}

/// Returns head and tail of `text` (one third, two thirds) with a line between them that says how much was cut. The
/// result has at most `chars_max` characters plus the mark.
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

/// Returns the first lines of `text`, at most `chars_max` characters, and a mark that says how much is left.
///
/// `first_line` is the number of the first line in the file that `text` was read from; the mark then names the line to
/// continue with. A line is cut only if whole lines would fill less than half of the room.
#[must_use]
pub fn head_lines(text: &str, chars_max: usize, first_line: Option<u64>) -> Excerpt<'_> {
    let Some((head, rest)) = split_at_char(text, chars_max) else { return whole(text) };
    let (head, is_in_a_line) = match to_line_end(text, head, rest) {
        Some(head) => (head, false),
        None => (head, true),
    };
    let rest = text.get(head.len()..).unwrap_or_default();
    if rest.is_empty() {
        return whole(text);
    }
    let chars = rest.chars().count();
    let below = if is_in_a_line { rest.split_once('\n').map_or("", |(_, below)| below) } else { rest };
    // Marks at the end stand for lines that the tool itself left out. They are not lines of the file.
    let marks = below.lines().rev().take_while(|line| is_mark(line.trim_start())).count();
    let (kept, left) = (head.lines().count(), below.lines().count() - marks);
    let mut parts = Vec::new();
    if is_in_a_line {
        parts.push(format!("the rest of line {kept}"));
    }
    if left + marks > 0 {
        let least = if marks > 0 { "at least " } else { "" };
        parts.push(format!("{least}{left} more {}", if left == 1 { "line" } else { "lines" }));
    }
    parts.push(format!("{chars} characters"));
    let go_on = match first_line {
        Some(first) if left + marks > 0 => format!("; go on with offset {}", first + kept as u64),
        _ => String::new(),
    };
    Excerpt { head, mark: Some(format!("[… {}, cut{go_on} …]", parts.join(", "))), tail: "" }
}

/// Like [`head_and_tail`], but in whole lines. A line is cut only if whole lines would fill less than half of the room
/// for the head, or for the tail.
#[must_use]
pub fn head_and_tail_lines(text: &str, chars_max: usize) -> Excerpt<'_> {
    let total = text.chars().count();
    let (head_chars, tail_chars) = (chars_max / 3, chars_max - chars_max / 3);
    let Some(skipped) = total.checked_sub(tail_chars).filter(|_| total > chars_max) else {
        return whole(text);
    };
    let (head, rest) = split_at_char(text, head_chars).unwrap_or((text, ""));
    let head = to_line_end(text, head, rest).unwrap_or(head);
    let (before, tail) = split_at_char(text, skipped).unwrap_or((text, ""));
    let tail = match tail.split_once('\n') {
        Some((_, lines)) if !before.ends_with('\n') && lines.len() * 2 >= tail.len() => lines,
        _ => tail,
    };
    let cut = total.saturating_sub(head.chars().count() + tail.chars().count());
    if cut == 0 {
        return whole(text);
    }
    Excerpt { head, mark: Some(format!("[… {cut} of {total} characters cut …]")), tail }
}

const fn whole(text: &str) -> Excerpt<'_> {
    Excerpt { head: text, mark: None, tail: "" }
}

/// Splits a text after `chars` characters; `None` if it has no more.
fn split_at_char(text: &str, chars: usize) -> Option<(&str, &str)> {
    if text.len() <= chars {
        return None;
    }
    text.char_indices().nth(chars).and_then(|(at, _)| text.split_at_checked(at))
}

/// Cuts `head`, the beginning of `text`, to whole lines; `None` if they are less than half of it. A line feed at the
/// start of `rest` ends the last line.
fn to_line_end<'t>(text: &'t str, head: &'t str, rest: &str) -> Option<&'t str> {
    if rest.starts_with('\n') {
        return text.get(..=head.len());
    }
    let end = head.rfind('\n')? + 1;
    head.get(..end).filter(|lines| lines.len() * 2 >= head.len())
}

/// Returns whether a line of `text` marks a cut, made by a function of this module or by a tool that returns a part
/// (`[… 90 more lines; go on with offset 11 …]`). A text may contain such a line of its own, so a mark is a reason to
/// doubt a text and never to believe it.
#[must_use]
pub fn is_cut(text: &str) -> bool {
    text.lines().any(is_mark)
}

/// Returns whether the line marks a cut.
fn is_mark(line: &str) -> bool {
    line.starts_with("[… ") && line.ends_with(" …]")
}

/// Adds a last line that says that the structured data was left out.
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
    fn head_ends_at_a_line_and_says_where_to_go_on() {
        let lines: String = (1..=10).map(|n| format!("line {n}\n")).collect();
        let cut = |text: &str, chars_max, first| head_lines(text, chars_max, first).to_text("");
        assert_eq!(cut(&lines, 71, Some(1)), lines);
        for (chars_max, first, expected) in [
            (19, None, "line 1\nline 2\n[… 8 more lines, 57 characters, cut …]"),
            (19, Some(1), "line 1\nline 2\n[… 8 more lines, 57 characters, cut; go on with offset 3 …]"),
            (
                21,
                Some(41),
                "line 1\nline 2\nline 3\n[… 7 more lines, 50 characters, cut; go on with offset 44 …]",
            ),
            // The end of a line without its line feed counts as a line end.
            (13, Some(1), "line 1\nline 2\n[… 8 more lines, 57 characters, cut; go on with offset 3 …]"),
        ] {
            assert_eq!(cut(&lines, chars_max, first), expected);
        }
        let read_in_part = format!("{lines}[… 90 more lines; go on with offset 11 …]");
        assert_eq!(
            cut(&read_in_part, 19, Some(1)),
            "line 1\nline 2\n[… at least 8 more lines, 98 characters, cut; go on with offset 3 …]"
        );
    }

    #[test]
    fn a_line_longer_than_half_of_the_room_is_cut() {
        let cut = |text: &str, first| head_lines(text, 8, first).to_text("");
        let long = "é".repeat(20);
        assert_eq!(cut(&long, Some(1)), "éééééééé\n[… the rest of line 1, 12 characters, cut …]");
        assert_eq!(
            cut(&format!("ab\n{long}\ncd\n"), Some(5)),
            "ab\nééééé\n[… the rest of line 2, 1 more line, 19 characters, cut; go on with offset 7 …]"
        );
        assert_eq!(
            cut(&format!("abcdef\n{long}"), Some(5)),
            "abcdef\n[… 1 more line, 20 characters, cut; go on with offset 6 …]"
        );
    }

    #[test]
    fn head_and_tail_are_whole_lines() {
        let lines: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        let cut = |text: &str, chars_max| head_and_tail_lines(text, chars_max).to_text("");
        assert_eq!(cut(&lines, 1_000), lines);
        assert_eq!(
            cut(&lines, 58),
            "line 1\nline 2\n[… 185 of 231 characters cut …]\nline 27\nline 28\nline 29\nline 30\n"
        );
        let long = format!("a\n{}\nb", "é".repeat(100));
        assert_eq!(cut(&long, 9), "a\n[… 96 of 104 characters cut …]\néééé\nb");
        assert_eq!(cut(&"é".repeat(100), 9), head_and_tail(&"é".repeat(100), 9));
    }

    #[test]
    fn a_mark_takes_the_indent_of_its_lines() {
        let text = "  a\n  b\n  c\n";
        assert_eq!(head_lines(text, 4, None).to_text("  "), "  a\n  [… 2 more lines, 8 characters, cut …]");
        assert_eq!(head_and_tail_lines(text, 9).to_text("  "), "  a\n  [… 4 of 12 characters cut …]\n  c\n");
    }

    #[test]
    fn a_marked_name_equals_its_lossy_decoding() {
        for (name, bytes) in [
            ("a\\xff\\xfe.txt", b"a\xff\xfe.txt".as_slice()),
            ("\\xe2\\x82z", b"\xe2\x82z"),
            ("é\\xe9", b"\xc3\xa9\xe9"),
            ("\\x41\\x\\xg0 \\xé\\xff", "\\x41\\x\\xg0 \\xé\u{fffd}".as_bytes()),
        ] {
            assert_eq!(as_decoded(&[name, NOT_UTF8_MARK].concat()), String::from_utf8_lossy(bytes), "{name}");
            assert_eq!(as_decoded(name), name);
        }
    }

    #[test]
    fn a_cut_is_recognised_by_its_line() {
        assert!(is_cut(&head_and_tail(&"é".repeat(100), 9)));
        for first_line in [None, Some(1)] {
            for text in ["a\n".repeat(100), "é".repeat(100), format!("a\n{}\nb\n", "c".repeat(100))] {
                assert!(is_cut(&head_lines(&text, 9, first_line).to_text("")), "{text}");
                assert!(is_cut(&head_and_tail_lines(&text, 9).to_text("")), "{text}");
            }
        }
        // The mark of `read_file` for a part of a file.
        assert!(is_cut("a\n[… 90 more lines; go on with offset 11 …]"));
        assert!(is_cut(&facts_cut("a")));
        assert!(is_cut(&facts_cut("")));
        assert_eq!(facts_cut("a\n"), "a\n[… facts cut …]");
        for text in ["", "cut", "a hair cut …]", "[… see [… 3 cut …] there", "[… 3, cut; go on with offset 2"]
        {
            assert!(!is_cut(text), "{text}");
        }
    }
}
