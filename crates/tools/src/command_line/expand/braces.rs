//! Brace expansion: `{a,b}` and `{1..3}`.
//!
//! Only groups without quotes, substitutions and inner groups are taken apart; shells disagree on the rest.

use crate::command_line::lex::{Unit, plain_text};

/// Most words that one word may become.
const WORDS_MAX: usize = 64;

/// Most opening braces in one word.
const GROUPS_MAX: usize = 16;

/// The words that `units` become, at least one; `None` where that is not sure.
pub(super) fn alternatives(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    if units.iter().filter(|unit| is_char(unit, '{')).count() > GROUPS_MAX {
        return None;
    }
    words(units)
}

fn words(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let Some(open) = units.iter().position(|unit| is_char(unit, '{')) else {
        return Some(vec![units.to_vec()]);
    };
    let (before, rest) = units.split_at_checked(open)?;
    let close = rest.iter().position(|unit| is_char(unit, '}'));
    let Some(close) = close else {
        // Without an end it is an ordinary character.
        return Some(vec![units.to_vec()]);
    };
    let inside = rest.get(1..close)?;
    let after = rest.get(close + 1..)?;
    let members = match members(inside) {
        Members::Several(members) => members,
        Members::Literal => {
            let mut tails = words(after)?;
            let head = units.get(..open + close + 1)?;
            for tail in &mut tails {
                tail.splice(0..0, head.iter().cloned());
            }
            return Some(tails);
        }
        Members::Unsure => return None,
    };
    let tails = words(after)?;
    if members.len().checked_mul(tails.len())? > WORDS_MAX {
        return None;
    }
    let mut all = Vec::new();
    for member in &members {
        for tail in &tails {
            let middle = member.chars().map(|c| Unit::Char { c, quoted: false });
            all.push(before.iter().cloned().chain(middle).chain(tail.iter().cloned()).collect());
        }
    }
    Some(all)
}

enum Members {
    Several(Vec<String>),
    /// The braces stand for themselves.
    Literal,
    Unsure,
}

fn members(inside: &[Unit]) -> Members {
    let splits = inside.iter().any(|unit| is_char(unit, ','));
    let Some(text) = plain_text(inside) else {
        let dots = inside.windows(2).any(|pair| pair.iter().all(|unit| is_char(unit, '.')));
        return if splits || dots { Members::Unsure } else { Members::Literal };
    };
    if text.contains('{') {
        return Members::Unsure;
    }
    if splits {
        return Members::Several(text.split(',').map(str::to_owned).collect());
    }
    if text.contains("..") { sequence(&text) } else { Members::Literal }
}

fn sequence(text: &str) -> Members {
    let parts: Vec<&str> = text.split("..").collect();
    let [from, to] = parts.as_slice() else { return Members::Unsure };
    if let (Some(from), Some(to)) = (number(from), number(to)) {
        let count = from.abs_diff(to);
        if count >= WORDS_MAX as u64 {
            return Members::Unsure;
        }
        let numbers: Vec<String> = if from <= to {
            (from..=to).map(|n| n.to_string()).collect()
        } else {
            (to..=from).rev().map(|n| n.to_string()).collect()
        };
        return Members::Several(numbers);
    }
    match (single_letter(from), single_letter(to)) {
        (Some(from), Some(to)) if from <= to => Members::Several((from..=to).map(String::from).collect()),
        _ => Members::Unsure,
    }
}

/// A number without sign and leading zeros.
fn number(text: &str) -> Option<i64> {
    let plain = text.chars().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain && text.len() < 10 { text.parse().ok() } else { None }
}

/// A lower-case letter or an upper-case one; from one case to the other there are signs in between.
fn single_letter(text: &str) -> Option<char> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_ascii_lowercase() => Some(c),
        _ => None,
    }
}

fn is_char(unit: &Unit, wanted: char) -> bool {
    matches!(unit, Unit::Char { c, quoted: false } if *c == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&[&str]>) {
        let units: Vec<Unit> = text.chars().map(|c| Unit::Char { c, quoted: false }).collect();
        let words = alternatives(&units)
            .map(|words| words.iter().map(|word| plain_text(word).unwrap()).collect::<Vec<_>>());
        assert_eq!(
            words.as_deref(),
            expected.map(|e| e.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()).as_deref()
        );
    }

    #[test]
    fn simple_groups_are_taken_apart() {
        check("a{b,c}d", Some(&["abd", "acd"]));
        check("x{,.bak}", Some(&["x", "x.bak"]));
        check("{a,b}{1,2}", Some(&["a1", "a2", "b1", "b2"]));
        check("f{1..3}", Some(&["f1", "f2", "f3"]));
        check("{3..1}", Some(&["3", "2", "1"]));
        check("{a..c}", Some(&["a", "b", "c"]));
    }

    #[test]
    fn what_is_no_group_stays() {
        check("{}", Some(&["{}"]));
        check("HEAD@{1}", Some(&["HEAD@{1}"]));
        check("a{b", Some(&["a{b"]));
        check("{x}{a,b}", Some(&["{x}a", "{x}b"]));
    }

    #[test]
    fn the_rest_is_unsure() {
        check("{a,{b,c}}", None);
        check("{01..10}", None);
        check("{1..9999}", None);
        check("{a..Z}", None);
        check("{1..9..2}", None);
    }
}
