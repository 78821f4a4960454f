//! Previews of a file change, shown to the person who is asked to allow it.

use std::time::Duration;

use setpoint_protocol::text::head_and_tail;
use similar::{Algorithm, TextDiff};

/// Largest content, old or new, whose change is previewed, in bytes.
pub(crate) const PREVIEW_BYTES_MAX: usize = 1024 * 1024;
/// Maximum characters of one file's difference in a record.
const RECORDED_CHARS_MAX: usize = 3_000;
/// Maximum lines of a preview; further lines are counted.
const LINES_MAX: usize = 120;
/// Maximum characters per line of a preview, beside the mark of what is cut in the middle of a longer one.
const LINE_CHARS_MAX: usize = 300;
/// Lines of context around a change.
const CONTEXT_LINES: usize = 3;
/// Time limit for finding the smallest difference; after it a larger one is accepted.
const COMPARE_MS_MAX: u64 = 200;

/// Returns the difference between two contents as a unified diff without its header.
#[must_use]
pub(crate) fn diff(old: &[u8], new: &[u8]) -> String {
    if old.len().max(new.len()) > PREVIEW_BYTES_MAX {
        return format!("[no preview: {} bytes become {}]", old.len(), new.len());
    }
    let (Ok(old_text), Ok(new_text)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return format!("[no preview: no UTF-8 text; {} bytes become {}]", old.len(), new.len());
    };
    if old == new {
        return "[the content stays as it is]".to_owned();
    }
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(Duration::from_millis(COMPARE_MS_MAX))
        .diff_lines(old_text, new_text);
    let text = compared.unified_diff().context_radius(CONTEXT_LINES).to_string();
    let mut lines: Vec<String> = text.split('\n').take(LINES_MAX).map(shown).collect();
    let left_out = text.trim_end_matches('\n').split('\n').count().saturating_sub(LINES_MAX);
    if left_out > 0 {
        lines.push(format!("[{left_out} more lines]"));
    }
    lines.join("\n").trim_end_matches('\n').to_owned()
}

/// Returns a line with both ends; what is cut between them is counted, blanks too.
fn shown(line: &str) -> String {
    let chars = line.chars().count();
    if chars <= LINE_CHARS_MAX {
        return line.to_owned();
    }
    let half = LINE_CHARS_MAX / 2;
    let begin: String = line.chars().take(half).collect();
    let end: String = line.chars().skip(chars - half).collect();
    format!("{begin}[… {} characters …]{end}", chars - 2 * half)
}

/// Returns the difference between two contents, as a record keeps it.
#[must_use]
pub(crate) fn recorded(old: &[u8], new: &[u8]) -> String {
    // Else lines that differ in their ends alone look the same.
    head_and_tail(&diff(old, new).replace('\r', "\\r"), RECORDED_CHARS_MAX)
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
        assert!(diff(b"\xff", b"a").contains("no UTF-8 text"));
        assert!(diff(&vec![b'a'; PREVIEW_BYTES_MAX + 1], b"a").contains("no preview"));
    }
}
