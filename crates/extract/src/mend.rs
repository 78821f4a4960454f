//! Rewrites what models write by habit as the JSON that it can only mean.
//!
//! Habits are line breaks and other control characters in texts, backslashes that begin no escape, comments, commas
//! before a closing bracket, and blanks that JSON does not know. A model repeats a habit in its answer to a repair
//! call, so it is mended here. A slip, such as a quotation mark without its backslash, is left for that call.

use std::fmt::Write as _;

use super::is_blank;

/// Returns the value at the start of `text`, mended, and where it ends in `text`. The result need not be JSON.
pub(super) fn mend(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut is_text = false;
    // The length up to a comma after which there were only blanks.
    let mut comma = None;
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let mut len = c.len_utf8();
        match c {
            '\\' if is_text => len = escape(rest, &mut out),
            '\0'..='\u{1f}' if is_text => unit(c, &mut out),
            '"' => {
                is_text = !is_text;
                out.push(c);
            }
            _ if is_text => out.push(c),
            '/' | '#' if let Some(comment) = comment(rest, &out) => len = comment,
            '{' | '[' => {
                depth += 1;
                out.push(c);
            }
            '}' | ']' => {
                if let Some(len) = comma {
                    out.truncate(len);
                }
                out.push(c);
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (out, at + len);
                }
            }
            c if is_blank(c) => out.push(if c == '\n' { c } else { ' ' }),
            c => out.push(c),
        }
        comma = match c {
            ',' if !is_text => Some(out.len() - 1),
            '/' | '#' => comma,
            c if is_blank(c) => comma,
            _ => None,
        };
        at += len;
    }
    (out, text.len())
}

/// Returns the length of the comment that `rest` begins with after `before`, without the line end. `None` also for
/// one that follows a string and holds a quotation mark: the string may continue there.
fn comment(rest: &str, before: &str) -> Option<usize> {
    let len = match rest.strip_prefix("/*") {
        // A comment without an end takes the rest, so that its end is searched only once.
        Some(inside) => inside.find("*/").map_or(rest.len(), |at| at + 4),
        None if rest.starts_with("//") || rest.starts_with('#') => rest.find('\n').unwrap_or(rest.len()),
        None => return None,
    };
    let is_text =
        before.trim_end().ends_with('"') && rest.get(..len).is_some_and(|inside| inside.contains('"'));
    (!is_text).then_some(len)
}

/// Writes the escape that `rest` begins with; returns its length. A backslash that begins none is part of a regular
/// expression or of a path.
fn escape(rest: &str, out: &mut String) -> usize {
    let code = |at: usize| {
        let digits = rest.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let mut write = |text: &str, len: usize| {
        out.push_str(text);
        len
    };
    match (rest.chars().nth(1), code(0), code(6)) {
        (Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't'), ..) => {
            write(rest.get(..2).unwrap_or_default(), 2)
        }
        (_, Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => write(rest.get(..12).unwrap_or_default(), 12),
        // Half a pair.
        (_, Some(0xd800..0xe000), _) => write("\\ufffd", 6),
        (_, Some(_), _) => write(rest.get(..6).unwrap_or_default(), 6),
        (Some('\'' | '\n'), ..) => 1,
        _ => write("\\\\", 1),
    }
}

/// Writes a character by its code.
fn unit(c: char, out: &mut String) {
    // Writing to a string does not fail.
    let _written = write!(out, "\\u{:04x}", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_become_the_json_that_they_mean() {
        for (text, mended) in [
            ("{\"a\":\"b\nc\",} and", "{\"a\":\"b\\u000ac\"}"),
            ("{\"a\": [1, /* b, */ ], // c\n}", "{\"a\": [1]}"),
            ("{\"a\": \"b\" // c\n}", "{\"a\": \"b\" \n}"),
            ("{\"a\": \"see \"#5\" here\"\n}", "{\"a\": \"see \"#5\" here\"\n}"),
            (r#"{"a":"\d\n\u12\'\ud83d-\ud83d\ude00"}"#, r#"{"a":"\\d\n\\u12'\ufffd-\ud83d\ude00"}"#),
            ("{\u{200b}\"a\"\u{a0}:1}", "{ \"a\" :1}"),
            ("{\"a\":\"#, // ,}\"}", "{\"a\":\"#, // ,}\"}"),
        ] {
            let end = text.rfind('}').unwrap() + 1;
            assert_eq!(mend(text), (mended.to_owned(), end), "{text}");
        }
        assert_eq!(mend("{\"a\": /* b"), ("{\"a\": ".to_owned(), 10));
    }
}
