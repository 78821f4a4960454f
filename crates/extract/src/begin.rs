//! Where an object might begin in a text, and where one that cannot be read ends.

use super::is_blank;
use super::read::{OTHER_MARKS, SINGLE_MARKS};

/// Maximum bytes examined to tell an object from a brace in prose. A longer first name is not recognised.
const LOOK_BYTES_MAX: usize = 320;

/// What a brace or bracket begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// Nothing of interest: it is in prose or code.
    Prose,
    /// An object or a list of objects.
    Json,
    /// An object whose first name has other marks than JSON's quotation marks and colon, or no quotation marks.
    Alike {
        name: String,
        /// Whether the name has no quotation marks at all, as in code.
        is_bare: bool,
    },
    /// An object that is cut off in or directly after its first name.
    Cut,
}

/// Returns what `rest`, which starts with a brace or a bracket, begins.
pub(super) fn begin(rest: &str) -> Begin {
    let head = rest.get(..rest.floor_char_boundary(LOOK_BYTES_MAX)).unwrap_or(rest);
    let is_all = head.len() == rest.len();
    let inside = head.strip_prefix('[').map_or(head, without_blanks);
    let Some(inside) = inside.strip_prefix('{').map(without_blanks) else { return Begin::Prose };
    if inside.starts_with('}') {
        return Begin::Json;
    }
    if let Some(inside) = inside.strip_prefix('"') {
        let name = name_len(inside);
        let after = name.and_then(|len| inside.get(len + 1..)).map(without_blanks);
        return match after {
            Some(after) if after.starts_with(':') => Begin::Json,
            Some(after) if after.starts_with('：') => {
                let name = name.and_then(|len| inside.get(..len)).unwrap_or_default();
                Begin::Alike { name: name.to_owned(), is_bare: false }
            }
            None | Some("") if is_all => Begin::Cut,
            _ => Begin::Prose,
        };
    }
    let name = inside.strip_prefix("\\n").map_or(inside, without_blanks);
    let is_mark = |c: char| OTHER_MARKS.contains(&c) || matches!(c, '\\' | '"');
    let is_single = |c: char| SINGLE_MARKS.contains(&c);
    let opens = name.chars().next().filter(|c| is_mark(*c));
    let name = name.trim_start_matches(is_mark);
    let len = match opens {
        Some(mark) => name.find(|c| is_mark(c) && is_single(c) == is_single(mark)),
        None => name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))),
    };
    let (name, after) = name.split_at_checked(len.unwrap_or(name.len())).unwrap_or((name, ""));
    let marked = opens.is_some();
    let after = without_blanks(after.trim_start_matches(is_mark));
    if marked && is_all && after.is_empty() {
        return Begin::Cut;
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !after.starts_with([':', '：']) {
        return Begin::Prose;
    }
    Begin::Alike { name: name.to_owned(), is_bare: !marked }
}

/// Returns the length of the name that ends with the first quotation mark without a backslash.
fn name_len(inside: &str) -> Option<usize> {
    let mut is_escaped = false;
    inside.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })
}

/// Returns `text` without the blanks and comments that it starts with.
fn without_blanks(text: &str) -> &str {
    let mut text = text.trim_start_matches(is_blank);
    loop {
        let after = match (text.strip_prefix("/*"), text.starts_with("//") || text.starts_with('#')) {
            (Some(comment), _) => comment.split_once("*/").map(|(_, after)| after),
            (None, true) => text.split_once('\n').map(|(_, after)| after),
            (None, false) => return text,
        };
        match after {
            Some(after) => text = after.trim_start_matches(is_blank),
            None => return text,
        }
    }
}

/// Returns where the value that `rest` starts with ends, by its brackets. Those in texts do not count; a text ends with
/// its line at the latest, because what cannot be read is often a text.
pub(super) fn end(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_text = false;
    let mut is_escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if std::mem::take(&mut is_escaped) => {}
            '\\' => is_escaped = is_text,
            '\n' => is_text = false,
            '"' => is_text = !is_text,
            '{' | '[' if !is_text => depth += 1,
            '}' | ']' if !is_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_told_from_braces_in_prose() {
        let alike = |name: &str, is_bare| Begin::Alike { name: name.to_owned(), is_bare };
        for (text, expected) in [
            (r#"{"a":1}"#, Begin::Json),
            ("[\n {} ]", Begin::Json),
            ("{ // why\n\"a\" : 1", Begin::Json),
            (r#"{"a"#, Begin::Cut),
            (r#"{"a""#, Begin::Cut),
            ("{'a", Begin::Cut),
            ("{'my name': 1}", alike("my name", false)),
            (r#"{\"a\":1}"#, alike("a", false)),
            ("{“a”：1}", alike("a", false)),
            ("{a: 1}", alike("a", true)),
            ("{a, b}", Begin::Prose),
            ("[1]", Begin::Prose),
            ("{{a: 1}}", Begin::Prose),
            ("{", Begin::Prose),
        ] {
            assert_eq!(begin(text), expected, "{text}");
        }
    }
}
