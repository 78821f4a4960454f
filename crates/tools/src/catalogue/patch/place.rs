//! Finds where the hunks of a patch belong, and makes the new text.
//!
//! Lines must match exactly, at the stated line or at exactly one other place after the hunk before.

use super::parse::Edit;
use crate::show;

/// Maximum characters of a line in an error.
const LINE_CHARS_MAX: usize = 120;

/// A text that was patched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patched {
    pub(super) text: String,
    /// What a person should know: hunks that stood at another line than they state.
    pub(super) notes: Vec<String>,
}

/// Applies all hunks to a text.
///
/// # Errors
/// Which hunk does not belong there, and why.
pub(super) fn patched(text: &str, edits: &[Edit]) -> Result<Patched, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut new = String::new();
    let mut notes = Vec::new();
    let mut done = 0;
    for (n, edit) in edits.iter().enumerate() {
        let at =
            place(&lines, done, edit).map_err(|why| format!("hunk {} (line {}): {why}", n + 1, edit.line))?;
        if at + 1 != edit.line && !edit.old.is_empty() {
            notes.push(format!("hunk {} stood at line {} instead of {}", n + 1, at + 1, edit.line));
        }
        new.extend(lines.get(done..at).unwrap_or_default().iter().copied());
        new.extend(edit.new.iter().map(String::as_str));
        done = at + edit.old.len();
    }
    new.extend(lines.get(done..).unwrap_or_default().iter().copied());
    Ok(Patched { text: new, notes })
}

/// Returns the index of the line where a hunk begins.
fn place(lines: &[&str], from: usize, edit: &Edit) -> Result<usize, String> {
    if edit.old.is_empty() {
        return if lines.is_empty() {
            Ok(0)
        } else {
            Err("it has no line that must stand there, so its place cannot be checked; give it lines of context".to_owned())
        };
    }
    let stated = edit.line.saturating_sub(1);
    let is_at = |at: usize| {
        let there = lines.get(at..at.saturating_add(edit.old.len()));
        there.is_some_and(|there| there.iter().zip(&edit.old).all(|(line, old)| line == old))
    };
    if stated >= from && is_at(stated) {
        return Ok(stated);
    }
    let mut places = (from..lines.len()).filter(|at| is_at(*at));
    match (places.next(), places.next()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => Err(format!(
            "its lines stand at line {}, at line {} and perhaps at more places; give it more lines of context",
            one + 1,
            other + 1
        )),
        (None, _) => Err(missing(lines, stated, edit)),
    }
}

/// Describes the first line that differs at the stated place.
fn missing(lines: &[&str], stated: usize, edit: &Edit) -> String {
    let shown = |line: &str| -> String {
        let line: String = line.chars().take(LINE_CHARS_MAX).collect();
        format!("\"{}\"", show::line(&line))
    };
    let differing = edit.old.iter().enumerate().find(|(n, old)| lines.get(stated + n) != Some(&old.as_str()));
    let Some((n, old)) = differing else {
        return "it overlaps the hunk before it; put the hunks in order, or join them".to_owned();
    };
    let there = lines.get(stated + n).map_or_else(|| "the file has ended".to_owned(), |line| shown(line));
    format!(
        "its lines stand nowhere in the rest of the file; at line {} it has {}, and there is {there}; read the file again",
        stated + n + 1,
        shown(old)
    )
}

#[cfg(test)]
mod tests {
    use super::super::parse::parts;
    use super::*;

    fn patch(text: &str, patch: &str) -> Result<Patched, String> {
        let parts = parts(&format!("--- a/f\n+++ b/f\n{patch}")).unwrap();
        patched(text, &parts[0].edits)
    }

    fn numbered(count: usize) -> String {
        (1..=count).map(|n| format!("{n}\n")).collect()
    }

    #[test]
    fn hunks_apply_where_they_state() {
        let got =
            patch(&numbered(9), "@@ -1,2 +1,3 @@\n 1\n-2\n+two\n+more\n@@ -8,2 +9,1 @@\n 8\n-9\n").unwrap();
        assert_eq!((got.text.as_str(), got.notes.len()), ("1\ntwo\nmore\n3\n4\n5\n6\n7\n8\n", 0));
    }

    #[test]
    fn a_hunk_is_found_at_its_only_other_place() {
        let got = patch(&numbered(9), "@@ -2,3 +2,3 @@\n 5\n-6\n+six\n 7\n").unwrap();
        assert_eq!(got.text, "1\n2\n3\n4\n5\nsix\n7\n8\n9\n");
        assert_eq!(got.notes, ["hunk 1 stood at line 5 instead of 2"]);
    }

    #[test]
    fn a_hunk_that_could_stand_twice_is_refused() {
        let why = patch("a\nb\na\nb\nc\n", "@@ -2,2 +2,2 @@\n a\n-b\n+x\n").unwrap_err();
        assert!(why.starts_with("hunk 1 (line 2): its lines stand at line 1, at line 3"), "{why}");
        // At the stated line it is meant.
        assert_eq!(
            patch("a\nb\na\nb\nc\n", "@@ -3,2 +3,2 @@\n a\n-b\n+x\n").unwrap().text,
            "a\nb\na\nx\nc\n"
        );
    }

    #[test]
    fn a_hunk_that_stands_nowhere_names_the_first_difference() {
        let why = patch(&numbered(3), "@@ -1,2 +1,2 @@\n 1\n-zwei\n+two\n").unwrap_err();
        assert_eq!(
            why,
            "hunk 1 (line 1): its lines stand nowhere in the rest of the file; at line 2 it has \"zwei\\n\", and there is \
             \"2\\n\"; read the file again"
        );
        let why = patch("1\n", "@@ -1,2 +1,1 @@\n 1\n-2\n").unwrap_err();
        assert!(why.contains("the file has ended"), "{why}");
        // The end of the last line counts.
        let why = patch("1\n2", "@@ -1,2 +1,2 @@\n 1\n-2\n+two\n").unwrap_err();
        assert!(why.contains("it has \"2\\n\", and there is \"2\""), "{why}");
        assert!(patch("1\n2", "@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+two\n").is_ok());
    }

    #[test]
    fn a_hunk_without_context_is_refused() {
        let why = patch(&numbered(3), "@@ -2,0 +3,1 @@\n+x\n").unwrap_err();
        assert!(why.contains("give it lines of context"), "{why}");
    }

    #[test]
    fn a_hunk_before_the_place_of_the_last_is_refused() {
        let why = patch(&numbered(9), "@@ -1 +1 @@\n-8\n+x\n@@ -3 +3 @@\n-3\n+y\n").unwrap_err();
        assert!(why.starts_with("hunk 2 (line 3): it overlaps the hunk before"), "{why}");
    }
}
