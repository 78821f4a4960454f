//! Commands that ship with the program: fixed texts with places for words, compared character by character.
//!
//! They were reviewed when they were written, and their tests run them. Here it is only checked that a command has
//! exactly that text, and that each of its places holds one word.

use super::plan::{Plan, ReadTarget, Search, Walk};
use super::word::Word;

/// A command with places for words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The parts of the text, in order.
    pub pieces: Vec<FormPiece>,
    /// The programs that it runs, sorted.
    pub programs: Vec<String>,
}

/// A part of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormPiece {
    /// Exactly this text.
    Text(String),
    /// A word, plain or in single quotes.
    Word(WordKind),
    /// A number.
    Number,
    /// One of these texts.
    OneOf(Vec<String>),
}

/// The meaning of a word in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A path that is read, with everything below it; it does not begin with a dash.
    Path,
    /// A text, in a position that accepts only a text.
    Text,
}

impl Form {
    /// Returns the plan of `command`, if it has this form.
    pub(crate) fn read(&self, command: &str) -> Option<Plan> {
        // Without a path, the form reads its directory; with one, it reads only that.
        let command = command.trim();
        let mut found = FormReads { reads: vec![ReadTarget::current_dir(Walk::Names)], searches: Vec::new() };
        let rest = pieces(&self.pieces, command, command.len(), &mut found)?;
        if !rest.is_empty() {
            return None;
        }
        if found.reads.len() > 1 {
            found.reads.remove(0);
        }
        let mut reads = found.reads;
        if self.programs.iter().any(|program| program == "git") {
            // Git reads its repository, not the files below the directory.
            reads.iter_mut().for_each(|read| read.walk = Walk::No);
        }
        Some(Plan::of_form(command.to_owned(), reads, found.searches, self.programs.clone()))
    }
}

/// The reads and searches found in the words of a form.
#[derive(Clone)]
struct FormReads {
    reads: Vec<ReadTarget>,
    searches: Vec<Search>,
}

/// The beginning of a search in a form.
const SEARCH: &str = "find -H ";

/// Returns the rest of `text`, the end of a command of `length` bytes, after the pieces.
fn pieces<'t>(pieces: &[FormPiece], text: &'t str, length: usize, found: &mut FormReads) -> Option<&'t str> {
    let Some((first, later)) = pieces.split_first() else { return Some(text) };
    let rest = match first {
        FormPiece::Text(expected) => {
            let rest = text.strip_prefix(expected.as_str())?;
            if expected.ends_with(SEARCH)
                && let Some((FormPiece::Word(WordKind::Path), _)) = later.split_first()
            {
                let (start, behind) = word(rest)?;
                found.searches.push(Search { start, at: length - behind.len() });
            }
            rest
        }
        FormPiece::Number => {
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest.len() < text.len()).then_some(rest)?
        }
        FormPiece::OneOf(texts) => {
            return texts.iter().find_map(|one| {
                let mut tried = found.clone();
                let rest = self::pieces(later, text.strip_prefix(one.as_str())?, length, &mut tried)?;
                *found = tried;
                Some(rest)
            });
        }
        FormPiece::Word(kind) => {
            let (word, rest) = word(text)?;
            if *kind == WordKind::Path {
                if word.is_empty() || word.starts_with('-') {
                    return None;
                }
                let pattern = Word::of(word.as_str()).pattern();
                let is_searched =
                    found.searches.last().is_some_and(|search| search.at == length - rest.len());
                let walk = if is_searched { Walk::Searched } else { Walk::Content };
                found.reads.push(ReadTarget { pattern, literal: Some(word), walk });
            }
            rest
        }
    };
    self::pieces(later, rest, length, found)
}

/// Reads a word as playbooks write one: plain characters, or single quotes with `'\''` for a quote in it.
fn word(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('\'') else {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_%+=:,./-".contains(c);
        let rest = text.trim_start_matches(is_plain);
        let word = text.strip_suffix(rest).unwrap_or(text);
        return (!word.is_empty()).then(|| (word.to_owned(), rest));
    };
    let mut word = String::new();
    loop {
        let (inside, after) = rest.split_once('\'')?;
        word.push_str(inside);
        match after.strip_prefix("\\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return Some((word, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        let text = |text: &str| FormPiece::Text(text.to_owned());
        Form {
            pieces: vec![
                text("grep -r "),
                FormPiece::OneOf(vec![String::new(), "-i ".to_owned()]),
                text("-e "),
                FormPiece::Word(WordKind::Text),
                text(" "),
                FormPiece::Word(WordKind::Path),
                text(" | head -n "),
                FormPiece::Number,
            ],
            programs: vec!["grep".to_owned(), "head".to_owned()],
        }
    }

    #[test]
    fn search_can_leave_out_directories() {
        let text = |text: &str| FormPiece::Text(text.to_owned());
        let pieces =
            vec![text("test -e x && find -H "), FormPiece::Word(WordKind::Path), text(" -type f -printf x")];
        let form = Form { pieces, programs: vec!["find".to_owned()] };
        let plan = form.read("test -e x && find -H 'a b' -type f -printf x").unwrap();
        assert_eq!(plan.searches()[0].start, "a b");
        assert_eq!(plan.rendered_without(&[vec![]]), plan.rendered());
        assert_eq!(
            plan.rendered_without(&[vec!["a b/[x]".to_owned()]]),
            "test -e x && find -H 'a b' \\( -path 'a b/\\[x\\]' \\) -prune -o -type f -printf x"
        );
    }

    #[test]
    fn only_the_exact_text_matches_the_form() {
        for command in [
            "grep -r -e x src | head -n 5",
            "grep -r -i -e 'a b' 'it'\\''s' | head -n 50",
            "grep -r -e '$(rm x)' . | head -n 1",
        ] {
            assert!(form().read(command).is_some(), "{command}");
        }
        for command in [
            "grep -r -e x src | head -n 5; rm x",
            "grep -r -e x y src | head -n 5",
            "grep -r -e $(rm x) src | head -n 5",
            "grep -r -e x -f | head -n 5",
            "grep -r -e x src;rm | head -n 5",
            "grep -r -e 'x' 'src | head -n 5",
            "grep -r -e x src | head -n ",
            "grep -r -e x '' | head -n 5",
            "grep -r -e 'x'y src | head -n 5",
        ] {
            assert!(form().read(command).is_none(), "{command}");
        }
    }
}
