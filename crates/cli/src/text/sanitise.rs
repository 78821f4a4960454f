//! Sanitises text from models, tools, files and people.
//!
//! A terminal obeys control characters, and some invisible characters change the order in which others are
//! read. Safe text has no control character (except line ends and tabs in a [`block`]), no bidirectional
//! control, nothing invisible, and at most [`COMBINING_MAX`] combining marks per character.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// At most this many combining marks per character; further ones are left out.
pub const COMBINING_MAX: usize = 3;

/// Returns the text as one line: line ends and tabs become spaces, colour sequences are removed, other
/// controls become visible signs.
#[must_use]
pub fn line(text: &str) -> String {
    clean(text, LineBreaks::AsSpaces)
}

/// Returns the text as lines: line ends and tabs stay, everything else is as in [`line()`]. A lone carriage
/// return, which would overwrite the text before it, ends the line instead.
#[must_use]
pub fn block(text: &str) -> String {
    clean(text, LineBreaks::Kept)
}

/// Returns the text as lines for a page: as [`block`], but an invisible character is replaced by its name,
/// such as `⟨U+202E⟩`. Only joiners and variation selectors are left out, because emoji contain many.
#[must_use]
pub fn marked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match kind(c) {
            Kind::Hidden if is_joiner(c) => {}
            // Writing to a string cannot fail.
            Kind::Hidden => drop(write!(shown, "⟨U+{:04X}⟩", u32::from(c))),
            Kind::Shown | Kind::Break | Kind::Tab | Kind::Control | Kind::Combining => shown.push(c),
        }
    }
    block(&shown)
}

/// Returns the text as one line that leaves nothing out: what cannot be shown becomes an escape (`\n`,
/// `\u{202e}`). For what a person is asked to allow.
#[must_use]
pub fn exact(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        match kind(c) {
            Kind::Shown => {
                marks = 0;
                shown.push(c);
            }
            Kind::Combining if marks < COMBINING_MAX && !shown.is_empty() => {
                marks += 1;
                shown.push(c);
            }
            Kind::Break | Kind::Tab | Kind::Control | Kind::Hidden | Kind::Combining => {
                marks = 0;
                match c {
                    '\n' => shown.push_str("\\n"),
                    '\r' => shown.push_str("\\r"),
                    '\t' => shown.push_str("\\t"),
                    // Writing to a string cannot fail.
                    other => {
                        let _ = write!(shown, "\\u{{{:x}}}", u32::from(other));
                    }
                }
            }
        }
    }
    shown
}

/// As [`exact`]; many blanks in a row, which could push what comes before them off the screen, become `\u{20*300}`.
#[must_use]
pub fn exact_gaps(text: &str) -> String {
    let gap = " ".repeat(BLANKS_MAX + 1);
    if text.contains(&gap) { exact_line(text) } else { exact(text) }
}

/// At most this many blanks in a row are shown as blanks by [`exact_lines`].
const BLANKS_MAX: usize = 32;

/// Returns the lines of a program or a command so that two different texts never look the same. What cannot be shown, a
/// tab included, becomes `\u{9}`, and so does the backslash of a text that reads so itself; many blanks become
/// `\u{20*300}`.
#[must_use]
pub fn exact_lines(text: &str) -> Vec<String> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').map(exact_line).collect()
}

fn exact_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let after = rest.trim_start_matches(' ');
        let blanks = rest.len() - after.len();
        // Writing to a string cannot fail.
        if blanks > BLANKS_MAX {
            let _ = write!(shown, "\\u{{20*{blanks}}}");
            rest = after;
            continue;
        }
        if rest.starts_with("\\u{") || (c != ' ' && c.is_whitespace()) || kind(c) != Kind::Shown {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
        rest = rest.strip_prefix(c).unwrap_or_default();
    }
    shown
}

/// Returns JSON text in which unsafe characters of strings are JSON escapes, so that the value is the same.
#[must_use]
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let is_layout = matches!(c, '\n' | '\t');
        if is_layout || matches!(kind(c), Kind::Shown | Kind::Combining) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

/// Returns whether a terminal would obey the character or show nothing for it: a control, a bidirectional
/// control, a zero-width or otherwise invisible character.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    matches!(kind(c), Kind::Break | Kind::Tab | Kind::Control | Kind::Hidden)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineBreaks {
    AsSpaces,
    Kept,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shown,
    Break,
    Tab,
    Control,
    Hidden,
    Combining,
}

