//! Previews of a file change, shown to the person who is asked to allow it.

use std::collections::BTreeMap;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// Largest content, old or new, whose change is previewed, in bytes.
pub(crate) const PREVIEW_BYTES_MAX: usize = 1024 * 1024;
/// What stands for a difference between equal contents.
pub(crate) const SAME: &str = "[the content stays as it is]";
/// Maximum lines of a preview; further lines are counted.
const LINES_MAX: usize = 120;
/// Maximum lines of a difference that a judge sees, likewise.
const JUDGED_LINES_MAX: usize = 600;
/// Maximum characters per line of a preview, beside the mark of what is cut in the middle of a longer one.
const LINE_CHARS_MAX: usize = 300;
/// Characters shown around the place where two long lines begin to differ, and around where they end to.
const AROUND_CHARS: usize = 60;
/// Lines of context around a change.
const CONTEXT_LINES: usize = 3;
/// Time limit for finding the smallest difference; after it a larger one is accepted.
const COMPARE_MS_MAX: u64 = 200;

/// Returns the difference between two contents as a unified diff without its header.
#[must_use]
pub(crate) fn diff(old: &[u8], new: &[u8]) -> String {
    unified(old, new, LINES_MAX)
}

/// Returns the difference between two contents, as a judge sees it.
#[must_use]
pub(crate) fn judged(old: &[u8], new: &[u8]) -> String {
    // Else lines that differ in their ends alone look the same.
    unified(old, new, JUDGED_LINES_MAX).replace('\r', "\\r")
}

/// Returns what stands for a difference between contents that are too large for one.
pub(crate) fn too_large(old: u64, new: u64) -> String {
    format!("[no preview: {old} bytes become {new}]")
}

fn unified(old: &[u8], new: &[u8], lines_max: usize) -> String {
    if old.len().max(new.len()) > PREVIEW_BYTES_MAX {
        return too_large(old.len() as u64, new.len() as u64);
    }
    let (Ok(old_text), Ok(new_text)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return format!("[no preview: no UTF-8 text; {} bytes become {}]", old.len(), new.len());
    };
    if old == new {
        return SAME.to_owned();
    }
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(Duration::from_millis(COMPARE_MS_MAX))
        .diff_lines(old_text, new_text);
    let text = compared.unified_diff().context_radius(CONTEXT_LINES).to_string();
    let all: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let mut lines = shortened(all.get(..lines_max).unwrap_or(&all));
    let left_out = all.len().saturating_sub(lines_max);
    if left_out > 0 {
        lines.push(format!("[{left_out} more lines]"));
    }
    lines.join("\n").trim_end_matches('\n').to_owned()
}

/// Returns the lines of a difference; of a long one that became another one, the places where they differ.
fn shortened(lines: &[&str]) -> Vec<String> {
    let mut places: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().chain([&""]).enumerate() {
        match line.chars().next() {
            Some('-') if added.is_empty() => removed.push((at, *line)),
            Some('+') => added.push((at, *line)),
            // A note that the file does not end with a line end.
            Some('\\') => {}
            _ => {
                let pairs = removed.drain(..).zip(added.drain(..));
                for ((old_at, old), (new_at, new)) in pairs {
                    let (in_old, in_new) = difference(old, new);
                    places.extend([(old_at, in_old), (new_at, in_new)]);
                }
            }
        }
    }
    let of = |at: usize| places.get(&at).map(<[usize; 2]>::as_slice).unwrap_or_default();
    lines.iter().enumerate().map(|(at, line)| cut(line, of(at))).collect()
}

/// Returns where two lines begin to differ and where they end to, in characters of the one and of the other.
fn difference(old: &str, new: &str) -> ([usize; 2], [usize; 2]) {
    let (old_chars, new_chars) = (old.chars().count(), new.chars().count());
    // The first character is the sign.
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| pairs.take_while(|(a, b)| a == b).count();
    let begin = 1 + same(&mut old.chars().skip(1).zip(new.chars().skip(1)));
    let most = old_chars.min(new_chars).saturating_sub(begin);
    let end = same(&mut old.chars().rev().zip(new.chars().rev())).min(most);
    ([begin, old_chars - end], [begin, new_chars - end])
}

/// Returns a line; of a long one both ends and what is around `places`. What is cut between them is counted, blanks too.
fn cut(line: &str, places: &[usize]) -> String {
    let chars: Vec<char> = line.chars().collect();
    if chars.len() <= LINE_CHARS_MAX {
        return line.to_owned();
    }
    let half = LINE_CHARS_MAX / 2;
    let around = places.iter().map(|at| (at.saturating_sub(AROUND_CHARS), at.saturating_add(AROUND_CHARS)));
    let mut spans: Vec<(usize, usize)> =
        around.chain([(0, half), (chars.len() - half, chars.len())]).collect();
    spans.sort_unstable();
    let (mut text, mut shown_to) = (String::new(), 0);
    for (from, to) in spans {
        let (from, to) = (from.max(shown_to), to.min(chars.len()));
        if from > shown_to {
            text.push_str(&format!("[… {} characters …]", from - shown_to));
        }
        text.extend(chars.iter().take(to).skip(from));
        shown_to = shown_to.max(to);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_context() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let shown = diff(old.as_bytes(), old.replace('e', "E").as_bytes());
        assert_eq!(shown, "@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+E\n f");
        assert_eq!(diff(b"a", b"a"), "[the content stays as it is]");
    }

    #[test]
    fn a_preview_is_bounded_and_counts_the_rest() {
        let new = "x\n".repeat(1_000);
        let shown = diff(b"", new.as_bytes());
        assert_eq!(shown.lines().count(), LINES_MAX + 1);
        assert!(shown.ends_with("[881 more lines]"), "{shown}");
        let long = diff(b"", "y".repeat(5_000).as_bytes());
        assert!(long.lines().all(|line| line.chars().count() <= LINE_CHARS_MAX + 30), "{long}");
        // What a long line ends with is what a person must not miss.
        let line = format!("true{}; curl evil", " ".repeat(3_000));
        let shown = diff(b"", line.as_bytes());
        assert!(shown.contains("[… 2716 characters …]") && shown.contains("; curl evil"), "{shown}");
        // So is where one long line became another one.
        let config = |port: u32, last: u32| {
            format!("{}\"port\":{port},{}{last},{}", "a".repeat(900), "b".repeat(900), "c".repeat(900))
        };
        for end in ["", "\n"] {
            let shown = diff((config(10, 1) + end).as_bytes(), (config(20, 2) + end).as_bytes());
            for part in ["\"port\":10,", "\"port\":20,", "b1,c", "b2,c", "[… 698 characters …]"] {
                assert!(shown.contains(part), "{part}: {shown}");
            }
        }
        assert!(diff(b"\xff", b"a").contains("no UTF-8 text"));
        assert!(diff(&vec![b'a'; PREVIEW_BYTES_MAX + 1], b"a").contains("no preview"));
    }
}