fn clean(text: &str, breaks: LineBreaks) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut marks = 0;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let mut next_marks = 0;
        match kind(c) {
            Kind::Shown => shown.push(c),
            Kind::Combining => {
                next_marks = marks + 1;
                if next_marks <= COMBINING_MAX
                    && shown.chars().next_back().is_some_and(|c| !c.is_whitespace())
                {
                    shown.push(c);
                }
            }
            Kind::Break => {
                let is_pair = c == '\r' && rest.as_str().starts_with('\n');
                if is_pair {
                    rest.next();
                }
                shown.push(if breaks == LineBreaks::Kept { '\n' } else { ' ' });
            }
            Kind::Tab => shown.push(if breaks == LineBreaks::Kept { '\t' } else { ' ' }),
            Kind::Control => match colour_sequence(c, rest.as_str()) {
                Some(after) => rest = after.chars(),
                None => shown.push(sign(c)),
            },
            Kind::Hidden => next_marks = marks,
        }
        marks = next_marks;
    }
    shown
}

/// Returns the text after a complete colour sequence (`ESC [ digits m`) whose escape was just read. Only
/// colours are removed without a sign, because they carry no information; other sequences have an effect.
fn colour_sequence(escape: char, rest: &str) -> Option<&str> {
    if escape != '\u{1b}' {
        return None;
    }
    let parameters = rest.strip_prefix('[')?;
    parameters.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':')).strip_prefix('m')
}

/// Returns a visible sign of the same width for a control character.
fn sign(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

fn kind(c: char) -> Kind {
    match c {
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Kind::Break,
        '\t' => Kind::Tab,
        ' '..='~' => Kind::Shown,
        c if c.is_control() => Kind::Control,
        c if is_hidden(c) => Kind::Hidden,
        c if c.width().unwrap_or(0) == 0 => Kind::Combining,
        _ => Kind::Shown,
    }
}

/// Returns whether a character shows nothing: bidirectional controls, joiners, fillers, variation selectors,
/// tags.
fn is_hidden(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164
        | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x1_bca0..=0x1_bca3 | 0x1_d173..=0x1_d17a | 0xe_0000..=0xe_0fff)
}

/// Returns whether a hidden character joins others into one sign, or selects how one looks.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_become_visible_or_are_removed() {
        let cases = [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[H", "␛[2J␛[H"),
            ("\u{1b}]8;;http://evil\u{7}click\u{1b}]8;;\u{7}", "␛]8;;http://evil␇click␛]8;;␇"),
            ("\u{1b}]52;c;ZXZpbA==\u{1b}\\", "␛]52;c;ZXZpbA==␛\\"),
            ("\u{9b}31mx", "\u{fffd}31mx"),
            ("a\0b\u{7f}c", "a␀b␡c"),
            ("abc\u{202e}fed\u{202c}", "abcfed"),
            ("zero\u{200b}\u{feff}\u{2060}width", "zerowidth"),
            ("one\ntwo\r\nthree\tfour", "one two three four"),
            ("50%\r100%", "50% 100%"),
            ("\u{2028}x\u{85}y", " x y"),
            ("日本語 é 👍", "日本語 é 👍"),
        ];
        for (text, shown) in cases {
            assert_eq!(line(text), shown, "{text:?}");
        }
    }

    #[test]
    fn different_programs_never_look_the_same() {
        let cases = [
            ("x = 1\n  y = 'a\\n'\n", &["x = 1", "  y = 'a\\n'"][..]),
            ("# note:\nimport os", &["# note:", "import os"]),
            ("# note:\\nimport os", &["# note:\\nimport os"]),
            ("a\tb\r", &["a\\u{9}b\\u{d}"]),
            ("\u{1b}[8m", &["\\u{1b}[8m"]),
            ("\\u{1b}[8m", &["\\u{5c}u{1b}[8m"]),
            ("\\\\u{1b}", &["\\\\u{5c}u{1b}"]),
            ("e\u{301}\u{202e}\u{a0}\u{2028}", &["e\\u{301}\\u{202e}\\u{a0}\\u{2028}"]),
            ("", &[""]),
            ("\n\n", &["", ""]),
        ];
        for (text, shown) in cases {
            assert_eq!(exact_lines(text), shown, "{text:?}");
        }
        let far = format!("a{};b{}c", " ".repeat(3_000), " ".repeat(32));
        assert_eq!(exact_lines(&far), [format!("a\\u{{20*3000}};b{}c", " ".repeat(32))]);
    }

    proptest! {
        /// Reads the signs back with another program than the one that writes them.
        #[test]
        fn what_is_shown_of_a_program_reads_back(text in "([ab \\\\nu{}01\t\r\u{1b}\u{202e}\u{a0}*]|\\\\u\\{| {33,40}){0,60}") {
            let shown = exact_lines(&text);
            prop_assert_eq!(read_back(&shown), text.strip_suffix('\n').unwrap_or(&text));
        }
    }

    fn read_back(lines: &[String]) -> String {
        let line = |line: &String| {
            let mut parts = line.split("\\u{");
            let mut read = parts.next().unwrap().to_owned();
            for part in parts {
                let (sign, rest) = part.split_once('}').unwrap();
                let (code, times) = sign.split_once('*').unwrap_or((sign, "1"));
                let c = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
                read.extend(std::iter::repeat_n(c, times.parse().unwrap()));
                read.push_str(rest);
            }
            read
        };
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_block_keeps_its_lines_and_tabs() {
        assert_eq!(block("a\tb\r\nc\rd\u{1b}[0K\n"), "a\tb\nc\nd␛[0K\n");
    }

    #[test]
    fn a_page_names_what_is_hidden() {
        assert_eq!(marked("a\u{202e}b\u{200b}\n\u{1b}[1mc\u{7}"), "a⟨U+202E⟩b⟨U+200B⟩\nc␇");
        assert_eq!(marked("👩\u{200d}🔧 ✔\u{fe0f} \u{e0041}"), "👩🔧 ✔ ⟨U+E0041⟩");
    }

    #[test]
    fn piles_of_combining_marks_are_cut() {
        let pile = format!("e{}x", "\u{301}".repeat(500));
        assert_eq!(line(&pile), format!("e{}x", "\u{301}".repeat(COMBINING_MAX)));
        assert_eq!(line("\u{301}\u{301}x"), "x");
        // An invisible character between them does not restart the count.
        assert_eq!(line(&"\u{301}\u{200b}".repeat(9).replacen('\u{301}', "e\u{301}", 1)).chars().count(), 4);
    }

    #[test]
    fn exact_leaves_no_character_out() {
        assert_eq!(exact("rm a\nrm b\u{1b}[8m\u{202e}"), "rm a\\nrm b\\u{1b}[8m\\u{202e}");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a": "x\u{9b}y\u{202e}z\u{e0001}\u{1b}", "b": "日本" });
        let text = json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(text.chars().all(|c| c == '\n' || !is_unsafe(c)), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    proptest! {
        #[test]
        fn no_text_gets_through_unsafe(text in any_text()) {
            prop_assert!(line(&text).chars().all(|c| !is_unsafe(c)));
            prop_assert!(exact(&text).chars().all(|c| !is_unsafe(c)));
            prop_assert!(marked(&text).chars().all(|c| matches!(c, '\n' | '\t') || !is_unsafe(c)));
            prop_assert!(block(&text).chars().all(|c| matches!(c, '\n' | '\t') || !is_unsafe(c)));
        }

        #[test]
        fn safe_text_stays_as_it_is(text in any_text()) {
            let safe = line(&text);
            prop_assert_eq!(line(&safe), safe);
        }

        #[test]
        fn json_strings_survive(text in any_text()) {
            let written = json(&serde_json::to_string(&text).unwrap());
            prop_assert!(written.chars().all(|c| !is_unsafe(c)));
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }

    /// Generates text with far more dangerous characters than random text has.
    fn any_text() -> impl Strategy<Value = String> {
        let nasty = prop::sample::select(vec![
            "\u{1b}",
            "\u{1b}[",
            "\u{1b}]8;;",
            "\u{1b}[31m",
            "\u{7}",
            "\u{9b}",
            "\u{9d}",
            "\r",
            "\n",
            "\t",
            "\0",
            "\u{202e}",
            "\u{2066}",
            "\u{200b}",
            "\u{200d}",
            "\u{feff}",
            "\u{fe0f}",
            "\u{301}",
            "\u{e0041}",
            "m",
            ";",
        ]);
        prop::collection::vec(prop_oneof![nasty.prop_map(str::to_owned), ".{0,4}"], 0..24)
            .prop_map(|parts| parts.concat())
    }
}
